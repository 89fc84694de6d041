import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../cli/src/conformance/format.ts';
import { textRow } from '../../cli/src/conformance/hashes.ts';
import { countsBetween, firstDifference } from '../../cli/src/conformance/rows.ts';
import { type TextRow, textOfCell, textOfResult } from '../../cli/src/conformance/values.ts';
import { conformanceCases } from '../support/cases.ts';

describe('one text per value', () => {
  test.each([
    ['19.9', 'decimal(10,2)', '19.9'],
    ['19.90', 'decimal(10,2)', '19.9'],
    ['-0.00', 'decimal(10,2)', '0'],
    ['.5', 'decimal(10,2)', '0.5'],
    [7, 'int', '7'],
    ['9007199254740993', 'bigint', '9007199254740993'],
    [true, 'boolean', 'true'],
    ['2024-01-01 00:00:00', 'timestamp(6)', '2024-01-01 00:00:00'],
    ['2024-01-01 00:00:00.500', 'timestamp(6)', '2024-01-01 00:00:00.5'],
    ['2024-01-01', 'date', '2024-01-01'],
    [' a ', 'string', ' a '],
    [null, 'int', null],
    [{ $repeat: ['ab', 2] as [string, number], $suffix: '1' }, 'text', 'abab1'],
  ] as const)('a case writes %s in %s', (cell, type, text) => {
    expect(
      textOfCell(typeof cell === 'object' && cell !== null ? { ...cell, $repeat: [...cell.$repeat] } : cell, type),
    ).toBe(text);
  });

  test.each([
    ['2024-01-01 00:00:00.0000000', 'timestamp(6)', '2024-01-01 00:00:00'],
    ['2024-01-01T10:00:00.120', 'timestamp(6)', '2024-01-01 10:00:00.12'],
    ['2024-01-01', 'timestamp(6)', '2024-01-01 00:00:00'],
    ['1', 'boolean', 'true'],
    ['false', 'boolean', 'false'],
    [12, 'int', '12'],
    ['00FF', 'hash', '00ff'],
  ] as const)('an engine gives %s for %s', (value, type, text) => {
    expect(textOfResult(value, type)).toBe(text);
  });
});

describe('table comparison', () => {
  const row = (id: string, name: string | null): TextRow => ({ id, name });

  test('order does not matter, repetition does', () => {
    const rows = [row('1', 'a'), row('2', 'b')];
    expect(firstDifference([...rows].reverse(), rows, ['id'])).toBeUndefined();
    expect(firstDifference([...rows, row('2', 'b')], rows, ['id'])).toBe('row too many: (id="2", name="b")');
    expect(firstDifference(rows, [...rows, row('2', 'b')], ['id'])).toBe('row missing: (id="2", name="b")');
  });

  test('blanks, case, NULL and code points count', () => {
    for (const [actual, expected] of [
      ['a', 'a '],
      ['a', 'A'],
      ['', null],
      ['é', 'e\u0301'],
    ] as const) {
      expect(firstDifference([row('1', actual)], [row('1', expected)], ['id'])).toContain('row ("1"): name is');
    }
  });

  test('a long text is cut in the words, not in the comparison', () => {
    const long = 'x'.repeat(5000);
    expect(firstDifference([row('1', `${long}1`)], [row('1', `${long}2`)], ['id'])).toBe(
      'row ("1"): name is "xxxxxxxxxxxxxxxx…xxxxxxx1 (5001)", expected "xxxxxxxxxxxxxxxx…xxxxxxx2 (5001)"',
    );
  });
});

describe('counts told by rows', () => {
  test.each(conformanceCases)('$id', (owner) => {
    const { target } = owner.tables;
    const openEnd = textOfCell(owner.config.open_end ?? null, target[owner.config.valid_to ?? ''] ?? 'timestamp(6)');
    let before = (owner.initial_target_rows ?? []).map((row) => textRow(row, target, owner));
    for (const { expected_target_rows: rows, expected_counts: stated } of owner.steps) {
      const after = rows.map((row) => textRow(row, target, owner));
      const { inserted, updated, expired, deleted } = stated;
      expect(countsBetween(before, after, owner.config, openEnd)).toEqual({ inserted, updated, expired, deleted });
      before = after;
    }
  });

  test('columns of a step are those of the table, in its order', () => {
    expect(Object.keys(columnsOf({ a: 'int', b: 'int', c: 'int' }, ['c', 'a']))).toEqual(['a', 'c']);
  });
});
