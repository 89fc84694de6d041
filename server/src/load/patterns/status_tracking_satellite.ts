import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import {
  arithmetic,
  choose,
  column,
  compare,
  concat,
  counted,
  countRows,
  countWhere,
  exists,
  isNull,
  item,
  join,
  literal,
  named,
  select,
  shown,
  source,
  union,
} from '../build.ts';
import { columnType, findColumn, type LoadContext, report } from '../context.ts';
import { type Expression, type Query, types, valueType } from '../language.ts';
import type { LoadPlan, PlanParameter, Step, Warning, Write } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import {
  keyCount,
  missingKeySteps,
  rowCount,
  sameKey,
  skippedCount,
  skippedWarnings,
  stagedAs,
  type VaultStage,
  vaultParameters,
  vaultStage,
} from '../vault/staging.ts';
import { replaySteps, stagedStep } from '../vault/status/replay.ts';
import type { Replay, Status } from '../vault/status/state.ts';
import { flagValue } from '../versions.ts';

const arrived = counted('ArrivedRows');
const departed = counted('DepartedRows');
const vanishedKeys = counted('VanishedKeys');
const changedKeys = counted('ChangedKeys');
const livingKeys = counted('LivingKeys');
const limit: Expression = { kind: 'parameter', name: 'MaxInactivationPct', type: valueType('decimal(5,2)') };

/**
 * Status tracking satellite: a row whenever a key appears in the source, vanishes from it or comes back. Under strategy
 * `logical_delete_row` a satellite that records a vanished key as a flagged row with its last values.
 */
