import { describe, expect, test } from 'vitest';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse, reparse } from '../../server/src/syntax/parse.ts';
import { refereeMissing, refereeTsql } from '../support/referee.ts';

/** Rare forms that Microsoft's parser accepts. */
const accepted = [
  'SELECT a FROM t FOR UPDATE;',
  'SELECT a FROM t ORDER BY a FOR UPDATE OF a, t.b OPTION (RECOMPILE);',
  'WITH c AS (SELECT 1 AS a) SELECT a FROM c FOR READ ONLY;',
  'CREATE PROCEDURE p AS SELECT a FROM t FOR UPDATE;',
  'INSERT OVER t (a) VALUES (1);',
  'INSERT TOP (1) OVER @t SELECT 1;',
  "SELECT REGEXP_LIKE(a, 'b') AS x, 1 + REGEXP_LIKE(a, 'b') FROM t;",
  "SELECT a FROM t WHERE 1 = REGEXP_LIKE(a, 'b') AND REGEXP_LIKE(b, 'c') ORDER BY (REGEXP_LIKE(a, 'b'));",
  "UPDATE t SET a = REGEXP_LIKE(b, 'c');",
  ';CREATE VIEW v AS SELECT 1 AS a; ;',
  'CREATE SCHEMA s CREATE TABLE t (a int) CREATE VIEW v AS SELECT a FROM t;',
  "EXEC (N'CREATE SCHEMA s');",
  'SELECT 1; ALTER SCHEMA s TRANSFER t; CREATE SYNONYM a FOR b;',
  "SELECT {fn extract(day FROM a)}, {fn current_time()}, TRIM(LEADING 'a' FROM b), CURRENT_DATE, USER;",
  'CREATE TABLE t (a double precision, b national char varying(10));',
  "EXEC (@a + N'b' + 'c' + @@servername);",
  "EXEC ('SELECT ?', 1, @a OUTPUT) AT s;",
  'ALTER SCHEMA s TRANSFER TYPE::dbo.a; ALTER SCHEMA s TRANSFER XML SCHEMA COLLECTION::dbo.b;',
  'ALTER TABLE t ALTER INDEX i REBUILD WITH (BUCKET_COUNT = 5); ALTER TABLE t SPLIT RANGE (1); ALTER TABLE t MERGE RANGE (1);',
  'ALTER TABLE t ALTER COLUMN a int COLLATE x SPARSE NOT NULL WITH (ONLINE = ON);',
  'CREATE TRIGGER g ON t AFTER INSERT AS EXTERNAL NAME a.b.c;',
  'SELECT COUNT(ALL a) OVER (PARTITION BY b), COUNT(DISTINCT a) FROM t;',
];

/** Forms that it refuses, beside those of problems.test.ts. */
const refused = [
  'SELECT a FROM (SELECT a FROM t FOR UPDATE) AS x;',
  'IF EXISTS (SELECT a FROM t FOR UPDATE) SELECT 1;',
  'INSERT INTO u SELECT a FROM t FOR UPDATE;',
  'SELECT a FROM t FOR XML AUTO FOR UPDATE;',
  'INSERT OVER INTO t VALUES (1);',
  "SELECT a FROM t WHERE REGEXP_LIKE(a, 'b') = 1;",
  "SELECT a FROM t WHERE REGEXP_LIKE(a, 'b') IS NULL;",
  'SELECT CURRENT_TIME;',
  'SELECT SESSION_USER();',
  'CREATE TABLE t (a national);',
  'DECLARE @a double;',
  "SELECT POSITION('a' IN b);",
  ...['VIEW v AS SELECT 1 AS a', 'PROC p AS SELECT 1', 'TRIGGER t ON u AFTER INSERT AS SELECT 1'].flatMap((made) => [
    `SELECT 1; CREATE ${made};`,
    `SELECT 1; CREATE OR ALTER ${made};`,
    `SELECT 1; ALTER ${made};`,
    `BEGIN CREATE ${made} END;`,
    `here: CREATE ${made};`,
  ]),
  "EXEC (N'DROP TABLE ' + QUOTENAME(@a));",
  "EXEC ('a' + CAST(@b AS varchar(10)) + @c);",
  "EXEC ('a' + -@b);",
  "EXEC ('a' || @b);",
  "EXEC (('a'));",
  'EXEC (NULL);',
  'ALTER SCHEMA s TRANSFER zq::dbo.a;',
  'ALTER TABLE t ALTER ALTER COLUMN a int;',
  ...['NOT NULL DEFAULT 1', 'PRIMARY KEY', 'CHECK (a > 1)', 'REFERENCES u (b)', 'IDENTITY'].map(
    (addition) => `ALTER TABLE t ALTER COLUMN a int ${addition};`,
  ),
  'ALTER TABLE t ALTER COLUMN a AS b + 1;',
  'ALTER TABLE t SPLIT SPLIT RANGE (1);',
  'ALTER TABLE t ALTER INDEX i REBUILD WITH WITH (BUCKET_COUNT = 5);',
  'ALTER SCHEMA s TRANSFER XML SCHEMA COLLECTION ) ::x;',
  'CREATE TRIGGER g ON t AFTER INSERT AS',
  'CREATE PROCEDURE p AS SELECT 1; CREATE SCHEMA s;',
  'CREATE FUNCTION f() RETURNS int AS BEGIN RETURN 1 END; SELECT 1;',
];

describe("rare forms have the verdict of Microsoft's parser", () => {
  test.each(accepted)('accepted: %s', (text) => {
    expect(problemsOf(parse(text))).toEqual([]);
  });

  test.each(refused)('refused: %s', (text) => {
    expect(problemsOf(parse(text))).toHaveLength(1);
  });

  test.skipIf(refereeMissing() !== null)('as it says itself', async () => {
    const texts = [...accepted, ...refused].map((text) => ({ name: text, text }));
    const names = (await refereeTsql(texts)).map(({ name }) => name);
    expect(texts.filter(({ text }) => names.includes(text)).map(({ text }) => text)).toEqual(refused);
  });
});

describe('what stands before a unit in its batch counts after an edit, too', () => {
  test.each([
    ['SELECT 1;\nCREATE VIEW v AS SELECT 1 AS a;', 'SELECT 1;', ''],
    ['SELECT 1;\nCREATE VIEW v AS SELECT 1 AS a;', 'SELECT 1;\n', 'SELECT 1;\nGO\n'],
    ['SELECT 1;\nGO\nCREATE VIEW v AS SELECT 1 AS a;', 'GO', '--'],
    ['CREATE VIEW v AS SELECT 1 AS a;\nSELECT 2;', 'VIEW v AS', 'TABLE t (a int);'],
    ['CREATE TABLE t (a int);\nSELECT 2;\nSELECT 3;', 'TABLE t (a int)', 'VIEW t AS SELECT 1 AS a'],
    ['CREATE SCHEMA s;\nCREATE VIEW v AS SELECT 1 AS a;', 'SCHEMA s', 'TABLE s (a int)'],
    ['SELECT 1;\nSELECT 2;\nCREATE SCHEMA s;', 'SELECT 1;\nSELECT 2;', ';'],
  ])('%s with %s as %s', (before, old, text) => {
    const start = before.indexOf(old);
    const after = before.replace(old, text);
    const edited = reparse(parse(before), { start, end: start + old.length, text });
    expect(edited).toEqual(parse(after));
  });
});
