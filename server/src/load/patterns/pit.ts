import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import {
  aggregate,
  choose,
  column,
  compare,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  named,
  select,
  source,
  table,
} from '../build.ts';
import { instant } from '../clock.ts';
import { columnOf, columnType, converted, findColumn, type LoadContext, report } from '../context.ts';
import type { Expression, Query } from '../language.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { columnIn, type Dates, datesOf, extraTable } from '../vault/extra-tables.ts';
import { ghostKey } from '../vault/ghosts.ts';
import { rebuildPlan } from '../vault/rebuild.ts';
import { loadTimeNames } from '../vault/staging.ts';

/** A satellite and the two columns of the target that point into it. */
interface Pointer {
  /** Name of the relation that bears the newest load time per key and date. */
  readonly relation: string;
  readonly satellite: CatalogTable;
  readonly satelliteKey: CatalogColumn;
  readonly loadTs: CatalogColumn;
  readonly keyColumn: CatalogColumn;
  readonly timeColumn: CatalogColumn;
}

interface Hub {
  readonly of: CatalogTable;
  readonly key: CatalogColumn;
  readonly stored: CatalogColumn;
}

/**
 * Point-in-time table: per hub key and date the row of each satellite that was the newest then, as a pair of key and
 * load time; where there was none yet, the ghost row. So queries join satellites by equality.
 */
export function planPit(context: LoadContext): LoadPlan {
  const { target } = context;
  const dates = datesOf(context);
  const hub = findHub(context);
  const pointers = hub === null ? [] : findPointers(context, hub);
  const parts = dates === null || hub === null ? null : { dates, hub };
  return rebuildPlan(context, {
    says: `Point-in-time table ${target.name.table}: for each key and date the row of each satellite that was the newest then.`,
    parameters: [],
    steps:
      parts === null
        ? []
        : [parts.dates.step, ...pointers.map((pointer) => pointerStep(context, pointer, parts.dates))],
    rows: parts === null ? select([], null) : pitRows(context, parts.hub, parts.dates, pointers),
    warnings: [],
  });
}

function findHub(context: LoadContext): Hub | null {
  const of = extraTable(context, 'hub');
  const [name] = context.options.target_key ?? [];
  if (name === undefined) {
    report(
      context,
      'no-key',
      `Say which column of ${context.target.name.table} is the hub's key with --set target_key=["…","${context.options.as_of ?? 'as_of'}"].`,
    );
    return null;
  }
  const stored = findColumn(context, context.target, name, 'target_key');
  const key = of === undefined ? undefined : columnIn(context, of, name, 'hash-key', ['*_hk', 'hk_*', '*_key']);
  return of === undefined || key === undefined || stored === undefined ? null : { of, key, stored };
}

function findPointers(context: LoadContext, hub: Hub): readonly Pointer[] {
  const { satellites = {}, load_ts: loadTime } = context.options;
  if (Object.keys(satellites).length === 0) {
    report(
      context,
      'no-satellites',
      `Say which columns of ${context.target.name.table} point into which satellite with --set satellites={"…":["key column","time column"]}.`,
    );
  }
  return Object.entries(satellites).flatMap(([role, columns], index) => {
    const satellite = extraTable(context, role);
    const [keyColumn, timeColumn] = columns.map((name) => findColumn(context, context.target, name, 'satellites'));
    if (satellite === undefined || keyColumn === undefined || timeColumn === undefined) return [];
    const satelliteKey = columnIn(context, satellite, hub.key.name, 'hash-key', ['*_hk', 'hk_*', '*_key']);
    const loadTs = columnIn(context, satellite, loadTime, 'load-date', loadTimeNames);
    if (satelliteKey === undefined || loadTs === undefined) return [];
    return [{ relation: `newest_${index + 1}`, satellite, satelliteKey, loadTs, keyColumn, timeColumn }];
  });
}

function pointerStep(context: LoadContext, pointer: Pointer, { asOf }: Dates): Step {
  const { satellite, satelliteKey, loadTs, timeColumn } = pointer;
  const key = columnOf('t', satellite, satelliteKey);
  const time = columnOf('t', satellite, loadTs);
  const date = column('d', asOf.name, asOf.type);
  return {
    kind: 'let',
    says: `The newest row of ${satellite.name.table} per key at each date.`,
    name: pointer.relation,
    query: select(
      [
        item('hub_key', aggregate('min', key)),
        item(asOf.name, date),
        item('newest_time', aggregate('max', converted(time, columnType(context.target, timeColumn)))),
      ],
      source(table(satellite.name), 't'),
      { joins: [join('inner', named('dates'), 'd', [compare(time, '<=', date)])], groupBy: [key, date] },
    ),
  };
}

function pitRows(context: LoadContext, hub: Hub, { asOf }: Dates, pointers: readonly Pointer[]): Query {
  const key = columnOf('h', hub.of, hub.key);
  const date = column('d', asOf.name, asOf.type);
  return select(
    [
      item(hub.stored.name, converted(key, columnType(context.target, hub.stored))),
      item(asOf.name, date),
      ...pointers.flatMap((pointer) => pointerItems(context, pointer)),
    ],
    source(table(hub.of.name), 'h'),
    {
      joins: [
        join('cross', named('dates'), 'd', []),
        ...pointers.map((pointer) => {
          const alias = pointer.relation;
          return join('left', named(pointer.relation), alias, [
            compare(column(alias, 'hub_key', columnType(pointer.satellite, pointer.satelliteKey)), '=', key),
            compare(column(alias, asOf.name, asOf.type), '=', date),
          ]);
        }),
      ],
      where: [isNotNull(key)],
    },
  );
}

function pointerItems(context: LoadContext, { relation, keyColumn, timeColumn, satellite, satelliteKey }: Pointer) {
  const keyType = columnType(context.target, keyColumn);
  const timeType = columnType(context.target, timeColumn);
  const newest = column(relation, 'newest_time', timeType);
  const found = converted(column(relation, 'hub_key', columnType(satellite, satelliteKey)), keyType);
  return [
    item(keyColumn.name, choose([[isNull(newest), ghostKey(context, { type: keyType }, 'unknown')]], found)),
    item(timeColumn.name, choose([[isNull(newest), ghostTime(context, timeType)]], newest)),
  ];
}

/** The load time of the satellites' ghost rows. */
function ghostTime(context: LoadContext, type: Parameters<typeof instant>[1]): Expression {
  const { ghost } = context.options;
  if (ghost?.load_ts !== undefined) return instant(ghost.load_ts, type);
  return ghost?.enabled === false ? literal(null, type) : instant('1900-01-01 00:00:00', type);
}
