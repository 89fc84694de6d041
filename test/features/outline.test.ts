import { describe, expect, test } from 'vitest';
import { codeLenses, scriptLenses } from '../../server/src/features/code-lens.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { proceduresOf } from '../../server/src/features/procedures.ts';
import { semanticTokens } from '../../server/src/features/semantic-tokens.ts';
import { signatureHelp } from '../../server/src/features/signature.ts';
import { folds, selectionRanges } from '../../server/src/features/structure.ts';
import { documentSymbols, folderSymbols, type OutlineSymbol } from '../../server/src/features/symbols.ts';
import { openFiles, textAt, warehouse } from '../support/editor.ts';

describe('symbols', () => {
  const outline = (symbols: readonly OutlineSymbol[]): readonly string[] =>
    symbols.flatMap((symbol) => [
      `${symbol.kind} ${symbol.name}${symbol.detail === '' ? '' : ` (${symbol.detail})`}`,
      ...outline(symbol.children).map((line) => `  ${line}`),
    ]);

  test('tables with columns, procedures with their writes', () => {
    const { view } = openFiles({
      'load.sql':
        'CREATE TABLE stg.T (a int, b date)\nGO\nCREATE PROCEDURE dbo.p AS BEGIN DELETE stg.T; IF 1 = 1 INSERT INTO stg.T (a) VALUES (1) END\nGO\nCREATE VIEW v AS SELECT 1 AS x',
    });
    expect(outline(documentSymbols(view))).toEqual([
      'table stg.T (staging)',
      '  column a (int)',
      '  column b (date)',
      'procedure dbo.p',
      '  load DELETE stg.T',
      '  load INSERT stg.T',
      'view v',
    ]);
  });

  test('a write through an alias names the table', () => {
    const { view } = openFiles({ 'load.sql': 'UPDATE t SET a = 1 FROM stg.T AS t;\nDELETE t FROM stg.T AS t;' });
    expect(outline(documentSymbols(view))).toEqual(['load UPDATE stg.T', 'load DELETE stg.T']);
  });

  test('a name lies inside its range', () => {
    const { view } = openFiles({ 'ddl.sql': warehouse });
    const [table] = documentSymbols(view);
    expect(table === undefined ? '' : textAt(view, table.selection)).toBe('Dev_Patient_');
  });

  test('tables of the folder by letters', () => {
    const { view } = openFiles({ 'ddl.sql': warehouse });
    expect(folderSymbols(view.folder, 'satpat').map((symbol) => symbol.name)).toEqual(['raw.SatPatient']);
    expect(folderSymbols(view.folder, '')).toHaveLength(3);
  });
});

describe('code lens', () => {
  test('over a target and over its staging table', () => {
    const { view } = openFiles({ 'ddl.sql': warehouse });
    const lines = codeLenses(view).map((lens) => `${lens.range.start.line} ${lens.title} ${lens.command ?? '-'}`);
    expect(lines).toEqual([
      '0 Satellite · loads SatPatient -',
      '0 Generate mergewright.generateLoad',
      '0 Preview mergewright.previewLoad',
      '0 Run mergewright.runLoad',
      '2 Satellite · load from Dev_Patient_ -',
      '2 Generate mergewright.generateLoad',
      '2 Preview mergewright.previewLoad',
      '2 Run mergewright.runLoad',
    ]);
  });
});

describe('code lens of a script', () => {
  const lines = (load: string) => {
    const { view } = openFiles({ 'ddl.sql': warehouse, 'load.sql': load });
    const { lenses, preview } = scriptLenses(view);
    return [...lenses, ...(preview === null ? [] : [preview])].map(
      ({ range, title }) => `${range.start.line} ${title}`,
    );
  };

  test('names each written table of the folder with its role, once, and where the script can be previewed', () => {
    expect(
      lines(`SELECT 1
CREATE TABLE #t (a int)
INSERT INTO #t VALUES (1)
BEGIN TRAN
UPDATE t SET City = '' FROM raw.SatPatient AS t
INSERT INTO raw.SatPatient (City) SELECT 'x'
DELETE dw.DimItem
INSERT INTO other.Unknown SELECT 1`),
    ).toEqual([
      '4 Writes satellite raw.SatPatient (UPDATE, INSERT)',
      '6 Writes dimension dw.DimItem (DELETE)',
      '4 Preview',
    ]);
  });

  test('stands over a procedure, which is previewed where it is called', () => {
    const procedure = 'CREATE PROC p AS BEGIN DELETE dw.DimItem; TRUNCATE TABLE raw.SatPatient END';
    expect(lines(`-- first\n${procedure}`)).toEqual([
      '1 Writes dimension dw.DimItem (DELETE)',
      '1 Writes satellite raw.SatPatient (DELETE)',
    ]);
    expect(lines('PRINT 1\nEXEC p')).toEqual(['1 Preview']);
    expect(lines('SELECT * FROM dw.DimItem')).toEqual([]);
  });
});

