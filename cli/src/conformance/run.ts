/** Runs one case on an engine: tables, seed, and per step the generated load and its comparison. */
import { type ChangeCounts, type CountName, countNames } from '../../../protocol/counts.ts';
import { checkOptions } from '../../../protocol/load-options.ts';
import type { PatternName } from '../../../protocol/specification.ts';
import { procedureName } from '../../../server/src/generate/file-names.ts';
import { generateLoad } from '../../../server/src/generate/generate.ts';
import { defaultStyle } from '../../../server/src/generate/style.ts';
import type { GeneratedLoad } from '../../../server/src/generate/types.ts';
import type { CaseStep, ConformanceCase } from './format.ts';
import { countsBetween, firstDifference } from './rows.ts';
import type { CaseSession } from './session.ts';
import { stepSpecification } from './specification.ts';
import { type CaseSettings, CaseTables, dropTables } from './tables.ts';
import { type TextRow, textOfCell } from './values.ts';

export interface CaseOutcome {
  readonly id: string;
  readonly pattern: PatternName;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** One-based step of the first difference; null when the case passed or no step was reached. */
  readonly step: number | null;
  readonly difference: string | null;
  readonly elapsedMs: number;
}

/** Runs a case; every failure, also one of the engine, becomes part of the outcome. */
export async function runCase(
  owner: ConformanceCase,
  session: CaseSession,
  settings: CaseSettings,
): Promise<CaseOutcome> {
  const { id, pattern, config } = owner;
  const outcome = { id, pattern, step: null, difference: null, elapsedMs: 0 };
  if (config.engines !== undefined && !config.engines.includes(settings.platform.name)) {
    return { ...outcome, status: 'skipped' };
  }
  const started = performance.now();
  const failure = await firstFailure(owner, session, settings);
  const elapsedMs = Math.round(performance.now() - started);
  return failure === undefined
    ? { ...outcome, status: 'passed', elapsedMs }
    : { ...outcome, ...failure, status: 'failed', elapsedMs };
}

/** Names of their own for each shape, so that runs of both can share a database. */
export function tablePrefix({ id }: ConformanceCase, { shape }: Pick<CaseSettings, 'shape'>): string {
  return `mw_${shape}_${id.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}_`;
}

interface Failure {
  readonly step: number | null;
  readonly difference: string;
}

async function firstFailure(
  owner: ConformanceCase,
  session: CaseSession,
  settings: CaseSettings,
): Promise<Failure | undefined> {
  const prefix = tablePrefix(owner, settings);
  const stepNumber = { current: 0 };
  try {
    await dropTables(prefix, session, settings.dialect);
    const tables = await CaseTables.create(owner, prefix, session, settings);
    for (const [index, step] of owner.steps.entries()) {
      stepNumber.current = index + 1;
      const difference = await stepDifference(owner, index, step, tables, session, settings);
      if (difference !== undefined) return { step: index + 1, difference };
    }
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { step: stepNumber.current === 0 ? null : stepNumber.current, difference: text };
  } finally {
    await dropTables(prefix, session, settings.dialect).catch(() => undefined);
    const { form, dialect } = settings;
    const drop =
      form === 'procedure' ? dialect.dropProcedure?.(procedureName(owner.pattern, `${prefix}target`)) : undefined;
    if (drop !== undefined) await session.execute(drop).catch(() => undefined);
  }
}

/** Prepares and runs one step; the first thing in which it differs from the case, in words. */
async function stepDifference(
  owner: ConformanceCase,
  index: number,
  step: CaseStep,
  tables: CaseTables,
  session: CaseSession,
  settings: CaseSettings,
): Promise<string | undefined> {
  const before = await tables.prepare(step);
  const load = generatedLoad(owner, index, step, tables, settings);
  if (typeof load === 'string') return load;
  const result = await session.runLoad(load, step.now);
  const after = await tables.targetRows();
  const expected = tables.expectedRows(step);
  const error = result.status === 'done' ? undefined : (result.error ?? { code: result.status, message: '' });
  if (error?.code !== step.expect_error) {
    return error === undefined
      ? `the load ran, expected error ${step.expect_error}`
      : `${error.code}: ${error.message.split('\n', 1)[0]}${step.expect_error === undefined ? '' : `, expected error ${step.expect_error}`}`;
  }
  return (
    firstDifference(after, expected, owner.config.target_identity) ??
    countDifference(owner, step, result.counts, before, after) ??
    classDifference(owner, step, after)
  );
}

