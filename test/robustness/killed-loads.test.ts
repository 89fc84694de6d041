/** A load that is killed between any two of its statements, and run again, leaves what one clean run leaves. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const program = join(import.meta.dirname, '..', 'support', 'copy-after-each.mjs');
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

/** Each takes seconds, since the load is run again after every statement; MERGE differs where rows are updated. */
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
    const killed = join(folder, 'killed.duckdb');
    copyFileSync(before, killed);
    const copies = mkdtempSync(join(folder, 'after-'));
    const { signal, stderr } = spawnSync(process.execPath, [program, killed, script, copies], { encoding: 'utf8' });
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });

    const statements = readdirSync(copies).filter((file) => file.endsWith('.duckdb')).length;
    expect(statements).toBeGreaterThan(5);
    // The copy is what the kill leaves.
    const last = join(copies, `${statements}.duckdb`);
    expect(filesOf(last)).toEqual(filesOf(killed));
    for (let count = 1; count <= statements; count += 1) {
      const database = join(copies, `${count}.duckdb`);
      expect(await rowsAfterRun(database), `killed after ${count} statements`).toEqual(expected);
    }
  });
});

/** The bytes of a database and of its log, as digests. */
function filesOf(database: string): readonly (string | null)[] {
  return [database, `${database}.wal`].map((file) =>
    existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null,
  );
}
