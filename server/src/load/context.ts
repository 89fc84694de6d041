/**
 * What every pattern looks at: the tables of a load, which stage column fills which target column, and how keys and
 * tracked columns are compared. Built once per load from its specification and the two tables.
 */
import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { LoadOptions, LoadSpecification } from '../../../protocol/specification.ts';
import { defaultConventions } from '../model/default-conventions.ts';
import { fitOf, matchColumns } from '../model/matching.ts';
import { compactName, sameIdentifier } from '../model/names.ts';
import { cast, column, compare, parameter, same, shown, trim, upper } from './build.ts';
import { type Expression, isText, originOf, type TextRule, type ValueType, valueType } from './language.ts';
import type { PlanParameter } from './plan.ts';

/** What the platform's engine offers to a plan; the only thing a plan knows of it. */
export interface EngineTraits {
  /** Scanned rows have an address that holds until the transaction ends. */
  readonly rowAddresses: boolean;
}

/** A target column and what fills it. */
export interface Feed {
  readonly target: CatalogColumn;
  readonly type: ValueType;
  /** Stage column; null where a parameter fills the column. */
  readonly source: CatalogColumn | null;
  readonly parameter: string | null;
}

export interface LoadContext {
  readonly specification: LoadSpecification;
  readonly options: LoadOptions;
  readonly source: CatalogTable;
  readonly target: CatalogTable;
  readonly extra: Readonly<Record<string, CatalogTable>>;
  readonly traits: EngineTraits;
  /** Target columns that the stage or a parameter fills, in the target's order. */
  readonly feeds: readonly Feed[];
  /** Found while the context or the plan is built; an error among them means that no plan is made. */
  readonly problems: Problem[];
}

export const clockName = 'BatchTime';

/** What the planner of a pattern works with; what stands against the load is collected in its `problems`. */
export function makeContext(
  specification: LoadSpecification,
  tables: {
    readonly source: CatalogTable;
    readonly target: CatalogTable;
    readonly extra: Readonly<Record<string, CatalogTable>>;
  },
  traits: EngineTraits,
): LoadContext {
  const { source, target, extra } = tables;
  const { options } = specification;
  const problems: Problem[] = [];
  const match = matchColumns(source, target, defaultConventions, options.mapping ?? {});
  const parameters = options.parameters ?? {};
  const feeds = match.columns.flatMap((found): readonly Feed[] => {
    const type = columnType(target, found.target);
    const named = Object.entries(parameters).find(([name]) => sameIdentifier(name, found.target.name))?.[1];
    if (named !== undefined) return [{ target: found.target, type, source: null, parameter: named }];
    if (found.source === null) return [];
    return [{ target: found.target, type, source: found.source, parameter: null }];
  });
  return { specification, options, source, target, extra, traits, feeds, problems };
}

/** A column's type as the dialect of its table means it. */
export function columnType(table: CatalogTable, of: CatalogColumn): ValueType {
  return valueType(of.type, originOf(table.platform));
}

/** Adds a problem at the target's definition. */
export function report(
  context: LoadContext,
  code: string,
  message: string,
  severity: Problem['severity'] = 'error',
): void {
  context.problems.push({ code, severity, message, file: context.target.file, range: context.target.range });
}

/** A table's column by name; a problem, and undefined, when the table has none. */
export function findColumn(
  context: LoadContext,
  table: CatalogTable,
  name: string,
  option: string,
): CatalogColumn | undefined {
  const { byName, byCompact } = columnIndex(table.columns);
  const found = byName.get(name.toLowerCase()) ?? byCompact.get(compactName(name));
  if (found === undefined) {
    const known = table.columns.map((candidate) => candidate.name).join(', ');
    report(
      context,
      'missing-column',
      `${table.name.table} has no column ${name}, which option ${option} names; it has ${known}.`,
    );
  }
  return found;
}

interface ColumnIndex {
  readonly byName: ReadonlyMap<string, CatalogColumn>;
  readonly byCompact: ReadonlyMap<string, CatalogColumn>;
}

const columnIndexes = new WeakMap<readonly CatalogColumn[], ColumnIndex>();

