/** Views that our own grammar leaves open get their column names from a second reader. */
import { expect, test } from 'vitest';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { loadSecondReader } from '../../server/src/model/second-reader.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { tableIn } from '../support/catalogs.ts';
import { folderOf } from '../support/folders.ts';

const foreign = "CREATE VIEW dw.Rated AS\nSELECT IF(Score > 5, 'good', 'bad') AS Rating, Score FROM dw.Score;";

test('a view that only the second reader can read has its columns', async () => {
  const [alone] = readDefinitions(parse(foreign, { platform: 'sqlserver' }), 'view.sql').derived;
  expect(alone?.columns.items).toEqual([]);
  const folder = await folderOf({ 'view.sql': foreign }, { platform: 'sqlserver' });
  expect(tableIn(folder.catalog, 'Rated').columns.map(({ name }) => name)).toEqual(['Rating', 'Score']);
  folder.takeText('view.sql', `-- seen again\n${foreign}`);
  expect(tableIn(folder.catalog, 'Rated').columns.map(({ name }) => name)).toEqual(['Rating', 'Score']);
});

test('what our own tree knows of a column stays when the second reader completes the view', async () => {
  const folder = await folderOf(
    {
      'table.sql': 'CREATE TABLE dw.Score (Id int NOT NULL, Score decimal(5,2) NULL);',
      'view.sql': 'CREATE VIEW dw.Few AS SELECT Id AS ScoreId, Score FROM dw.Score LIMIT 5;',
    },
    { platform: 'sqlserver' },
  );
  const columns = tableIn(folder.catalog, 'Few').columns.map(({ name, type }) => `${name} ${type}`);
  expect(columns).toEqual(['ScoreId int', 'Score decimal(5,2)']);
});

test.each([
  ['SELECT a, b AS c FROM t', ['a', 'c']],
  ['SELECT * FROM t', null],
  ['SELECT a, 1 + 1 FROM t', null],
  ['SELECT FROM WHERE', null],
  ['DELETE FROM t', null],
  ['SELECT 1 AS a; SELECT 2 AS b', null],
  ['', null],
])('%s', async (query, names) => {
  expect((await loadSecondReader())(query)).toEqual(names);
});

test('its refusals are no problems of the folder', async () => {
  const text = "CREATE VIEW dw.Odd AS SELECT GROUP_CONCAT(a SEPARATOR ',') FROM dw.Score;";
  const problems = (folder: Awaited<ReturnType<typeof folderOf>>) => folder.problems.map(({ code }) => code);
  const folder = await folderOf({ 'view.sql': text }, { platform: 'sqlserver' });
  expect(new Set(problems(folder))).toEqual(new Set(['syntax']));
});
