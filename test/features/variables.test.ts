import { describe, expect, test } from 'vitest';
import { type Entity, entityAt, namedCall } from '../../server/src/features/entity.ts';
import { hover } from '../../server/src/features/hover.ts';
import { definition, referencesIn } from '../../server/src/features/navigation.ts';
import { proceduresOf } from '../../server/src/features/procedures.ts';
import { renameEdits, renameRange, renameRefusal } from '../../server/src/features/rename.ts';
import { expectRanges, type Files, openFiles, textAt, underlined } from '../support/editor.ts';

function open(files: Files) {
  const { view, position, workspace } = openFiles(files, 'sqlserver');
  const known = [...workspace.documents.values()].flatMap((each) => proceduresOf({ ...each, file: each.uri }));
  return { view, position, workspace, procedures: namedCall(view, position) === undefined ? [] : known };
}

function entityIn(files: Files): Entity {
  const { view, position, procedures } = open(files);
  const entity = entityAt(view, position, procedures);
  if (entity === undefined) throw new Error('nothing at the cursor');
  return entity;
}

/** Finds the underlined places from the cursor, which stands in the same text. */
function checkReferences(marked: string): void {
  const { text, ranges } = underlined(marked);
  const files = { 'load.sql': text };
  const { view } = open(files);
  expectRanges(
    view.script.text,
    referencesIn(view, entityIn(files)).map(({ range }) => range),
    ranges,
  );
}

describe('variables', () => {
  test.each([
    ['DECLARE @a int = 1, @b int\nSET @b = |@a', '@a int = 1'],
    ['DECLARE @a int = 1, @b int\nSET @b = @a|', '@a int = 1'],
    ['DECLARE @a int\nSET @|A = 1', '@a int'],
    ['CREATE PROC p @a int = 3, @b date AS\nIF @|b IS NULL RETURN', '@b date'],
    ['CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @|a END', '@a int'],
    ['DECLARE @t TABLE (x int)\nINSERT INTO @|t SELECT 1', '@t TABLE (x int)'],
    ['DECLARE @t TABLE (x int)\nSELECT x FROM @|t', '@t TABLE (x int)'],
    ["DECLARE @a int\nRAISERROR('%d', 16, 1, @|a)", '@a int'],
    ['DECLARE @a int\nEXEC p @b = @|a', '@a int'],
    ['DECLARE @a int\nEXEC @|a = p', '@a int'],
  ])('%s leads to its declaration', (text, expected) => {
    const { view, position } = open({ 'load.sql': text });
    expect(definition(view, position).map(({ range }) => textAt(view, range))).toEqual([expected]);
  });

  test.each([
    ['DECLARE @a int\nGO\nSET @|a = 1'],
    ["DECLARE @a int\nPRINT '@|a'"],
    ['DECLARE @a int -- @|a'],
    ['SELECT @@ROW|COUNT'],
    ['SELECT @|'],
  ])('%s leads nowhere', (text) => {
    const { view, position } = open({ 'load.sql': text });
    expect(definition(view, position)).toEqual([]);
  });

  test('are the same within their batch', () => {
    checkReferences(`DECLARE @|a int = 1
        ^^
SET @A += @aa
    ^^
EXEC p @a = @a
            ^^
GO
DECLARE @a int`);
  });

  test('table variables in writes and sources', () => {
    checkReferences(`DECLARE @k TABLE (a int)
        ^^
DELETE w.T OUTPUT deleted.a INTO @k (a)
                                 ^^
INSERT @|k SELECT a FROM @k AS k WHERE k.a = 1
       ^^               ^^`);
  });

  test('say which place writes them', () => {
    const files = { 'load.sql': 'DECLARE @|a int\nSELECT @a = 1\nEXEC p @a OUTPUT\nPRINT @a' };
    const found = referencesIn(open(files).view, entityIn(files));
    expect(found.map(({ declaration, written }) => [declaration, written])).toEqual([
      [true, false],
      [false, true],
      [false, true],
      [false, false],
    ]);
  });

  test('say what they are', () => {
    const text = (load: string) => {
      const { view, position, procedures } = open({ 'load.sql': load });
      return hover(view, position, procedures)?.markdown;
    };
    expect(text('DECLARE @a int = 1 + 1\nPRINT @|a')).toBe('**@a** · `int` · variable · begins as `1 + 1`');
    expect(text('CREATE PROC w.p @BatchTime datetime2 = NULL AS PRINT @Batch|Time')).toBe(
      '**@BatchTime** · `datetime2` · parameter of `w.p` · default `NULL`\n\nThe load’s only clock; NULL means now, in UTC.',
    );
    expect(text('DECLARE @t TABLE (x int, y int)\nSELECT * FROM @|t')).toBe(
      '**@t** · table variable of this batch: `x, y`',
    );
    expect(text('PRINT @|a')).toBe('**@a** · declared nowhere in this batch');
  });

  test('get new names within their batch', () => {
    const files = { 'load.sql': 'DECLARE @|a int, @b int\nSET @a = @b\nGO\nDECLARE @a int' };
    const { view, position } = open(files);
    const entity = entityIn(files);
    expect(renameRange(view, position)?.name).toBe('@a');
    expect(renameRefusal(entity, '@B', view)).toContain('already declares @B');
    expect(renameRefusal(entity, '@A', view)).toBeNull();
    expect(renameRefusal(entity, 'two words', view)).toContain('letters');
    expect(renameRefusal(entity, '@@x', view)).toContain('letters');
    expect(renameRefusal(entity, 'n', view)).toBeNull();
    expect(renameEdits(view, entity, 'n').map(({ range, newText }) => [range.start.line, newText])).toEqual([
      [0, '@n'],
      [1, '@n'],
    ]);
    const undeclared = open({ 'load.sql': 'PRINT @|a' });
    expect(renameRange(undeclared.view, undeclared.position)).toBeUndefined();
  });
});

