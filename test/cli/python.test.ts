import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../protocol/problem.ts';
import { openTerminal } from './terminal.ts';

const ddl = `# Databricks notebook source
# MAGIC %sql
# MAGIC CREATE TABLE dw.Account (AccountNo int NOT NULL, Label string, PRIMARY KEY (AccountNo));
# MAGIC CREATE TABLE stg.Account (AccountNo int NOT NULL, Label string);
`;
const load = `from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("""
  MERGE INTO dw.Account AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
  WHEN MATCHED AND t.Label <> s.Label THEN UPDATE SET Label = s.Label
""")
spark.sql(f"DELETE FROM {table} WHERE WHERE")
spark.sql("SELECT AccountNo FROM dw.Account WHERE")
`;

async function open() {
  return openTerminal({ 'ddl/tables.py': ddl, 'load.py': load, 'plain.py': 'print("SELECT FROM")\n' });
}

async function findings(paths: readonly string[]) {
  const { out, code } = await (await open()).call('lint', ...paths, '--format', 'json');
  const report: { readonly diagnostics: readonly Diagnostic[]; readonly files: number } = JSON.parse(out);
  return { ...report, code };
}

describe('Python files on the command line', () => {
  test('catalog lists the tables of cells', async () => {
    const { code, out } = await (await open()).call('catalog', 'ddl', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out).tables).toMatchObject([
      { name: { schema: 'dw', table: 'Account' }, file: 'ddl/tables.py', range: { start: { line: 2 } } },
      { name: { schema: 'stg', table: 'Account' }, file: 'ddl/tables.py', range: { start: { line: 3 } } },
    ]);
  });

  test('lint names the places in the file, with the tables of other Python files', async () => {
    const { diagnostics, files, code } = await findings(['load.py', '--ddl', 'ddl']);
    expect(code).toBe(1);
    expect(files).toBe(1);
    const lines = load.split('\n');
    const shown = diagnostics.map(({ rule, range: { start, end } }) => [
      rule,
      start.line,
      start.line === end.line ? lines[start.line]?.slice(start.character, end.character) : '…',
    ]);
    expect(shown).toContainEqual(['comparison-misses-null', 5, 't.Label <> s.Label']);
    expect(shown.filter(([rule]) => rule === 'syntax').map(([, line]) => line)).toEqual([8]);
    // Of the f-string nobody knows what runs.
    expect(shown.filter(([, line]) => line === 7)).toEqual([]);
  });

  test('a folder gives its Python files with SQL, and no others', async () => {
    const { diagnostics, files } = await findings(['.']);
    expect(files).toBe(2);
    expect(new Set(diagnostics.map(({ file }) => file))).toContain('load.py');
    expect((await findings(['plain.py'])).diagnostics).toEqual([]);
  });

  test('--fix leaves a file of Python', async () => {
    const terminal = await open();
    await terminal.call('lint', 'load.py', '--ddl', 'ddl', '--fix');
    const fixed = await readFile(terminal.path('load.py'), 'utf8');
    expect(fixed).not.toBe(load);
    expect(fixed).toMatch(
      /^from pyspark\.sql[\s\S]*\nspark\.sql\("""\n {2}MERGE INTO [\s\S]*"""\)\nspark\.sql\(f"DELETE/,
    );
  });
});
