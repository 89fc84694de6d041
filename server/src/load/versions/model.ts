/** What the loads that compare a staged row with the current row of its key speak about: columns, kinds of changes, flags. */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import type { LoadOptions } from '../../../../protocol/specification.ts';
import { sameIdentifier } from '../../model/names.ts';
import { any, column, compare, countWhere, differs, isIn, isNotNull, isNull, literal } from '../build.ts';
import { instant } from '../clock.ts';
import {
  columnOf,
  columnType,
  comparable,
  type Feed,
  findColumn,
  freeName,
  type KeyPart,
  keyParts,
  type LoadContext,
  refuseNarrowing,
  report,
} from '../context.ts';
import { type Expression, types, type ValueType } from '../language.ts';

/** What the join of stage and current rows finds for a key. */
export type ChangeKind =
  /** Staged, and no current row. */
  | 'new'
  /** Staged, and the current row differs. */
  | 'changed'
  /** As `changed`, and the current version began today: it is rewritten in place. */
  | 'rewritten'
  /** Only columns differ that are kept up on the current row without a new version. */
  | 'refreshed'
  /** Current, and not staged. */
  | 'absent'
  /** As `absent`, and the current version began today. */
  | 'absent today';

/** Names and expressions that the patterns' writes use. */
export interface Versions {
  readonly context: LoadContext;
  readonly keys: readonly KeyPart[];
  /** Attributes that the stage fills: everything but keys and control columns. */
  readonly attributes: readonly Feed[];
  readonly validFrom: CatalogColumn | undefined;
  readonly validTo: CatalogColumn | undefined;
  readonly names: ChangeNames;
  /** Kinds that this load can find. */
  readonly kinds: ReadonlySet<ChangeKind>;
}

/** Columns of the change relation beside the target's own. */
export interface ChangeNames {
  readonly kind: string;
  readonly address: string;
  readonly storedFrom: string;
  readonly storedKey: (part: KeyPart) => string;
  readonly closedTo: string;
  readonly inactive: string;
}

export const changesName = 'changes';

/** A column of the change relation, as the writes read it. */
export function change(name: string, type: ValueType = types.text): Expression {
  return column('c', name, type);
}

export function changeOf(context: LoadContext, of: CatalogColumn): Expression {
  return column('c', of.name, columnType(context.target, of));
}

export function stored(context: LoadContext, of: CatalogColumn): Expression {
  return columnOf('t', context.target, of);
}

export function kindIs(versions: Versions, ...kinds: readonly ChangeKind[]): Expression {
  const possible = kinds.filter((kind) => versions.kinds.has(kind));
  return isIn(column('c', versions.names.kind, types.code), possible);
}

export function countKinds(versions: Versions, ...kinds: readonly ChangeKind[]): Expression {
  return kinds.some((kind) => versions.kinds.has(kind)) ? countWhere(kindIs(versions, ...kinds)) : literal(0);
}

/** The columns, named by options, that each version of a row bears and the load keeps up itself. */
export function versionColumns(options: LoadOptions): readonly string[] {
  const { valid_from, valid_to, is_current, deleted_flag, deleted_at, inactive_at, inserted_at } = options;
  const names = [valid_from, valid_to, is_current, deleted_flag, deleted_at, inactive_at, inserted_at];
  return names.filter((name) => name !== undefined);
}

/** The option columns that the load keeps up itself; they are neither compared nor taken from the stage. */
function controlColumns(context: LoadContext): ReadonlySet<string> {
  const { options } = context;
  const names = [
    ...versionColumns(options),
    options.changed_at,
    ...Object.values(options.previous ?? {}),
    ...Object.values(options.current_columns ?? {}),
    ...Object.keys(options.hashdiff ?? {}),
  ];
  return new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])));
}

/** Tracked columns: `compare` names stage columns; absent, every attribute that is not `untracked` is tracked. */
export function trackedFeeds(versions: Versions): readonly Feed[] {
  const { context, attributes } = versions;
  const { compare: names, untracked = [] } = context.options;
  if (names === undefined) {
    return attributes.filter((feed) => feed.source !== null && !untracked.some((name) => isFeedOf(feed, name)));
  }
  return feedsNamed(context, attributes, names, 'compare');
}

