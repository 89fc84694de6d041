/** Texts of several collations meet under one that keeps their letters. */
import { describe, expect, test } from 'vitest';
import { mixedCollations } from '../../server/src/generate/collations.ts';
import { bareTable } from '../support/bare-table.ts';

type Columns = Readonly<Record<string, readonly [type: string, collation?: string]>>;

/** Both tables have these columns; `database` is that of the source. */
function settledBy(staged: Columns, stored: Columns, database: string | null = null): boolean | string {
  const tableOf = (columns: Columns, of: string | null) => {
    const types = Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));
    const table = bareTable('Customer', types, 'sqlserver');
    return {
      ...table,
      name: { ...table.name, database: of },
      columns: table.columns.map((column) => ({ ...column, collation: columns[column.name]?.[1] ?? null })),
    };
  };
  return mixedCollations({ source: tableOf(staged, database), target: tableOf(stored, null), extra: {} });
}

describe('what settles collations', () => {
  const plain: Columns = { Name: ['varchar(50)'] };
  const polish: Columns = { Name: ['varchar(50)', 'Polish_CI_AS'] };

  test.each([
    ['nothing where no column states one', plain, plain, null, false],
    ['the database where the tables stand in two', plain, plain, 'Staging', true],
    ['the database where only the stage states one', polish, plain, null, true],
    ['the one that the stored texts are in', plain, polish, null, 'Polish_CI_AS'],
    [
      'the one that they are in, whatever digests are in',
      plain,
      { ...polish, Hash: ['char(64)'] },
      null,
      'Polish_CI_AS',
    ],
    [
      'the database where the stored texts are in several',
      plain,
      { ...polish, Town: ['varchar(9)', 'Greek_CI_AS'] },
      null,
      true,
    ],
    ['the database where some are in its own', plain, { ...polish, Town: ['varchar(9)'] }, null, true],
    ['the database for Unicode, which has no code page', plain, { Name: ['nvarchar(50)', 'Polish_CI_AS'] }, null, true],
  ] as const)('is %s', (_what, staged, stored, database, expected) => {
    expect(settledBy(staged, stored, database)).toBe(expected);
  });
});
