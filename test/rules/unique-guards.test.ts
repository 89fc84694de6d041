import { expect, test } from 'vitest';
import { mergeSourceRepeatsKeys } from '../../server/src/rules/merge-source-repeats-keys.ts';
import { updateMayPickAnyRow } from '../../server/src/rules/update-may-pick-any-row.ts';
import { lintText } from './support.ts';

const ddl = `CREATE TABLE stg.PersonFeed (PersonNo int NOT NULL, Region int NOT NULL, Phone varchar(30) NULL,
  LoadedAt datetime2(6) NOT NULL, PRIMARY KEY (PersonNo, LoadedAt));`;
const merge = `MERGE dw.Person WITH (HOLDLOCK) AS t USING stg.PersonFeed AS s ON t.PersonNo = s.PersonNo
WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`;
const update = `UPDATE t SET Phone = s.Phone FROM dw.Person AS t JOIN stg.PersonFeed AS s ON s.PersonNo = t.PersonNo;`;

function found(sql: string, platform = 'sqlserver'): readonly string[] {
  return lintText(sql, { ddl, platform, rules: [mergeSourceRepeatsKeys, updateMayPickAnyRow] }).map(({ rule }) => rule);
}

const stop = "THROW 50010, N'repeated', 1;";
const repeats = 'SELECT PersonNo FROM stg.PersonFeed GROUP BY PersonNo HAVING COUNT(*) > 1';

/** Each stops the load where a person is staged twice. */
const proving: readonly (readonly [string, string])[] = [
  ['IF EXISTS', `IF EXISTS (${repeats}) ${stop}`],
  ['a block and COUNT_BIG', `IF EXISTS (${repeats.replace('COUNT', 'COUNT_BIG')}) BEGIN PRINT N'no'; ${stop} END;`],
  ['at least two', `IF EXISTS (${repeats.replace('> 1', '>= 2')}) RETURN;`],
  ['a declared variable', `DECLARE @n int = (SELECT COUNT(*) FROM (${repeats}) AS r);\nIF @n > 0 ${stop}`],
  ['a variable that is set', `DECLARE @n int;\nSET @n = (SELECT COUNT(*) FROM (${repeats}) AS r);\nIF @n > 0 ${stop}`],
  [
    'a list of keys',
    `DECLARE @k nvarchar(99);\nSELECT @k = STRING_AGG(r.PersonNo, ',') FROM (${repeats}) AS r;\nIF @k IS NOT NULL ${stop}`,
  ],
  [
    'rows without a key left out, through a derived table',
    `IF EXISTS (SELECT p.No FROM (SELECT PersonNo AS No, Phone FROM stg.PersonFeed WHERE PersonNo IS NOT NULL) AS p GROUP BY p.No HAVING COUNT(*) > 1) ${stop}`,
  ],
];

test.each(proving)('%s proves the key of a MERGE and of an UPDATE behind it', (_, guard) => {
  expect(found(`${guard}\n${merge}`)).toEqual([]);
  expect(found(`${guard}\n${update}`)).toEqual([]);
});

/** None proves that each person is staged once when the write begins. */
const idle: readonly (readonly [string, string])[] = [
  ['no guard', ''],
  ['a query that stops nothing', `${repeats};`],
  ['a variable that nothing tests', `DECLARE @n int = (SELECT COUNT(*) FROM (${repeats}) AS r);`],
  ['a warning', `IF EXISTS (${repeats}) PRINT N'repeated';`],
  ['a stop where nothing is repeated', `IF NOT EXISTS (SELECT 1) PRINT N'x'; ELSE ${stop}`],
  ['another table', `IF EXISTS (${repeats.replace('PersonFeed', 'OtherFeed')}) ${stop}`],
  ['a wider key', `IF EXISTS (${repeats.replace('BY PersonNo', 'BY PersonNo, Region')}) ${stop}`],
  ['a part of the rows', `IF EXISTS (${repeats.replace('GROUP', 'WHERE Region = 1 GROUP')}) ${stop}`],
  [
    'distinct rows',
    `IF EXISTS (SELECT d.PersonNo FROM (SELECT DISTINCT PersonNo FROM stg.PersonFeed) AS d GROUP BY d.PersonNo HAVING COUNT(*) > 1) ${stop}`,
  ],
  ['more than two', `IF EXISTS (${repeats.replace('> 1', '> 2')}) ${stop}`],
  [
    'rows that come behind the guard',
    `IF EXISTS (${repeats}) ${stop}\nINSERT INTO stg.PersonFeed SELECT * FROM stg.More;`,
  ],
];

test.each(idle)('%s proves nothing', (_, before) => {
  expect(found(`${before}\n${merge}`)).toEqual(['merge-source-repeats-keys']);
  expect(found(`${before}\n${update}`)).toEqual(['update-may-pick-any-row']);
});

test('a guard behind the write comes too late', () => {
  expect(found(`${merge}\nIF EXISTS (${repeats}) ${stop}`)).toEqual(['merge-source-repeats-keys']);
});

test('a proof holds for what is made from the rows, by whatever names, until more is put in', () => {
  const made = `IF EXISTS (${repeats}) ${stop}\nSELECT PersonNo AS No, Phone INTO #p FROM stg.PersonFeed;\n`;
  const using = merge.replace('stg.PersonFeed AS s', '#p AS s').replaceAll('s.PersonNo', 's.No');
  expect(found(`${made}${using}`)).toEqual([]);
  expect(found(`${made}INSERT INTO #p SELECT No, Phone FROM stg.More;\n${using}`)).toEqual([
    'merge-source-repeats-keys',
  ]);
  const derived = merge.replace(
    'stg.PersonFeed AS s',
    '(SELECT PersonNo, Phone FROM stg.PersonFeed WHERE Region = 1) AS s',
  );
  expect(found(`IF EXISTS (${repeats}) ${stop}\n${derived}`)).toEqual([]);
});

test('an error that a query raises by a function proves it, too', () => {
  const guard = `SELECT error('duplicate_key') FROM (${repeats}) AS r;`;
  expect(found(`${guard}\n${merge.replace('MERGE', 'MERGE INTO').replace(' WITH (HOLDLOCK)', '')}`, 'duckdb')).toEqual(
    [],
  );
});

test('a NULL with a type in the key of a UNION gives changed rows twice; one in another column does not', () => {
  const twice = (first: string, second: string) => `MERGE dw.Person WITH (HOLDLOCK) AS t
USING (SELECT PersonNo AS k, PersonNo, Phone FROM stg.PersonFeed UNION ALL SELECT ${first}, PersonNo, ${second} FROM stg.PersonFeed) AS s
ON t.PersonNo = s.k WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`;
  expect(found(twice('CAST(NULL AS int)', 'Phone'))).toEqual([]);
  expect(found(twice('NULL', 'Phone'))).toEqual([]);
  expect(found(twice('PersonNo', 'CAST(NULL AS varchar(30))'))).toEqual(['merge-source-repeats-keys']);
});
