import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CatalogTable } from '../../protocol/catalog.ts';
import { csvHeader } from '../../server/src/generate/csv.ts';
import { seedBatches } from '../../server/src/generate/seed.ts';
import { folderOf } from '../support/folders.ts';

async function tablesOf(sql: string): Promise<readonly CatalogTable[]> {
  return (await folderOf({ 'ddl.sql': sql })).catalog.tables;
}

async function textOf(sql: string): Promise<string> {
  return seedBatches(await tablesOf(sql), [], () => null)
    .value.map(({ text }) => text)
    .join('\n');
}

const page = readFileSync(join(import.meta.dirname, '../../docs/embedded-types.md'), 'utf8');
const documented = [...page.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, from = '', to = '']) => ({
  from,
  to,
}));

describe('the documented table of types', () => {
  test('is read', () => {
    expect(documented.length).toBeGreaterThan(20);
  });

  test.each(documented)('$from is kept as $to', async ({ from, to }) => {
    const text = await textOf(`CREATE TABLE dw.Unit (UnitNo int NOT NULL, [Value] ${from} NULL)`);
    const [, type = '', length] = /^(.*?)(?: CHECK \(length ≤ (\d+)\))?$/.exec(to) ?? [];
    const measure = type === 'BLOB' ? 'octet_length' : 'length';
    const check = length === undefined ? '' : ` CHECK (${measure}("Value") <= ${length})`;
    expect(text).toContain(`    "Value" ${type}${check}\n`);
  });
});

test('a type that is not known is kept as text, with a warning at its place', async () => {
  const tables = await tablesOf('CREATE TABLE dw.Unit (UnitNo int NOT NULL, Place geography NULL)');
  const { value, problems } = seedBatches(tables, [], () => null);
  expect(value[0]?.text).toContain('"Place" VARCHAR');
  expect(problems).toMatchObject([{ code: 'embedded-type', severity: 'warning', file: 'ddl.sql' }]);
});

test('names and paths that were made to inject come out quoted', async () => {
  const evil = 'x"; DROP TABLE y; --\'';
  const [table] = await tablesOf(`CREATE TABLE [dw].[${evil}] ([${evil}] nvarchar(3) NULL)`);
  if (table === undefined) throw new Error('the table was not read');
  const { value } = seedBatches([table], [{ table, path: `/data/${evil}.csv`, header: [evil] }], () => null);
  const text = value.map((batch) => batch.text).join('\n');
  const unquoted = text
    .replace(/^--.*$/gm, '')
    .replace(/'(?:[^']|'')*'/g, '')
    .replace(/"(?:[^"]|"")*"/g, '');
  expect(unquoted).not.toMatch(/DROP TABLE y/);
});

test('databases other than the main one are attached where the caller says', async () => {
  const tables = await tablesOf('CREATE TABLE [Sta ging].[dbo].[Unit] (UnitNo int NOT NULL)');
  const { value } = seedBatches(tables, [], (database) => `/data/house.${database}.duckdb`);
  expect(value[0]?.text).toBe(`ATTACH IF NOT EXISTS '/data/house.Sta ging.duckdb' AS "Sta ging";\n`);
});

test.each<[string, readonly string[] | null]>([
  ['a,b\n1,2\n', ['a', 'b']],
  ['\ufeffa;b,"c ""d"""\r\n', ['a;b', 'c "d"']],
  ['"a\nb",c', ['a\nb', 'c']],
  ['"a', null],
  ['a,,b\n', ['a', '', 'b']],
])('the first line of %j names %j', (text, names) => {
  expect(csvHeader(text)).toEqual(names);
});
