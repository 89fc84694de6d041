import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';

/**
 * The text with `«…»` around the place of each problem, and the messages; the marks are no part of what is parsed.
 */
function checkProblems(marked: string, messages: readonly string[], platform: PlatformName = 'sqlserver'): void {
  const text = marked.replace(/[«»]/g, '');
  const problems = problemsOf(parse(text, { platform }));
  let shown = '';
  let last = 0;
  for (const { start, end } of problems) {
    shown += `${text.slice(last, start)}«${text.slice(start, end)}»`;
    last = end;
  }
  expect(shown + text.slice(last)).toBe(marked);
  expect(problems.map((problem) => problem.message)).toEqual(messages);
}

describe('one problem at the mistake, with what was expected', () => {
  test.each([
    ['SELECT a «FRM» t WHERE b = 1', []],
    ['SELECT a, «FROM» t', ["Expected an expression, but found 'FROM'."]],
    ['SELECT a FROM t WHERE a «ORDER» BY a', ["Expected a comparison, but found 'ORDER'."]],
    ['INSERT INTO t (a, b «VALUES» (1, 2)', ["Expected ',' or ')', but found 'VALUES'."]],
    ['UPDATE t SET a 1', []],
    ['CREATE TABLE t (a int NOT«,» b int)', ["Expected NULL, but found ','."]],
    ['CREATE TABLE t (a varchar(«x»))', ["Expected a length or MAX, but found 'x'."]],
    ['CREATE TABLE t (a int) WITH (DISTRIBUTON = 1)', []],
    ['SELECT CASE WHEN a = 1 «1» END', ["Expected THEN, but found '1'."]],
    ['SELECT CAST(a «int»)', ["Expected AS, but found 'int'."]],
    [
      'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN «INSERT» (a) VALUES (1);',
      ["Expected UPDATE or DELETE, but found 'INSERT'."],
    ],
    [
      'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELET«E»',
      ["Expected ';': a MERGE statement must end with a semicolon."],
    ],
    ['BEGIN SELECT «1»', ['Expected END before the end of the text.']],
    ['SET NOCOUNT «YES»', ["Expected ON or OFF, but found 'YES'."]],
    ["SELECT «'»abc", ['This string has no closing quote.']],
    ['SELECT 1 «/*» abc', ['This comment has no closing */.']],
    ['SELECT a FROM (SELECT 1 AS a)', []],
    ['CREATE WORKLOAD GROUP g WITH «(»IMPORTANCE = HIGH', ["Expected ')' for this parenthesis."]],
    ["SELECT a FROM OPENROWSET«(»BULK 'f', FORMAT = 'CSV' AS r", ["Expected ')' for this parenthesis."]],
    // What follows from the mistake is no second one.
    ['SET NOCOUNT «;» ON', ["Expected ON or OFF, but found ';'."]],
    ["BEGIN PRINT «;» N'x' END", ["Expected an expression, but found ';'."]],
    ['EXEC «;» (@sql)', ["Expected a procedure, but found ';'."]],
    ['CREATE TABLE t (a int «b», int NOT NULL)', ["Expected ',' or ')', but found 'b'."]],
    ['CREATE TABLE t (a int REFERENCES«,» dbo.u (b), c int)', ["Expected a table, but found ','."]],
    ['BEGIN TRY SELECT 1; END «)» TRY BEGIN CATCH THROW; END CATCH', ["Expected TRY, but found ')'."]],
    ['SELECT 1;\nEND «TRY»\nBEGIN CATCH\n  THROW;\nEND CATCH', []],
    ['SELECT 1;\nBEGIN «CATCH»\n  THROW;\nEND CATCH', ["Expected a statement, but found 'CATCH'."]],
    ['IF «EXISTS» SELECT 1\n  PRINT 1;\nELSE\n  PRINT 2;', []],
    ['ALTER TABLE\nDROP CONSTRAINT c', []],
    ['ALTER TABLE t t\nDROP COLUMN c', []],
    ['ALTER TABLE , t\nALTER COLUMN c int', []],
    ['CREATE , SECURITY POLICY p\n  ADD FILTER PREDICATE f(a) ON t\n  WITH (STATE = ON)', []],
    ['CREATE PROCEDURE a.AS p BEGIN SELECT 1 END', []],
    ['EXEC BEGIN p END', []],
  ] as const)('%s', (marked, messages) => {
    if (messages.length > 0) checkProblems(marked, messages);
    else expect(problemsOf(parse(marked.replace(/[«»]/g, ''))).length).toBe(1);
  });

  test.each([
    [
      'SELECT 1 AS a;\n«CREATE» VIEW v AS SELECT 1 AS a;',
      'CREATE VIEW must be the first statement of its batch: put GO on the line before it.',
    ],
    [
      "IF SCHEMA_ID(N's') IS NULL «CREATE» SCHEMA s;",
      'CREATE SCHEMA must be the first statement of its batch: put GO on the line before it.',
    ],
    [
      'CREATE VIEW v AS SELECT 1 AS a;\n«SELECT» a FROM v;\nSELECT 2;',
      'Expected the end of the batch: a view or function stands alone in it. Put GO on the line before this.',
    ],
    [
      'CREATE VIEW v AS SELECT 1 AS a;\n«GO» CREATE VIEW w AS SELECT 1 AS a;',
      'Expected the end of the line after GO: a GO separates batches only alone on its line.',
    ],
    [
      '«GO» 2 CREATE VIEW w AS SELECT 1 AS a;',
      'Expected the end of the line after GO: a GO separates batches only alone on its line.',
    ],
    [
      'SELECT SUM(«DISTINCT» a) OVER (PARTITION BY b) FROM t',
      'Expected no DISTINCT: an aggregate with OVER takes every row.',
    ],
    ["SELECT STRING_AGG(«DISTINCT» a, N',') FROM t", 'Expected no DISTINCT: it is for functions of one argument.'],
    ['SELECT CURRENT_TIMESTAMP«(»)', 'Expected no parentheses: CURRENT_TIMESTAMP takes no arguments.'],
    ['CREATE TABLE t (a «double» NOT NULL, b int)', 'Expected PRECISION behind DOUBLE.'],
    ['SELECT «`a`» FROM t', "Expected an expression, but found '`a`'."],
    ['DELETE FROM «`t`»', "Expected a table, but found '`t`'."],
    ['SELECT SUBSTRING(a «FROM» 1) FROM t', "Expected ',' or ')', but found 'FROM'."],
    [
      "EXEC (N'DROP TABLE ' + «QUOTENAME(@a)» + @b)",
      'Expected a string or a variable: EXECUTE joins nothing else, so put the whole text into a variable first.',
    ],
    ['COPY «t» FROM s', "Expected INTO, but found 't'."],
  ])('%s', (marked, message) => {
    checkProblems(marked, [message]);
  });

  test('two mistakes in two columns, both reported', () => {
    checkProblems('CREATE TABLE t (a int NOT«,» b int, c «NULL», d int)', [
      "Expected NULL, but found ','.",
      "Expected a data type, but found 'NULL'.",
    ]);
  });

  test('two mistakes in two statements, both reported', () => {
    checkProblems('SELECT «FROM» t;\nDELETE FROM «WHERE» a = 1;\nSELECT 2;', [
      "Expected an expression, but found 'FROM'.",
      "Expected a table, but found 'WHERE'.",
    ]);
  });

  test('Spark and DuckDB tell what is beyond doubt', () => {
    checkProblems(
      'MERGE INTO t USING s ON t.a = s.a WHEN MATCHED «UPDATE» SET *',
      ["Expected THEN, but found 'UPDATE'."],
      'databricks',
    );
    checkProblems('CREATE TABLE t (a INT,«,» b INT)', ["Expected a column name, but found ','."], 'duckdb');
    checkProblems('CREATE TABLE t (a INT SOMETHING NEW, b INT) FUTURE CLAUSE', [], 'databricks');
    checkProblems('SELECT a FROM t FUTURE CLAUSE (b)', [], 'databricks');
    checkProblems('SELECT f(a «b») FROM t', ["Expected ',' or ')', but found 'b'."], 'databricks');
    checkProblems('SELECT CAST(a «DATE») FROM t', ["Expected AS, but found 'DATE'."], 'duckdb');
    checkProblems('SELECT a AS b «5» FROM t', ["Expected the end of the statement, but found '5'."], 'spark');
  });
});

