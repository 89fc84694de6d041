/**
 * Loads that compare the staged row of a key with its current row: one join into a small relation of changes, then the
 * writes from it. The patterns scd0 … scd6 and inactivation say what a change does; this file says what a change is.
 */
import type { CatalogColumn } from '../../../protocol/catalog.ts';
import { sameIdentifier } from '../model/names.ts';
import {
  aggregate,
  all,
  any,
  choose,
  column,
  compare,
  concat,
  countRows,
  countWhere,
  differs,
  isIn,
  isNotNull,
  isNull,
  item,
  join,
  later,
  literal,
  named,
  rowAddress,
  same,
  select,
  shown,
  source,
  table,
} from './build.ts';
import { clock, endBefore, instant, startNow } from './clock.ts';
import {
  clockParameter,
  columnOf,
  columnType,
  comparable,
  converted,
  type Feed,
  fedValue,
  feedOf,
  findColumn,
  freeName,
  type KeyPart,
  keyLabel,
  keyParts,
  keysEqual,
  keyText,
  keyValue,
  type LoadContext,
  refuseNarrowing,
  report,
  textParameters,
} from './context.ts';
import {
  type Expression,
  type Item,
  type Join,
  type Query,
  type Relation,
  types,
  type ValueType,
  valueType,
} from './language.ts';
import type { Assignment, LoadPlan, PlanParameter, RowMatch, Step, Warning, Write } from './plan.ts';
import {
  acceptedRows,
  duplicateGuard,
  skippedRows,
  stagedKey,
  stagedRows,
  stageMeasures,
  takesNullKeys,
} from './stage.ts';

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

