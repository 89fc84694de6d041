import {
  aggregate,
  any,
  ascending,
  column,
  compare,
  counted,
  countRows,
  descending,
  exists,
  isNull,
  item,
  join,
  literal,
  named,
  notExists,
  same,
  select,
  source,
  table,
  union,
  window,
} from '../build.ts';
import { feedOf, keyLabel, type LoadContext, report } from '../context.ts';
import { type Expression, types } from '../language.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { distinctRows, keyName, partItems } from '../vault/key-parts.ts';
import { newestStored } from '../vault/newest.ts';
import {
  keyCount,
  missingKeySteps,
  rowCount,
  type StagedColumn,
  sameKey,
  skippedCount,
  skippedWarnings,
  stagedAs,
  stagedRows,
  storedAs,
  type VaultStage,
  vaultParameters,
  vaultStage,
} from '../vault/staging.ts';

const newRows = counted('NewRows');
const changedKeys = counted('ChangedKeys');

/** What tells sets apart: the parent's key, the load time, the dependent child key and the content. */
interface Sets {
  readonly stage: VaultStage;
  readonly loadTs: StagedColumn;
  /** Dependent child key. */
  readonly children: readonly StagedColumn[];
  /** Hashdiff, or the tracked columns where the satellite has none. */
  readonly content: readonly StagedColumn[];
}

/**
 * Multi-active satellite: the set of rows of a parent key is the unit. A set that differs from the one before it (a row
 * added, removed or changed) is written whole, with one load time.
 */