/** The load of one step, or why it cannot be generated. */
export function generatedLoad(
  owner: ConformanceCase,
  index: number,
  step: CaseStep,
  tables: CaseTables,
  settings: CaseSettings,
): GeneratedLoad | string {
  const { engines: _engines, ...options } = owner.config;
  const [complaint] = checkOptions({ ...options }).complaints;
  if (complaint !== undefined) return `not generated: ${complaint}`;
  const formerColumns = owner.steps[index - 1]?.stage_columns;
  const newColumns =
    index === 0 || formerColumns === undefined
      ? []
      : (step.stage_columns ?? Object.keys(owner.tables.stage)).filter((name) => !formerColumns.includes(name));
  const specification = stepSpecification(owner, step, newColumns, tables.names, settings, tables.schema);
  const { value, problems } = generateLoad({ specification, tables: tables.catalog(step), style: defaultStyle });
  const refusal = problems.find((problem) => problem.severity === 'error');
  if (refusal !== undefined) return `not generated: ${refusal.message}`;
  return value ?? 'not generated';
}

/** Loads report their own counts; in cases of a kind (rebuild, view …) the rows before and after tell them. */
function countDifference(
  owner: ConformanceCase,
  { expected_counts: expected, expect_error: expectedError }: CaseStep,
  reported: ChangeCounts,
  before: readonly TextRow[],
  after: readonly TextRow[],
): string | undefined {
  if (expectedError !== undefined) return undefined;
  const { config, tables } = owner;
  if (config.kind !== undefined) {
    const openEnd = textOfCell(config.open_end ?? null, tables.target[config.valid_to ?? ''] ?? 'timestamp(6)');
    const counted = countsBetween(before, after, config, openEnd);
    return differing(['inserted', 'updated', 'expired', 'deleted'], counted, expected);
  }
  return differing(countNames, reported, { ...expected, skipped: expected.skipped ?? 0 });
}

function differing(
  names: readonly CountName[],
  actual: Partial<ChangeCounts>,
  expected: CaseStep['expected_counts'],
): string | undefined {
  const name = names.find((candidate) => {
    const wanted = expected[candidate];
    return wanted !== null && wanted !== undefined && (actual[candidate] ?? 0) !== wanted;
  });
  return name === undefined ? undefined : `count ${name} is ${actual[name] ?? 'NULL'}, expected ${expected[name]}`;
}

/** Rows listed together must have equal digests (or all none), rows of different lists different ones. */
function classDifference(owner: ConformanceCase, step: CaseStep, after: readonly TextRow[]): string | undefined {
  if (step.hash_classes === undefined) return undefined;
  const hashes = Object.keys(owner.config.hash_columns ?? {});
  const digestOf = new Map<string, string | null>();
  for (const row of after) {
    for (const hash of hashes) {
      digestOf.set(hashes.length > 1 ? `${row['rid']}.${hash}` : String(row['rid']), row[hash] ?? null);
    }
  }
  const owners = new Map<string | null, readonly string[]>();
  for (const members of step.hash_classes) {
    const digests = new Set(members.map((member) => digestOf.get(member) ?? null));
    if (digests.size > 1) return `digests of ${members.join(', ')} differ`;
    const [digest = null] = digests;
    const other = owners.get(digest);
    if (other !== undefined) return `digests of ${other.join(', ')} and ${members.join(', ')} are equal`;
    owners.set(digest, members);
  }
  return undefined;
}