describe('parameters that calls name', () => {
  const files = {
    'p.sql': 'CREATE PROC dw.Load @Day date, @n int = 1 AS\nSELECT @Day\nEXEC dw.Load @Day = @Day, @n = 2',
    'call.sql': 'DECLARE @Day date\nEXEC dw.Load @D|ay = @Day\nEXEC dw.Other @Day = @Day',
  };

  test('lead to the parameter in its file, and say what it is', () => {
    const { view, position, procedures, workspace } = open(files);
    const [place] = definition(view, position, procedures);
    const made = workspace.view('file:///house/p.sql');
    if (place === undefined || made === undefined) throw new Error('no place');
    expect([place.file, textAt(made, place.range)]).toEqual(['file:///house/p.sql', '@Day date']);
    expect(hover(view, position, procedures)?.markdown).toBe('**@Day** · `date` · parameter of `dw.Load`');
  });

  test('get new names in the procedure and in its calls', () => {
    const { view, workspace } = open(files);
    const made = workspace.view('file:///house/p.sql');
    if (made === undefined) throw new Error('no view');
    const entity = entityIn(files);
    const at = (name: string, other: typeof view) =>
      renameEdits(other, entity, name).map(({ range }) => [range.start.line, range.start.character]);
    expect(at('@Date', made)).toEqual([
      [0, 20],
      [1, 7],
      [2, 13],
      [2, 20],
    ]);
    expect(at('@Date', view)).toEqual([[1, 13]]);
    expect(renameRefusal(entity, '@N', made)).toContain('already declares @N');
  });
});

test('the calls of a procedure are its references, and its name where it is made', () => {
  const made = 'CREATE PROC dw.Lo|ad AS SELECT 1';
  const files = { 'p.sql': made, 'call.sql': 'EXEC Load\nEXEC dw.Load\nEXEC stg.Load\nINSERT w.T EXEC DWH.dw.[Load]' };
  const { view, workspace } = open(files);
  const other = workspace.view('file:///house/call.sql');
  if (other === undefined) throw new Error('no view');
  const entity = entityIn(files);
  expect(referencesIn(view, entity).map(({ declaration }) => declaration)).toEqual([true]);
  expect(referencesIn(other, entity).map(({ range }) => textAt(other, range))).toEqual(['Load', 'Load', '[Load]']);
});
