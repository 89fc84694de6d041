/** The change relation: one join of staged and current rows, with the values of the row that each change leads to. */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import {
  all,
  any,
  choose,
  column,
  compare,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  named,
  rowAddress,
  select,
  source,
  table,
} from '../build.ts';
import { clock, endBefore, instant } from '../clock.ts';
import { columnType, converted, type Feed, fedValue, findColumn, freeName, keysEqual } from '../context.ts';
import { type Expression, type Item, type Join, type Relation, types, type ValueType } from '../language.ts';
import type { Step } from '../plan.ts';
import { stagedKey } from '../stage.ts';
import { digestOf } from '../vault/hashing.ts';
import { detects, scopeOf } from './absence.ts';
import {
  anyDiffers,
  changesName,
  derivedColumns,
  feedsNamed,
  flagValue,
  isFeedOf,
  isFlagged,
  isNotFlagged,
  isOpen,
  presence,
  stored,
  trackedFeeds,
  type VersionRules,
  type Versions,
  writableColumns,
} from './model.ts';
import { changeTimeItem, closingStart, earlierVersions, newStart, versionStart } from './start.ts';

/** Staged columns under the names of the target columns that they fill. */
export function itemsOfStage(versions: Versions): readonly Item[] {
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

export function changeSteps(
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
    [
      ...found.items.map(({ name, value }) => item(name, column('f', name, typeOrText(value)))),
      ...derivedItems(versions),
    ],
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

function derivedItems(versions: Versions): readonly Item[] {
  const { context, attributes } = versions;
  return derivedColumns(versions).map((of) => {
    const inputs = Object.entries(context.options.hashdiff ?? {}).find(([name]) => sameIdentifier(name, of.name))?.[1];
    const feeds = inputs === undefined ? trackedFeeds(versions) : feedsNamed(context, attributes, inputs, 'hashdiff');
    const values = feeds.map((feed) => column('f', feed.target.name, feed.type));
    if (inputs === undefined) return item(of.name, { kind: 'checksum', of: values });
    const parts = feeds.map((feed, index) => ({ name: feed.target.name, value: values[index] ?? literal(null) }));
    return item(of.name, digestOf(context, parts, 'hashdiff', columnType(context.target, of)));
  });
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
  if (feed === undefined && derivedColumns(versions).includes(of)) return null;
  if (feed === undefined) return absentKinds ? byPresence(literal(null, type), stored(context, of)) : null;
  const value = feed.source === null ? fedValue(context, feed) : column('s', feed.target.name, feed.type);
  return byPresence(value, stored(context, of));
}

/** The feed of a column whose current value stands on every version. */
function copiedFeed({ attributes }: Versions, name: string): Feed | undefined {
  return attributes.find((candidate) => isFeedOf(candidate, name));
}
