import { DuckDBInstance } from '@duckdb/node-api';
import { type ChangeCounts, countNames, unknownCounts } from '../../../protocol/counts.ts';
import type { CellValue, ResultSet, RunResult } from '../../../protocol/run.ts';
import type { CaseSession } from './session.ts';

export class UnusableConnection extends Error {}

export async function openCaseSession(connection: string): Promise<CaseSession> {
  if (!connection.startsWith('duckdb:')) throw new UnusableConnection(`${connection} cannot be used yet`);
  const instance = await DuckDBInstance.create(connection.slice('duckdb:'.length));
  const session = await instance.connect();
  await session.run("SET TimeZone = 'UTC'");
  const runAll = async (text: string): Promise<ResultSet[]> => {
    const sets: ResultSet[] = [];
    const extracted = await session.extractStatements(text);
    for (let i = 0; i < extracted.count; i += 1) {
      const prepared = await extracted.prepare(i);
      const reader = await prepared.runAndReadAll();
      const rows = reader.getRowsJson() as CellValue[][];
      sets.push({
        columns: reader.columnNames().map((name) => ({ name, type: '' })),
        rows,
        rowCount: rows.length,
      });
    }
    return sets;
  };
  return {
    execute: async (text) => {
      await session.run(text);
    },
    query: async (text) => (await session.runAndReadAll(text)).getRowsJson() as CellValue[][],
    close: async () => {
      session.closeSync();
      instance.closeSync();
    },
    runLoad: async (load, now): Promise<RunResult> => {
      const base = { batches: [], warnings: [], elapsedMs: 0 };
      try {
        const sets: ResultSet[] = [];
        for (const batch of load.batches) sets.push(...(await runAll(withBatchTime(batch.text, now))));
        const last = sets.findLast(
          (set) => set.columns.length === countNames.length && set.columns[0]?.name === 'inserted',
        );
        return { ...base, status: 'done', counts: countsOf(last), error: null };
      } catch (error) {
        await session.run('ROLLBACK').catch(() => undefined);
        const text = (error instanceof Error ? error.message : String(error)).replace(/^Invalid Input Error: /, '');
        const code = /^([a-z_]+): /.exec(text)?.[1] ?? 'engine';
        return {
          ...base,
          status: 'failed',
          counts: unknownCounts,
          error: { code, message: text, batch: 0, line: null },
        };
      }
    },
  };
}

function withBatchTime(text: string, now: string): string {
  return text.replace(/(SET VARIABLE "?batch_?time"?\s*=\s*)[^;]*;/i, `$1CAST('${now}' AS TIMESTAMP);`);
}

function countsOf(set: ResultSet | undefined): ChangeCounts {
  if (set === undefined) return unknownCounts;
  const entries = set.columns.map(({ name }, i) => {
    const value = set.rows[0]?.[i];
    return [name, value === null || value === undefined ? null : Number(value)] as const;
  });
  return { ...unknownCounts, ...Object.fromEntries(entries) };
}
