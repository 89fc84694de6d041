/** Writes of T-SQL through a named query: the preview reads the rows that the query hands on to its table. */
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { refereeMissing, refereeTsql } from '../support/referee.ts';
import { loadOf } from '../support/script-load.ts';

const ddl = `CREATE TABLE dw.Cust (No int NULL, City varchar(20) NULL, Since int NULL, Until int NULL);
GO
CREATE TABLE stg.Cust (No int NULL, Town varchar(20) NULL);
`;
const data = `CREATE SCHEMA dw; CREATE SCHEMA stg;
CREATE TABLE dw.Cust (No INTEGER, City VARCHAR, Since INTEGER, Until INTEGER);
INSERT INTO dw.Cust VALUES (1, 'Ulm', 1, NULL), (1, 'Ulm', 2, NULL), (1, 'Ulm', 2, NULL), (2, 'Bonn', 1, 5), (3, NULL, 1, NULL);
CREATE TABLE stg.Cust (No INTEGER, Town VARCHAR);
INSERT INTO stg.Cust VALUES (1, 'Kiel'), (2, 'Kiel');`;

const numbered =
  'SELECT *, ROW_NUMBER() OVER (PARTITION BY No ORDER BY Since, City) AS rn, COUNT(*) OVER (PARTITION BY No) AS n FROM dw.Cust';

/** The text, the rows that it changes as No/Since, what it sets, the kind of change. */
const followed: readonly (readonly [string, string, readonly string[], string])[] = [
  [
    'a filter',
    'WITH c AS (SELECT No, City, Since, Until FROM dw.Cust AS t WHERE t.Until IS NULL) UPDATE c SET Until = 9 WHERE No = 1;',
    ['1/1/9', '1/2/9', '1/2/9'],
    'updated',
  ],
  [
    'a row number',
    `WITH c AS (${numbered}) UPDATE c SET Until = Since + n WHERE rn < n;`,
    ['1/1/4', '1/2/5'],
    'updated',
  ],
  ['a delete', `WITH c AS (${numbered}) DELETE FROM c WHERE rn > 1;`, ['1/2/null', '1/2/null'], 'deleted'],
  ['an alias in FROM', `WITH c AS (${numbered}) DELETE x FROM c AS x WHERE x.rn > 2;`, ['1/2/null'], 'deleted'],
  [
    'a join',
    `WITH c AS (${numbered}) UPDATE c SET City = s.Town FROM c JOIN stg.Cust AS s ON s.No = c.No WHERE c.rn = 1;`,
    ['1/1/null', '2/1/5'],
    'updated',
  ],
  [
    'another named query',
    'WITH s AS (SELECT No FROM stg.Cust WHERE No > 1), c AS (SELECT * FROM dw.Cust) DELETE FROM c WHERE c.No IN (SELECT No FROM s);',
    ['2/1/5'],
    'deleted',
  ],
];

describe('a write through a named query is previewed', () => {
  test.each(followed)('over %s', async (_, text, rows, kind) => {
    const { preview, previewRefusal } = await loadOf(text, 'sqlserver', ddl);
    expect(previewRefusal).toBeNull();
    const sent = preview?.batches.map((batch) => batch.text).join('\n') ?? '';
    expect(sent).toContain(`'${kind}' AS sample_kind`);
    const [query = ''] = /^WITH [\s\S]*?;/m.exec(sent) ?? [];
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(data);
    const result = await connection.runAndReadAll(
      query
        .replace(/INTO #\w+\n/, '')
        .replaceAll('[', '"')
        .replaceAll(']', '"'),
    );
    const until = result.columnNames().includes('a3') ? 'a3' : 'b3';
    const found = result.getRowObjectsJson().map((row) => `${row['b0']}/${row['b2']}/${row[until]}`);
    expect(found.toSorted()).toEqual(rows);
    connection.closeSync();
  });

  test.skipIf(refereeMissing() !== null)('in a text that the server reads', async () => {
    const texts = await Promise.all(
      followed.map(async ([name, text]) => {
        const { preview } = await loadOf(text, 'sqlserver', ddl);
        return { name, text: (preview?.batches ?? []).map((batch) => batch.text).join('\nGO\n') };
      }),
    );
    expect(await refereeTsql(texts, '2019')).toEqual([]);
  });
});

test('a script that goes on with the rows reads them as the write has left them', async () => {
  const text = `WITH c AS (${numbered}) DELETE FROM c WHERE rn > 1;
WITH c AS (SELECT * FROM dw.Cust WHERE Since = 1) UPDATE c SET Until = 7;
INSERT INTO stg.Cust (No, Town) SELECT No, City FROM dw.Cust;`;
  const { preview, previewRefusal } = await loadOf(text, 'sqlserver', ddl);
  expect(previewRefusal).toBeNull();
  const sent = preview?.batches.map((batch) => batch.text).join('\n') ?? '';
  const [, first, second] =
    /FROM (\S+) AS Cust\) AS c[\s\S]*FROM (\S+) AS Cust WHERE Since = 1\) AS c/.exec(sent) ?? [];
  expect(first).toMatch(/^#mergewright/);
  expect(second).toBe(first);
});