/** A table's columns by their names in lower case and by their letters and digits; of several the first. */
function columnIndex(columns: readonly CatalogColumn[]): ColumnIndex {
  const known = columnIndexes.get(columns);
  if (known !== undefined) return known;
  const made = {
    byName: firstBy(columns, (of) => of.name.toLowerCase()),
    byCompact: firstBy(columns, (of) => compactName(of.name)),
  };
  columnIndexes.set(columns, made);
  return made;
}

function firstBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T> {
  const first = new Map<string, T>();
  for (const one of all) {
    const key = keyOf(one);
    if (!first.has(key)) first.set(key, one);
  }
  return first;
}

/** The target columns that an option names. */
export function targetColumns(
  context: LoadContext,
  names: readonly string[],
  option: string,
): readonly CatalogColumn[] {
  return names.flatMap((name) => findColumn(context, context.target, name, option) ?? []);
}

/** A column of a table that the query knows by an alias. */
export function columnOf(alias: string, table: CatalogTable, of: CatalogColumn): Expression {
  return column(alias, of.name, columnType(table, of));
}

/** A stage column as a value of the target column's type; converted only where the types differ. */
export function fedValue(context: LoadContext, feed: Feed, alias = 's'): Expression {
  if (feed.source === null) return parameter(feed.parameter ?? feed.target.name, feed.type);
  return converted(columnOf(alias, context.source, feed.source), feed.type);
}

/** The value in a type; values that have it already stay as they are. */
export function converted(value: Expression, type: ValueType): Expression {
  return 'type' in value && value.type !== null && sameType(value.type, type) ? value : cast(value, type);
}

function sameType(left: ValueType, right: ValueType): boolean {
  return left.text === right.text && left.origin === right.origin;
}

/** Says which stage columns are narrowed by their target column, naming both types. */
export function refuseNarrowing(context: LoadContext, feeds: readonly Feed[]): void {
  const { source, target, options } = context;
  for (const feed of feeds) {
    if (feed.source === null || options.accept_narrowing?.some((name) => sameIdentifier(name, feed.target.name)))
      continue;
    if (fitOf(feed.source, source, feed.target, target) !== 'narrowing') continue;
    report(
      context,
      'narrowed-type',
      `${feed.source.name} of ${source.name.table} is ${feed.source.type}, but ${feed.target.name} of ${target.name.table} is only ${feed.target.type}: widen the target column, or accept the risk with --set accept_narrowing=["${feed.target.name}"].`,
    );
  }
}

/** A key column: how it is called in stage and target. */
export interface KeyPart {
  readonly source: CatalogColumn;
  readonly target: CatalogColumn;
  readonly type: ValueType;
}

/** The key of a load: `keys` in the stage against `target_key` in the target, by position, in the order of the key. */
export function keyParts(context: LoadContext): readonly KeyPart[] {
  const { options, source, target } = context;
  const keys = options.keys ?? [];
  if (keys.length === 0) {
    report(
      context,
      'no-key',
      `No key is stated for ${target.name.table}: say which stage columns identify a row with --set keys=["…"].`,
    );
    return [];
  }
  const targets = options.target_key ?? keys.map((key) => feedOf(context, key)?.target.name ?? key);
  const parts = keys.flatMap((key, index) => {
    const from = findColumn(context, source, key, 'keys');
    const to = findColumn(context, target, targets[index] ?? key, 'target_key');
    return from === undefined || to === undefined ? [] : [{ source: from, target: to, type: columnType(target, to) }];
  });
  // The metadata-driven procedure reads columns in the table's order; every other text keeps the order of the key.
  if (context.specification.form !== 'dynamic-procedure') return parts;
  return parts.toSorted((left, right) => target.columns.indexOf(left.target) - target.columns.indexOf(right.target));
}

/** The feed of a stage column. */
export function feedOf(context: LoadContext, stageColumn: string): Feed | undefined {
  return feedIndex(context.feeds).byStage.get(stageColumn.toLowerCase());
}

