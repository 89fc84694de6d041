import { describe, expect, test } from 'vitest';
import { buildTimeline } from '../../client/src/panel/timeline.ts';

const columns = { keyColumns: ['id'], start: 'from', end: 'to', tracked: ['city'], closingGap: 0 };

function timeline(rows: readonly (readonly (string | null)[])[], change: Partial<typeof columns> | { end: null } = {}) {
  const names = ['id', 'from', 'to', 'city'];
  const set = { columns: names.map((name) => ({ name, type: 'varchar' })), rows, rowCount: rows.length };
  return buildTimeline('Department', 'Embedded engine', set, { ...columns, ...change });
}

describe('versions of a key', () => {
  test('stand in order of their start, with what changed', () => {
    const { key, versions, faults } = timeline([
      ['D1', '2026-03-02', null, 'Bonn'],
      ['D1', '1900-01-01', '2026-03-02', 'Essen'],
    ]);
    expect(key).toEqual([{ column: 'id', value: 'D1' }]);
    expect(versions.map(({ start, end, changes }) => ({ start, end, changes }))).toEqual([
      { start: '1900-01-01', end: '2026-03-02', changes: [] },
      { start: '2026-03-02', end: null, changes: [{ column: 'city', before: 'Essen', after: 'Bonn' }] },
    ]);
    expect(faults).toEqual([]);
  });

  test.each(['4000-01-01', '9999-12-31 00:00:00'])('an end at %s is open', (end) => {
    expect(timeline([['D1', '2026-03-01', end, 'x']]).versions[0]?.end).toBeNull();
  });

  test('a gap and an overlap are found', () => {
    const { faults } = timeline([
      ['D1', '2026-03-01', '2026-03-02', 'a'],
      ['D1', '2026-03-03', '2026-03-06', 'b'],
      ['D1', '2026-03-05', null, 'c'],
    ]);
    expect(faults).toEqual([
      { kind: 'gap', start: '2026-03-02', end: '2026-03-03' },
      { kind: 'overlap', start: '2026-03-05', end: '2026-03-06' },
    ]);
  });

  test('two open versions overlap', () => {
    const { faults } = timeline([
      ['D1', '2026-03-01', null, 'a'],
      ['D1', '2026-03-02', null, 'b'],
    ]);
    expect(faults).toEqual([{ kind: 'overlap', start: '2026-03-02', end: null }]);
  });

  test('what the closing rule of the house leaves is no gap', () => {
    const rows = [
      ['D1', '2026-03-01 00:00:00', '2026-03-01 23:59:59.997', 'a'],
      ['D1', '2026-03-02 00:00:00', null, 'b'],
    ];
    expect(timeline(rows, { closingGap: 3 }).faults).toEqual([]);
    expect(timeline(rows).faults).toHaveLength(1);
  });

  test('a satellite version ends with the start of the next', () => {
    const rows = [
      ['D1', '2026-03-01', null, 'a'],
      ['D1', '2026-03-04', null, 'b'],
    ];
    expect(timeline(rows, { end: null }).versions.map((version) => version.end)).toEqual(['2026-03-04', null]);
    expect(timeline(rows, { end: null }).faults).toEqual([]);
  });
});