describe('folding and selection', () => {
  test('statements, column lists and comments of several lines', () => {
    const { view } = openFiles({ 'load.sql': '/* a\n b */\nCREATE TABLE t (\n  a int\n)\nGO\nSELECT 1' });
    expect(folds(view)).toEqual([
      { start: 0, end: 1, kind: 'comment' },
      { start: 2, end: 4, kind: null },
    ]);
  });

  test('from the word outwards', () => {
    const { view, position } = openFiles({ 'load.sql': 'UPDATE t SET a = b + c|d WHERE x = 1\nGO\nSELECT 1' });
    const texts = selectionRanges(view, position).map((range) => textAt(view, range));
    expect(texts[0]).toBe('cd');
    expect(texts).toContain('b + cd');
    expect(texts).toContain('UPDATE t SET a = b + cd WHERE x = 1');
    expect(texts.at(-1)).toBe('UPDATE t SET a = b + cd WHERE x = 1\nGO\nSELECT 1');
  });
});

describe('semantic tokens and inlay hints', () => {
  const load =
    'INSERT INTO raw.SatPatient (PatientKey, City) SELECT s.patient_id, s.city FROM StageEmedsys.Dev_Patient_ AS s';

  test('tables and columns with the parts they play', () => {
    const { view } = openFiles({ 'ddl.sql': warehouse, 'load.sql': load });
    expect(
      semanticTokens(view).map((token) => `${textAt(view, token.range)} ${token.type} ${token.modifiers.join()}`),
    ).toEqual([
      'SatPatient class target',
      'PatientKey property hash',
      'patient_id property key',
      'Dev_Patient_ class staging',
    ]);
  });

  test('types behind the columns of an INSERT list', () => {
    const { view } = openFiles({ 'ddl.sql': warehouse, 'load.sql': load });
    const all = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
    expect(inlayHints(view, all)).toEqual([
      { position: { line: 0, character: 38 }, label: ' varchar(64)' },
      { position: { line: 0, character: 44 }, label: ' varchar(30)' },
    ]);
  });

  test('of temporary tables and table variables, too', () => {
    const load =
      'DECLARE @t TABLE (a int);\nINSERT @t (a) VALUES (1);\nSELECT City AS c INTO #x FROM raw.SatPatient;\nINSERT #x (c, d) VALUES (1, 2);';
    const { view } = openFiles({ 'ddl.sql': warehouse, 'load.sql': load });
    const all = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
    expect(inlayHints(view, all).map(({ position, label }) => [position.line, position.character, label])).toEqual([
      [1, 12, ' int'],
      [3, 12, ' varchar(30)'],
    ]);
  });
});

describe('signature of a procedure', () => {
  test('the parameter at the cursor is marked, by place and by name', () => {
    const procedure =
      'CREATE PROCEDURE dbo.load_x @BatchTime datetime2 = NULL, @RecordSource varchar(10) AS SELECT 1\nGO\n';
    const help = (call: string) => {
      const { view, position } = openFiles({ 'load.sql': `${procedure}${call}` });
      return signatureHelp(view, position, proceduresOf(view));
    };
    expect(help('EXEC dbo.load_x NULL, |')?.activeParameter).toBe(1);
    expect(help("EXEC load_x @RecordSource = 'a|'")?.activeParameter).toBe(1);
    expect(help('EXEC dbo.load_x |')?.parameters.map((parameter) => parameter.label)).toEqual([
      '@BatchTime datetime2 = NULL',
      '@RecordSource varchar(10)',
    ]);
    expect(help('EXEC dbo.load_x\n  @BatchTime = NULL,\n  |')?.activeParameter).toBe(1);
    expect(help('EXEC dbo.load_x @RecordSource = 1, @BatchTime = |')?.activeParameter).toBe(0);
    expect(help('EXEC dbo.other |')).toBeUndefined();
  });

  test('is over where the call is', () => {
    const made = 'CREATE PROCEDURE dbo.load_x @BatchTime datetime2 = NULL AS SELECT 1\nGO\n';
    for (const call of [
      'EXEC dbo.load_x NULL; |',
      'EXEC dbo.load_x NULL\n|',
      'EXEC dbo.load_x\n|',
      'EXEC dbo.load_x NULL -- a, |',
      'EXEC | dbo.load_x',
      'CREATE PROC p AS BEGIN EXEC dbo.load_x NULL; SELECT a, | END',
    ]) {
      const { view, position } = openFiles({ 'load.sql': `${made}${call}` });
      expect([call, signatureHelp(view, position, proceduresOf(view))]).toEqual([call, undefined]);
    }
  });
});
