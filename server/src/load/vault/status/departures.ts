/** Rows for keys that vanish: alive after the load before, or stored alive, and not in the load. */
import {
  any,
  choose,
  coalesce,
  column,
  compare,
  isNull,
  item,
  join,
  latestRows,
  literal,
  named,
  notExists,
  select,
  source,
  union,
} from '../../build.ts';
import { freeName, type LoadContext } from '../../context.ts';
import type { Expression, Item, Query } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { type StagedColumn, sameKey, stagedAs } from '../staging.ts';
import { flag, isDead, isFresh, previousTime, type Replay } from './state.ts';

/** Materialises `departures`; reads `times`, `stored`, `delivered` and `arrivals`. */
export function departuresStep(replay: Replay): Step {
  return {
    kind: 'let',
    says: 'A row for each key that a full load does not bring any more.',
    name: 'departures',
    query: union(departuresOfStored(replay), departuresOfDelivered(replay)),
  };
}

function isAbsent({ stage, loadTs }: Replay, alias: string): Expression {
  return notExists(
    select([item('one', literal(1))], source(named('delivered'), 's'), {
      where: [...sameKey(stage, 's', alias), compare(stagedAs('s', loadTs), '=', stagedAs('w', loadTs))],
    }),
  );
}

function departuresOfStored(replay: Replay): Query {
  const { loadTs } = replay;
  const previous = previousTime(replay, 'w');
  return select(
    departureItems(replay, (of) => stagedAs('o', of)),
    source(named('stored'), 'o'),
    {
      joins: [
        // The first load from the key's newest row on; later ones follow deliveries.
        join('inner', named('times'), 'w', [
          compare(stagedAs('w', loadTs), '>=', stagedAs('o', loadTs)),
          any(isNull(previous), compare(previous, '<', stagedAs('o', loadTs))),
        ]),
      ],
      where: [compare(flag('o', isDead), '=', literal(0)), isAbsent(replay, 'o')],
    },
  );
}

function departuresOfDelivered(replay: Replay): Query {
  const { stage, loadTs, keepsValues } = replay;
  const previous = previousTime(replay, 'w');
  const joins = [
    join('inner', named('times'), 'w', [compare(previous, '=', stagedAs('p', loadTs))]),
    join('left', named('stored'), 'o', sameKey(stage, 'o', 'p')),
  ];
  const where = [isFresh(replay, stagedAs('p', loadTs)), isAbsent(replay, 'p')];
  if (!keepsValues) {
    return select(
      departureItems(replay, (of) => stagedAs('p', of)),
      source(named('delivered'), 'p'),
      { joins, where },
    );
  }
  // The last values are those of the key's last row: written by this run, or stored before.
  const written = freeName(stage.context, 'written_at');
  const arrival = join('left', named('arrivals'), 'a', [
    ...sameKey(stage, 'a', 'p'),
    compare(stagedAs('a', loadTs), '<=', stagedAs('p', loadTs)),
  ]);
  const lastValue = (of: StagedColumn): Expression =>
    choose([[isNull(stagedAs('a', loadTs)), stagedAs('o', of)]], stagedAs('a', of));
  const rows = select(
    [...departureItems(replay, lastValue), item(written, coalesce(stagedAs('a', loadTs), stagedAs('o', loadTs)))],
    source(named('delivered'), 'p'),
    { joins: [...joins, arrival], where },
  );
  const keys = [...stage.keys, loadTs].map((of) => of.target.name);
  return select(
    stage.columns.map((of) => item(of.target.name, column('n', of.target.name, of.type))),
    source(latestRows(rows, keys, [written]), 'n'),
  );
}

function departureItems(replay: Replay, lastValue: (of: StagedColumn) => Expression): readonly Item[] {
  const { stage, loadTs } = replay;
  return stage.columns.map((of) => {
    if (of === loadTs) return item(of.target.name, stagedAs('w', loadTs));
    if (of === stage.recordSource) return item(of.target.name, systemSource(stage.context, of));
    const isRepeated = replay.keepsValues || of.role !== null || stage.keys.includes(of);
    if (isRepeated) return item(of.target.name, lastValue(of));
    return item(of.target.name, parameterOf(stage.context, of) ?? literal(null, of.type));
  });
}

/** The source of rows that the load invents; the run's own where the source is a parameter. */
function systemSource(context: LoadContext, of: StagedColumn): Expression {
  return parameterOf(context, of) ?? literal(context.options.system_source ?? 'SYSTEM', of.type);
}

function parameterOf(context: LoadContext, of: StagedColumn): Expression | null {
  const isParameter = context.feeds.some((feed) => feed.target === of.target && feed.source === null);
  return isParameter ? of.value : null;
}
