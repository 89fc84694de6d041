/** A case brought to just before its last load: what tests of interrupted and simultaneous runs start from. */
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { generatedLoad } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { type CaseSettings, CaseTables } from '../../cli/src/conformance/tables.ts';
import type { GeneratedLoad } from '../../server/src/generate/types.ts';

export interface PreparedLoad {
  readonly load: GeneratedLoad;
  readonly now: string;
  readonly tables: CaseTables;
}

/** Creates the tables, runs all steps but the last one, fills the stage for the last one and generates its load. */
export async function prepareLastLoad(
  owner: ConformanceCase,
  session: CaseSession,
  settings: CaseSettings,
): Promise<PreparedLoad> {
  const tables = await CaseTables.create(owner, 'prepared_', session, settings);
  for (const [index, step] of owner.steps.entries()) {
    await tables.prepare(step);
    const load = generatedLoad(owner, index, step, tables, settings);
    if (typeof load === 'string') throw new Error(`${owner.id}: ${load}`);
    if (index === owner.steps.length - 1) return { load, now: step.now, tables };
    const result = await session.runLoad(load, step.now);
    if (result.status !== 'done') throw new Error(`${owner.id}: ${result.error?.message ?? result.status}`);
    await tables.targetRows();
  }
  throw new Error(`${owner.id} has no steps`);
}

/** The load of a case's last step alone, without an engine: enough where only its text matters. */
export async function lastLoad(
  owner: ConformanceCase,
  settings: CaseSettings,
): Promise<Pick<PreparedLoad, 'load' | 'now'>> {
  const tables = await CaseTables.create(owner, 'mw_', deaf, settings);
  const index = owner.steps.length - 1;
  const step = owner.steps[index];
  if (step === undefined) throw new Error(`${owner.id} has no steps`);
  await tables.prepare(step);
  const load = generatedLoad(owner, index, step, tables, settings);
  if (typeof load === 'string') throw new Error(`${owner.id}: ${load}`);
  return { load, now: step.now };
}

/** The text of one step's load after the other, without an engine and without its header; where there is none, why. */
export async function* loadTexts(owner: ConformanceCase, settings: CaseSettings): AsyncGenerator<string> {
  const tables = await CaseTables.create(owner, 'mw_', deaf, settings);
  for (const [index, step] of owner.steps.entries()) {
    // A load's text follows from columns and options, not from rows.
    await tables.prepare({ ...step, stage_rows: [] });
    const load = generatedLoad(owner, index, step, tables, settings);
    const text = typeof load === 'string' ? load : load.batches.map((batch) => batch.text).join('\n');
    yield text.replaceAll(/^-- mergewright: .*$/gm, '');
  }
}

/** A session that runs nothing. */
const deaf: CaseSession = {
  execute: () => Promise.resolve(),
  query: () => Promise.resolve([]),
  runLoad: () => Promise.reject(new Error('this session runs no load')),
  close: () => Promise.resolve(),
};
