/** From a case and one of its steps to the load specification: what the case leaves out is stated as off. */
import { formatPlatform, type Platform } from '../../../protocol/platform.ts';
import type { FormName, LoadOptions, LoadSpecification, PatternName, Shape } from '../../../protocol/specification.ts';
import type { CaseOptions, CaseStep, ConformanceCase } from './format.ts';
import { caseHashRules } from './hashes.ts';

export interface LoadForm {
  readonly platform: Platform;
  readonly form: FormName;
  readonly shape: Shape;
}

/** Names of a case's tables on the engine; extra tables by their role. */
export interface CaseTableNames {
  readonly stage: string;
  readonly target: string;
  readonly extra: Readonly<Record<string, string>>;
}

/**
 * The specification of one step's load. `newColumns` are the staged columns that the former step did not have.
 * Lists of options name only columns that the step's stage has.
 */
export function stepSpecification(
  owner: ConformanceCase,
  step: CaseStep,
  newColumns: readonly string[],
  names: CaseTableNames,
  { platform, form, shape }: LoadForm,
  schema: string | null,
): LoadSpecification {
  const tableName = (table: string) => ({ database: null, schema, table });
  return {
    version: 1,
    pattern: owner.pattern,
    source: tableName(names.stage),
    target: tableName(names.target),
    extra: Object.fromEntries(Object.entries(names.extra).map(([role, table]) => [role, tableName(table)])),
    platform: formatPlatform(platform),
    form,
    shape,
    options: {
      ...statedOptions(owner, step),
      ...(newColumns.length > 0 ? { new_columns: newColumns } : {}),
      ...(step.scope === undefined ? {} : { scope_values: textValues(step.scope) }),
    },
  };
}

/** Every option that a case may leave out and that has a state "off"; house defaults do not apply in a case. */
const everythingOff: LoadOptions = {
  untracked: [],
  untracked_mode: 'keep_old',
  compare_mode: 'exact',
  key_compare: 'exact',
  empty_as_null: false,
  grain: 'load',
  closing: 'half-open',
  open_end: null,
  hard_deletes: 'ignore',
  load: 'delta',
  scope: [],
  on_empty_stage: 'apply',
  max_inactivation_pct: 100,
  hwm: false,
  idempotent_rerun: false,
  auto_end_dating: false,
  type0_fill_null_once: false,
  op_derived: false,
  insert_only: false,
  ignore_null_updates: false,
  same_ts_conflict: 'insert_all',
  ghost: { enabled: false },
  delete_values: [],
  truncate_values: [],
  type1: [],
  type1_scope: 'all',
  end_offset: '0',
};

/** Options that a pattern's case implies by its pattern alone. */
const impliedByPattern: Readonly<Partial<Record<PatternName, LoadOptions>>> = {
  inactivation: { with_load: true },
};

function statedOptions(owner: ConformanceCase, step: CaseStep): LoadOptions {
  const { engines: _engines, ...stated } = owner.config;
  const options: CaseOptions = {
    ...everythingOff,
    ...impliedByPattern[owner.pattern],
    ...stated,
    hash_rules: caseHashRules(owner.config),
  };
  const staged = step.stage_columns;
  return staged === undefined ? options : withoutMissingColumns(options, owner, staged);
}

/** Shortens keys, compare and hash lists to the columns that this step's stage has. */
function withoutMissingColumns(options: CaseOptions, owner: ConformanceCase, staged: readonly string[]): LoadOptions {
  const missing = new Set(Object.keys(owner.tables.stage).filter((name) => !staged.includes(name)));
  const kept = (names: readonly string[]): readonly string[] => names.filter((name) => !missing.has(name));
  const keptIn = (lists: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, kept(list)]));
  return {
    ...options,
    ...(options.keys === undefined ? {} : { keys: kept(options.keys) }),
    ...(options.not_null === undefined ? {} : { not_null: kept(options.not_null) }),
    ...(options.compare === undefined ? {} : { compare: kept(options.compare) }),
    ...(options.untracked === undefined ? {} : { untracked: kept(options.untracked) }),
    ...(options.type1 === undefined ? {} : { type1: kept(options.type1) }),
    ...(options.hash_key === undefined ? {} : { hash_key: keptIn(options.hash_key) }),
    ...(options.hashdiff === undefined ? {} : { hashdiff: keptIn(options.hashdiff) }),
    ...(options.hash_columns === undefined ? {} : { hash_columns: keptIn(options.hash_columns) }),
    ...(options.satellites === undefined || owner.pattern !== 'xts' ? {} : { satellites: keptIn(options.satellites) }),
  };
}

function textValues(scope: NonNullable<CaseStep['scope']>): Readonly<Record<string, readonly (string | null)[]>> {
  return Object.fromEntries(
    Object.entries(scope).map(([column, values]) => [
      column,
      values.map((value) => (value === null ? null : String(value))),
    ]),
  );
}