test.each<[string, RegExp]>([
  [
    'WITH c AS (SELECT TOP (5) * FROM dw.Cust) DELETE FROM c;',
    /line 1: TOP leaves open which rows are written, unless ORDER BY names an enforced key/,
  ],
  ['WITH c AS (SELECT TOP (5) * FROM dw.Cust ORDER BY Since) DELETE FROM c;', /TOP leaves open which rows are written/],
  [
    'WITH c AS (SELECT * FROM dw.Cust ORDER BY Since OFFSET 2 ROWS) DELETE FROM c;',
    /with DISTINCT, GROUP BY or OFFSET is not followed/,
  ],
  ['DELETE TOP (5) FROM dw.Cust;', /TOP/],
  ['WITH c AS (SELECT d.* FROM dw.Cust AS d JOIN stg.Cust AS s ON s.No = d.No) DELETE FROM c;', /over one table only/],
  ['WITH c AS (SELECT No FROM dw.Cust UNION ALL SELECT No FROM dw.Cust) DELETE FROM c;', /one SELECT only/],
  ['WITH b AS (SELECT * FROM dw.Cust), c AS (SELECT * FROM b) DELETE FROM c;', /over another one is not followed/],
  ['WITH c (a) AS (SELECT No FROM dw.Cust) DELETE FROM c WHERE a = 1;', /lists its columns/],
  [
    'WITH c AS (SELECT Until AS Ending, No FROM dw.Cust) UPDATE c SET Ending = 1;',
    /SET of a column that a named query renames/,
  ],
  ['WITH c AS (SELECT No AS Since FROM dw.Cust) DELETE FROM c WHERE Since = 1;', /the name of another/],
  [
    'WITH c AS (SELECT No FROM dw.Cust) UPDATE c SET No = City FROM c JOIN (SELECT Town AS City FROM stg.Cust) AS s ON 1 = 1;',
    /needs its table before it/,
  ],
  ['WITH c AS (SELECT * FROM dw.Cust) DELETE FROM c OUTPUT deleted.No INTO stg.Cust (No);', /without OUTPUT only/],
  ['WITH c AS (SELECT * FROM #other) DELETE FROM c;', /columns of #other are not known/],
  ['WHILE 1 = 1 DELETE FROM dw.Cust;', /line 1: WHILE goes round as often as the run decides/],
])('%s is refused in words', async (text, message) => {
  const { preview, previewRefusal } = await loadOf(text, 'sqlserver', ddl);
  expect(preview).toBeNull();
  expect(previewRefusal).toMatch(message);
});

test('a write through a query over a table that the script made itself is kept', async () => {
  const text = `SELECT No, Town INTO #s FROM stg.Cust;
WITH c AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY No ORDER BY Town) AS rn FROM #s) DELETE FROM c WHERE rn > 1;
INSERT INTO dw.Cust (No, City) SELECT No, Town FROM #s;`;
  const { preview, previewRefusal } = await loadOf(text, 'sqlserver', ddl);
  expect(previewRefusal).toBeNull();
  expect(preview?.batches.map((batch) => batch.text).join('\n')).toContain('DELETE FROM c WHERE rn > 1;');
});

test('the first rows by a key, or with all that tie, are the ones that the run writes', async () => {
  const keyed = 'CREATE TABLE dw.Log (No int NOT NULL PRIMARY KEY, At date NULL);';
  const texts = [
    'WITH c AS (SELECT TOP (2) No FROM dw.Log WHERE At IS NULL ORDER BY At, No DESC) DELETE FROM c;',
    'WITH c AS (SELECT TOP (10) PERCENT WITH TIES No, At FROM dw.Log ORDER BY At) UPDATE c SET At = NULL;',
  ];
  const sent = await Promise.all(
    texts.map(async (text) => {
      const { preview, previewRefusal } = await loadOf(text, 'sqlserver', keyed);
      expect(previewRefusal).toBeNull();
      return { name: text, text: (preview?.batches ?? []).map((batch) => batch.text).join('\nGO\n') };
    }),
  );
  expect(sent[0]?.text).toContain('(SELECT TOP (2) ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS');
  expect(sent[0]?.text).toContain('WHERE At IS NULL ORDER BY At, No DESC) AS c');
  expect(sent[1]?.text).toContain('(SELECT TOP (10) PERCENT WITH TIES ROW_NUMBER()');
  if (refereeMissing() === null) expect(await refereeTsql(sent, '2019')).toEqual([]);
});

test('a key that the platform does not enforce does not say which rows come first', async () => {
  const keyed = 'CREATE TABLE dw.Log (No int NOT NULL PRIMARY KEY NONCLUSTERED NOT ENFORCED, At date NULL);';
  const text = 'WITH c AS (SELECT TOP (2) No FROM dw.Log ORDER BY No) DELETE FROM c;';
  expect((await loadOf(text, 'synapse', keyed)).previewRefusal).toMatch(/unless ORDER BY names an enforced key/);
});
