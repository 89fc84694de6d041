import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { findAll, problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import type { Statement } from '../../server/src/syntax/tree.ts';
import { duckdbFixtures, sparkFixtures } from '../support/tsql-fixtures.ts';

function statementOf(text: string, platform: PlatformName): Statement | undefined {
  return unitsOf(parse(text, { platform }))[0]?.statement;
}

describe('fixtures of Spark SQL and DuckDB', () => {
  test.each([...sparkFixtures, ...duckdbFixtures])(
    '$platform: $name parses without a problem',
    ({ text, platform }) => {
      expect(problemsOf(parse(text, { platform }))).toEqual([]);
    },
  );

  test.each(duckdbFixtures)("$name is valid by DuckDB's parser", async ({ text }) => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const statements = await connection.extractStatements(text);
    expect(statements.count).toBeGreaterThan(5);
    connection.closeSync();
  });
});

describe('pipes', () => {
  test('each step is a SELECT over the steps before it', () => {
    const statement = statementOf(
      'FROM t AS x |> WHERE a > 1 |> SELECT a AS b, x.c |> DROP c |> LIMIT 3',
      'databricks',
    );
    expect(statement).toMatchObject({
      kind: 'select-statement',
      query: {
        body: {
          kind: 'query-group',
          query: {
            limit: { value: '3' },
            body: {
              kind: 'select',
              items: [{ expression: { kind: 'star', except: [{ name: 'c' }] } }],
              from: [
                { kind: 'derived-table', query: { body: { items: [{ alias: { name: 'b' } }, { alias: null }] } } },
              ],
            },
          },
        },
      },
    });
  });

  test('grouped columns stand behind the aggregates', () => {
    const statement = statementOf('FROM t |> AGGREGATE SUM(a) AS s GROUP BY b, c + 1 AS d', 'databricks');
    expect(statement).toMatchObject({
      query: {
        body: {
          kind: 'select',
          items: [{ alias: { name: 's' } }, { expression: { parts: [{ name: 'b' }] } }, { alias: { name: 'd' } }],
          groupBy: { items: [] },
        },
      },
    });
  });

  test('a mark without an operator is one problem', () => {
    expect(problemsOf(parse('FROM t |> )', { platform: 'databricks' })).map((problem) => problem.message)).toEqual([
      "Expected a pipe operator such as SELECT, WHERE or AGGREGATE, but found ')'.",
    ]);
  });
});

describe('names of Spark', () => {
  test('a name may begin with digits, and a suffix still makes a number', () => {
    const [table] = findAll(statementOf('SELECT 1L, 2e3, 1st FROM db.2020_sales', 'spark') as Statement, 'table');
    expect(table?.name.parts.map((part) => part?.name)).toEqual(['db', '2020_sales']);
    const items = findAll(statementOf('SELECT 1L, 2e3, 1st', 'spark') as Statement, 'select-item');
    expect(items.map((item) => item.expression.kind)).toEqual(['literal', 'literal', 'column']);
  });

  test('IDENTIFIER (…) stands for a name or a part of one', () => {
    const [table] = findAll(statementOf("SELECT 1 FROM IDENTIFIER('s').t", 'spark') as Statement, 'table');
    expect(table?.name.parts.map((part) => part?.name)).toEqual(["IDENTIFIER('s')", 't']);
  });

  test('a keyword is a column where only a name can stand', () => {
    const items = findAll(statementOf('SELECT left, end.a, f(start, end) FROM t', 'spark') as Statement, 'select-item');
    expect(items.map((item) => item.expression.kind)).toEqual(['column', 'column', 'call']);
    expect(problemsOf(parse('SELECT a, WHERE b = 1', { platform: 'spark' })).length).toBe(1);
  });
});

test('keywords that begin their own clause stay keywords', () => {
  const problems = (text: string) => problemsOf(parse(text, { platform: 'spark' })).map(({ message }) => message);
  expect(problems('SELECT a FROM t ORDER BY')).toEqual(['Expected an expression before the end of the text.']);
  expect(problems('SELECT a FROM GROUP BY a')).toEqual(["Expected a table, but found 'GROUP'."]);
  expect(problems('SELECT FROM t')).toEqual(["Expected an expression, but found 'FROM'."]);
});