export function feedsNamed(
  context: LoadContext,
  feeds: readonly Feed[],
  names: readonly string[],
  option: string,
): readonly Feed[] {
  return names.flatMap((name) => {
    const feed = feeds.find((candidate) => isFeedOf(candidate, name));
    if (feed !== undefined) return [feed];
    if (findColumn(context, context.source, name, option) === undefined) return [];
    report(
      context,
      'missing-column',
      `${context.target.name.table} has no column for ${name}, which option ${option} names.`,
    );
    return [];
  });
}

export function isFeedOf(feed: Feed, name: string): boolean {
  return (feed.source !== null && sameIdentifier(feed.source.name, name)) || sameIdentifier(feed.target.name, name);
}

/** Absent keys are looked for: a full load, a delivered partition or a key list, and something to do with them. */
export function detectsAbsence({ options }: LoadContext): boolean {
  if (options.hard_deletes === undefined || options.hard_deletes === 'ignore') return false;
  return options.load === 'full' || options.load === 'partition' || options.detection_source === 'key_list';
}

/** How a pattern departs from a plain type 2 load. */
export interface VersionRules {
  /** A change opens a new version; else the row is overwritten. */
  readonly versioned: boolean;
  /** Staged rows are compared at all; off where only absent keys are looked for. */
  readonly loads: boolean;
  /** When the current row counts as changed; over `s` (staged) and `t` (stored). Absent: a tracked column differs. */
  readonly changed?: (versions: Versions) => Expression | null;
  /** When only columns without versions differ; null for never. */
  readonly refreshed?: (versions: Versions) => Expression | null;
}

export function makeVersions(context: LoadContext, rules: VersionRules): Versions {
  const { options, target } = context;
  const keys = keyParts(context);
  const control = controlColumns(context);
  const isKey = (of: CatalogColumn): boolean => keys.some((part) => sameIdentifier(part.target.name, of.name));
  const attributes = context.feeds.filter(
    (feed) => !isKey(feed.target) && !control.has(feed.target.name.toLowerCase()),
  );
  refuseNarrowing(context, attributes);
  const findTarget = (name: string | undefined, option: string): CatalogColumn | undefined =>
    name === undefined ? undefined : findColumn(context, target, name, option);
  const validFrom = findTarget(options.valid_from, 'valid_from');
  const validTo = findTarget(options.valid_to, 'valid_to');
  const names: ChangeNames = {
    kind: freeName(context, 'change_kind'),
    address: freeName(context, 'stored_row'),
    storedFrom: freeName(context, 'stored_from'),
    storedKey: (part) => freeName(context, `stored_${part.target.name}`),
    closedTo: freeName(context, 'closed_to'),
    inactive: freeName(context, 'is_absent'),
  };
  const kinds = new Set<ChangeKind>();
  if (rules.loads) {
    kinds.add('new').add('changed');
    if (rules.versioned && options.grain === 'day') kinds.add('rewritten');
  }
  if (detectsAbsence(context)) {
    kinds.add('absent');
    if (rewritesAbsentToday(context)) kinds.add('absent today');
  }
  const versions = { context, keys, attributes, validFrom, validTo, names, kinds };
  if (rules.loads && rules.refreshed?.(versions)) kinds.add('refreshed');
  return versions;
}

/** At grain `day` a version that began today bears its own inactive date instead of being followed by a copy. */
function rewritesAbsentToday({ options }: LoadContext): boolean {
  return options.grain === 'day' && options.hard_deletes === 'new_record';
}

