import {
  aggregate,
  any,
  ascending,
  choose,
  column,
  compare,
  concat,
  counted,
  countRows,
  countWhere,
  exists,
  isIn,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  named,
  notExists,
  same,
  select,
  shown,
  source,
  table,
  union,
  window,
} from './build.ts';
import { columnOf, converted, fedValue, keyLabel, keyText } from './context.ts';
import {
  type ChangeFeed,
  deletion,
  eventItems,
  keysOf,
  kindOn,
  partitionOf,
  sameKeys,
  sequenceOn,
  truncation,
  upsert,
} from './feed.ts';
import { type Expression, type Query, types } from './language.ts';
import type { Step } from './plan.ts';
import { skippedRows, stagedKey } from './stage.ts';

const truncates = counted('Truncates');
const missingKeys = counted('EventsWithoutKey');
const missingSequences = counted('EventsWithoutSequence');
export const stagedKeys = counted('StagedKeys');

/** Everything up to `states`: one state of each staged key per sequence, none where it is void. */
export function replaySteps(feed: ChangeFeed): readonly Step[] {
  const { context } = feed;
  const { options } = context;
  const steps: Step[] = [checkStep(feed)];
  if (options.null_keys === 'fail') {
    steps.push(
      guard(
        'null_key',
        'An event without a key stops the load.',
        missingKeys,
        `events have no ${feed.keys.map((part) => part.source.name).join(', ')}`,
      ),
    );
  }
  if (options.null_sequence === 'fail') {
    steps.push(
      guard(
        'null_sequence',
        'An event without a sequence stops the load.',
        missingSequences,
        `events have no ${feed.sequence.name}`,
      ),
    );
  }
  steps.push(incomingStep(feed), countIncomingStep(feed), historyStep(feed));
  if (options.same_sequence_conflict === 'fail') steps.push(ambiguityGuard(feed));
  steps.push(statesStep(feed));
  return steps;
}

function guard(code: 'null_key' | 'null_sequence', says: string, count: Expression, what: string): Step {
  return {
    kind: 'guard',
    says,
    code,
    when: compare(count, '>', literal(0)),
    message: concat(shown(count), literal(` ${what}`)),
  };
}

/** The operation of a stage row (alias `s`). */
function operationIs({ context, operation }: ChangeFeed, values: readonly string[] | undefined): Expression | null {
  if (operation === undefined || values === undefined || values.length === 0) return null;
  return isIn(columnOf('s', context.source, operation), values);
}

function isTruncate(feed: ChangeFeed): Expression | null {
  return operationIs(feed, feed.context.options.truncate_values);
}

function kindOfEvent(feed: ChangeFeed): Expression {
  const isDelete = operationIs(feed, feed.context.options.delete_values);
  const truncate = isTruncate(feed);
  // In the kept table's type: the bytes count when events are compared, and those of Unicode text are others.
  return choose(
    [
      ...(truncate === null ? [] : [[truncate, literal(truncation, types.code)] as const]),
      ...(isDelete === null ? [] : [[isDelete, literal(deletion, types.code)] as const]),
    ],
    literal(upsert, types.code),
  );
}

/** A row that lacks its key and is no truncate, which has none. */
function lacksKey(feed: ChangeFeed): Expression {
  const missing = any(...feed.keys.map((part) => isNull(columnOf('s', feed.context.source, part.source))));
  return choose(
    [
      ...(isTruncate(feed) === null ? [] : [[isTruncate(feed) ?? literal(0), literal(0)] as const]),
      [missing, literal(1)],
    ],
    literal(0),
  );
}

function checkStep(feed: ChangeFeed): Step {
  const { context, sequence } = feed;
  const noKey = compare(lacksKey(feed), '=', literal(1));
  const noSequence = isNull(columnOf('s', context.source, sequence));
  return {
    kind: 'measure',
    says: "Events that can't be replayed: without a key, or without a sequence.",
    query: select(
      [
        item(missingKeys.name, countWhere(noKey)),
        item(missingSequences.name, countWhere(noSequence)),
        item(skippedRows.name, countWhere(any(noKey, noSequence))),
      ],
      source(table(context.source.name), 's'),
    ),
  };
}

