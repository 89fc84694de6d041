import {
  aggregate,
  all,
  any,
  ascending,
  choose,
  column,
  compare,
  countRows,
  differs,
  exists,
  isNotNull,
  isNull,
  item,
  join,
  latestRows,
  literal,
  named,
  select,
  source,
  table,
  window,
} from '../../build.ts';
import { clock } from '../../clock.ts';
import { columnOf, converted } from '../../context.ts';
import { type Expression, type Query, types } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { ghostKey } from '../ghosts.ts';
import { distinctRows, keyName, partItems } from '../key-parts.ts';
import { lateRowGuard } from '../late-rows.ts';
import {
  keyForms,
  keyTextOf,
  type StagedColumn,
  sameKey,
  stagedAs,
  stagedRows,
  storedAs,
  type VaultStage,
} from '../staging.ts';
import { departuresStep } from './departures.ts';
import { flag, isDead, isFresh, previousTime, type Replay } from './state.ts';

/** Steps that end in `arrivals` (rows of the stage to add) and, for full loads, `departures` (rows of vanished keys). */
export function replaySteps(replay: Replay): readonly Step[] {
  return [
    ...rivalGuards(replay),
    storedStep(replay),
    ...lateGuard(replay),
    ...(replay.isFull ? [timesStep(replay)] : []),
    deliveredStep(replay),
    arrivalsStep(replay),
    ...conflictGuard(replay),
    ...(replay.isFull ? [departuresStep(replay)] : []),
  ];
}

/** The accepted rows; identical ones count once. */
export function stagedStep({ stage }: Replay): Step {
  const keepsAll = stage.context.options.duplicates === 'fail';
  return {
    kind: 'let',
    says: keepsAll ? 'Staged rows with a key.' : 'Staged rows with a key; identical ones count once.',
    name: 'staged',
    query: keepsAll ? stagedRows(stage, partItems(stage)) : distinctRows(stage),
  };
}

/** A key that comes twice in one load with different contents, or at all where duplicates are refused. */
function rivalGuards({ stage, loadTs }: Replay): readonly Step[] {
  const { context, hashdiff } = stage;
  const refusesAll = context.options.duplicates === 'fail';
  if (!refusesAll && hashdiff === undefined) return [];
  const contents =
    hashdiff === undefined
      ? []
      : [aggregate('min', stagedAs('s', hashdiff)), aggregate('max', stagedAs('s', hashdiff))];
  const [least = literal(null), greatest = literal(null)] = contents;
  return [
    {
      kind: 'guard-rows',
      says: refusesAll
        ? 'A key that is staged twice for one load time stops the load.'
        : 'A key that is staged with two contents for one load time stops the load.',
      code: 'duplicate_key',
      query: select(
        [
          item(
            'offender',
            keyName(stage, 's', (value) => aggregate('min', value)),
          ),
        ],
        source(named('staged'), 's'),
        {
          groupBy: [...keyForms(stage, 's'), stagedAs('s', loadTs)],
          text: keyTextOf(stage),
          having: [refusesAll ? compare(countRows(), '>', literal(1)) : compare(least, '<>', greatest)],
        },
      ),
    },
  ];
}

function storedStep(replay: Replay): Step {
  const { stage, loadTs, status, isFull } = replay;
  const { context } = stage;
  const columns = storedColumns(replay);
  const rows = select(
    columns
      .map((of) => item(of.target.name, storedAs('t', context, of)))
      .concat(
        item(
          isDead,
          choose([[compare(columnOf('t', context.target, status.target), '=', status.dead), literal(1)]], literal(0)),
        ),
      ),
    source(table(context.target.name), 't'),
    {
      where: [
        ...isNoGhost(stage),
        ...(isFull
          ? []
          : [
              exists(
                select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 't', 's') }),
              ),
            ]),
      ],
    },
  );
  const newest = latestRows(
    rows,
    stage.keys.map((key) => key.target.name),
    [loadTs.target.name],
  );
  return {
    kind: 'let',
    says: isFull ? 'The newest stored row of each key.' : 'The newest stored row of each staged key.',
    name: 'stored',
    query: select(
      [...columns.map((of) => item(of.target.name, stagedAs('n', of))), item(isDead, flag('n', isDead))],
      source(newest, 'n'),
    ),
  };
}

/** Only what is compared or repeated is read of the stored rows. */
function storedColumns({ stage, loadTs, keepsValues }: Replay): readonly StagedColumn[] {
  if (keepsValues) return stage.columns;
  return stage.columns.filter((of) => stage.keys.includes(of) || of.role !== null || of === loadTs);
}

function isNoGhost({ context, keys }: VaultStage): readonly Expression[] {
  const [key] = keys;
  if (context.options.ghost?.enabled !== true || key === undefined) return [];
  const kinds =
    context.options.ghost.style === 'unknown_and_error' ? (['unknown', 'error'] as const) : (['unknown'] as const);
  return kinds.map((kind) => compare(storedAs('t', context, key), '<>', ghostKey(context, key, kind)));
}

function lateGuard({ stage, loadTs }: Replay): readonly Step[] {
  const says = 'A key that comes with a load time before all of its stored ones stops the load.';
  return lateRowGuard(stage, loadTs, says, [compare(stagedAs('t', loadTs), '<=', stagedAs('s', loadTs))]);
}

