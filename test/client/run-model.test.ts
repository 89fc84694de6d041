import { describe, expect, test } from 'vitest';
import { RunModel } from '../../client/src/runs/run-model.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { RunResult } from '../../protocol/run.ts';

const connection = {
  name: 'Embedded engine',
  platform: 'duckdb',
  server: null,
  database: null,
  login: null,
  environment: 'embedded',
  isProtected: false,
  isReadOnly: false,
} as const;

function model(...texts: string[]): RunModel {
  const batches = texts.map((text, line) => ({ text, line }));
  const what = { id: '1', title: 'Load', mode: 'run', canRerun: true, canDryRun: false } as const;
  return new RunModel({ ...what, connection, batches, parameters: [] });
}

function ended(status: RunResult['status'], counts = unknownCounts): RunResult {
  return { status, counts, batches: [], warnings: [], error: null, elapsedMs: 5 };
}

const set = (names: readonly string[], rows: readonly (readonly (string | number)[])[]) => ({
  columns: names.map((name) => ({ name, type: 'varchar' })),
  rows,
  rowCount: rows.length,
});

describe('the run that the panel shows', () => {
  test('follows the batches', () => {
    const run = model('a', 'b');
    run.apply({ kind: 'state', state: 'running' });
    run.apply({ kind: 'batch-started', index: 0, of: 2, text: 'a' });
    expect(run.snapshot().batches.map((batch) => batch.state)).toEqual(['running', 'waiting']);
    run.apply({ kind: 'batch-finished', index: 0, result: { text: 'a', elapsedMs: 3, rows: 7, messages: [] } });
    expect(run.snapshot().batches[0]).toMatchObject({ state: 'done', elapsedMs: 3, rows: 7 });
    expect(run.snapshot().status).toBeNull();
  });

  test('a batch that ran when the run ended badly is not left running', () => {
    const run = model('a');
    run.apply({ kind: 'batch-started', index: 0, of: 1, text: 'a' });
    run.finish(ended('unknown'));
    expect(run.snapshot()).toMatchObject({ state: 'finished', status: 'unknown', counts: null });
    expect(run.snapshot().batches[0]?.state).toBe('failed');
  });

  test('a late state cannot reopen a finished run', () => {
    const run = model('a');
    run.finish(ended('done', { ...unknownCounts, inserted: 3 }));
    run.apply({ kind: 'state', state: 'running' });
    expect(run.snapshot()).toMatchObject({ state: 'finished', counts: { inserted: 3, updated: null } });
  });

  test('counts, warnings and samples are no result sets of the grid', () => {
    const run = model('a');
    for (const resultSet of [
      set(['inserted', 'expired'], [[1, 2]]),
      set(['warning_code', 'message'], [['empty_stage', 'x']]),
      set(['sample_kind', 'sample_no', 'sample_side', 'id'], [['inserted', 1, 'after', 5]]),
      set(['id', 'name'], [[5, 'x']]),
    ]) {
      run.apply({ kind: 'result-set', batch: 0, resultSet });
    }
    expect(run.snapshot().results).toMatchObject([{ id: 0, heldRows: 1 }]);
    expect(run.rows(0, 0, 10)).toEqual([[5, 'x']]);
    expect(run.rows(1, 0, 10)).toEqual([]);
  });

  test('an error and a warning are told once, however often the runner says them', () => {
    const run = model('a');
    const error = { code: 'duplicate_key', message: 'duplicate_key: K10', batch: 0, line: 4 };
    const warning = { code: 'empty_stage', message: 'x' };
    run.apply({ kind: 'error', error });
    run.apply({ kind: 'warning', warning });
    run.finish({ ...ended('failed'), error, warnings: [warning] });
    expect(run.snapshot()).toMatchObject({ errors: [error], warnings: [warning] });
  });

  test('a long batch is shown by its beginning', () => {
    const shown = model('x'.repeat(50_000)).snapshot().batches[0]?.text ?? '';
    expect(shown.length).toBeLessThan(21_000);
    expect(shown).toContain('30000 more characters');
  });
});
