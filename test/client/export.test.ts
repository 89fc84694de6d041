import { describe, expect, test } from 'vitest';
import { copyCells, exportRows } from '../../client/src/panel/export.ts';

const columns = ['id', 'name', 'name'].map((name) => ({ name, type: 'varchar' }));
const rows = [
  [1, 'a,b', null],
  ['12345678901234567890.1', 'say "x"', ''],
  [true, 'line\nbreak', ' edge'],
];

describe('export of a result', () => {
  test('CSV quotes what it must and tells NULL from the empty text', () => {
    expect(exportRows(columns, rows, 'csv')).toBe(
      'id,name,name\n1,"a,b",\n12345678901234567890.1,"say ""x""",""\ntrue,"line\nbreak"," edge"\n',
    );
  });

  test('JSON keeps every digit and gives a repeated column its own name', () => {
    expect(JSON.parse(exportRows(columns, rows, 'json'))).toEqual([
      { id: 1, name: 'a,b', name_2: null },
      { id: '12345678901234567890.1', name: 'say "x"', name_2: '' },
      { id: true, name: 'line\nbreak', name_2: ' edge' },
    ]);
  });

  test('Markdown escapes what would be markup', () => {
    expect(exportRows([{ name: 'a|b', type: 'x' }], [['<b>*x*</b>'], [null], ['1\n2']], 'markdown')).toBe(
      '| a\\|b |\n| --- |\n| \\<b\\>\\*x\\*\\</b\\> |\n| NULL |\n| 1 2 |\n',
    );
  });

  test('the clipboard gets the chosen cells with their headers', () => {
    const range = { fromRow: 0, toRow: 2, fromColumn: 0, toColumn: 2 };
    expect(copyCells(columns, rows, range, true)).toBe('id\tname\n1\ta,b\n12345678901234567890.1\t"say ""x"""');
    expect(copyCells(columns, rows, { ...range, toRow: 1 }, false)).toBe('1\ta,b');
  });
});