test('the columns behind an alias of INSERT are those that it writes', () => {
  const statement = statementOf('INSERT INTO t AS u (a, b) SELECT 1, 2', 'duckdb');
  expect(statement).toMatchObject({ target: { alias: { name: 'u' } }, columns: [{ name: 'a' }, { name: 'b' }] });
});

test('a comma too much in a list is one only outside of DuckDB', () => {
  expect(problemsOf(parse('SELECT f(1, 2,)', { platform: 'duckdb' }))).toEqual([]);
  expect(problemsOf(parse('SELECT f(1, 2,)', { platform: 'spark' }))).toHaveLength(1);
  expect(problemsOf(parse('SELECT f(1, , 2)', { platform: 'duckdb' }))).toHaveLength(1);
});

test('a unique index of DuckDB has its columns', () => {
  expect(statementOf('CREATE UNIQUE INDEX u ON t USING art (a, b)', 'duckdb')).toMatchObject({
    kind: 'create-index',
    definition: { unique: true, columns: [{ name: { name: 'a' } }, { name: { name: 'b' } }] },
  });
});

test("the standard's types of several words are DuckDB's own", () => {
  const text =
    'CREATE TABLE t (a character varying(8), b char varying, c national character varying(2), d bit varying, e national char(3))';
  expect(problemsOf(parse(text, { platform: 'duckdb' }))).toEqual([]);
  const statement = statementOf(text, 'duckdb');
  const types = statement === undefined ? [] : findAll(statement, 'data-type').map((type) => type.text);
  expect(types).toEqual(['varchar(8)', 'varchar', 'varchar(2)', 'varbit', 'varchar(3)']);
});

test.each([
  "SELECT TIMESTAMP WITH TIME ZONE '2005-04-02 12:00:00-07', TIME WITHOUT TIME ZONE '10:00' AS t",
  'CREATE TABLE t (a INTERVAL YEAR TO MONTH, b INTERVAL DAY NOT NULL)',
  'SELECT a FROM t ORDER BY a FETCH FIRST ROW ONLY',
])('DuckDB reads %s', async (text) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  expect((await connection.extractStatements(text)).count).toBe(1);
  connection.closeSync();
  expect(problemsOf(parse(text, { platform: 'duckdb' }))).toEqual([]);
});

test('strings of DuckDB go on behind a line break only', () => {
  const text = "SELECT 'a' -- the first part\n  'b'";
  expect(problemsOf(parse(text, { platform: 'duckdb' }))).toEqual([]);
  const statement = statementOf(text, 'duckdb');
  expect(statement === undefined ? [] : findAll(statement, 'literal')).toMatchObject([{ value: 'ab' }]);
  expect(problemsOf(parse("SELECT 'a' 'b'", { platform: 'duckdb' }))).toHaveLength(1);
});

test('an explained write is no write, and its mistakes are told', () => {
  expect(statementOf('EXPLAIN FORMATTED\nINSERT INTO t SELECT 1', 'spark')).toMatchObject({
    kind: 'opaque',
    name: 'EXPLAIN',
  });
  expect(problemsOf(parse('EXPLAIN\nSELECT a FROM t WHERE (a', { platform: 'duckdb' })).length).toBe(1);
});

test("partition columns with types are the table's own, those without are named before", () => {
  const typed = statementOf('CREATE TABLE t (a INT) USING parquet PARTITIONED BY (b STRING, c DATE)', 'spark');
  const named = statementOf('CREATE TABLE t (a INT, b STRING) PARTITIONED BY (b, bucket(4, a))', 'spark');
  const names = (statement: Statement | undefined) =>
    findAll(statement as Statement, 'column-definition').map((column) => `${column.name.name} ${column.type?.text}`);
  expect(names(typed)).toEqual(['a int', 'b string', 'c date']);
  expect(names(named)).toEqual(['a int', 'b string']);
});

test('a name behind the target of INSERT and of CREATE TABLE', () => {
  const problems = (text: string, platform: PlatformName) =>
    problemsOf(parse(text, { platform })).map(({ message }) => message);
  expect(problems('INSERT INTO t u VALUES (1)', 'databricks')).toEqual(["Expected VALUES or a query, but found 'u'."]);
  expect(problems('INSERT INTO t AS u REPLACE ON u.a = s.a SELECT 1 AS a', 'databricks')).toEqual([]);
  expect(problems('CREATE TABLE t u (a INTEGER)', 'duckdb')).toEqual(["Expected '(' or AS, but found 'u'."]);
});