export function planMultiActiveSatellite(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  const stage = vaultStage(context);
  const sets = makeSets(stage);
  return {
    target: target.name,
    source: from.name,
    says: `Multi-active satellite ${target.name.table} from ${from.name.table}: writes the whole set of a key when any of its rows was added, removed or changed.`,
    parameters: vaultParameters(stage),
    steps: [...missingKeySteps(stage), ...(sets === null ? [] : setSteps(sets))],
    writes: [
      {
        kind: 'insert',
        says: 'Insert the sets that changed.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: stage.columns.map((of) => ({ column: of.target.name, value: stagedAs('c', of) })),
      },
    ],
    warnings: skippedWarnings(stage),
    counts: {
      inserted: newRows,
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: { kind: 'arithmetic', operator: '-', left: acceptedRows, right: changedKeys },
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

function makeSets(stage: VaultStage): Sets | null {
  const { context, loadTs, hashdiff } = stage;
  const { cdk = [], compare: tracked = [] } = context.options;
  const staged = (name: string): readonly StagedColumn[] => {
    const fed = feedOf(context, name)?.target;
    return stage.columns.filter((of) => of.target === fed);
  };
  const children = cdk.flatMap(staged);
  const content = hashdiff === undefined ? tracked.flatMap(staged) : [hashdiff];
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${context.target.name.table} is the load date with --set load_ts="…".`,
    );
    return null;
  }
  if (children.length < cdk.length || cdk.length === 0) {
    report(
      context,
      'no-child-key',
      `Name the stage columns that tell the rows of one key apart, stored in ${context.target.name.table}, with --set cdk=["…"].`,
    );
  }
  return { stage, loadTs, children, content };
}

function setSteps(sets: Sets): readonly Step[] {
  const { stage } = sets;
  const collapses = stage.context.options.duplicates !== 'fail';
  return [
    {
      kind: 'let',
      says: collapses ? 'Staged rows with a key; identical ones count once.' : 'Staged rows with a key.',
      name: 'staged',
      query: collapses ? distinctRows(stage) : stagedRows(stage, partItems(stage)),
    },
    memberGuard(sets),
    keyCount(stage, named('staged'), 'Distinct keys in the stage.', acceptedRows.name),
    newestStored(stage, sets.loadTs),
    ...knownSetGuards(sets),
    membersStep(sets),
    setsStep(sets),
    changedSetsStep(sets),
    {
      kind: 'let',
      says: 'All rows of the sets that changed.',
      name: 'changes',
      query: select(
        stage.columns.map((of) => item(of.target.name, stagedAs('s', of))),
        source(named('staged'), 's'),
        { joins: [join('inner', named('changed_sets'), 'x', [...sameKey(stage, 's', 'x'), sameTime(sets, 's', 'x')])] },
      ),
    },
    rowCount('changes', 'What will be inserted.', newRows.name),
    keyCount(stage, named('changes'), 'Keys whose set changed.', changedKeys.name),
  ];
}

/** One dependent child key with two contents makes no set. */
function memberGuard({ stage, loadTs, children }: Sets): Step {
  const least = (value: Expression): Expression => aggregate('min', value);
  const shown = [keyName(stage, 's', least), ...children.map((of) => least(stagedAs('s', of)))];
  return {
    kind: 'guard-rows',
    says: 'A dependent child key that is staged twice in one set stops the load.',
    code: 'duplicate_key',
    query: select([item('offender', keyLabel(shown))], source(named('staged'), 's'), {
      groupBy: [...stage.keys, loadTs, ...children].map((of) => stagedAs('s', of)),
      text: 'exact',
      having: [compare(countRows(), '>', literal(1))],
    }),
  };
}

function sameTime({ loadTs }: Sets, left: string, right: string): Expression {
  return compare(stagedAs(left, loadTs), '=', stagedAs(right, loadTs));
}

function sameMember({ children, content }: Sets, left: string, right: string): readonly Expression[] {
  return [...children, ...content].map((of) =>
    of.role === 'hashdiff'
      ? compare(stagedAs(left, of), '=', stagedAs(right, of))
      : same(stagedAs(left, of), stagedAs(right, of)),
  );
}

/** Sets at the newest stored load time are compared like later ones only where such rows may stand side by side. */
function isFresh({ stage, loadTs }: Sets): Expression {
  const allowsSameTime =
    stage.context.options.same_ts_conflict === 'insert_all' && stage.context.options.idempotent_rerun !== true;
  const newest = column('n', 'newest_time', loadTs.type);
  return any(isNull(newest), compare(stagedAs('s', loadTs), allowsSameTime ? '>=' : '>', newest));
}

/** Sets at or before the newest stored load time must say what is stored already. */
function knownSetGuards(sets: Sets): readonly Step[] {
  const { idempotent_rerun: rerun, same_ts_conflict: conflict, out_of_order: late } = sets.stage.context.options;
  if (rerun === true) return [];
  return [
    ...(conflict === 'insert_all' ? [] : [sameTimeGuard(sets)]),
    ...(late === 'ignore' ? [] : lateSetGuard(sets)),
  ];
}

function sameTimeGuard(sets: Sets): Step {
  const { stage, loadTs } = sets;
  const stored = select([item('one', literal(1))], source(table(stage.context.target.name), 't'), {
    where: [...sameKey(stage, 't', 's'), sameTime(sets, 't', 's'), ...sameMember(sets, 't', 's')],
  });
  return {
    kind: 'guard-rows',
    says: 'Another set for a load time that is stored already stops the load.',
    code: 'same_timestamp_conflict',
    query: select([item('offender', keyName(stage, 's'))], source(named('staged'), 's'), {
      joins: [join('inner', named('newest'), 'n', sameKey(stage, 'n', 's'))],
      where: [compare(stagedAs('s', loadTs), '=', column('n', 'newest_time', loadTs.type)), notExists(stored)],
    }),
  };
}

/** A set that comes late is known when it is the stored set that was in force at its load time. */
function lateSetGuard(sets: Sets): readonly Step[] {
  const { stage, loadTs } = sets;
  const { context } = stage;
  const keyed = [...stage.keys, loadTs];
  const inForce = column('l', 'in_force', loadTs.type);
  const sizeOf = (alias: string): Expression => column(alias, 'members', types.count);
  const sized = select(
    [...keyed.map((of) => item(of.target.name, aggregate('min', stagedAs('s', of)))), item('members', countRows())],
    source(named('staged'), 's'),
    {
      joins: [join('inner', named('newest'), 'n', sameKey(stage, 'n', 's'))],
      where: [compare(stagedAs('s', loadTs), '<', column('n', 'newest_time', loadTs.type))],
      groupBy: keyed.map((of) => stagedAs('s', of)),
      text: 'exact',
    },
  );
  const storedSizes = select(
    [
      ...keyed.map((of) => item(of.target.name, aggregate('min', storedAs('u', context, of)))),
      item('members', countRows()),
    ],
    source(table(context.target.name), 'u'),
    {
      where: [
        exists(select([item('one', literal(1))], source(named('late'), 'l'), { where: sameKey(stage, 'u', 'l') })),
      ],
      groupBy: keyed.map((of) => storedAs('u', context, of)),
      text: 'exact',
    },
  );
  const stored = select([item('one', literal(1))], source(table(context.target.name), 't'), {
    where: [
      ...sameKey(stage, 't', 's'),
      compare(storedAs('t', context, loadTs), '=', inForce),
      ...sameMember(sets, 't', 's'),
    ],
  });
  return [
    {
      kind: 'let',
      says: 'Sets older than the newest stored one of their key, with the load time of the set that was in force then.',
      name: 'late',
      query: select(
        [
          ...keyed.map((of) => item(of.target.name, aggregate('min', stagedAs('z', of)))),
          item('members', aggregate('min', sizeOf('z'))),
          item('in_force', aggregate('max', storedAs('t', context, loadTs))),
        ],
        source(sized, 'z'),
        {
          joins: [
            join('left', table(context.target.name), 't', [
              ...sameKey(stage, 't', 'z'),
              compare(storedAs('t', context, loadTs), '<=', stagedAs('z', loadTs)),
            ]),
          ],
          groupBy: keyed.map((of) => stagedAs('z', of)),
          text: 'exact',
        },
      ),
    },
    {
      kind: 'guard-rows',
      says: 'A late set that is not the one in force at its load time stops the load.',
      code: 'late_row',
      query: select([item('offender', keyName(stage, 's'))], source(named('staged'), 's'), {
        joins: [
          join('inner', named('late'), 'l', [...sameKey(stage, 'l', 's'), sameTime(sets, 'l', 's')]),
          join('left', storedSizes, 'k', [...sameKey(stage, 'k', 'l'), compare(stagedAs('k', loadTs), '=', inForce)]),
        ],
        where: [any(isNull(sizeOf('k')), compare(sizeOf('k'), '<>', sizeOf('l')), notExists(stored))],
      }),
    },
  ];
}

/** The members of the newest stored set of each key and of the staged sets after it. */
function membersStep(sets: Sets): Step {
  const { stage, loadTs, children, content } = sets;
  const columns = [...stage.keys, loadTs, ...children, ...content];
  const newest = named('newest');
  const stored = select(
    [item('is_stored', literal(1)), ...columns.map((of) => item(of.target.name, storedAs('t', stage.context, of)))],
    source(table(stage.context.target.name), 't'),
    {
      joins: [
        join('inner', newest, 'n', [
          ...sameKey(stage, 't', 'n'),
          compare(storedAs('t', stage.context, loadTs), '=', column('n', 'newest_time', loadTs.type)),
        ]),
      ],
    },
  );
  const fresh = select(
    [item('is_stored', literal(0)), ...columns.map((of) => item(of.target.name, stagedAs('s', of)))],
    source(named('staged'), 's'),
    { joins: [join('left', newest, 'n', sameKey(stage, 'n', 's'))], where: [isFresh(sets)] },
  );
  return {
    kind: 'let',
    says: 'Members of the newest stored set of each staged key, and of the sets staged after it.',
    name: 'members',
    query: union(stored, fresh),
  };
}

/** Each set with the one before it on its key's time line. */
function setsStep({ stage, loadTs }: Sets): Step {
  const keyed = [...stage.keys, loadTs];
  const isStored = column('m', 'is_stored', types.flag);
  const grouped = select(
    [
      ...keyed.map((of) => item(of.target.name, aggregate('min', stagedAs('m', of)))),
      item('is_stored', aggregate('min', isStored)),
      item('members', countRows()),
    ],
    source(named('members'), 'm'),
    { groupBy: [...keyed.map((of) => stagedAs('m', of)), isStored], text: 'exact' },
  );
  const partition = stage.keys.map((of) => stagedAs('g', of));
  const order = [ascending(stagedAs('g', loadTs)), descending(column('g', 'is_stored', types.flag))];
  const before = (operand: Expression): Expression => window('lag', operand, partition, order);
  return {
    kind: 'let',
    says: 'Each set with the set before it.',
    name: 'sets',
    query: select(
      [
        ...keyed.map((of) => item(of.target.name, stagedAs('g', of))),
        item('is_stored', column('g', 'is_stored', types.flag)),
        item('members', column('g', 'members', types.count)),
        item('previous_time', before(stagedAs('g', loadTs))),
        item('previous_stored', before(column('g', 'is_stored', types.flag))),
        item('previous_members', before(column('g', 'members', types.count))),
      ],
      source(grouped, 'g'),
    ),
  };
}

/** A set is another one when its size differs from the one before, or a member has no twin there. */
function changedSetsStep(sets: Sets): Step {
  const { stage, loadTs } = sets;
  const keyed = [...stage.keys, loadTs];
  const flag = (of: string, name: string): Expression => column(of, name, types.flag);
  const count = (name: string): Expression => column('x', name, types.count);
  const twins = aggregate('count', flag('p', 'is_stored'));
  return {
    kind: 'let',
    says: 'Staged sets that are not the same as the set before: another size, or a member without a twin.',
    name: 'changed_sets',
    query: select(
      keyed.map((of) => item(of.target.name, aggregate('min', stagedAs('x', of)))),
      source(named('sets'), 'x'),
      {
        joins: [
          join('inner', named('members'), 'm', [
            ...sameKey(stage, 'm', 'x'),
            sameTime(sets, 'm', 'x'),
            compare(flag('m', 'is_stored'), '=', flag('x', 'is_stored')),
          ]),
          join('left', named('members'), 'p', [
            ...sameKey(stage, 'p', 'x'),
            compare(stagedAs('p', loadTs), '=', column('x', 'previous_time', loadTs.type)),
            compare(flag('p', 'is_stored'), '=', flag('x', 'previous_stored')),
            ...sameMember(sets, 'p', 'm'),
          ]),
        ],
        where: [compare(flag('x', 'is_stored'), '=', literal(0))],
        groupBy: keyed.map((of) => stagedAs('x', of)),
        text: 'exact',
        having: [
          any(
            isNull(aggregate('min', count('previous_members'))),
            compare(aggregate('min', count('members')), '<>', aggregate('min', count('previous_members'))),
            compare(twins, '<', aggregate('min', count('members'))),
          ),
        ],
      },
    ),
  };
}