export function planStatusTrackingSatellite(context: LoadContext): LoadPlan {
  const { source: from, target, options } = context;
  const stage = withoutStatus(vaultStage(context));
  const replay = makeReplay(stage);
  const isFull = replay?.isFull === true;
  return {
    target: target.name,
    source: from.name,
    says: isFull
      ? `Status of the keys of ${from.name.table} in ${target.name.table}: a row when a key appears, vanishes or comes back. Each load time in the stage is a full load of its own.`
      : `Status of the keys of ${from.name.table} in ${target.name.table}: a row when a key appears or comes back. A delta says nothing about absent keys.`,
    parameters: [
      ...vaultParameters(stage),
      ...(hasLimit(context, isFull) ? [limitParameter(options.max_inactivation_pct ?? 100)] : []),
    ],
    steps: replay === null ? [] : steps(replay),
    writes: replay === null ? [] : writes(replay),
    warnings: [...skippedWarnings(stage), ...emptyWarnings(context, isFull)],
    counts: {
      inserted: isFull ? arithmetic(arrived, '+', departed) : arrived,
      updated: null,
      expired: null,
      inactivated: isFull ? vanishedKeys : literal(0),
      deleted: null,
      unchanged: arithmetic(acceptedRows, '-', changedKeys),
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

function statusColumn({ options }: LoadContext): string | undefined {
  return options.strategy === 'logical_delete_row' ? options.deleted_flag : options.status_column;
}

/** The load sets the status itself, also where the stage has a column of that name. */
function withoutStatus(stage: VaultStage): VaultStage {
  const name = statusColumn(stage.context)?.toLowerCase();
  return { ...stage, columns: stage.columns.filter((of) => of.target.name.toLowerCase() !== name) };
}

function makeReplay(stage: VaultStage): Replay | null {
  const { context, loadTs } = stage;
  const keepsValues = context.options.strategy === 'logical_delete_row';
  const status = makeStatus(context, keepsValues);
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${context.target.name.table} is the load date with --set load_ts="…".`,
    );
  }
  if (status === null || loadTs === undefined) return null;
  return { stage, loadTs, status, keepsValues, isFull: context.options.load === 'full' };
}

function makeStatus(context: LoadContext, keepsValues: boolean): Status | null {
  const option = keepsValues ? 'deleted_flag' : 'status_column';
  const name = statusColumn(context);
  if (name === undefined) {
    report(
      context,
      'no-status',
      `Say which column of ${context.target.name.table} tells whether a key is there with --set ${option}="…".`,
    );
    return null;
  }
  const target = findColumn(context, context.target, name, option);
  return target === undefined
    ? null
    : { target, type: columnType(context.target, target), ...statusValues(context, target, keepsValues) };
}

function statusValues(context: LoadContext, target: CatalogColumn, keepsValues: boolean) {
  const [present, absent] = context.options.current_values ?? [];
  if (keepsValues) return { alive: flagValue(context, target, false), dead: flagValue(context, target, true) };
  return { alive: flagValue(context, target, present ?? true), dead: flagValue(context, target, absent ?? false) };
}

function steps(replay: Replay): readonly Step[] {
  const { stage, isFull } = replay;
  const { context } = stage;
  return [
    ...missingKeySteps(stage),
    stagedStep(replay),
    keyCount(stage, named('staged'), 'Distinct keys in the stage.', acceptedRows.name),
    ...(context.options.on_empty_stage === 'fail' ? [emptyGuard] : []),
    ...replaySteps(replay),
    rowCount('arrivals', 'Rows for keys that are new, back or changed.', arrived.name),
    ...(isFull
      ? [
          rowCount('departures', 'Rows for keys that vanished.', departed.name),
          keyCount(stage, named('departures'), 'Keys that vanished.', vanishedKeys.name),
        ]
      : []),
    ...(hasLimit(context, isFull) ? limitSteps(replay) : []),
    keyCount(stage, changedStagedKeys(replay), 'Staged keys for which something is written.', changedKeys.name),
  ];
}

const emptyGuard: Step = {
  kind: 'guard',
  says: 'An empty delivery stops the load.',
  code: 'empty_stage',
  when: compare(acceptedRows, '=', literal(0)),
  message: literal('the stage is empty, so nothing can be said about absent keys'),
};

function emptyWarnings({ options }: LoadContext, isFull: boolean): readonly Warning[] {
  if (!isFull || (options.on_empty_stage ?? 'skip') !== 'skip') return [];
  return [
    {
      code: 'empty_stage',
      when: compare(acceptedRows, '=', literal(0)),
      message: literal('the stage is empty: absent keys were not looked for'),
    },
  ];
}

function hasLimit({ options }: LoadContext, isFull: boolean): boolean {
  return isFull && options.max_inactivation_pct !== undefined;
}

function limitParameter(value: number): PlanParameter {
  return {
    name: 'MaxInactivationPct',
    type: valueType('decimal(5,2)'),
    value,
    clock: false,
    description: 'highest share of the living keys, in per cent, that one run may find vanished',
  };
}

/** The share is taken for each load of its own: of the keys that the load before brought, or that are stored as living. */
function limitSteps({ loadTs }: Replay): readonly Step[] {
  const time = stagedAs('w', loadTs);
  const previous = column('w', 'previous_time', loadTs.type);
  const perTime = (relation: string): Query =>
    select([item(loadTs.target.name, stagedAs('r', loadTs)), item('keys', countRows())], source(named(relation), 'r'), {
      groupBy: [stagedAs('r', loadTs)],
    });
  const gone = column('g', 'keys', types.count);
  const living = choose([[isNull(previous), livingKeys]], column('b', 'keys', types.count));
  return [
    {
      kind: 'measure',
      says: 'Keys that are stored as living.',
      query: select(
        [item(livingKeys.name, countWhere(compare(column('o', 'is_dead', types.flag), '=', literal(0))))],
        source(named('stored'), 'o'),
      ),
    },
    {
      kind: 'guard-rows',
      says: 'More vanished keys than the limit allows stop the load: the delivery may be cut.',
      code: 'inactivation_threshold',
      query: select(
        [
          item(
            'offender',
            concat(shown(gone), literal(' of '), shown(living), literal(' living keys vanished at '), shown(time)),
          ),
        ],
        source(named('times'), 'w'),
        {
          joins: [
            join('inner', perTime('departures'), 'g', [compare(stagedAs('g', loadTs), '=', time)]),
            join('left', perTime('delivered'), 'b', [compare(stagedAs('b', loadTs), '=', previous)]),
          ],
          where: [compare(arithmetic(gone, '*', literal(100)), '>', arithmetic(living, '*', limit))],
        },
      ),
    },
  ];
}

function changedStagedKeys({ stage, isFull }: Replay): Query {
  const keysOf = (relation: string): Query =>
    select(
      stage.keys.map((key) => item(key.target.name, stagedAs('x', key))),
      source(named(relation), 'x'),
      {
        where:
          relation === 'arrivals'
            ? []
            : [
                exists(
                  select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 's', 'x') }),
                ),
              ],
      },
    );
  const changed = isFull ? union(keysOf('arrivals'), keysOf('departures')) : keysOf('arrivals');
  return select(
    stage.keys.map((key) => item(key.target.name, stagedAs('y', key))),
    source(changed, 'y'),
  );
}

function writes({ stage, status, isFull }: Replay): readonly Write[] {
  const insert = (from: string, says: string, shows: 'inserted' | 'inactivated', value: Expression): Write => ({
    kind: 'insert',
    says,
    shows,
    from,
    where: [],
    values: [
      ...stage.columns.map((of) => ({ column: of.target.name, value: stagedAs('c', of) })),
      { column: status.target.name, value },
    ],
  });
  return [
    insert('arrivals', 'Add the keys that are new, back or changed as present.', 'inserted', status.alive),
    ...(isFull ? [insert('departures', 'Add the keys that vanished as gone.', 'inactivated', status.dead)] : []),
  ];
}
