import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import {
  all,
  any,
  arithmetic,
  ascending,
  choose,
  column,
  compare,
  concat,
  counted,
  countRows,
  countWhere,
  differs,
  exists,
  isNull,
  item,
  join,
  latestRows,
  literal,
  named,
  notExists,
  select,
  shown,
  source,
  table,
  union,
  window,
} from '../build.ts';
import { clock } from '../clock.ts';
import {
  clockParameter,
  columnType,
  comparable,
  converted,
  fedValue,
  findColumn,
  freeName,
  type KeyPart,
  keyParts,
  keysEqual,
  keyText,
  keyValue,
  type LoadContext,
  refuseNarrowing,
  report,
  textParameters,
} from '../context.ts';
import { type Expression, type Item, type Query, type Relation, types } from '../language.ts';
import type { LoadPlan, Step, Warning } from '../plan.ts';
import {
  acceptedRows,
  duplicateGuard,
  skippedRows,
  stagedKey,
  stagedRows,
  stageMeasures,
  takesNullKeys,
} from '../stage.ts';

const stagedKeyCount = counted('StagedKeys');
const newRows = counted('NewRows');
const changedKeys = counted('ChangedKeys');
const absentKeys = counted('AbsentKeys');

/** The log's columns by what they are for. */
interface Log {
  readonly context: LoadContext;
  readonly keys: readonly KeyPart[];
  readonly loadTs: CatalogColumn;
  readonly order: readonly CatalogColumn[];
  readonly operation: CatalogColumn | undefined;
  /** Columns that the load writes, in the target's order. */
  readonly columns: readonly CatalogColumn[];
  /** What a change is judged by. */
  readonly compared: readonly CatalogColumn[];
  readonly stagesTime: boolean;
}

/** Persistent staging as a log: append only; a row for each real change of a key, along the order within the batch. */
export function planPersistentStaging(context: LoadContext): LoadPlan {
  const log = makeLog(context);
  return {
    target: context.target.name,
    source: context.source.name,
    says: 'Persistent staging: appends a row for each real change of a key.',
    parameters: [clockParameter('time of the load (UTC)'), ...textParameters(context)],
    steps: log === null ? [] : logSteps(log),
    writes: [
      {
        kind: 'insert',
        says: 'Append the changes.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: (log?.columns ?? []).map((of) => ({ column: of.name, value: on('c', context, of) })),
      },
    ],
    warnings: warningsOf(context),
    counts: {
      inserted: newRows,
      updated: null,
      expired: null,
      inactivated: finds(context) ? absentKeys : null,
      deleted: null,
      unchanged: arithmetic(stagedKeyCount, '-', changedKeys),
      skipped: skippedRows,
    },
    keeps: [],
    replaces: null,
  };
}

function warningsOf(context: LoadContext): readonly Warning[] {
  const skips = context.options.null_keys !== 'fail' && !takesNullKeys(context);
  return [
    ...(skips
      ? [
          {
            code: 'null_key',
            when: compare(skippedRows, '>', literal(0)),
            message: concat(shown(skippedRows), literal(' staged rows without a key were skipped')),
          },
        ]
      : []),
    ...(finds(context) && context.options.on_empty_stage === 'skip'
      ? [
          {
            code: 'empty_stage',
            when: compare(acceptedRows, '=', literal(0)),
            message: literal('the stage is empty: absent keys were not looked for'),
          },
        ]
      : []),
  ];
}

