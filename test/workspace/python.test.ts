import { describe, expect, test } from 'vitest';
import { formatTableName } from '../../server/src/model/names.ts';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parsePython } from '../../server/src/syntax/python-script.ts';
import { Folder } from '../../server/src/workspace/folder.ts';
import { withPythonFixes } from '../../server/src/workspace/python.ts';
import { tableIn } from '../support/catalogs.ts';
import { folderOf } from '../support/folders.ts';

const notebook = `# Databricks notebook source
# MAGIC %sql
# MAGIC CREATE TABLE gold.customer (
# MAGIC   id BIGINT NOT NULL, -- don't
# MAGIC   name STRING
# MAGIC ) USING DELTA

# COMMAND ----------

spark.sql("CREATE TABLE silver.orders (id BIGINT, amount DECIMAL(9, 2))")
spark.sql(f"CREATE TABLE {schema}.unknown (id BIGINT)")
# spark.sql("CREATE TABLE old.orders (id BIGINT)")
`;

const lineOf = (text: string, line: number) => text.split('\n')[line];

describe('folders with Python files', () => {
  test('tables of cells and strings enter the catalog at their places', async () => {
    const { catalog } = await folderOf({ 'jobs/tables.py': notebook, 'mergewright.json': '{"platform": "sqlserver"}' });
    expect(catalog.tables.map(({ name }) => formatTableName(name)).sort()).toEqual(['gold.customer', 'silver.orders']);
    const customer = tableIn(catalog, 'customer');
    expect(customer).toMatchObject({ file: 'jobs/tables.py', platform: 'databricks' });
    expect(customer.range.start).toEqual({ line: 2, character: 8 });
    expect(customer.columns.map(({ name, nullable }) => [name, nullable])).toEqual([
      ['id', false],
      ['name', true],
    ]);
    const { start } = tableIn(catalog, 'orders').range;
    expect(lineOf(notebook, start.line)?.slice(start.character)).toMatch(/^CREATE TABLE silver/);
  });

  test('other Python files and installed ones are no part of it', async () => {
    const folder = await folderOf({
      'plain.py': 'sql = "CREATE TABLE t (a int)"\nprint(sql)\n',
      '.venv/lib/x.py': 'spark.sql("CREATE TABLE t (a int)")',
      'site-packages/pyspark/sql.py': 'spark.sql("CREATE TABLE t (a int)")',
    });
    expect(folder.fileNames).toEqual([]);
    expect(folder.problems).toEqual([]);
  });

  test('an environment above the folder is no matter', async () => {
    const text = new TextEncoder().encode(notebook);
    const file = 'file:///venv/work/a.py';
    const folder = new Folder({ list: async () => [file], read: async () => text }, 'file:///venv/work');
    await folder.read([folder.root]);
    expect(folder.fileNames).toEqual([file]);
  });

  test('a file that loses its SQL leaves', async () => {
    const folder = await folderOf({ 'a.py': notebook });
    folder.takeText('a.py', 'print(1)\n');
    expect(folder.catalog.tables).toEqual([]);
    expect(folder.fileNames).toEqual([]);
  });
});