/** Staged events in the columns of the kept table; repeated ones count once. */
function incomingStep(feed: ChangeFeed): Step {
  const { context, keys, attributes, sequence, sequenceType, names } = feed;
  const rows = select(
    [
      ...keys.map((part) => item(part.target.name, stagedKey(context, part))),
      ...attributes.map((of) => item(of.target.name, fedValue(context, of))),
      item(names.sequence, converted(columnOf('s', context.source, sequence), sequenceType)),
      item(names.kind, kindOfEvent(feed)),
    ],
    source(table(context.source.name), 's'),
    {
      distinct: true,
      text: 'exact',
      where: [compare(lacksKey(feed), '=', literal(0)), isNotNull(columnOf('s', context.source, sequence))],
    },
  );
  return {
    kind: 'let',
    says: 'The staged events; one that is staged twice counts once.',
    name: 'incoming',
    query: rows,
  };
}

function countIncomingStep(feed: ChangeFeed): Step {
  const groups = select(
    [
      item(
        'is_key_',
        aggregate('max', choose([[compare(kindOn(feed, 'i'), '=', literal(truncation)), literal(0)]], literal(1))),
      ),
    ],
    source(named('incoming'), 'i'),
    { groupBy: partitionOf(feed, 'i'), text: keyText(feed.context) },
  );
  const isKey = compare(column('k', 'is_key_', types.flag), '=', literal(1));
  return {
    kind: 'measure',
    says: 'Keys with events, and whether all rows are to be emptied.',
    query: select(
      [
        item(stagedKeys.name, countWhere(isKey)),
        item(truncates.name, countWhere(compare(column('k', 'is_key_', types.flag), '=', literal(0)))),
      ],
      source(groups, 'k'),
    ),
  };
}

/** Whether a row (alias) belongs to a key that this load may change. */
export function isAffected(feed: ChangeFeed, alias: string): Expression {
  return any(
    exists(select([item('one', literal(1))], source(named('incoming'), 'i'), { where: sameKeys(feed, 'i', alias) })),
    compare(truncates, '>', literal(0)),
  );
}

/** All events of the affected keys, seen before or new; and every truncate. */
function historyStep(feed: ChangeFeed): Step {
  const kept = select(eventItems(feed, 'e'), source(table(feed.events.name), 'e'), {
    where: [any(isAffected(feed, 'e'), compare(kindOn(feed, 'e'), '=', literal(truncation)))],
  });
  const fresh = select([...eventItems(feed, 'n')], source(named('incoming'), 'n'), {
    where: [notExists(knownEvent(feed, 'n'))],
  });
  return { kind: 'let', says: 'Every event of these keys so far.', name: 'history', query: union(kept, fresh) };
}

/** The same event among those that were seen before. */
function knownEvent(feed: ChangeFeed, alias: string): Query {
  return select([item('one', literal(1))], source(table(feed.events.name), 'e'), {
    where: feed.events.columns.map(({ name, type }) => same(column('e', name, type), column(alias, name, type))),
  });
}

function ambiguityGuard(feed: ChangeFeed): Step {
  const isUpsert = compare(kindOn(feed, 'h'), '=', literal(upsert));
  return {
    kind: 'guard-rows',
    says: 'Two contents of a key under one sequence stop the load, unless a delete settles it.',
    code: 'ambiguous_sequence',
    query: select(
      [item('offender', keyLabel(keysOf(feed, 'h').map((key) => aggregate('min', key))))],
      source(named('history'), 'h'),
      {
        groupBy: [...partitionOf(feed, 'h'), sequenceOn(feed, 'h')],
        text: keyText(feed.context),
        having: [compare(countWhere(isUpsert), '>', literal(1)), compare(countWhere(isUpsert), '=', countRows())],
      },
    ),
  };
}