function makeLog(context: LoadContext): Log | null {
  const { options, target } = context;
  const keys = keyParts(context);
  const find = (name: string | undefined, option: string): CatalogColumn | undefined =>
    name === undefined ? undefined : findColumn(context, target, name, option);
  const loadTs = find(options.load_ts, 'load_ts');
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${target.name.table} is the load date with --set load_ts="…".`,
    );
    return null;
  }
  refuseNarrowing(context, context.feeds);
  const operation = find(options.op_column, 'op_column');
  const order = (options.order_within_batch ?? []).flatMap((name) => find(name, 'order_within_batch') ?? []);
  const filled = new Set([...context.feeds.map((feed) => feed.target), ...keys.map((part) => part.target), loadTs]);
  if (operation !== undefined) filled.add(operation);
  const compared = (options.compare ?? []).flatMap((name) => {
    const feed = context.feeds.find(
      (candidate) => sameIdentifier(candidate.target.name, name) || sameIdentifier(candidate.source?.name ?? '', name),
    );
    return feed?.target ?? find(name, 'compare') ?? [];
  });
  return {
    context,
    keys,
    loadTs,
    order,
    operation,
    columns: target.columns.filter((of) => filled.has(of) && !of.computed && !of.identity),
    compared: [...compared, ...(operation === undefined || options.op_derived === true ? [] : [operation])],
    stagesTime: context.feeds.some((feed) => feed.target === loadTs),
  };
}

function on(alias: string, context: LoadContext, of: CatalogColumn): Expression {
  return column(alias, of.name, columnType(context.target, of));
}

/** Absent keys get a delete row: full loads whose operations are derived. */
function finds({ options }: LoadContext): boolean {
  return options.load === 'full' && options.op_derived === true;
}

function logSteps(log: Log): readonly Step[] {
  const { context, keys } = log;
  const staged = stagedRows(context, stagedItems(log), 'accepted');
  const groups = select([item('rows', countRows())], source(named('sequence'), 's'), {
    groupBy: keys.map((part) => keyValue(context, on('s', context, part.target))),
    text: keyText(context),
  });
  return [
    ...staged.steps,
    ...stageMeasures(context, staged),
    ...(context.options.duplicates === 'fail'
      ? [
          duplicateGuard(
            context,
            staged,
            keys.map((part) => on('s', context, part.target)),
          ),
        ]
      : []),
    ...(finds(context) && context.options.on_empty_stage === 'fail' ? [emptyGuard] : []),
    sequenceStep(log, staged.relation),
    {
      kind: 'measure',
      says: 'Distinct keys in the stage.',
      query: select([item(stagedKeyCount.name, countRows())], source(groups, 'k')),
    },
    newestStep(log),
    changesStep(log),
    ...countSteps(log),
  ];
}

const emptyGuard: Step = {
  kind: 'guard',
  says: 'An empty delivery stops the load.',
  code: 'empty_stage',
  when: compare(acceptedRows, '=', literal(0)),
  message: literal('the stage is empty, so nothing can be said about absent keys'),
};

function stagedItems({ context, keys, columns, loadTs, operation }: Log): readonly Item[] {
  const derived = context.options.op_derived === true;
  return columns.flatMap((of) => {
    const part = keys.find((candidate) => candidate.target === of);
    if (part !== undefined) return [item(of.name, stagedKey(context, part))];
    const feed = context.feeds.find((candidate) => candidate.target === of);
    if (of === operation && derived) return [];
    if (feed !== undefined) return [item(of.name, fedValue(context, feed))];
    return of === loadTs ? [item(of.name, converted(clock, columnType(context.target, of)))] : [];
  });
}

/** Staged rows numbered along their key's order. */
function sequenceStep(log: Log, relation: Relation): Step {
  const { context, keys, order, loadTs, stagesTime } = log;
  const items = stagedItems(log);
  const sorted = [...(stagesTime ? [loadTs] : []), ...order];
  const by = (sorted.length > 0 ? sorted : keys.map((part) => part.target)).map((of) =>
    ascending(on('s', context, of)),
  );
  const position = window(
    'row_number',
    null,
    keys.map((part) => keyValue(context, on('s', context, part.target))),
    by,
    { text: keyText(context) },
  );
  const carried = items.map(({ name, value }) => {
    const of = context.target.columns.find((candidate) => candidate.name === name);
    return item(name, of === undefined ? value : on('s', context, of));
  });
  return {
    kind: 'let',
    says: 'Staged rows in the order of their key.',
    name: 'sequence',
    query: select([...carried, item(positionName(context), position)], source(relation, 's')),
  };
}

function keyName(context: LoadContext, index: number): string {
  return freeName(context, `compared_key_${index + 1}`);
}

function positionName(context: LoadContext): string {
  return freeName(context, 'position');
}

/** The newest stored row of each staged key; for a full load of every key. */
function newestStep(log: Log): Step {
  const { context, keys, columns, loadTs, order } = log;
  const isStaged = exists(
    select([item('one', literal(1))], source(named('sequence'), 's'), {
      where: keys.map((part) => keysEqual(context, on('s', context, part.target), on('t', context, part.target))),
    }),
  );
  const rows = select(
    [
      item('is_stored_', literal(1)),
      ...keys.map((part, index) => item(keyName(context, index), keyValue(context, on('t', context, part.target)))),
      ...columns.map((of) => item(of.name, on('t', context, of))),
    ],
    source(table(context.target.name), 't'),
    { where: finds(context) ? [] : [isStaged] },
  );
  const newest = latestRows(
    rows,
    keys.map((_, index) => keyName(context, index)),
    [loadTs, ...order].map((of) => of.name),
    keyText(context),
  );
  return {
    kind: 'let',
    says: finds(context) ? 'The newest stored row of each key.' : 'The newest stored row of each staged key.',
    name: 'newest',
    query: select(
      [
        item('is_stored_', column('n', 'is_stored_', types.flag)),
        ...columns.map((of) => item(of.name, on('n', context, of))),
      ],
      source(newest, 'n'),
    ),
  };
}

function changesStep(log: Log): Step {
  const { context, keys, columns, compared, operation } = log;
  const position = (alias: string): Expression => column(alias, positionName(context), types.count);
  const onKeys = (left: string, right: string) =>
    keys.map((part) => keysEqual(context, on(left, context, part.target), on(right, context, part.target)));
  const isStored = column('n', 'is_stored_', types.flag);
  const wasDeleted = deletedOn('n', log);
  const derived = context.options.op_derived === true;
  const first = compare(position('s'), '=', literal(1));
  const differing = (alias: string): readonly Expression[] =>
    compared.map((of) =>
      differs(comparable(context, on('s', context, of)), comparable(context, on(alias, context, of))),
    );
  const { insert_op: insertOp, update_op: updateOp } = context.options;
  const operationValue = choose(
    [[all(first, any(isNull(isStored), ...(wasDeleted === null ? [] : [wasDeleted]))), literal(insertOp ?? 'I')]],
    literal(updateOp ?? 'U'),
  );
  const fresh = select(
    [
      item('is_absent_', literal(0)),
      ...columns.map((of) => item(of.name, of === operation && derived ? operationValue : on('s', context, of))),
    ],
    source(named('sequence'), 's'),
    {
      joins: [
        join('left', named('sequence'), 'p', [
          ...onKeys('p', 's'),
          compare(position('p'), '=', arithmetic(position('s'), '-', literal(1))),
        ]),
        join('left', named('newest'), 'n', [...onKeys('n', 's'), first]),
      ],
      where: [
        any(
          all(first, any(isNull(isStored), ...(derived && wasDeleted !== null ? [wasDeleted] : []), ...differing('n'))),
          ...(compared.length === 0 ? [] : [all(compare(position('s'), '>', literal(1)), any(...differing('p')))]),
        ),
      ],
    },
  );
  return {
    kind: 'let',
    says: finds(context)
      ? 'The changes: rows that differ from the row before them, and a delete row for each key that is gone.'
      : 'The changes: rows that differ from the row before them.',
    name: 'changes',
    query: finds(context) ? union(fresh, deleteRows(log)) : fresh,
  };
}

function deletedOn(alias: string, { context, operation }: Log): Expression | null {
  const { delete_op: value } = context.options;
  return operation === undefined || value === undefined
    ? null
    : compare(on(alias, context, operation), '=', literal(value));
}

/** The last values of a key that is gone, as a delete row with number 0: no staged row stands behind it. */
function deleteRows(log: Log): Query {
  const { context, keys, columns, loadTs, order, operation } = log;
  const { delete_op: deleteOp, on_empty_stage: rule } = context.options;
  const deletedValue = (of: CatalogColumn): Expression => {
    const type = columnType(context.target, of);
    if (of === loadTs) return converted(clock, type);
    if (of === operation) return literal(deleteOp ?? 'D');
    return of === order[0] ? literal('0', type) : on('n', context, of);
  };
  return select(
    [item('is_absent_', literal(1)), ...columns.map((of) => item(of.name, deletedValue(of)))],
    source(named('newest'), 'n'),
    {
      where: [
        notExists(
          select([item('one', literal(1))], source(named('sequence'), 's'), {
            where: keys.map((part) => keysEqual(context, on('s', context, part.target), on('n', context, part.target))),
          }),
        ),
        ...(operation === undefined || deleteOp === undefined
          ? []
          : [differs(on('n', context, operation), literal(deleteOp))]),
        ...(rule === 'apply' || rule === 'fail' ? [] : [compare(acceptedRows, '>', literal(0))]),
      ],
    },
  );
}

function countSteps({ context, keys }: Log): readonly Step[] {
  const isAbsent = column('c', 'is_absent_', types.flag);
  const groups = select([item('rows', countRows())], source(named('changes'), 'c'), {
    where: [compare(isAbsent, '=', literal(0))],
    groupBy: keys.map((part) => keyValue(context, on('c', context, part.target))),
    text: keyText(context),
  });
  return [
    {
      kind: 'measure',
      says: 'What will be appended.',
      query: select(
        [
          item(newRows.name, countRows()),
          ...(finds(context) ? [item(absentKeys.name, countWhere(compare(isAbsent, '=', literal(1))))] : []),
        ],
        source(named('changes'), 'c'),
      ),
    },
    {
      kind: 'measure',
      says: 'Staged keys with a new row.',
      query: select([item(changedKeys.name, countRows())], source(groups, 'k')),
    },
  ];
}
