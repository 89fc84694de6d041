import { expect, test } from 'vitest';
import { csvFolders } from '../../client/src/runs/csv-files.ts';
import type { CatalogTable, TableName } from '../../protocol/catalog.ts';

function table(database: string | null, schema: string, name: string): CatalogTable {
  return {
    name: { database, schema, table: name },
    platform: 'sqlserver',
    role: 'staging',
    confidence: 1,
    reasons: [],
    file: 'a.sql',
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
    columns: [],
    keys: [],
    options: {},
  };
}

test('CSV files find their tables by name, day folders stand in natural order, doubtful files are left out', () => {
  const tables = [
    table('Staging', 'dbo', 'Department'),
    table(null, 'stg', 'Patient'),
    table(null, 'a', 'Twin'),
    table(null, 'b', 'Twin'),
  ];
  const folders = csvFolders(
    [
      'file:///w/days/10/Staging.dbo.Department.csv',
      'file:///w/days/2/staging.DBO.department.csv',
      'file:///w/days/2/Patient.csv',
      'file:///w/days/2/Twin.csv',
      'file:///w/days/2/Other.csv',
      'file:///w/days/2/atient.csv',
    ],
    tables,
  );
  const named = (name: TableName) => name.table;
  expect(folders.map((folder) => [folder.uri, folder.files.map((file) => named(file.table))])).toEqual([
    ['file:///w/days/2', ['Department', 'Patient']],
    ['file:///w/days/10', ['Department']],
  ]);
});