describe('the rest stays understood', () => {
  const table = 'CREATE TABLE dbo.s (a int NOT NULL, b varchar(10));\nGO\n';
  const merge =
    'MERGE dbo.t AS t USING dbo.s AS s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b);';

  test('a file cut inside its MERGE keeps tables, target, source and finished branches', () => {
    const cut = table + merge.slice(0, merge.indexOf('(s.a, s.b)') + 4);
    const [first, second] = unitsOf(parse(cut)).map((unit) => unit.statement);
    expect(first).toMatchObject({
      kind: 'create-table',
      elements: [{ type: { text: 'int' } }, { type: { text: 'varchar(10)' } }],
    });
    expect(second).toMatchObject({
      kind: 'merge',
      target: { alias: { name: 't' } },
      source: { alias: { name: 's' } },
      branches: [{ match: 'matched', action: { kind: 'merge-update' } }, { match: 'not-matched' }],
    });
  });

  test('every cut of a MERGE keeps the table before it', () => {
    for (let end = 0; end <= merge.length; end += 1) {
      const [first] = unitsOf(parse(table + merge.slice(0, end))).map((unit) => unit.statement);
      expect(first).toMatchObject({ kind: 'create-table', elements: [{}, {}] });
    }
  });

  test('every cut of a MERGE keeps the table behind it, target, source and finished branches', () => {
    const [whole] = unitsOf(parse(merge)).map((unit) => unit.statement);
    if (whole?.kind !== 'merge' || whole.source === null) throw new Error('The text is no MERGE.');
    const shapeOf = (node: object): string =>
      JSON.stringify(node, (key, value: unknown) => (key === 'start' || key === 'end' ? undefined : value));
    // A cut inside the first word leaves a name, which calls a procedure.
    for (let end = 'MERGE'.length; end <= merge.length; end += 1) {
      const cut = `${merge.slice(0, end)}\nCREATE TABLE dbo.later (z int);`;
      const statements = unitsOf(parse(cut)).map((unit) => unit.statement);
      expect(statements[statements.length - 1], cut).toMatchObject({ kind: 'create-table', elements: [{}] });
      const part = statements.find((statement) => statement.kind === 'merge');
      if (end > whole.target.end) expect(shapeOf(part?.target ?? {}), cut).toBe(shapeOf(whole.target));
      if (end > whole.source.end) expect(shapeOf(part?.source ?? {}), cut).toBe(shapeOf(whole.source));
      const finished = whole.branches.filter((branch) => branch.end < end);
      expect((part?.branches ?? []).slice(0, finished.length).map(shapeOf), cut).toEqual(finished.map(shapeOf));
    }
  });

  test('a column without its type leaves the others', () => {
    const [statement] = unitsOf(
      parse('CREATE TABLE t (a int NOT NULL, b NOT NULL, c char(3) NULL, PRIMARY KEY (a))'),
    ).map((unit) => unit.statement);
    expect(statement?.kind === 'create-table' ? statement.elements : []).toMatchObject([
      { name: { name: 'a' }, type: { text: 'int' } },
      { name: { name: 'b' } },
      { name: { name: 'c' }, type: { text: 'char(3)' }, nullable: true },
      { type: 'primary-key' },
    ]);
  });

  test('a mistake in one branch of a MERGE leaves the others', () => {
    const [statement] = unitsOf(
      parse(
        'MERGE t USING s ON t.a = s.a WHEN MATCHED AND THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1);',
      ),
    ).map((unit) => unit.statement);
    expect(statement).toMatchObject({
      branches: [{ match: 'matched' }, { match: 'not-matched', action: { columns: [{ name: 'a' }] } }],
    });
  });

  test("Fabric's query hints are none, though Microsoft's parser does not have them yet", () => {
    for (const hint of [
      'FORCE SINGLE NODE PLAN',
      'FORCE DISTRIBUTED PLAN',
      "FOR TIMESTAMP AS OF '2026-01-01T00:00:00'",
    ]) {
      expect(problemsOf(parse(`SELECT a FROM t OPTION (${hint}, MAXDOP 1)`, { platform: 'fabric' }))).toEqual([]);
    }
    checkProblems('SELECT a FROM t OPTION (FORCE DISTRIBUTED «)»', ["Expected PLAN, but found ')'."], 'fabric');
  });

  test('text of other tools is no mistake', () => {
    for (const text of [
      'SELECT $(Columns) FROM $(Schema).t WHERE $(Filter)',
      'SELECT a FROM [$(Db)].dbo.t; CREATE TABLE $(Prefix)_t (a int)',
      "{{ config(materialized='table') }} SELECT a FROM {{ ref('x') }}",
    ]) {
      expect(problemsOf(parse(text))).toEqual([]);
    }
  });
});
