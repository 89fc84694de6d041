import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { hover } from '../../server/src/features/hover.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';
import { openFiles, textAt, warehouse } from '../support/editor.ts';

/** The hover at the cursor must hold all the parts; its range is the word. */
function checkHover(text: string, word: string, parts: readonly string[]): void {
  const { view, position } = openFiles({ 'ddl.sql': warehouse, 'load.sql': text });
  const found = hover(view, position);
  expect(found === undefined ? undefined : textAt(view, found.range)).toBe(word);
  for (const part of parts) expect(found?.markdown).toContain(part);
}

describe('hover', () => {
  test('a table: role, reasons, key, who writes it', () => {
    checkHover('INSERT INTO raw.Sat|Patient (City) SELECT city FROM StageEmedsys.Dev_Patient_', 'SatPatient', [
      'satellite',
      'PatientKey + LoadDate',
      'inferred, declared nowhere',
      'Satellite · load from Dev\\_Patient\\_',
      '`load.sql` (INSERT)',
    ]);
  });

  test('a key that the settings state is none that was inferred', async () => {
    const files: Readonly<Record<string, string>> = {
      'ddl.sql':
        'CREATE TABLE stg.Unit (a int, b int);\nCREATE TABLE dw.Unit (a int, b int, ValidFrom datetime2 NOT NULL, ValidTo datetime2, IsCurrent bit NOT NULL);',
      'mergewright.json': '{"tables": [{"table": "stg.Unit", "key": ["a"]}, {"table": "dw.Unit", "key": ["a"]}]}',
    };
    const root = 'file:///house';
    const port = {
      list: async () => Object.keys(files).map((name) => `${root}/${name}`),
      read: async (file: string) => new TextEncoder().encode(files[file.slice(root.length + 1)] ?? ''),
    };
    const workspace = new Workspace(port, async () => undefined);
    workspace.addFolder(root);
    await workspace.readFolder(root);
    const view = await workspace.viewOfFile(`${root}/ddl.sql`);
    if (view === undefined) throw new Error('no view');
    expect(hover(view, { line: 0, character: 18 })?.markdown).toContain('Key: `a` (stated in `mergewright.json`)');
    expect(hover(view, { line: 0, character: 23 })?.markdown).toContain(
      'Part of the key `a` (stated in `mergewright.json`)',
    );
    expect(hover(view, { line: 1, character: 17 })?.markdown).toContain(
      'Key: `a + ValidFrom` (`a` is stated in `mergewright.json`, the rest is inferred)',
    );
  });

  test('a column: type, role and what the role means', () => {
    checkHover('SELECT x.Hash|Diff FROM raw.SatPatient AS x', 'HashDiff', [
      '`varchar(64)`',
      'NOT NULL',
      'Hashdiff: the digest of all attributes',
    ]);
    checkHover('SELECT Item|Key FROM dw.DimItem', 'ItemKey', ['IDENTITY']);
  });

  test('tables and columns of the script itself', () => {
    checkHover('CREATE TABLE #t (a int)\nSELECT a| FROM #t', 'a', ['column of `#t`']);
    checkHover('CREATE TABLE #t (a int)\nSELECT a FROM #|t', '#t', ['made by this script']);
    const work = 'CREATE TABLE w.Unit (a int)\nSELECT a AS b INTO w.Copy FROM w.Unit';
    const end = 'DROP TABLE w.Unit, w.Copy';
    checkHover(`${work}\nDELETE w.Uni|t\n${end}`, 'Unit', ['made by this script, 1 column']);
    checkHover(`${work}\nSELECT a| FROM w.Unit\n${end}`, 'a', ['`int`', 'column of `Unit`']);
    checkHover(`${work}\nSELECT b| FROM w.Copy\n${end}`, 'b', ['column of `Copy`']);
  });

  test('temporary tables and views of Spark and DuckDB are known with what their queries give', () => {
    const ddl = 'CREATE TABLE dw.unit (unit_no INT NOT NULL, label STRING); CREATE TABLE changes (other INT);';
    const check = (text: string, platform: PlatformName, parts: readonly string[]): void => {
      const { view, position } = openFiles({ 'ddl.sql': ddl, 'load.sql': text }, platform);
      const markdown = hover(view, position)?.markdown;
      for (const part of parts) expect(markdown).toContain(part);
    };
    const views =
      'CREATE OR REPLACE TEMP VIEW base AS SELECT *, 1 AS n FROM dw.unit;\nCREATE TEMPORARY VIEW changes (no, text) AS SELECT unit_no, label FROM base;\n';
    check(`${views}SELECT * FROM chan|ges`, 'databricks', ['made by this script, 2 columns']);
    check(`${views}SELECT n|o FROM changes`, 'databricks', ['`int`', 'column of `changes`']);
    check(
      `${views}MERGE INTO dw.unit AS t USING base AS s ON t.unit_no = s.n| WHEN MATCHED THEN DELETE`,
      'databricks',
      ['column of `base`'],
    );
    check(`${views}SELECT label| FROM base`, 'databricks', ['`string`', 'column of `base`']);
    check('CREATE TEMP TABLE x AS FROM dw.unit;\nSELECT lab|el FROM temp.x', 'duckdb', ['column of `x`']);
    check('CREATE TEMP TABLE x (a INTEGER);\nINSERT INTO x (a|) VALUES (1)', 'duckdb', ['`integer`', 'column of `x`']);
    check('CREATE TEMP VIEW a AS SELECT * FROM b; CREATE TEMP VIEW b AS SELECT * FROM a;\nSELECT * FROM a|', 'spark', [
      'made by this script, 0 columns',
    ]);
  });

  test('what AUTO CDC and COPY INTO of Databricks write', () => {
    const { view, position } = openFiles(
      {
        'ddl.sql': 'CREATE TABLE dw.unit (unit_no INT NOT NULL, label STRING);',
        'load.sql':
          'AUTO CDC INTO dw.unit FROM stg.unit KEYS (unit_no) SEQUENCE BY ts; COPY INTO dw.un|it FROM "/x" FILEFORMAT = CSV;',
      },
      'databricks',
    );
    expect(hover(view, position)?.markdown).toContain('`load.sql` (MERGE, INSERT)');
  });

  test('an unqualified column that two tables have is not guessed', () => {
    const { view, position } = openFiles({
      'ddl.sql': warehouse,
      'load.sql': 'SELECT Ci|ty FROM raw.SatPatient AS a CROSS JOIN StageEmedsys.Dev_Patient_ AS b',
    });
    expect(hover(view, position)).toBeUndefined();
  });

  test('names are no Markdown', () => {
    checkHover('CREATE TABLE dbo.[<b>*x*] (a int)\nGO\nSELECT a FROM dbo.[<b>|*x*]', '[<b>*x*]', [
      'dbo.\\<b\\>\\*x\\*',
    ]);
  });

  test('nothing elsewhere', () => {
    const { view, position } = openFiles({ 'ddl.sql': warehouse, 'load.sql': 'SEL|ECT 1' });
    expect(hover(view, position)).toBeUndefined();
  });
});