test('a constant has methods in DuckDB alone', () => {
  const text = "SELECT 'abc'.upper().lower()";
  expect(problemsOf(parse(text, { platform: 'duckdb' }))).toEqual([]);
  expect(problemsOf(parse(text, { platform: 'spark' }))).toHaveLength(1);
});

describe('mistakes that no new clause can explain', () => {
  test.each([
    ["'a' AS b FROM t", "Expected a statement, but found ''a''. @ 0"],
    ['* FROM t', "Expected a statement, but found '*'. @ 0"],
    ['id, name FROM t', "Expected a statement, but found 'id'. @ 0"],
    ['ON a = b', "Expected a statement, but found 'ON'. @ 0"],
    ['SELECT a b b FROM t', "Expected the end of the statement, but found 'b'. @ 11"],
    ['SELECT a AS b, c d e, f FROM t', "Expected the end of the statement, but found 'e'. @ 19"],
    ['DELETE FROM t x y = 1', "Expected the end of the statement, but found 'y'. @ 16"],
    ['INSERT t VALUES (1)', "Expected INTO, but found 't'. @ 7"],
    ['CREATE TABLE t (a INT, b)', 'Expected the type of the column b. @ 23'],
    ['CREATE TABLE t (a INT INT)', "Expected ',' or ')', but found 'INT'. @ 22"],
    ['CREATE . t', "Expected TABLE, VIEW or another kind of object, but found '.'. @ 7"],
    ['SELECT * FORM t', "Expected FROM, but found 'FORM'. @ 9"],
    ['UPDATE t SET a = 1 WEHRE b = 2', "Expected WHERE, but found 'WEHRE'. @ 19"],
    ['SELECT a FROM t AS x GRUOP BY a', "Expected GROUP, but found 'GRUOP'. @ 21"],
  ])('%s', (text, problem) => {
    for (const platform of ['databricks', 'duckdb'] as const) {
      const found = problemsOf(parse(text, { platform })).map(({ message, start }) => `${message} @ ${start}`);
      expect(found).toEqual([problem]);
    }
  });

  test.each([
    ['SELECT a..b FROM t', "Expected a name after the dot, but found '.'. @ 9"],
    ['SELECT * FROM a..b', "Expected a name after the dot, but found '.'. @ 16"],
    ['SELECT a FROM t WHERE a IS OR b', "Expected NULL, NOT NULL, TRUE, FALSE or DISTINCT FROM, but found 'OR'. @ 27"],
    ['SELECT 1 AS a upper(b)', "Expected ',' or FROM, but found 'upper'. @ 14"],
    ['SELECT CAST(a AS DECIMAL(5 2))', "Expected a number, ',' or ')', but found '5'. @ 25"],
    [
      'CREATE TEMPORARY TEMPORARY VIEW v AS SELECT 1',
      "Expected TABLE, VIEW or another kind of object, but found 'TEMPORARY'. @ 17",
    ],
    ['CREATE REPLACE TABLE t (a INT)', "Expected TABLE, VIEW or another kind of object, but found 'REPLACE'. @ 7"],
    ['DROP t;', "Expected TABLE, VIEW or another kind of object before the name, but found 'DROP'. @ 0"],
    [
      'ALTER ALTER TABLE t ADD COLUMN a INT',
      "Expected TABLE, VIEW or another kind of object before the name, but found 'ALTER'. @ 0",
    ],
    ['SELECT a FROM t BY a', "Expected the end of the statement, but found 'BY'. @ 16"],
    ['MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE', "Expected INTO, but found 't'. @ 6"],
    ['CREATE TABLE TABLE t (a INT)', "Expected the name of a table, but found 'TABLE'. @ 13"],
    ['CREATE OR REPLACE VIEW VIEW v AS SELECT 1', "Expected the name of a view, but found 'VIEW'. @ 23"],
    ['DROP TABLE TABLE t', "Expected a name, but found 'TABLE'. @ 11"],
    ['UPDATE t AS x SET x..a = 1', "Expected a name after the dot, but found '.'. @ 20"],
    ['CREATE d TABLE (a INT)', "Expected TABLE, VIEW or another kind of object, but found 'd'. @ 7"],
    ['dw.t SET a = 1', "Expected a statement, but found 'dw'. @ 0"],
    ['WITH a AS (1 SELECT AS b) SELECT 1', "Expected SELECT, but found '1'. @ 11"],
    ['WITH a AS (b.c FROM b) SELECT 1', "Expected SELECT, but found 'b'. @ 11"],
  ])('%s', (text, problem) => {
    for (const platform of ['databricks', 'duckdb'] as const) {
      const found = problemsOf(parse(text, { platform })).map(({ message, start }) => `${message} @ ${start}`);
      expect(found).toEqual([problem]);
    }
  });

  test.each([
    ['CREATE TABLE t (a a INT)', "Expected ',' or ')', but found 'INT'. @ 20"],
    ['CREATE TABLE t (a INT NOT NULL b STRING)', "Expected ',' or ')', but found 'b'. @ 31"],
    ['CREATE TABLE t (a INT NULL)', "Expected ',' or ')', but found 'NULL'. @ 22"],
    ['CREATE TABLE t (a DECIMAL(9, )) USING delta', "Expected a number, ',' or ')', but found ','. @ 27"],
    ['CREATE TABLE t (a INT) USING delta delta', "Expected the next clause of the table, but found 'delta'. @ 35"],
    ['CREATE TABLE t (a INT) PARTITIONED BY BY (a)', "Expected '(', but found 'BY'. @ 38"],
    ['CREATE TABLE t STORED AS AS PARQUET', "Expected a format, but found 'AS'. @ 25"],
    ['SELECT count(*) FILTER (a > 1) FROM t', "Expected WHERE, but found 'a'. @ 24"],
    ['INSERT INTO t REPLACE USING (a b) SELECT * FROM u', "Expected ',' or ')', but found 'b'. @ 31"],
  ])('on Spark alone: %s', (text, problem) => {
    const found = problemsOf(parse(text, { platform: 'spark' })).map(({ message, start }) => `${message} @ ${start}`);
    expect(found).toEqual([problem]);
  });

  test.each([
    ['SET VARIABLE a b = 1', "Expected '=', but found 'b'. @ 15"],
    ['SET a VARIABLE = 1', "Expected '=', but found 'VARIABLE'. @ 6"],
    ['SET VARIABLE a = 1 b;', "Expected ';', but found 'b'. @ 19"],
    ['VARIABLE SET a = 1', "Expected a statement, but found 'VARIABLE'. @ 0"],
    ['VARIABLE a = 1', "Expected a statement, but found 'VARIABLE'. @ 0"],
    ['BEGIN TRANSACTION TRANSACTION;', "Expected ';', but found 'TRANSACTION'. @ 18"],
    ['CREATE TABLE t SELECT 1 AS a', "Expected AS, but found 'SELECT'. @ 15"],
    ['CREATE VIEW v v AS SELECT 1', "Expected AS, but found 'v'. @ 14"],
    ['CREATE TABLE t (a INT));', "Expected the end of the statement, but found ')'. @ 22"],
    ['CREATE TABLE t (a INT KEY)', "Expected ',' or ')', but found 'KEY'. @ 22"],
    ['INSERT INTO t u (a) SELECT 1', "Expected SELECT, but found 'u'. @ 14"],
    ['INSERT INTO t SELECT 1 ON CONFLICT () DO NOTHING', "Expected a column name, but found ')'. @ 36"],
    ['SELECT * FROM t AS WHERE a = 1', "Expected an alias, but found 'WHERE'. @ 19"],
    ["SELECT 1 'a'", "Expected the end of the statement, but found ''a''. @ 9"],
    ['SELECT () FROM t', "Expected an expression, but found ')'. @ 8"],
    ['SELECT sum(a) OVER (PARTITION PARTITION BY b) FROM t', "Expected BY, but found 'PARTITION'. @ 30"],
    ['UPDATE t SET a = 0 b IS NULL', "Expected the end of the statement, but found 'b'. @ 19"],
  ])('on DuckDB alone: %s', async (text, problem) => {
    const found = problemsOf(parse(text, { platform: 'duckdb' })).map(({ message, start }) => `${message} @ ${start}`);
    expect(found).toEqual([problem]);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await expect(connection.extractStatements(text)).rejects.toThrow();
    connection.closeSync();
  });

  test.each([
    "SET threads = 4; SET SESSION TIME ZONE 'UTC'; SET schema 'x'; SET GLOBAL a.b TO DEFAULT; SET variable = 1",
    'SET VARIABLE a = (SELECT 1); SET VARIABLE a.b TO 2',
    'BEGIN; BEGIN TRANSACTION READ ONLY; COMMIT WORK; ROLLBACK; END TRANSACTION',
    'CREATE SECRET secret (TYPE s3); DROP PERSISTENT SECRET x; DROP SECRET IF EXISTS x FROM y',
    'CREATE TABLE t (a INTEGER ARRAY, b INTERVAL DAY, c INT USING COMPRESSION rle, d VARCHAR COLLATE NOCASE)',
    'CREATE TABLE t PARTITIONED BY (a) AS SELECT 1 AS a',
    'INSERT INTO t AS u (a, b) SELECT 1, 2 ON CONFLICT (a, b) DO NOTHING',
    "SELECT * FROM t AS values; SELECT a.b 'x'; SELECT a FROM t GROUP BY ()",
    "PRAGMA threads = 4; RESET x; SUMMARIZE SELECT 1; PREPARE p AS INSERT INTO t VALUES (1); COPY t TO 'x'; CALL f(1)",
  ])('on DuckDB none: %s', async (text) => {
    expect(problemsOf(parse(text, { platform: 'duckdb' }))).toEqual([]);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    expect((await connection.extractStatements(text)).count).toBeGreaterThan(0);
    connection.closeSync();
  });

  test('a word that may begin a new clause or statement is none', () => {
    for (const text of ['SELECT a FROM t NEWCLAUSE x', 'NEWSTATEMENT x y', 'NEWSTATEMENT', 'SELECT 1 FOREVER'])
      for (const platform of ['databricks', 'duckdb'] as const)
        expect(problemsOf(parse(text, { platform }))).toEqual([]);
  });

  test('comments of Jinja are comments', () => {
    for (const platform of ['databricks', 'duckdb'] as const) {
      const script = parse("{# don't; #}\nSELECT 1; {#- x -#}", { platform });
      expect(unitsOf(script).map((unit) => unit.statement.kind)).toEqual(['select-statement']);
      expect(problemsOf(script)).toEqual([]);
    }
  });
});