/** The feed of a target column. */
export function feedInto(context: LoadContext, target: CatalogColumn): Feed | undefined {
  return feedIndex(context.feeds).byTarget.get(target);
}

interface FeedIndex {
  readonly byStage: ReadonlyMap<string, Feed>;
  readonly byTarget: ReadonlyMap<CatalogColumn, Feed>;
}

const feedIndexes = new WeakMap<readonly Feed[], FeedIndex>();

function feedIndex(feeds: readonly Feed[]): FeedIndex {
  const known = feedIndexes.get(feeds);
  if (known !== undefined) return known;
  const made = {
    byStage: firstBy(
      feeds.filter((feed) => feed.source !== null),
      (feed) => (feed.source?.name ?? '').toLowerCase(),
    ),
    byTarget: new Map(feeds.map((feed) => [feed.target, feed])),
  };
  feedIndexes.set(feeds, made);
  return made;
}

/** How keys are compared, by `key_compare`; absent: by the columns' own collation. */
export function keyText(context: LoadContext): TextRule {
  return context.options.key_compare === undefined ? 'column' : 'exact';
}

/** A key column's value as `key_compare` sees it. */
export function keyValue(context: LoadContext, value: Expression): Expression {
  return isText(value) ? folded(value, context.options.key_compare) : value;
}

function folded(value: Expression, mode: 'exact' | 'trim' | 'ci' | undefined): Expression {
  if (mode === 'trim') return trim(value);
  return mode === 'ci' ? upper(value) : value;
}

/** Two key values that stand for one key; under `null_keys: match` two NULLs do, too. */
export function keysEqual(context: LoadContext, left: Expression, right: Expression): Expression {
  const [l, r] = [keyValue(context, left), keyValue(context, right)];
  return context.options.null_keys === 'match' ? same(l, r, keyText(context)) : compare(l, '=', r, keyText(context));
}

/** A tracked column's value as `compare_mode` and `empty_as_null` see it. */
export function comparable(context: LoadContext, value: Expression): Expression {
  if (!isText(value)) return value;
  const seen = folded(value, context.options.compare_mode);
  return context.options.empty_as_null === true ? { kind: 'null-if', operand: seen, value: '' } : seen;
}

/** A key as a message names it: its parts with `/` between them. */
export function keyLabel(values: readonly Expression[]): Expression {
  const parts = values.map(shown);
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'concat', of: parts, between: '/' };
}

/** A name that none of the target's columns has. */
export function freeName(context: LoadContext, name: string): string {
  const taken = (candidate: string): boolean =>
    [...context.target.columns, ...context.source.columns].some((other) => sameIdentifier(other.name, candidate));
  let free = name;
  while (taken(free)) free = `${free}_`;
  return free;
}

/** The time of the load: a parameter that reads the clock, in UTC, unless a run gives it. */
export function clockParameter(description: string): PlanParameter {
  return { name: clockName, type: valueType('datetime2(7)'), value: null, clock: true, description };
}

/** Parameters that fill target columns or go into hash keys, in order of first use. */
export function textParameters(context: LoadContext): readonly PlanParameter[] {
  const fromHash = Object.values(context.options.hash_key ?? {})
    .flat()
    .filter((name) => name.startsWith('@'))
    .map((name) => ({ name: name.slice(1), type: valueType('varchar(255)'), column: null as CatalogColumn | null }));
  const fromFeeds = context.feeds
    .filter((feed) => feed.parameter !== null)
    .map((feed) => ({ name: feed.parameter ?? '', type: feed.type, column: feed.target }));
  const named = new Map<string, PlanParameter>();
  for (const { name, type, column: of } of [...fromFeeds, ...fromHash]) {
    if (name === clockName) continue;
    const isRequired = of !== null && !of.nullable;
    const former = named.get(name);
    if (former !== undefined) {
      if (isRequired) named.set(name, { ...former, isRequired });
      continue;
    }
    const description = of === null ? 'goes into the hash key' : `fills ${of.name}`;
    named.set(name, { name, type, value: null, clock: false, description, ...(isRequired ? { isRequired } : {}) });
  }
  return [...named.values()];
}
