import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import {
  ascending,
  cast,
  choose,
  coalesce,
  column,
  compare,
  isNull,
  item,
  literal,
  moveTime,
  select,
  source,
  table,
  window,
} from '../build.ts';
import { instant } from '../clock.ts';
import { columnOf, columnType, fedValue, findColumn, type LoadContext, report } from '../context.ts';
import { type Expression, types, type ValueType } from '../language.ts';
import type { LoadPlan } from '../plan.ts';
import { flagValue } from '../versions.ts';

/**
 * A view over a satellite that gives each version its end: the load time of the key's next version, or a moment before
 * it. The satellite itself stays insert only, and rows that come late need no repair.
 */
export function planEndDatingView(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  return {
    target: target.name,
    source: from.name,
    says: `View ${target.name.table}: the versions of ${from.name.table} with their ends.`,
    parameters: [],
    steps: [],
    writes: [],
    warnings: [],
    counts: {
      inserted: null,
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: null,
      skipped: null,
    },
    keeps: [],
    replaces: { kind: 'view', says: 'The view.', query: viewQuery(context) },
  };
}

function viewQuery(context: LoadContext) {
  const { options, source: from, target } = context;
  const loadTs = findColumn(context, from, options.load_ts ?? 'load_ts', 'load_ts');
  const keys = keyColumns(context);
  if (loadTs === undefined || keys.length === 0) return select([item('one', literal(1))], null);
  const time = columnType(from, loadTs);
  const key = (alias: string): readonly Expression[] => keys.map((of) => columnOf(alias, from, of));
  const next = window('lead', columnOf('s', from, loadTs), key('s'), [ascending(columnOf('s', from, loadTs))]);
  const stored = select(
    [...from.columns.map((of) => item(of.name, columnOf('s', from, of))), item(nextName, next)],
    source(table(from.name), 's'),
  );
  // Rows that share key and load time end together: the last of them knows the next time, the others see their own.
  const latest = window('max', column('n', nextName, time), [...key('n'), columnOf('n', from, loadTs)]);
  const shared = select(
    [
      ...from.columns.map((of) => item(of.name, columnOf('n', from, of))),
      item(nextName, choose([[compare(latest, '>', columnOf('n', from, loadTs)), latest]], literal(null, time))),
    ],
    source(stored, 'n'),
  );
  const versions = isOneRowPerTime(context, keys, loadTs) ? stored : shared;
  return select(
    target.columns.flatMap((of) => {
      const value = filledBy(context, of, column('v', nextName, time));
      return value === null ? [] : [item(of.name, value)];
    }),
    source(versions, 'v'),
  );
}

const nextName = 'next_load_time';

/** The key's columns as the satellite has them. */
function keyColumns(context: LoadContext): readonly CatalogColumn[] {
  const { options, source: from } = context;
  const names = options.target_key ?? options.keys ?? [];
  if (names.length === 0) {
    report(context, 'no-key', `Say which columns of ${from.name.table} are its key with --set target_key=["…"].`);
  }
  return names.flatMap((name) => findColumn(context, from, name, 'target_key') ?? []);
}

function isOneRowPerTime({ options }: LoadContext, keys: readonly CatalogColumn[], loadTs: CatalogColumn): boolean {
  const identity = options.target_identity;
  return identity?.every((name) => [...keys, loadTs].some((of) => sameIdentifier(of.name, name))) === true;
}

function filledBy(context: LoadContext, of: CatalogColumn, next: Expression): Expression | null {
  const { options } = context;
  const type = columnType(context.target, of);
  if (options.valid_to !== undefined && sameIdentifier(options.valid_to, of.name)) {
    const open = options.open_end ?? null;
    const end = endBefore(context, next, type);
    return open === null ? end : coalesce(end, instant(open, type));
  }
  if (options.is_current !== undefined && sameIdentifier(options.is_current, of.name)) {
    const [current, former] = options.current_values ?? [true, false];
    return cast(choose([[isNull(next), flagValue(context, of, current)]], flagValue(context, of, former)), type);
  }
  const feed = context.feeds.find((candidate) => candidate.target === of);
  if (feed !== undefined) return feed.source === null ? null : fedValue(context, feed, 'v');
  report(
    context,
    'unfilled-column',
    `Nothing in ${context.source.name.table} gives ${of.name} of the view ${context.target.name.table}.`,
  );
  return null;
}

/** `end_offset`: how long before the next start a version ends, as in `1 microsecond`. */
function endBefore(context: LoadContext, next: Expression, type: ValueType): Expression {
  const offset = context.options.end_offset ?? '0';
  if (/^0(\s|$)/.test(offset.trim())) return next;
  const match = /^(\d+)\s*(day|minute|second|millisecond|microsecond)s?$/.exec(offset.trim());
  const unit = units.find((name) => name === match?.[2]);
  if (match === null || unit === undefined) {
    report(
      context,
      'bad-option',
      `end_offset ${offset} is no length of time: write 0, 1 microsecond, 3 milliseconds, 1 day …`,
    );
    return next;
  }
  // The narrow types of T-SQL would round a small step away.
  const isNarrow =
    unit.endsWith('second') &&
    unit !== 'second' &&
    (type.facts.base.endsWith('datetime') || (type.facts.scale ?? 7) < 6);
  return moveTime(isNarrow ? cast(next, types.clock) : next, -Number(match[1]), unit);
}

const units = ['day', 'minute', 'second', 'millisecond', 'microsecond'] as const;
