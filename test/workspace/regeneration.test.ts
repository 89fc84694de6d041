import { describe, expect, test } from 'vitest';
import { parse } from '../../server/src/syntax/parse.ts';
import { loadOf } from '../../server/src/workspace/load-of.ts';
import { regenerateIn } from '../../server/src/workspace/regeneration.ts';
import { folderOf } from '../support/folders.ts';

const ddl = (
  more: string,
) => `CREATE TABLE stg.Person (person_no int NOT NULL PRIMARY KEY, name varchar(30), city varchar(30))
GO
CREATE TABLE rdv.SatPerson (PersonKey char(64) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff char(64) NOT NULL, Name varchar(30)${more})`;

/** The load of the satellite with name and city. */
async function generated(): Promise<string> {
  const folder = await folderOf({ 'ddl.sql': ddl(', City varchar(30)') });
  const [load] = folder.loads;
  const text = load === undefined ? undefined : loadOf(folder, load.specification).value?.files[0]?.text;
  if (text === undefined) throw new Error('no text');
  return text;
}

describe('regeneration', () => {
  test('a fresh script is up to date, whatever its line ends and parameter values', async () => {
    const folder = await folderOf({ 'ddl.sql': ddl(', City varchar(30)') });
    const text = await generated();
    const regenerate = regenerateIn(folder);
    expect(regenerate(parse(text))).toBeNull();
    expect(regenerate(parse(text.replaceAll('\n', '\r\n')))).toBeNull();
    expect(regenerate(parse(text.replace(/(@RecordSource \S+ = )NULL/, "$1N'EMED'")))).toBeNull();
    expect(regenerate(parse('SELECT 1'))).toBeNull();
  });

  test('a column that both tables gained is named; the new text loads it and keeps parameter values', async () => {
    const text = (await generated()).replace(/(@RecordSource \S+ = )NULL/, "$1N'EMED'");
    const later = ddl(', City varchar(30), Zip varchar(9)').replace(
      'city varchar(30))',
      'city varchar(30), zip varchar(9))',
    );
    const found = regenerateIn(await folderOf({ 'ddl.sql': later }))(parse(text));
    expect(found?.changes).toEqual(['column zip is new and not loaded']);
    expect(found?.text).toContain('[Zip]');
    expect(found?.text).toContain("N'EMED'");
    const again = await folderOf({ 'ddl.sql': later });
    expect(regenerateIn(again)(parse(found?.text ?? ''))).toBeNull();
  });

  test('a script that was changed by hand is out of date without a column', async () => {
    const folder = await folderOf({ 'ddl.sql': ddl(', City varchar(30)') });
    const found = regenerateIn(folder)(parse((await generated()).replace('BEGIN TRY', 'BEGIN TRY -- mine')));
    expect(found?.changes).toEqual([]);
  });

  test('columns that a person left out are no news', async () => {
    const folder = await folderOf({
      'ddl.sql': ddl(', City varchar(30)'),
      'mergewright.json': JSON.stringify({ patterns: { satellite: { hashdiff: { HashDiff: ['name'] } } } }),
    });
    const [load] = folder.loads;
    const text = load === undefined ? undefined : loadOf(folder, load.specification).value?.files[0]?.text;
    expect(load?.specification.options).toMatchObject({ hashdiff: { HashDiff: ['name'] }, untracked: ['city'] });
    expect(regenerateIn(folder)(parse(text ?? ''))).toBeNull();
  });
});