describe('SQL of a Python file in its place', () => {
  const wrongAt = (text: string) => {
    const script = parsePython(text, 'databricks');
    return script === null ? null : problemsOf(script).map(({ start }) => start);
  };

  test('the text has the length and lines of the file, with all line ends', () => {
    for (const text of [notebook, notebook.replaceAll('\n', '\r\n'), notebook.trimEnd()]) {
      const script = parsePython(text, 'databricks');
      expect(script?.text.length).toBe(text.length);
      expect(script?.text.replace(/[^\r\n]/g, '')).toBe(text.replace(/[^\r\n]/g, ''));
      expect(script?.text.indexOf('customer')).toBe(text.indexOf('customer'));
      expect(wrongAt(text)).toEqual([]);
    }
  });

  test('a mistake stays in its piece', () => {
    const text = `spark.sql("SELECT 'a FROM t")\nspark.sql("SELECT id FROM t WHERE name = 'b'")\nspark.sql("SELECT FROM")\n`;
    const lines = wrongAt(text)?.map((offset) => text.slice(0, offset).split('\n').length);
    expect([...new Set(lines)]).toEqual([1, 3]);
  });

  test('pieces that an edit leaves alone keep their statements', () => {
    const before = parsePython(notebook, 'databricks');
    const text = `import x\n${notebook.replace('silver.orders', 'silver.lines')}`;
    const after = parsePython(text, 'databricks', before);
    const statements = (script: typeof before) =>
      script?.batches.flatMap(({ units }) => units.map(({ statement }) => statement)) ?? [];
    // An import in front ends the notebook's mark, and the calls of spark.sql remain.
    expect(after).toEqual(parsePython(text, 'databricks'));
    expect(statements(after)[0]).toBe(statements(before)[0]);
    expect(statements(after)[1]).not.toBe(statements(before)[1]);
  });

  test('equal pieces have statements of their own', () => {
    const one = 'spark.sql("DELETE FROM t WHERE a = 1")\n';
    const after = parsePython(one + one, 'databricks', parsePython(one, 'databricks'));
    const [first, second] = after?.batches.flatMap(({ units }) => units.map(({ statement }) => statement)) ?? [];
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
  });

  test('escapes take their width', () => {
    expect(wrongAt("spark.sql('SELECT \\'it\\'\\'s\\' AS a,\\n \\'\\' AS b FROM t')")).toEqual([]);
    // The comment ends where the escape stands, which blanks can't show.
    expect(wrongAt('spark.sql("SELECT 1 -- one\\nFROM FROM")')).toBeNull();
  });

  test('strings side by side are one text, and what is done to them leaves it open', () => {
    const joined = `spark.sql(
    "INSERT INTO gold.log SELECT 1 "  # the first part
    'FROM x WHERE '
    + "FROM", args={})
`;
    expect(wrongAt(joined)).toHaveLength(1);
    expect(wrongAt(joined.replace('+ "FROM"', '+ "a = 1"'))).toEqual([]);
    for (const rest of ['.format(x)', ' % x', ' + x', ' if x else "SELECT 1"'])
      expect(parsePython(`spark.sql("SELECT FROM FROM"${rest})`, 'databricks')).toBeNull();
  });

  test('what looks like a cell in a string is a part of the string', () => {
    const text = 'spark.sql("""\n# MAGIC %sql\n# MAGIC SELECT 1\n""")\n';
    expect(parsePython(text, 'databricks')?.batches).toHaveLength(1);
    expect(parsePython(text, 'databricks')?.text.length).toBe(text.length);
  });

  test('a platform of the family stays', () => {
    expect(parsePython('spark.sql("SELECT 1")', 'spark')?.platform).toBe('spark');
    expect(parsePython('spark.sql("SELECT 1")', 'synapse')?.platform).toBe('databricks');
  });
});

describe('fixes in Python files', () => {
  const cell = '# Databricks notebook source\n# MAGIC %sql\n# MAGIC SELECT a\n# MAGIC FROM t\n';
  const fixed = (text: string, start: [number, number], end: [number, number], newText: string) => {
    const range = {
      start: { line: start[0], character: start[1] },
      end: { line: end[0], character: end[1] },
    };
    const [found] = withPythonFixes(
      [
        {
          file: 'a.py',
          range,
          rule: 'r',
          hazards: [],
          severity: 'warning',
          message: '',
          why: '',
          help: '',
          url: '',
          fixes: [{ title: 'Fix', safe: true, edits: [{ file: 'a.py', range, newText }] }],
        },
      ],
      text,
    );
    return found?.fixes.flatMap(({ edits }) => edits.map((edit) => edit.newText));
  };

  test('lines in a cell get the mark', () => {
    expect(fixed(cell, [2, 15], [2, 16], 'a,\n  b')).toEqual(['a,\n# MAGIC   b']);
    expect(fixed(cell, [3, 14], [3, 14], ' WHERE a = 1')).toEqual([' WHERE a = 1']);
  });

  test('a stretch over lines of a cell, or outside of SQL, is left alone', () => {
    expect(fixed(cell, [2, 15], [3, 10], 'x')).toEqual([]);
    expect(fixed(cell, [0, 0], [0, 0], 'SET x = 1;\n')).toEqual([]);
    expect(fixed(cell, [4, 0], [4, 0], ';')).toEqual([]);
  });

  test('text that would end a string or change in it is left alone', () => {
    const string = 'spark.sql("SELECT a FROM t")';
    expect(fixed(string, [0, 18], [0, 19], 'b')).toEqual(['b']);
    expect(fixed(string, [0, 26], [0, 26], ';')).toEqual([';']);
    expect(fixed(string, [0, 18], [0, 19], '"b"')).toEqual([]);
    expect(fixed(string, [0, 18], [0, 19], 'a,\nb')).toEqual([]);
    expect(fixed('spark.sql("""SELECT a FROM t""")', [0, 20], [0, 21], 'a,\nb')).toEqual(['a,\nb']);
    expect(fixed("spark.sql('SELECT \\'a\\' FROM t')", [0, 18], [0, 23], '1')).toEqual([]);
  });
});