/** One state per key and sequence: a delete wins, and events before the last truncate are void. */
function statesStep(feed: ChangeFeed): Step {
  const { context, attributes } = feed;
  const options = { text: keyText(context) };
  const isDelete = compare(kindOn(feed, 'h'), '=', literal(deletion));
  const deletesFirst = choose([[isDelete, literal(0)]], literal(1));
  const rank = window(
    'row_number',
    null,
    [...partitionOf(feed, 'h'), sequenceOn(feed, 'h')],
    [ascending(deletesFirst), ...attributes.map((of) => ascending(column('h', of.target.name, of.type)))],
    options,
  );
  const mark = select(
    [item('last_truncate_', aggregate('max', sequenceOn(feed, 'h')))],
    source(named('history'), 'h'),
    {
      where: [compare(kindOn(feed, 'h'), '=', literal(truncation))],
    },
  );
  const lastTruncate = column('m', 'last_truncate_', feed.sequenceType);
  const ranked = select(
    [...eventItems(feed, 'h'), item('rank_no_', rank), item('last_truncate_', lastTruncate)],
    source(named('history'), 'h'),
    { joins: [join('cross', mark, 'm', [])], where: [compare(kindOn(feed, 'h'), '<>', literal(truncation))] },
  );
  const valid = select(eventItems(feed, 'r'), source(ranked, 'r'), {
    where: [
      compare(column('r', 'rank_no_', types.count), '=', literal(1)),
      any(
        isNull(column('r', 'last_truncate_', feed.sequenceType)),
        compare(sequenceOn(feed, 'r'), '>=', column('r', 'last_truncate_', feed.sequenceType)),
      ),
    ],
  });
  return {
    kind: 'let',
    says: 'The states of each key along its sequence; a delete goes before an upsert of the same sequence.',
    name: 'states',
    query: context.options.ignore_null_updates === true ? filledForward(feed, valid) : valid,
  };
}

/** A NULL in an event leaves the value before it, back to the last delete. */
function filledForward(feed: ChangeFeed, valid: Query): Query {
  const { context, attributes } = feed;
  const options = { text: keyText(context) };
  const along = (alias: string) => [ascending(sequenceOn(feed, alias))];
  const isDelete = choose([[compare(kindOn(feed, 'v'), '=', literal(deletion)), literal(1)]], literal(0));
  const eras = select(
    [...eventItems(feed, 'v'), item('era_', window('sum', isDelete, partitionOf(feed, 'v'), along('v'), options))],
    source(valid, 'v'),
  );
  const era = (alias: string): Expression => column(alias, 'era_', types.count);
  const runs = select(
    [
      ...eventItems(feed, 'w'),
      item('era_', era('w')),
      ...attributes.map((of, index) =>
        item(
          `filled_${index + 1}_`,
          window(
            'count',
            column('w', of.target.name, of.type),
            [...partitionOf(feed, 'w'), era('w')],
            along('w'),
            options,
          ),
        ),
      ),
    ],
    source(eras, 'w'),
  );
  return select(
    [
      ...keysOf(feed, 'x').map((key, index) => item(feed.keys[index]?.target.name ?? '', key)),
      ...attributes.map((of, index) =>
        item(
          of.target.name,
          window(
            'max',
            column('x', of.target.name, of.type),
            [...partitionOf(feed, 'x'), era('x'), column('x', `filled_${index + 1}_`, types.count)],
            [],
            options,
          ),
        ),
      ),
      item(feed.names.sequence, sequenceOn(feed, 'x')),
      item(feed.names.kind, kindOn(feed, 'x')),
    ],
    source(runs, 'x'),
  );
}

/** The events that are new, for the kept table. */
export function newEventsStep(feed: ChangeFeed): Step {
  return {
    kind: 'let',
    says: 'Events that were not seen before.',
    name: 'new_events',
    query: select(eventItems(feed, 'n'), source(named('incoming'), 'n'), { where: [notExists(knownEvent(feed, 'n'))] }),
  };
}
