import { describe, expect, test } from 'vitest';
import { dynamicScripts } from '../../server/src/syntax/dynamic.ts';
import type { EmbeddedScript } from '../../server/src/syntax/embedded.ts';
import { problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { scriptsInPython } from '../../server/src/syntax/python.ts';

/** Text, completeness and kinds of statements of each embedded script. */
function shown(scripts: readonly EmbeddedScript[]): readonly (readonly [string, boolean, readonly string[]])[] {
  return scripts.map(({ script, complete }) => [
    script.text,
    complete,
    unitsOf(script).map((unit) => unit.statement.kind),
  ]);
}

describe('dynamic SQL', () => {
  test('strings that are executed', () => {
    expect(
      shown(
        dynamicScripts(
          parse(`EXEC ('SELECT 1');
EXEC sp_executesql N'UPDATE t SET a = @a', N'@a int', @a = 1;
DECLARE @q nvarchar(max) = N'DELETE FROM t ';
SET @q += N'WHERE b = ''x''';
EXEC (@q);
SELECT 'SELECT 2';`),
        ),
      ),
    ).toEqual([
      ['SELECT 1', true, ['select-statement']],
      ['UPDATE t SET a = @a', true, ['update']],
      ["DELETE FROM t WHERE b = 'x'", true, ['delete']],
    ]);
  });

  test('what is not known becomes a hole, and nothing is a problem then', () => {
    const [script] = dynamicScripts(
      parse("DECLARE @t sysname; EXEC ('TRUNCATE TABLE ' + QUOTENAME(@t) + ' ' + @rest)"),
    );
    expect(script?.complete).toBe(false);
    expect(script?.script.text).toBe('TRUNCATE TABLE unknown_part unknown_part');
    expect(script === undefined ? null : problemsOf(script.script)).toEqual([]);
  });

  test('positions lead back into the string, past doubled quotes', () => {
    const text = "EXEC (N'SELECT ''x'' AS a FROM dbo.t WHERE')";
    const [script] = dynamicScripts(parse(text));
    const table = script?.script.text.indexOf('dbo.t') ?? -1;
    expect(script?.hostOffset(table)).toBe(text.indexOf('dbo.t'));
    expect(script === undefined ? null : problemsOf(script.script)).toMatchObject([
      { message: 'Expected an expression before the end of the text.' },
    ]);
    expect(script?.hostOffset(script.script.text.length)).toBe(text.lastIndexOf("'"));
  });

  test('inside of procedures, a MERGE in a string', () => {
    const found = dynamicScripts(
      parse(
        "CREATE PROCEDURE p AS BEGIN DECLARE @s varchar(max) = 'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE;' EXEC (@s) END",
      ),
    );
    expect(shown(found)).toMatchObject([[expect.stringContaining('MERGE'), true, ['merge']]]);
  });

  test('what a procedure or a cursor put into a variable is not known', () => {
    const start = "DECLARE @q varchar(max) = 'no SQL yet';";
    for (const filled of ['EXEC dbo.build 1, @q OUTPUT', 'FETCH NEXT FROM c INTO @a, @Q']) {
      expect(dynamicScripts(parse(`${start} ${filled}; EXEC (@q)`)).map(({ complete }) => complete)).toEqual([false]);
    }
  });

  test('what runs on a linked server may be any SQL', () => {
    expect(dynamicScripts(parse("EXEC ('BEGIN pkg.load(1); END;') AT ora"))).toEqual([]);
  });

  test('a backslash at the end of a line continues a string', () => {
    const text = "EXEC ('SELECT a FROM dbo.\\\r\nt WHERE')";
    const [script] = dynamicScripts(parse(text));
    expect(script?.script.text).toBe('SELECT a FROM dbo.t WHERE');
    expect(script?.hostOffset(18)).toBe(text.indexOf('t WHERE'));
  });

  test('variables end with their batch', () => {
    const found = dynamicScripts(parse("DECLARE @q varchar(9) = 'SELECT 1'\nGO\nDECLARE @q varchar(9)\nEXEC (@q)"));
    expect(found.map((script) => script.complete)).toEqual([false]);
  });
});

describe('SQL in Python', () => {
  const source = `# Databricks notebook source
# MAGIC %md
# MAGIC # SELECT nothing

# COMMAND ----------

# MAGIC %sql
# MAGIC MERGE INTO t USING s ON t.a = s.a
# MAGIC WHEN MATCHED THEN DELETE

# COMMAND ----------

df = spark.sql("SELECT \\"x\\" AS a FROM gold.dim")
spark.sql(f"""
  INSERT INTO {target}
  SELECT * FROM {{literal}}
""")
other.sql("SELECT 2")
`;

  test('cells and strings, in their order', () => {
    expect(shown(scriptsInPython(source))).toEqual([
      ['MERGE INTO t USING s ON t.a = s.a\nWHEN MATCHED THEN DELETE\n', true, ['merge']],
      ['SELECT "x" AS a FROM gold.dim', true, ['select-statement']],
      ['\n  INSERT INTO unknown_part\n  SELECT * FROM {literal}\n', false, ['insert']],
    ]);
  });

  test('positions lead back', () => {
    const [cell, string] = scriptsInPython(source);
    expect(cell?.hostOffset(cell.script.text.indexOf('WHEN'))).toBe(source.indexOf('WHEN'));
    expect(string?.hostOffset(string.script.text.indexOf('gold'))).toBe(source.indexOf('gold'));
  });
});