/** The option columns that the load keeps up itself; they are neither compared nor taken from the stage. */
function controlColumns(context: LoadContext): ReadonlySet<string> {
  const { options } = context;
  const names = [
    options.valid_from,
    options.valid_to,
    options.is_current,
    options.deleted_flag,
    options.deleted_at,
    options.inactive_at,
    options.inserted_at,
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

function isFeedOf(feed: Feed, name: string): boolean {
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
function isFlagged(versions: Versions, alias: string): Expression | null {
  const { context } = versions;
  const { inactive_at: inactive, deleted_flag: deleted } = context.options;
  const inactiveColumn =
    inactive === undefined ? undefined : findColumn(context, context.target, inactive, 'inactive_at');
  if (inactiveColumn !== undefined) return isNotNull(columnOf(alias, context.target, inactiveColumn));
  const flag = deleted === undefined ? undefined : findColumn(context, context.target, deleted, 'deleted_flag');
  if (flag === undefined) return null;
  return compare(columnOf(alias, context.target, flag), '=', flagValue(context, flag, true));
}

function isNotFlagged(versions: Versions, alias: string): readonly Expression[] {
  const { context } = versions;
  const { inactive_at: inactive, deleted_flag: deleted } = context.options;
  const inactiveColumn =
    inactive === undefined ? undefined : findColumn(context, context.target, inactive, 'inactive_at');
  if (inactiveColumn !== undefined) return [isNull(columnOf(alias, context.target, inactiveColumn))];
  const flag = deleted === undefined ? undefined : findColumn(context, context.target, deleted, 'deleted_flag');
  return flag === undefined ? [] : [differs(columnOf(alias, context.target, flag), flagValue(context, flag, true))];
}

/** Everything up to the writes: staged rows, guards, the change relation and the counts over it. */
export interface VersionSteps {
  readonly versions: Versions;
  readonly steps: readonly Step[];
  readonly warnings: readonly Warning[];
  readonly parameters: readonly PlanParameter[];
}

export const detects = { kind: 'variable', name: 'DetectsAbsence', type: types.flag } as const;
const startVariable = 'VersionStart';
const counted = (name: string) => ({ kind: 'variable', name, type: types.count }) as const;
export const foundNew = counted('NewKeys');
export const foundChanged = counted('ChangedKeys');
export const foundRewritten = counted('RewrittenKeys');
export const foundRefreshed = counted('RefreshedKeys');
export const foundAbsent = counted('AbsentKeys');
export const foundAbsentToday = counted('AbsentTodayKeys');
const openKeys = counted('OpenKeys');

export function versionSteps(versions: Versions, rules: VersionRules): VersionSteps {
  const { context, keys } = versions;
  const { options } = context;
  const stagedItems = itemsOfStage(versions);
  const staged = stagedRows(context, stagedItems, 'staged');
  const stagedKeys = keys.map((part) => column('s', part.target.name, part.type));
  const steps: Step[] = [...startDefinition(versions), ...staged.steps, ...stageMeasures(context, staged)];
  if (keys.length > 0) steps.push(duplicateGuard(context, staged, stagedKeys));
  const warnings: Warning[] = [
    {
      code: 'null_key',
      when: compare(skippedRows, '>', literal(0)),
      message: concat(shown(skippedRows), literal(` staged rows without a key were skipped`)),
    },
  ];
  const absence = detectsAbsence(context) ? absenceSteps(versions) : null;
  if (absence !== null) {
    steps.push(...absence.steps);
    warnings.push(...absence.warnings);
  }
  steps.push(...changeSteps(versions, rules, staged.relation, absence?.keyList ?? null));
  steps.push(countStep(versions));
  if (absence !== null && options.max_inactivation_pct !== undefined)
    steps.push(...thresholdSteps(versions, staged.relation));
  if (rules.versioned && versions.validTo !== undefined) steps.push(batchTimeGuard(versions));
  const limit: readonly PlanParameter[] =
    absence !== null && options.max_inactivation_pct !== undefined
      ? [
          {
            name: limitName,
            type: limitType,
            value: options.max_inactivation_pct,
            clock: false,
            description: 'highest share of the open keys, in per cent, that one run may inactivate',
          },
        ]
      : [];
  return {
    versions,
    steps,
    warnings: options.null_keys === 'fail' || takesNullKeys(context) ? warnings.slice(1) : warnings,
    parameters: [clockParameter('time of the load (UTC)'), ...textParameters(context), ...limit],
  };
}

const limitName = 'MaxInactivationPct';
const limitType: ValueType = valueType('decimal(5,2)');

/** The start of a version that begins in this load; also for the dates of rows found absent. */
export function versionStart(versions: Versions): Expression {
  const { validFrom, context } = versions;
  return validFrom === undefined
    ? clock
    : { kind: 'variable', name: startVariable, type: columnType(context.target, validFrom) };
}

function startDefinition(versions: Versions): readonly Step[] {
  const { validFrom, context } = versions;
  if (validFrom === undefined) return [];
  const type = columnType(context.target, validFrom);
  const day = context.options.grain === 'day';
  return [
    {
      kind: 'define',
      says: day
        ? `A version that begins in this load starts today.`
        : `A version that begins in this load starts at the load's clock.`,
      name: startVariable,
      type,
      value: startNow(type, context.options.grain),
    },
  ];
}

/** Staged columns under the names of the target columns that they fill. */
function itemsOfStage(versions: Versions): readonly Item[] {
  const { context, keys, attributes } = versions;
  const extra = [changeTimeItem(versions)].flatMap((found) => found ?? []);
  const columns = context.target.columns.flatMap((of): readonly Item[] => {
    const part = keys.find((candidate) => candidate.target === of);
    if (part !== undefined) return [item(of.name, stagedKey(context, part))];
    const feed = attributes.find((candidate) => candidate.target === of && candidate.source !== null);
    return feed === undefined ? [] : [item(of.name, fedValue(context, feed))];
  });
  return [item(presence(context, 'staged'), literal(1)), ...columns, ...extra];
}

function presence(context: LoadContext, name: string): string {
  return freeName(context, `is_${name}`);
}

/** The stage column that says when a version starts, in the type of the start column. */
function changeTimeItem(versions: Versions): Item | null {
  const { context, validFrom } = versions;
  const name = startSource(context);
  if (name === null || validFrom === undefined) return null;
  const of = findColumn(context, context.source, name, 'valid_from_source');
  if (of === undefined) return null;
  return item(
    freeName(context, 'starts_at'),
    converted(columnOf('s', context.source, of), columnType(context.target, validFrom)),
  );
}

function startSource({ options }: LoadContext): string | null {
  const stated = options.valid_from_source ?? (options.strategy === 'timestamp' ? options.updated_at : undefined);
  return stated === undefined || stated === 'now' ? null : stated;
}

/** The staged change time of a key (alias `s`). */
export function stagedChangeTime(versions: Versions): Expression | null {
  const { context, validFrom } = versions;
  if (changeTimeItem(versions) === null || validFrom === undefined) return null;
  return column('s', freeName(context, 'starts_at'), columnType(context.target, validFrom));
}

// --- absence

interface AbsenceSteps {
  readonly steps: readonly Step[];
  readonly warnings: readonly Warning[];
  readonly keyList: Relation | null;
}

function absenceSteps(versions: Versions): AbsenceSteps {
  const { context } = versions;
  const { options, extra } = context;
  const listTable = options.detection_source === 'key_list' ? extra['key_list'] : undefined;
  if (options.detection_source === 'key_list' && listTable === undefined) {
    report(
      context,
      'missing-table',
      'Absence is judged by a key list (detection_source), but no table is given for it: state extra.key_list.',
    );
  }
  const steps: Step[] = [];
  let keyList: Relation | null = null;
  let delivered: Expression = acceptedRows;
  if (listTable !== undefined) {
    const values = versions.keys.map((part) => {
      const of = listTable.columns.find(
        (candidate) =>
          sameIdentifier(candidate.name, part.source.name) || sameIdentifier(candidate.name, part.target.name),
      );
      if (of === undefined) {
        report(
          context,
          'missing-column',
          `${listTable.name.table} has no column ${part.source.name}, so it can't list keys.`,
        );
      }
      return {
        part,
        value: converted(columnOf('l', listTable, of ?? part.source), part.type),
      };
    });
    const query = select(
      [
        item(presence(context, 'listed'), literal(1)),
        ...values.map(({ part, value }) => item(part.target.name, keyValue(context, value))),
      ],
      source(table(listTable.name), 'l'),
      { distinct: true, text: 'exact', where: values.map(({ value }) => isNotNull(value)) },
    );
    delivered = counted('ListedKeys');
    steps.push(
      { kind: 'let', says: 'Keys that exist in the source.', name: 'listed', query },
      {
        kind: 'measure',
        says: 'An empty list says nothing about absence.',
        query: select([item('ListedKeys', countRows())], source(named('listed'), 'l')),
      },
    );
    keyList = named('listed');
  }
  const rule = options.on_empty_stage ?? 'skip';
  const what = listTable === undefined ? 'the stage is empty' : 'the key list is empty';
  if (rule === 'fail') {
    steps.push({
      kind: 'guard',
      says: 'An empty delivery stops the load.',
      code: 'empty_stage',
      when: compare(delivered, '=', literal(0)),
      message: literal(`${what}, so nothing can be said about absent keys`),
    });
  }
  const skips = rule === 'skip';
  steps.push({
    kind: 'define',
    says: skips ? 'An empty delivery inactivates nothing.' : 'Absent keys are looked for in any case.',
    name: detects.name,
    type: detects.type,
    value: skips ? choose([[compare(delivered, '>', literal(0)), literal(1)]], literal(0)) : literal(1),
  });
  const warnings: readonly Warning[] = skips
    ? [
        {
          code: 'empty_stage',
          when: compare(detects, '=', literal(0)),
          message: literal(`${what}: absent keys were not looked for`),
        },
      ]
    : [];
  return { steps, warnings, keyList };
}

/** Whether a stored row lies in what was delivered, by `scope`: conditions, and a join to the staged combinations. */
function scopeOf(
  versions: Versions,
  stagedRelation: Relation,
): { readonly where: readonly Expression[]; readonly steps: readonly Step[] } {
  const { context } = versions;
  const { scope = [], scope_values: stated } = context.options;
  if (context.options.load !== 'partition' || scope.length === 0) return { where: [], steps: [] };
  const columns = scope.flatMap((name) => {
    const feed = feedOf(context, name);
    const of = feed?.target ?? findColumn(context, context.target, name, 'scope');
    return of === undefined ? [] : [{ name, of, type: columnType(context.target, of) }];
  });
  if (stated !== undefined) {
    const where = columns.map(({ name, of, type }) => {
      const values = stated[name] ?? stated[of.name] ?? [];
      return any(
        ...values.map((value) =>
          same(stored(context, of), value === null ? literal(null, type) : literal(value, type)),
        ),
      );
    });
    return { where, steps: [] };
  }
  const query = select(
    columns.map(({ of, type }) => item(of.name, column('s', of.name, type))),
    source(stagedRelation, 's'),
    { distinct: true, text: 'exact' },
  );
  const inScope: Query = select([item('one', literal(1))], source(named('delivered'), 'd'), {
    where: columns.map(({ of, type }) => same(column('d', of.name, type), stored(context, of))),
  });
  return {
    steps: [{ kind: 'let', says: 'What was delivered: only here absence means something.', name: 'delivered', query }],
    where: [{ kind: 'exists', query: inScope, negated: false }],
  };
}

// --- the change relation

function changeSteps(
  versions: Versions,
  rules: VersionRules,
  stagedRelation: Relation,
  keyList: Relation | null,
): readonly Step[] {
  const { context, keys, names, kinds } = versions;
  const scope = kinds.has('absent') ? scopeOf(versions, stagedRelation) : { where: [], steps: [] };
  const isStaged = column('s', presence(context, 'staged'), types.flag);
  const isStored = column('t', presence(context, 'stored'), types.flag);
  const needed = storedColumns(versions, rules);
  const current = select(
    [
      item(presence(context, 'stored'), literal(1)),
      ...(context.traits.rowAddresses ? [item(names.address, rowAddress('t'))] : []),
      ...needed.map((of) => item(of.name, stored(context, of))),
      ...(scope.where.length > 0
        ? [item(freeName(context, 'is_in_scope'), choose([[all(...scope.where), literal(1)]], literal(0)))]
        : []),
    ],
    source(table(context.target.name), 't'),
    { where: isOpen(versions, 't') },
  );
  const earlier = rules.loads ? earlierVersions(versions, stagedRelation) : null;
  const joins: Join[] = [];
  const keyOn = keys.map((part) =>
    keysEqual(context, column('s', part.target.name, part.type), stored(context, part.target)),
  );
  joins.push(
    join(
      kinds.has('absent') ? (rules.loads ? 'full' : 'left') : 'left',
      kinds.has('absent') && !rules.loads ? stagedRelation : current,
      kinds.has('absent') && !rules.loads ? 's' : 't',
      keyOn,
    ),
  );
  const from = kinds.has('absent') && !rules.loads ? source(current, 't') : source(stagedRelation, 's');
  if (keyList !== null) {
    joins.push(
      join(
        'left',
        keyList,
        'l',
        keys.map((part) => keysEqual(context, column('l', part.target.name, part.type), stored(context, part.target))),
      ),
    );
  }
  if (earlier !== null && earlier.kind === 'let') {
    joins.push(
      join(
        'left',
        named('earlier'),
        'e',
        keys.map((part) =>
          keysEqual(context, column('e', part.target.name, part.type), column('s', part.target.name, part.type)),
        ),
      ),
    );
  }
  const absentWhen = all(
    isNull(isStaged),
    ...(keyList === null ? [] : [isNull(column('l', presence(context, 'listed'), types.flag))]),
    ...isNotFlagged(versions, 't'),
    ...(scope.where.length > 0
      ? [compare(column('t', freeName(context, 'is_in_scope'), types.flag), '=', literal(1))]
      : []),
    compare(detects, '=', literal(1)),
  );
  const kindOf = changeKind(versions, rules, isStaged, isStored, absentWhen);
  const found = select(
    [item(names.kind, kindOf), ...changeItems(versions, rules, isStaged, earlier?.kind === 'let')],
    from,
    {
      joins,
    },
  );
  const kept = select(
    found.items.map(({ name, value }) => item(name, column('f', name, typeOrText(value)))),
    source(found, 'f'),
    { where: [isNotNull(column('f', names.kind, types.code))] },
  );
  return [
    ...scope.steps,
    ...(earlier === null ? [] : [earlier]),
    {
      kind: 'let',
      says: kinds.has('absent')
        ? 'The changes: staged rows against the current row of their key, both ways.'
        : 'The changes: staged rows against the current row of their key.',
      name: changesName,
      query: kept,
    },
  ];
}

function typeOrText(value: Expression): ValueType {
  return 'type' in value && value.type !== null ? value.type : types.text;
}

function changeKind(
  versions: Versions,
  rules: VersionRules,
  isStaged: Expression,
  isStored: Expression,
  absentWhen: Expression,
): Expression {
  const { kinds, validFrom, context } = versions;
  const branches: (readonly [Expression, Expression])[] = [];
  const today = validFrom === undefined ? null : beganToday(versions, stored(context, validFrom));
  if (kinds.has('absent')) {
    if (kinds.has('absent today') && today !== null) branches.push([all(absentWhen, today), literal('absent today')]);
    branches.push([absentWhen, literal('absent')]);
    if (rules.loads) branches.push([isNull(isStaged), literal(null)]);
  }
  if (rules.loads) {
    branches.push([isNull(isStored), literal('new')]);
    const flagged = isFlagged(versions, 't');
    const changed = rules.changed === undefined ? anyDiffers(context, trackedFeeds(versions)) : rules.changed(versions);
    const reasons = [flagged, changed].filter((reason) => reason !== null);
    if (reasons.length > 0) {
      const when = any(...reasons);
      if (kinds.has('rewritten') && today !== null) branches.push([all(today, when), literal('rewritten')]);
      branches.push([when, literal('changed')]);
    }
    const refreshed = rules.refreshed?.(versions) ?? null;
    if (refreshed !== null) branches.push([refreshed, literal('refreshed')]);
  }
  return choose(branches);
}

function beganToday(versions: Versions, start: Expression): Expression {
  return compare({ kind: 'cast', operand: start, type: types.day }, '=', {
    kind: 'cast',
    operand: versionStart(versions),
    type: types.day,
  });
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

/** Target columns that a new version needs: all that the load may write, in the target's order. */
export function writableColumns(context: LoadContext): readonly CatalogColumn[] {
  return context.target.columns.filter((of) => !of.computed && !of.identity);
}

/** Stored columns that the join reads: what is compared, what a copy of an absent row bears, and the keys. */
function storedColumns(versions: Versions, rules: VersionRules): readonly CatalogColumn[] {
  const { context, kinds, keys, validFrom } = versions;
  const { options } = context;
  if (kinds.has('absent') || context.options.previous !== undefined || options.type0_fill_null_once === true) {
    return writableColumns(context);
  }
  const compared = [...trackedFeeds(versions).map((feed) => feed.target), ...keys.map((part) => part.target)];
  const control = [options.inactive_at, options.deleted_flag, ...Object.values(options.current_columns ?? {})].flatMap(
    (name) => (name === undefined ? [] : (findColumn(context, context.target, name, 'deleted_flag') ?? [])),
  );
  const refreshed = rules.refreshed === undefined ? [] : versions.attributes.map((feed) => feed.target);
  const wanted = new Set([...compared, ...control, ...refreshed, ...(validFrom === undefined ? [] : [validFrom])]);
  return writableColumns(context).filter((of) => wanted.has(of));
}

/** Items of the change relation: how to find the stored row, and the values of the row that comes next. */
function changeItems(
  versions: Versions,
  rules: VersionRules,
  isStaged: Expression,
  knowsEarlier: boolean,
): readonly Item[] {
  const { context, keys, names, validFrom, validTo } = versions;
  const { options } = context;
  const items: Item[] = [];
  if (context.traits.rowAddresses) items.push(item(names.address, column('t', names.address, types.count)));
  else items.push(...keys.map((part) => item(names.storedKey(part), stored(context, part.target))));
  if (validFrom !== undefined) items.push(item(names.storedFrom, stored(context, validFrom)));
  const start = newStart(versions, isStaged, knowsEarlier);
  for (const of of writableColumns(context)) {
    const value = nextValue(versions, of, isStaged, start);
    if (value !== null) items.push(item(of.name, value));
  }
  const needsOld = options.previous === undefined ? [] : trackedFeeds(versions);
  items.push(
    ...needsOld.map((feed) => item(freeName(context, `stored_${feed.target.name}`), stored(context, feed.target))),
  );
  if (rules.versioned && validTo !== undefined && start !== null) {
    const type = columnType(context.target, validTo);
    items.push(
      item(names.closedTo, converted(endBefore(closingStart(versions, start, isStaged), type, options.closing), type)),
    );
  }
  return items;
}

/** Where the former version ends: at the start of the new one; a vanished key's at the load's own time. */
function closingStart(versions: Versions, start: Expression, isStaged: Expression): Expression {
  const staged = stagedChangeTime(versions);
  if (staged === null) return versionStart(versions);
  return versions.kinds.has('absent') ? choose([[isNull(isStaged), versionStart(versions)]], start) : start;
}

function newStart(versions: Versions, isStaged: Expression, knowsEarlier: boolean): Expression | null {
  const { context, validFrom, kinds } = versions;
  if (validFrom === undefined) return null;
  const { options } = context;
  const type = columnType(context.target, validFrom);
  const isStored = column('t', presence(context, 'stored'), types.flag);
  let start: Expression = stagedChangeTime(versions) ?? versionStart(versions);
  if (options.revive_start?.includes('previous_end') === true && knowsEarlier) {
    start = choose([[isNull(isStored), later(start, column('e', 'previous_end', type))]], start);
  }
  const branches: (readonly [Expression, Expression])[] = [];
  if (stagedChangeTime(versions) !== null && kinds.has('absent'))
    branches.push([isNull(isStaged), versionStart(versions)]);
  if (options.initial_valid_from !== undefined) {
    const first =
      options.initial_valid_from_scope === 'first_load'
        ? [compare(storedAny, '=', literal(0))]
        : [isNull(column('e', 'is_earlier', types.flag))];
    branches.push([
      all(...(kinds.has('absent') ? [isNotNull(isStaged)] : []), isNull(isStored), ...first),
      instant(options.initial_valid_from, type),
    ]);
  }
  return choose(branches, start);
}

const storedAny = { kind: 'variable', name: 'StoredRows', type: types.count } as const;

/** Whether new keys have older, closed versions: needed for the first start, and for the start of a key that is back. */
function earlierVersions(versions: Versions, stagedRelation: Relation): Step | null {
  const { context, keys, validTo } = versions;
  const { options } = context;
  const revives = options.revive_start?.includes('previous_end') === true;
  if (options.initial_valid_from_scope === 'first_load' && options.initial_valid_from !== undefined && !revives) {
    return {
      kind: 'measure',
      says: 'Whether this is the first load.',
      query: select(
        [item(storedAny.name, countRows())],
        source(select([item('one', literal(1))], source(table(context.target.name), 't'), { limit: 1 }), 'first_row'),
      ),
    };
  }
  if (options.initial_valid_from === undefined && !revives) return null;
  if (validTo === undefined) return null;
  const type = columnType(context.target, validTo);
  const open = isOpen(versions, 'o');
  const closed = select(
    [
      item('is_earlier', literal(1)),
      ...keys.map((part) => item(part.target.name, aggregate('min', stored(context, part.target)))),
      item('previous_end', aggregate('max', stored(context, validTo))),
    ],
    source(table(context.target.name), 't'),
    {
      where: [
        {
          kind: 'exists',
          negated: false,
          query: select([item('one', literal(1))], source(stagedRelation, 's'), {
            where: [
              ...keys.map((part) =>
                keysEqual(context, column('s', part.target.name, part.type), stored(context, part.target)),
              ),
              {
                kind: 'exists',
                negated: true,
                query: select([item('one', literal(1))], source(table(context.target.name), 'o'), {
                  where: [
                    ...keys.map((part) =>
                      keysEqual(
                        context,
                        columnOf('o', context.target, part.target),
                        column('s', part.target.name, part.type),
                      ),
                    ),
                    ...open,
                  ],
                }),
              },
            ],
          }),
        },
        ...(options.open_end === undefined || options.open_end === null
          ? [isNotNull(stored(context, validTo))]
          : [compare(stored(context, validTo), '<>', instant(options.open_end, type))]),
      ],
      groupBy: keys.map((part) => keyValue(context, stored(context, part.target))),
      text: keyText(context),
    },
  );
  return {
    kind: 'let',
    says: 'Keys without a current row that have been here before.',
    name: 'earlier',
    query: closed,
  };
}

/** The value of a target column in the row that the change leads to; null where nothing fills it. */
function nextValue(
  versions: Versions,
  of: CatalogColumn,
  isStaged: Expression,
  start: Expression | null,
): Expression | null {
  const { context, keys, attributes, kinds, validFrom, validTo } = versions;
  const { options } = context;
  const type = columnType(context.target, of);
  const is = (name: string | undefined): boolean => name !== undefined && sameIdentifier(name, of.name);
  const absentKinds = kinds.has('absent');
  const loads = kinds.has('new');
  const byPresence = (staged: Expression, absent: Expression): Expression =>
    !absentKinds ? staged : loads ? choose([[isNotNull(isStaged), staged]], absent) : absent;
  if (validFrom === of) return start;
  if (validTo === of)
    return options.open_end === undefined || options.open_end === null
      ? literal(null, type)
      : instant(options.open_end, type);
  if (is(options.is_current)) return flagValue(context, of, options.current_values?.[0] ?? true);
  if (is(options.deleted_flag)) return byPresence(flagValue(context, of, false), flagValue(context, of, true));
  if (is(options.inactive_at) || is(options.deleted_at)) {
    return byPresence(literal(null, type), converted(versionStart(versions), type));
  }
  if (is(options.inserted_at)) return converted(clock, type);
  const key = keys.find((part) => part.target === of);
  if (key !== undefined) return byPresence(column('s', of.name, type), stored(context, of));
  const copied = Object.entries(options.current_columns ?? {}).find(([, name]) => is(name))?.[0];
  const feed =
    copied === undefined ? attributes.find((candidate) => candidate.target === of) : copiedFeed(versions, copied);
  if (feed === undefined) return absentKinds ? byPresence(literal(null, type), stored(context, of)) : null;
  const value = feed.source === null ? fedValue(context, feed) : column('s', feed.target.name, feed.type);
  return byPresence(value, stored(context, of));
}

/** The feed of a column whose current value stands on every version. */
function copiedFeed({ attributes }: Versions, name: string): Feed | undefined {
  return attributes.find((candidate) => isFeedOf(candidate, name));
}

// --- what was found

function countStep(versions: Versions): Step {
  const c = (...of: readonly ChangeKind[]): Expression => countKinds(versions, ...of);
  return {
    kind: 'measure',
    says: 'What will change.',
    query: select(
      [
        item(foundNew.name, c('new')),
        item(foundChanged.name, c('changed')),
        item(foundRewritten.name, c('rewritten')),
        item(foundRefreshed.name, c('refreshed')),
        item(foundAbsent.name, c('absent')),
        item(foundAbsentToday.name, c('absent today')),
      ].filter((entry) => entry.value.kind !== 'literal'),
      source(named(changesName), 'c'),
    ),
  };
}

/** A count, or 0 where the load can't find such changes. */
export function found(versions: Versions, kind: ChangeKind): Expression {
  if (!versions.kinds.has(kind)) return literal(0);
  const variables: Readonly<Record<ChangeKind, Expression>> = {
    new: foundNew,
    changed: foundChanged,
    rewritten: foundRewritten,
    refreshed: foundRefreshed,
    absent: foundAbsent,
    'absent today': foundAbsentToday,
  };
  return variables[kind];
}

/** Sum of what was found; literal zeros are left out. */
export function sum(...of: readonly Expression[]): Expression {
  const parts = of.filter((part) => !(part.kind === 'literal' && part.value === 0));
  const [first, ...rest] = parts;
  if (first === undefined) return literal(0);
  return rest.reduce<Expression>((left, right) => ({ kind: 'arithmetic', operator: '+', left, right }), first);
}

export function difference(left: Expression, ...minus: readonly Expression[]): Expression {
  return minus
    .filter((part) => !(part.kind === 'literal' && part.value === 0))
    .reduce<Expression>((from, right) => ({ kind: 'arithmetic', operator: '-', left: from, right }), left);
}

/** Staged keys for which nothing is written. */
export function unchangedKeys(versions: Versions): Expression {
  return difference(
    acceptedRows,
    found(versions, 'new'),
    found(versions, 'changed'),
    found(versions, 'rewritten'),
    found(versions, 'refreshed'),
  );
}

function thresholdSteps(versions: Versions, stagedRelation: Relation): readonly Step[] {
  const { context } = versions;
  const scope = scopeOf(versions, stagedRelation);
  const absent = sum(foundAbsent, found(versions, 'absent today'));
  const limit: Expression = { kind: 'parameter', name: limitName, type: limitType };
  return [
    {
      kind: 'measure',
      says: 'Open keys that this load speaks about.',
      query: select([item(openKeys.name, countRows())], source(table(context.target.name), 't'), {
        where: [...isOpen(versions, 't'), ...isNotFlagged(versions, 't'), ...scope.where],
      }),
    },
    {
      kind: 'guard',
      says: 'More absent keys than the limit allows stop the load: the delivery may be cut.',
      code: 'inactivation_threshold',
      when: compare({ kind: 'arithmetic', operator: '*', left: absent, right: literal(100) }, '>', {
        kind: 'arithmetic',
        operator: '*',
        left: openKeys,
        right: limit,
      }),
      message: concat(
        shown(absent),
        literal(' of '),
        shown(openKeys),
        literal(' open keys are absent, more than the limit of '),
        shown(limit),
        literal(' per cent'),
      ),
    },
  ];
}

/** Kinds whose current version is closed. */
export function closingKinds(versions: Versions): readonly ChangeKind[] {
  const { options } = versions.context;
  const closes = options.hard_deletes === 'invalidate' || options.hard_deletes === 'new_record';
  return [
    ...(versions.kinds.has('changed') ? (['changed'] as const) : []),
    ...(closes && versions.kinds.has('absent') ? (['absent'] as const) : []),
  ];
}

function batchTimeGuard(versions: Versions): Step {
  const { context, keys, names, validFrom } = versions;
  const type = validFrom === undefined ? types.clock : columnType(context.target, validFrom);
  const start = validFrom === undefined ? clock : changeOf(context, validFrom);
  return {
    kind: 'guard-rows',
    says: 'A version that would end at or before its own start stops the load.',
    code: 'batch_time_not_after_current',
    query: select(
      [item('offender', keyLabel(keys.map((part) => changeOf(context, part.target))))],
      source(named(changesName), 'c'),
      {
        where: [kindIs(versions, ...closingKinds(versions)), compare(start, '<=', change(names.storedFrom, type))],
      },
    ),
  };
}

/** How a change finds its stored row. */
export function storedRow(versions: Versions): RowMatch {
  const { context, keys, names, validFrom } = versions;
  return {
    address: context.traits.rowAddresses ? names.address : null,
    on: [
      ...keys.map((part) => {
        const [left, right] = [stored(context, part.target), change(names.storedKey(part), part.type)];
        return context.options.null_keys === 'match'
          ? same(left, right, keyText(context))
          : compare(left, '=', right, keyText(context));
      }),
      ...(validFrom === undefined
        ? []
        : [compare(stored(context, validFrom), '=', change(names.storedFrom, columnType(context.target, validFrom)))]),
    ],
    where: isOpen(versions, 't'),
  };
}

/** Closes the versions that have an end now. */
export function closeWrite(versions: Versions, more: readonly Assignment[] = []): readonly Write[] {
  const { context, names, validTo } = versions;
  const kinds = closingKinds(versions);
  if (validTo === undefined || kinds.length === 0) return [];
  const { is_current: current, current_values: values } = context.options;
  const flag = current === undefined ? undefined : findColumn(context, context.target, current, 'is_current');
  return [
    {
      kind: 'update',
      shows: 'expired',
      says: 'Close the current version of each key that has a next one or is gone.',
      from: changesName,
      where: [kindIs(versions, ...kinds)],
      match: storedRow(versions),
      set: [
        { column: validTo.name, value: change(names.closedTo, columnType(context.target, validTo)) },
        ...(flag === undefined ? [] : [{ column: flag.name, value: flagValue(context, flag, values?.[1] ?? false) }]),
        ...more,
      ],
    },
  ];
}

/** Inserts the next version of every kind given. */
export function insertWrite(versions: Versions, kinds: readonly ChangeKind[], says: string): readonly Write[] {
  const { context, keys, attributes } = versions;
  const possible = kinds.filter((kind) => versions.kinds.has(kind));
  if (possible.length === 0) return [];
  const filled = new Set([...keys.map((part) => part.target), ...attributes.map((feed) => feed.target)]);
  const { options } = context;
  const control = [
    options.valid_from,
    options.valid_to,
    options.is_current,
    options.deleted_flag,
    options.deleted_at,
    options.inactive_at,
    options.inserted_at,
    ...Object.values(options.current_columns ?? {}),
  ];
  const isControl = (of: CatalogColumn): boolean =>
    control.some((name) => name !== undefined && sameIdentifier(name, of.name));
  const columns = writableColumns(context).filter(
    (of) => filled.has(of) || isControl(of) || (possible.includes('absent') && versions.kinds.has('absent')),
  );
  return [
    {
      kind: 'insert',
      shows: 'inserted',
      says,
      from: changesName,
      where: [kindIs(versions, ...possible)],
      values: columns.map((of) => ({ column: of.name, value: changeOf(context, of) })),
    },
  ];
}

/** Overwrites columns of the stored row with the values of the change. */
export function overwrite(
  versions: Versions,
  kinds: readonly ChangeKind[],
  columns: readonly CatalogColumn[],
  says: string,
): readonly Write[] {
  const possible = kinds.filter((kind) => versions.kinds.has(kind));
  if (possible.length === 0 || columns.length === 0) return [];
  return [
    {
      kind: 'update',
      shows: possible.some((kind) => kind.startsWith('absent')) ? 'inactivated' : 'updated',
      says,
      from: changesName,
      where: [kindIs(versions, ...possible)],
      match: storedRow(versions),
      set: columns.map((of) => ({ column: of.name, value: changeOf(versions.context, of) })),
    },
  ];
}

/** Columns that say that a row is gone; cleared when its key is back. */
export function absenceColumns(versions: Versions): readonly CatalogColumn[] {
  const { context } = versions;
  const { options } = context;
  return [options.deleted_flag, options.deleted_at, options.inactive_at].flatMap((name) =>
    name === undefined ? [] : (findColumn(context, context.target, name, 'deleted_flag') ?? []),
  );
}

export function finishPlan(
  { versions, steps, warnings, parameters }: VersionSteps,
  says: string,
  writes: readonly Write[],
  counts: LoadPlan['counts'],
): LoadPlan {
  const { context } = versions;
  return {
    target: context.target.name,
    source: context.source.name,
    says,
    parameters,
    steps,
    writes,
    warnings,
    counts,
    keeps: [],
    replaces: null,
  };
}
