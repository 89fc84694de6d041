import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LanguageClient } from '../support/language-client.ts';

const tables = `# Databricks notebook source
# MAGIC %sql
# MAGIC CREATE TABLE gold.customer (
# MAGIC   id BIGINT NOT NULL,
# MAGIC   name STRING
# MAGIC ) USING DELTA
`;
const job = `spark.sql("""
  SELECT name FROM gold.customer WHERE
""")
`;

let client: LanguageClient;
let folder: string;
let uri: string;
let ddl: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-python-'));
  writeFileSync(join(folder, 'tables.py'), tables);
  ddl = pathToFileURL(join(folder, 'tables.py')).href;
  uri = pathToFileURL(join(folder, 'job.py')).href;
  client = new LanguageClient();
});

afterEach(() => {
  client.close();
  rmSync(folder, { recursive: true, force: true });
});

const insert = (line: number, character: number, text: string) => ({
  range: { start: { line, character }, end: { line, character } },
  text,
});
const at = (line: number, character: number) => ({ textDocument: { uri }, position: { line, character } });

describe('Python documents', () => {
  test('diagnostics stand in the file and follow edits', async () => {
    await client.initialize(pathToFileURL(folder).href);
    client.open(uri, job, 1, 'python');
    const wrong = await client.diagnostics(uri, ({ version }) => version === 1);
    expect(wrong.diagnostics).toMatchObject([{ code: 'syntax', range: { start: { line: 1 } } }]);
    client.change(uri, 2, [insert(0, 0, 'import x\n'), insert(2, 38, ' name IS NULL')]);
    expect((await client.diagnostics(uri, ({ version }) => version === 2)).diagnostics).toEqual([]);
  });

  test('hover and definition of a column that another notebook defines', async () => {
    await client.initialize(pathToFileURL(folder).href);
    client.open(uri, job.replace(' WHERE', ''), 1, 'python');
    await client.notification('mergewright/indexing');
    expect(await client.request('textDocument/definition', at(1, 10))).toMatchObject([
      { uri: ddl, range: { start: { line: 4, character: 10 } } },
    ]);
    expect(JSON.stringify(await client.request('textDocument/hover', at(1, 25)))).toContain('gold.customer');
  });

  test('symbols are the tables of the cells', async () => {
    await client.initialize(null);
    client.open(uri, tables, 1, 'python');
    expect(await client.request('textDocument/documentSymbol', { textDocument: { uri } })).toMatchObject([
      {
        name: 'gold.customer',
        selectionRange: { start: { line: 2, character: 26 }, end: { line: 2, character: 34 } },
        children: [{ name: 'id' }, { name: 'name' }],
      },
    ]);
  });

  test('a plain file shows nothing, until SQL is written into it', async () => {
    await client.initialize(null);
    client.open(uri, 'query = "SELECT FROM"\n', 1, 'python');
    expect((await client.diagnostics(uri)).diagnostics).toEqual([]);
    expect(await client.request('textDocument/documentSymbol', { textDocument: { uri } })).toEqual([]);
    expect(await client.request('textDocument/completion', at(0, 9))).toEqual([]);
    expect(client.notifications.map(({ method }) => method)).not.toContain('mergewright/status');
    client.change(uri, 2, [insert(1, 0, 'spark.sql("SELECT FROM")\n')]);
    const { diagnostics } = await client.diagnostics(uri, ({ version }) => version === 2);
    expect(diagnostics.map(({ code }) => code)).toContain('syntax');
  });

  test('switching a rule off writes no SQL comment into Python', async () => {
    await client.initialize(pathToFileURL(folder).href);
    client.open(uri, 'spark.sql("DELETE FROM gold.customer WHERE id NOT IN (SELECT id FROM x)")\n', 1, 'python');
    const { diagnostics } = await client.diagnostics(uri);
    expect(diagnostics.length).toBeGreaterThan(0);
    const actions = await client.request<readonly { readonly title: string }[]>('textDocument/codeAction', {
      textDocument: { uri },
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 60 } },
      context: { diagnostics: [] },
    });
    const titles = actions.map(({ title }) => title).filter((title) => title.startsWith('Disable'));
    expect(titles.length).toBeGreaterThan(0);
    expect(titles.every((title) => title.endsWith('in this folder'))).toBe(true);
  });
});