/** Load times of the stage in order. Where the stage has none, the run is one load, also with an empty stage if that is stated. */
function timesStep(replay: Replay): Step {
  const { stage, loadTs } = replay;
  const isStaged = stage.context.feeds.some((feed) => feed.target === loadTs.target && feed.source !== null);
  if (!isStaged) {
    const anyRow = exists(select([item('one', literal(1))], source(named('staged'), 's')));
    return {
      kind: 'let',
      says: 'The load time of this run.',
      name: 'times',
      query: select(
        [item(loadTs.target.name, converted(clock, loadTs.type)), item('previous_time', literal(null, loadTs.type))],
        null,
        { where: stage.context.options.on_empty_stage === 'apply' ? [] : [anyRow] },
      ),
    };
  }
  const times = select([item(loadTs.target.name, stagedAs('s', loadTs))], source(named('staged'), 's'), {
    where: [isNotNull(stagedAs('s', loadTs))],
    groupBy: [stagedAs('s', loadTs)],
  });
  return {
    kind: 'let',
    says: 'The load times in the stage, each with the one before it.',
    name: 'times',
    query: select(
      [
        item(loadTs.target.name, stagedAs('w', loadTs)),
        item('previous_time', window('lag', stagedAs('w', loadTs), [], [ascending(stagedAs('w', loadTs))])),
      ],
      source(times, 'w'),
    ),
  };
}

function deliveredStep(replay: Replay): Step {
  return {
    kind: 'let',
    says: 'One row per key and load time, with the delivery of the key before it.',
    name: 'delivered',
    query: deliveries(replay),
  };
}

function deliveries(replay: Replay): Query {
  const { stage, loadTs } = replay;
  const rank = window('row_number', null, [...keyForms(stage, 's'), stagedAs('s', loadTs)], ordered(replay), {
    text: keyTextOf(stage),
  });
  const ranked = select(
    [...stage.columns.map((of) => item(of.target.name, stagedAs('s', of))), item('sighting', rank)],
    source(named('staged'), 's'),
  );
  const single = select(
    stage.columns.map((of) => item(of.target.name, stagedAs('r', of))),
    source(ranked, 'r'),
    { where: [compare(flag('r', 'sighting'), '=', literal(1))] },
  );
  const order = [ascending(stagedAs('d', loadTs))];
  const before = (operand: Expression): Expression =>
    window('lag', operand, keyForms(stage, 'd'), order, { text: keyTextOf(stage) });
  const content = stage.hashdiff;
  return select(
    [
      ...stage.columns.map((of) => item(of.target.name, stagedAs('d', of))),
      item('delivered_before', before(stagedAs('d', loadTs))),
      ...(content === undefined ? [] : [item('content_before', before(stagedAs('d', content)))]),
    ],
    source(single, 'd'),
  );
}

function ordered({ stage, loadTs }: Replay) {
  const rest = stage.columns.filter((of) => of.role === null && of !== loadTs && of.type.facts.family !== 'other');
  return [stagedAs('s', loadTs), ...rest.map((of) => stagedAs('s', of))].map(ascending);
}

function arrivalsStep(replay: Replay): Step {
  const { stage, loadTs, isFull } = replay;
  const { hashdiff } = stage;
  const deliveredBefore = column('s', 'delivered_before', loadTs.type);
  const differsFrom = (known: Expression): readonly Expression[] =>
    hashdiff === undefined ? [] : [differs(stagedAs('s', hashdiff), known, 'column')];
  const fromStored = any(
    isNull(stagedAs('o', loadTs)),
    compare(flag('o', isDead), '=', literal(1)),
    ...differsFrom(stagedAs('o', hashdiff ?? loadTs)),
  );
  const fromDelivered = any(...differsFrom(column('s', 'content_before', hashdiff?.type ?? types.text)));
  // The delivery before counts only where it is not older than what is stored.
  const wasFresh = all(isNotNull(deliveredBefore), isFresh(replay, deliveredBefore));
  const previous = previousTime(replay, 'w');
  const isNew = isFull
    ? choose(
        [
          [all(wasFresh, compare(deliveredBefore, '=', previous)), flagged(fromDelivered)],
          [all(isNotNull(previous), isFresh(replay, previous)), literal(1)],
        ],
        flagged(fromStored),
      )
    : choose([[wasFresh, flagged(fromDelivered)]], flagged(fromStored));
  return {
    kind: 'let',
    says: 'Rows to add for keys that are new, back or changed.',
    name: 'arrivals',
    query: select(
      stage.columns.map((of) => item(of.target.name, stagedAs('s', of))),
      source(named('delivered'), 's'),
      {
        joins: [
          ...(isFull
            ? [join('inner', named('times'), 'w', [compare(stagedAs('w', loadTs), '=', stagedAs('s', loadTs))])]
            : []),
          join('left', named('stored'), 'o', sameKey(stage, 'o', 's')),
        ],
        where: [isFresh(replay, stagedAs('s', loadTs)), compare(isNew, '=', literal(1))],
      },
    ),
  };
}

function flagged(condition: Expression): Expression {
  return condition.kind === 'any' && condition.of.length === 0
    ? literal(0)
    : choose([[condition, literal(1)]], literal(0));
}

/** A changed row at the load time of the stored one would be a second truth for that time. */
function conflictGuard({ stage, loadTs }: Replay): readonly Step[] {
  if (stage.context.options.same_ts_conflict === 'insert_all') return [];
  return [
    {
      kind: 'guard-rows',
      says: 'Another state for a load time that is stored already stops the load.',
      code: 'same_timestamp_conflict',
      query: select([item('offender', keyName(stage, 'p'))], source(named('arrivals'), 's'), {
        joins: [
          join('inner', named('staged'), 'p', [
            ...sameKey(stage, 'p', 's'),
            compare(stagedAs('p', loadTs), '=', stagedAs('s', loadTs)),
          ]),
          join('inner', named('stored'), 'o', [
            ...sameKey(stage, 'o', 's'),
            compare(stagedAs('o', loadTs), '=', stagedAs('s', loadTs)),
          ]),
        ],
      }),
    },
  ];
}