describe('loads of Databricks that are no INSERT', () => {
  test.each([
    [
      "COPY INTO a.t BY POSITION FROM (SELECT x::INT FROM 's3://x') FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')",
      { kind: 'table-load', merges: false, source: { kind: 'derived-table' } },
    ],
    ["COPY INTO t FROM '/x' FILEFORMAT = JSON", { kind: 'table-load', merges: false, source: null }],
    [
      "APPLY CHANGES INTO LIVE.t\nFROM STREAM(LIVE.s)\nKEYS (id)\nAPPLY AS DELETE WHEN op = 'D'\nSEQUENCE BY q\nCOLUMNS * EXCEPT (op)\nSTORED AS SCD TYPE 2",
      { kind: 'table-load', merges: true, target: { parts: [{ name: 'LIVE' }, { name: 't' }] } },
    ],
    [
      "CREATE FLOW f COMMENT 'x' AS AUTO CDC INTO t FROM s KEYS (id) SEQUENCE BY q",
      { kind: 'table-load', merges: true, source: { kind: 'table', alias: null } },
    ],
    ['CREATE FLOW f AS INSERT INTO ONCE t BY NAME SELECT 1 AS a', { kind: 'insert', byName: true }],
  ])('%s', (text, shape) => {
    const script = parse(`${text};\nSELECT 1`, { platform: 'databricks' });
    expect(problemsOf(script)).toEqual([]);
    expect(unitsOf(script)).toHaveLength(2);
    expect(unitsOf(script)[0]?.statement).toMatchObject(shape);
  });
});

test('collations inside of nested types, and columns named like constraints', () => {
  const statement = statementOf(
    'CREATE TABLE t (constraint STRING, m MAP<STRING COLLATE UNICODE, ARRAY<STRING COLLATE UTF8_LCASE>>, check INT)',
    'databricks',
  );
  const columns = findAll(statement as Statement, 'column-definition');
  expect(columns.map((column) => `${column.name.name} ${column.type?.text}`)).toEqual([
    'constraint string',
    'm map<string,array<string>>',
    'check int',
  ]);
});
