/** A load that is killed between any two of its statements, and run again, leaves what one clean run leaves. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textForRun } from '../../cli/src/conformance/batch-time.ts';
import { openCaseSession } from '../../cli/src/conformance/connect.ts';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import type { Shape } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings } from '../support/engine.ts';
import { prepareLastLoad } from '../support/prepared-load.ts';

const killed = join(import.meta.dirname, '..', 'support', 'kill-after.mjs');
/** Cases whose last step changes, inserts and, where the pattern knows it, inactivates rows. */
const ids = ['SAT-13', 'SCD2-03', 'INA-29', 'DAY-06', 'CDC-27', 'EFF-12'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-killed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caseOf(id: string): ConformanceCase {
  const found = conformanceCases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no case ${id}`);
  return found;
}

/** Each takes seconds, since every statement takes a process of its own; MERGE differs where rows are updated. */
const runs: readonly (readonly [string, Shape])[] = [
  ...ids.map((id) => [id, 'separate'] as const),
  ['SCD2-03', 'merge'],
  ['INA-29', 'merge'],
];

describe('killed loads', () => {
  test.each(runs)('%s, shape %s', async (id, shape) => {
    const settings = duckdbSettings(shape);
    const before = join(folder, 'before.duckdb');
    const session = await openCaseSession(`duckdb:${before}`);
    const { load, now, tables } = await prepareLastLoad(caseOf(id), session, settings);
    await session.close();

    /** The target after a whole run on a copy of the database. */
    const rowsAfterRun = async (database: string): Promise<readonly string[]> => {
      const again = await openCaseSession(`duckdb:${database}`);
      const result = await again.runLoad(load, now);
      expect(result.error).toBeNull();
      const rows = await again.query(settings.dialect.selectRows(tables.names.target, caseOf(id).tables.target));
      await again.close();
      return rows.map((row) => JSON.stringify(row)).sort();
    };

    const clean = join(folder, 'clean.duckdb');
    copyFileSync(before, clean);
    const expected = await rowsAfterRun(clean);

    const script = join(folder, 'load.sql');
    writeFileSync(
      script,
      textForRun(load, now, 'duckdb')
        .map(({ text }) => text)
        .join('\n'),
    );
    for (let statements = 1; ; statements += 1) {
      const database = join(folder, `killed-${statements}.duckdb`);
      copyFileSync(before, database);
      const { signal, status, stderr } = spawnSync(process.execPath, [killed, database, script, String(statements)], {
        encoding: 'utf8',
      });
      if (status === 3) {
        expect(statements).toBeGreaterThan(5);
        break;
      }
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      expect(await rowsAfterRun(database), `killed after ${statements} statements`).toEqual(expected);
    }
  });
});