/** The current rows: open end, or all rows where the table has no validity. */
export function isOpen(versions: Versions, alias: string): readonly Expression[] {
  const { context, validTo } = versions;
  if (validTo === undefined) {
    const { is_current: name, current_values: [current] = [true] } = context.options;
    const flag = name === undefined ? undefined : findColumn(context, context.target, name, 'is_current');
    return flag === undefined || context.options.valid_from === undefined
      ? []
      : [compare(columnOf(alias, context.target, flag), '=', flagValue(context, flag, current))];
  }
  const value = columnOf(alias, context.target, validTo);
  const end = context.options.open_end ?? null;
  return [end === null ? isNull(value) : compare(value, '=', instant(end, columnType(context.target, validTo)))];
}

/** A flag's value in its column's type: booleans and numbers as such, texts as `current_values` has them. */
export function flagValue(context: LoadContext, of: CatalogColumn, value: string | boolean): Expression {
  const type = columnType(context.target, of);
  if (type.facts.family === 'boolean') return literal(value === true || value === '1' || value === 'true', type);
  if (typeof value === 'string') return literal(value, type);
  return type.facts.family === 'text' ? literal(value ? 'Y' : 'N', type) : literal(value ? '1' : '0', type);
}

/** A stored row that an earlier load found absent. */
export function isFlagged(versions: Versions, alias: string): Expression | null {
  const { context } = versions;
  const { inactive_at: inactive, deleted_flag: deleted } = context.options;
  const inactiveColumn =
    inactive === undefined ? undefined : findColumn(context, context.target, inactive, 'inactive_at');
  if (inactiveColumn !== undefined) return isNotNull(columnOf(alias, context.target, inactiveColumn));
  const flag = deleted === undefined ? undefined : findColumn(context, context.target, deleted, 'deleted_flag');
  if (flag === undefined) return null;
  return compare(columnOf(alias, context.target, flag), '=', flagValue(context, flag, true));
}

export function isNotFlagged(versions: Versions, alias: string): readonly Expression[] {
  const { context } = versions;
  const { inactive_at: inactive, deleted_flag: deleted } = context.options;
  const inactiveColumn =
    inactive === undefined ? undefined : findColumn(context, context.target, inactive, 'inactive_at');
  if (inactiveColumn !== undefined) return [isNull(columnOf(alias, context.target, inactiveColumn))];
  const flag = deleted === undefined ? undefined : findColumn(context, context.target, deleted, 'deleted_flag');
  return flag === undefined ? [] : [differs(columnOf(alias, context.target, flag), flagValue(context, flag, true))];
}

/** Target columns that a new version needs: all that the load may write, in the target's order. */
export function writableColumns(context: LoadContext): readonly CatalogColumn[] {
  return context.target.columns.filter((of) => !of.computed && !of.identity);
}

/** Columns that say that a row is gone; cleared when its key is back. */
export function absenceColumns(versions: Versions): readonly CatalogColumn[] {
  const { context } = versions;
  const { options } = context;
  return [options.deleted_flag, options.deleted_at, options.inactive_at].flatMap((name) =>
    name === undefined ? [] : (findColumn(context, context.target, name, 'deleted_flag') ?? []),
  );
}

/** Columns that follow from the values of the next version (alias `f`): stored digests and checksums. */
export function derivedColumns({ context }: Versions): readonly CatalogColumn[] {
  const { options, target } = context;
  const digests = Object.keys(options.hashdiff ?? {}).flatMap(
    (name) => findColumn(context, target, name, 'hashdiff') ?? [],
  );
  const fed = new Set(context.feeds.map((feed) => feed.target));
  const checksums = target.columns.filter((of) => of.role === 'checksum' && !fed.has(of) && !digests.includes(of));
  return options.hash_rules?.preset === 'binary-checksum' ? [...digests, ...checksums] : digests;
}

/** True when a staged value (alias `s`) differs from the stored one (alias `t`) in one of the columns. */
export function anyDiffers(context: LoadContext, feeds: readonly Feed[]): Expression | null {
  if (feeds.length === 0) return null;
  return any(
    ...feeds.map((feed) =>
      differs(
        comparable(context, column('s', feed.target.name, feed.type)),
        comparable(context, stored(context, feed.target)),
      ),
    ),
  );
}

export function presence(context: LoadContext, name: string): string {
  return freeName(context, `is_${name}`);
}
