import { expect, test } from 'vitest';
import { buildCatalog } from '../../../server/src/model/catalog.ts';
import { readDefinitions } from '../../../server/src/model/definitions.ts';
import { lint } from '../../../server/src/rules/engine/lint.ts';
import { rules } from '../../../server/src/rules/registry.ts';
import { parse } from '../../../server/src/syntax/parse.ts';

/** Twice the text may take this many times the work. */
const limit = 2.3;
/** Other programs on the machine disturb a measurement, so the best of several counts. */
const attempts = 40;

const ddl = parse(
  `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NOT NULL, ValidFrom datetime2 NOT NULL, ValidTo datetime2 NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NOT NULL);`,
  { platform: 'sqlserver' },
);
const { tables } = buildCatalog([readDefinitions(ddl, 'ddl.sql')]);

/** Processor time of a check with all rules in microseconds; parsed anew, so that nothing is known of the statements. */
function cost(text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const script = parse(text, { platform: 'sqlserver' });
    const before = process.cpuUsage();
    lint({ script, file: 'load.sql', platform: { name: 'sqlserver' }, rules, tables });
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const merge =
  'MERGE dw.Unit AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo WHEN MATCHED AND t.Size <> s.Size THEN UPDATE SET Size = s.Size WHEN NOT MATCHED BY SOURCE THEN DELETE;';

test.each<[string, (size: number) => string]>([
  [
    'guarded deletes behind other variables',
    (size) =>
      lines(size, (i) => `DECLARE @v${i} int = (SELECT COUNT(*) FROM stg.Other${i});\nIF @v${i} = 0 RETURN;\n${merge}`),
  ],
  [
    'versions that are closed and opened',
    (size) =>
      lines(
        size,
        (i) =>
          `UPDATE t SET ValidTo = SYSDATETIME() FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo WHERE t.ValidTo IS NULL AND t.Size <> s.Size;\nINSERT INTO dw.Unit (UnitNo, Size, ValidFrom) SELECT s.UnitNo, s.Size, SYSDATETIME() FROM stg.Unit AS s WHERE s.Size > ${i};`,
      ),
  ],
  [
    'procedures',
    (size) =>
      lines(size, (i) => `CREATE PROCEDURE dbo.P${i} AS BEGIN UPDATE dw.Unit SET Size = ${i}; ${merge} END\nGO`),
  ],
  [
    'IFs inside each other',
    (size) => `${lines(size * 4, (i) => `IF @a = ${i} BEGIN`)} DELETE FROM dw.Unit; ${'END '.repeat(size * 4)}`,
  ],
  [
    'WHILEs inside each other',
    (size) =>
      `${lines(size, (i) => `WHILE @a < ${i} BEGIN UPDATE dw.Unit SET Size = @a;`)} BREAK; ${'END '.repeat(size)}`,
  ],
  [
    'temporary tables',
    (size) =>
      lines(
        size,
        (i) =>
          `SELECT UnitNo, Size INTO #t${i} FROM stg.Unit;\nUPDATE t SET Size = s.Size FROM dw.Unit AS t JOIN #t${i} AS s ON s.UnitNo = t.UnitNo;`,
      ),
  ],
  [
    'added columns',
    (size) => `CREATE TABLE dw.Wide (a int);\n${lines(size * 4, (i) => `ALTER TABLE dw.Wide ADD c${i} int;`)}`,
  ],
  [
    'columns of a MERGE',
    (size) => {
      const columns = Array.from({ length: size * 2 }, (_, i) => `c${i}`);
      const list = (write: (name: string) => string, by = ', ') => columns.map(write).join(by);
      return `CREATE TABLE dw.Big (k int PRIMARY KEY, ${list((name) => `${name} int`)});
CREATE TABLE stg.Big (k int PRIMARY KEY, ${list((name) => `${name} int`)});
MERGE dw.Big AS t USING stg.Big AS s ON t.k = s.k
WHEN MATCHED AND (${list((name) => `t.${name} <> s.${name}`, ' OR ')}) THEN UPDATE SET ${list((name) => `${name} = s.${name}`)}
WHEN NOT MATCHED THEN INSERT (k, ${list((name) => name)}) VALUES (s.k, ${list((name) => `s.${name}`)});`;
    },
  ],
  [
    'rows of VALUES',
    (size) =>
      `INSERT INTO dw.Unit (UnitNo, Label, Size) VALUES ${lines(size * 10, (i) => `(${i}, 'x', 1),`)} (0, 'y', 1);`,
  ],
  [
    'common tables',
    (size) =>
      `WITH c0 AS (SELECT UnitNo, Size FROM stg.Unit)${lines(size, (i) => `, c${i + 1} AS (SELECT UnitNo, Size FROM c${i})`)} INSERT INTO dw.Unit (UnitNo, Size) SELECT UnitNo, Size FROM c${size};`,
  ],
  [
    'common tables that are read twice',
    (size) =>
      `WITH c0 AS (SELECT UnitNo, Size FROM stg.Unit)${lines(size, (i) => `, c${i + 1} AS (SELECT l.UnitNo, l.Size + r.Size AS Size FROM c${i} AS l JOIN c${i} AS r ON r.UnitNo = l.UnitNo)`)} INSERT INTO dw.Unit (UnitNo, Size) SELECT UnitNo, Size FROM c${size};`,
  ],
  [
    'temporary tables that are read twice',
    (size) =>
      `SELECT UnitNo, Size INTO #t0 FROM stg.Unit;\n${lines(size, (i) => `SELECT l.UnitNo, l.Size + r.Size AS Size INTO #t${i + 1} FROM #t${i} AS l JOIN #t${i} AS r ON r.UnitNo = l.UnitNo;`)}\nUPDATE t SET Size = s.Size FROM dw.Unit AS t JOIN #t${size} AS s ON s.UnitNo = t.UnitNo;`,
  ],
  [
    'texts that are joined',
    (size) =>
      `UPDATE t SET Label = CONVERT(varchar(64), HASHBYTES('SHA2_256', ${Array.from({ length: size }, () => "COALESCE(s.Label, '') + '|'").join(' + ')}), 2) FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo WHERE t.Label <> s.Label;`,
  ],
  [
    'joins',
    (size) =>
      `UPDATE t SET Size = s0.Size FROM dw.Unit AS t ${lines(size, (i) => `LEFT JOIN stg.Unit AS s${i} ON s${i}.UnitNo = t.UnitNo`)} WHERE t.Size <> s0.Size;`,
  ],
  [
    'strings that are run',
    (size) => lines(size, (i) => `EXEC ('UPDATE dw.Unit SET Size = ${i} WHERE UnitNo = 1; DELETE FROM dw.Unit;');`),
  ],
])('the work of all rules grows with the number of %s, not faster', (_, make) => {
  const size = 40;
  // The first runs are those of cold code.
  cost(make(size));
  let ratio = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && ratio > limit; attempt += 1) {
    ratio = Math.min(ratio, cost(make(size * 4)) / cost(make(size * 2)));
  }
  expect(ratio).toBeLessThanOrEqual(limit);
});
