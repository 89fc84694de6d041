import {
  aggregate,
  all,
  any,
  ascending,
  column,
  compare,
  countRows,
  descending,
  differs,
  exists,
  isNull,
  item,
  join,
  latestRows,
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
import { instant } from '../clock.ts';
import { feedOf, freeName, keyLabel, type LoadContext, report } from '../context.ts';
import { type Expression, type Query, type Relation, types, valueType } from '../language.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { ghostPart, withGhostRows } from '../vault/ghosts.ts';
import { digestOf } from '../vault/hashing.ts';
import {
  keyCount,
  keyForm,
  keyTextOf,
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

const newRows = { kind: 'variable', name: 'NewRows', type: types.count } as const;
const changedKeys = { kind: 'variable', name: 'ChangedKeys', type: types.count } as const;

/** What the load compares: a stored hashdiff, or a digest of the tracked columns made on both sides. */
interface Satellite {
  readonly stage: VaultStage;
  readonly context: LoadContext;
  readonly loadTs: StagedColumn;
  readonly content: Content;
}

interface Content {
  readonly name: string;
  readonly staged: Expression;
  readonly stored: Expression;
}

/**
 * Satellite: insert only. A staged row becomes a version when its key has none yet or its content differs from the
 * version before it; what is read of the satellite are the latest versions of the staged keys.
 */
export function planSatellite(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  const stage = vaultStage(context);
  const satellite = makeSatellite(stage);
  const ghosts = ghostPart(stage);
  return {
    target: target.name,
    source: from.name,
    says: `Satellite ${target.name.table} from ${from.name.table}: inserts a version where a key's content differs from its latest version.`,
    parameters: vaultParameters(stage),
    steps: [...missingKeySteps(stage), ...(satellite === null ? [] : satelliteSteps(satellite)), ...ghosts.steps],
    writes: [
      ...ghosts.writes,
      {
        kind: 'insert',
        says: 'Insert the versions.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: stage.columns.map((of) => ({ column: of.target.name, value: stagedAs('c', of) })),
      },
    ],
    warnings: skippedWarnings(stage),
    counts: {
      inserted: withGhostRows(newRows, ghosts),
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

function makeSatellite(stage: VaultStage): Satellite | null {
  const { context, loadTs } = stage;
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${context.target.name.table} is the load date with --set load_ts="…".`,
    );
    return null;
  }
  return { stage, context, loadTs, content: contentOf(stage) };
}

function contentOf(stage: VaultStage): Content {
  const { context, hashdiff } = stage;
  if (hashdiff !== undefined) {
    return { name: hashdiff.target.name, staged: hashdiff.value, stored: storedAs('t', context, hashdiff) };
  }
  const tracked = (context.options.compare ?? []).flatMap((name) => {
    const fed = feedOf(context, name)?.target;
    return stage.columns.filter((of) => of.target === fed);
  });
  const digest = (versionOf: (of: StagedColumn) => Expression): Expression =>
    digestOf(
      { ...context, options: { ...context.options, hash_rules: { preset: 'default' } } },
      tracked.map((of) => ({ name: of.target.name, value: versionOf(of) })),
      'hashdiff',
      valueType('varchar(64)'),
    );
  return {
    name: freeName(context, 'content'),
    staged: digest((of) => of.value),
    stored: digest((of) => storedAs('t', context, of)),
  };
}

const digestType = valueType('varchar(64)');

function satelliteSteps(satellite: Satellite): readonly Step[] {
  const { stage, context } = satellite;
  return [
    ...highWaterStep(satellite),
    stagedStep(satellite),
    keyCount(stage, named('staged'), 'Distinct keys in the stage.', acceptedRows.name),
    candidatesStep(satellite),
    sequenceStep(satellite),
    ...guards(satellite),
    context.options.out_of_order === 'timeline_check' ? timelineStep(satellite) : changesStep(satellite),
    rowCount('changes', 'What will be inserted.', newRows.name),
    keyCount(stage, named('changes'), 'Keys with a new version.', changedKeys.name),
  ];
}

// --- the columns of the steps

function contentOn(alias: string, { content, stage }: Satellite): Expression {
  return column(alias, content.name, stage.hashdiff?.type ?? digestType);
}

/** The stage's columns, and the content where it is no column of the target. */
function carried(
  satellite: Satellite,
): readonly { readonly name: string; readonly value: (alias: string) => Expression }[] {
  const { stage, content } = satellite;
  const columns = stage.columns.map((of) => ({ name: of.target.name, value: (alias: string) => stagedAs(alias, of) }));
  return stage.hashdiff === undefined
    ? [...columns, { name: content.name, value: (alias: string) => contentOn(alias, satellite) }]
    : columns;
}

function storedTime(alias: string, { loadTs }: Satellite): Expression {
  return column(alias, 'latest_time_', loadTs.type);
}

function storedContent(alias: string, { stage }: Satellite): Expression {
  return column(alias, 'latest_content_', stage.hashdiff?.type ?? digestType);
}

// --- steps

const highWater = 'HighWaterMark';

/** Under `hwm` rows at or before the newest stored load time are not read; ghost times do not count. */
function highWaterStep({ context, loadTs }: Satellite): readonly Step[] {
  const { options } = context;
  if (options.hwm !== true) return [];
  const time = storedAs('t', context, loadTs);
  const ghosts = [options.ghost_load_ts, options.ghost?.load_ts, options.ghost?.error_load_ts];
  const left = [...new Set(ghosts.filter((text) => text !== undefined))];
  return [
    {
      kind: 'let',
      says: 'The newest stored load time; rows at or before it were read by an earlier load.',
      name: 'high_water',
      query: select([item(highWater, aggregate('max', time))], source(table(context.target.name), 't'), {
        where: left.map((text) => compare(time, '<>', instant(text, loadTs.type))),
      }),
    },
  ];
}

function stagedStep(satellite: Satellite): Step {
  const { stage, content } = satellite;
  const further = stage.hashdiff === undefined ? [item(content.name, content.staged)] : [];
  return {
    kind: 'let',
    says: 'Staged rows with a key, in the columns of the satellite.',
    name: 'staged',
    query: stagedRows(stage, further),
  };
}

/** The latest version of each staged key. */
function latestVersions({ stage, context, content, loadTs }: Satellite): Relation {
  const isStaged = exists(
    select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 't', 's') }),
  );
  const versions = select(
    [
      ...stage.keys.map((key) => item(key.target.name, keyForm(context, key, storedAs('t', context, key)))),
      item('latest_time_', storedAs('t', context, loadTs)),
      item('latest_content_', content.stored),
    ],
    source(table(context.target.name), 't'),
    { where: [isStaged] },
  );
  return latestRows(
    versions,
    stage.keys.map((key) => key.target.name),
    ['latest_time_'],
    keyTextOf(stage),
  );
}

function isRead(satellite: Satellite, alias: string): readonly Expression[] {
  if (satellite.context.options.hwm !== true) return [];
  const mark = column('w', highWater, satellite.loadTs.type);
  return [any(isNull(mark), compare(stagedAs(alias, satellite.loadTs), '>', mark))];
}

function withHighWater({ context }: Satellite) {
  return context.options.hwm === true ? [join('cross', named('high_water'), 'w', [])] : [];
}

/** Keys that may get a version: one of their rows differs from the latest version, or comes before it. */
function candidatesStep(satellite: Satellite): Step {
  const { stage } = satellite;
  const isNew = isNull(storedTime('l', satellite));
  const isOther = differs(contentOn('s', satellite), storedContent('l', satellite), 'column');
  const isLate = compare(stagedAs('s', satellite.loadTs), '<', storedTime('l', satellite));
  const rows = select(
    [
      ...stage.keys.map((key) => item(key.target.name, stagedAs('s', key))),
      item('latest_time_', storedTime('l', satellite)),
      item('latest_content_', storedContent('l', satellite)),
    ],
    source(named('staged'), 's'),
    {
      joins: [join('left', latestVersions(satellite), 'l', sameKey(stage, 'l', 's')), ...withHighWater(satellite)],
      where: [any(isNew, isOther, isLate), ...isRead(satellite, 's')],
    },
  );
  return {
    kind: 'let',
    says: 'Staged keys with a row that is not their latest version; of the satellite only the versions of staged keys are read.',
    name: 'candidates',
    query: select(
      [
        ...stage.keys.map((key) => item(key.target.name, aggregate('min', stagedAs('r', key)))),
        item('latest_time_', aggregate('max', storedTime('r', satellite))),
        item('latest_content_', aggregate('max', storedContent('r', satellite))),
      ],
      source(rows, 'r'),
      { groupBy: stage.keys.map((key) => keyForm(stage.context, key, stagedAs('r', key))), text: keyTextOf(stage) },
    ),
  };
}

/** All staged rows of the candidates; rows that say the same at one load time count once. */
function sequenceStep(satellite: Satellite): Step {
  const { stage, loadTs } = satellite;
  const carriedColumns = carried(satellite);
  const partition = [
    ...stage.keys.map((key) => keyForm(stage.context, key, stagedAs('s', key))),
    stagedAs('s', loadTs),
    contentOn('s', satellite),
  ];
  const order = stage.columns.map((of) => ascending(stagedAs('s', of)));
  const rows = select(
    [
      ...carriedColumns.map(({ name, value }) => item(name, value('s'))),
      item('latest_time_', storedTime('k', satellite)),
      item('latest_content_', storedContent('k', satellite)),
      item('repeat_no_', window('row_number', null, partition, order, { text: keyTextOf(stage) })),
    ],
    source(named('staged'), 's'),
    {
      joins: [join('inner', named('candidates'), 'k', sameKey(stage, 'k', 's')), ...withHighWater(satellite)],
      where: isRead(satellite, 's'),
    },
  );
  return {
    kind: 'let',
    says: 'All staged rows of these keys; what is said twice for one load date counts once.',
    name: 'sequence',
    query: select(
      [
        ...carriedColumns.map(({ name, value }) => item(name, value('r'))),
        item('latest_time_', storedTime('r', satellite)),
        item('latest_content_', storedContent('r', satellite)),
      ],
      source(rows, 'r'),
      { where: [compare(column('r', 'repeat_no_', types.count), '=', literal(1))] },
    ),
  };
}

/** A stored version at the staged row's load time, of the same or of any content. */
function storedAt(satellite: Satellite, alias: string, sameContent: boolean): Query {
  const { stage, context, loadTs, content } = satellite;
  return select([item('one', literal(1))], source(table(context.target.name), 't'), {
    where: [
      ...sameKey(stage, 't', alias),
      compare(storedAs('t', context, loadTs), '=', stagedAs(alias, loadTs)),
      ...(sameContent ? [same(content.stored, contentOn(alias, satellite), 'column')] : []),
    ],
  });
}

/** The stored version that was in force at the staged row's load time, if it has the row's content. */
function versionInForce(satellite: Satellite, alias: string): Query {
  const { stage, context, loadTs, content } = satellite;
  const time = stagedAs(alias, loadTs);
  const later = select([item('one', literal(1))], source(table(context.target.name), 'u'), {
    where: [
      ...sameKey(stage, 'u', alias),
      compare(storedAs('u', context, loadTs), '>', storedAs('t', context, loadTs)),
      compare(storedAs('u', context, loadTs), '<=', time),
    ],
  });
  return select([item('one', literal(1))], source(table(context.target.name), 't'), {
    where: [
      ...sameKey(stage, 't', alias),
      compare(storedAs('t', context, loadTs), '<=', time),
      same(content.stored, contentOn(alias, satellite), 'column'),
      notExists(later),
    ],
  });
}

function guards(satellite: Satellite): readonly Step[] {
  const { stage, context, loadTs } = satellite;
  const { options } = context;
  const label = (alias: string): Expression => keyLabel(stage.keys.map((key) => stagedAs(alias, key)));
  const steps: Step[] = [];
  if (options.duplicates === 'fail') {
    steps.push({
      kind: 'guard-rows',
      says: 'A key that is staged more than once for one load date stops the load.',
      code: 'duplicate_key',
      query: select(
        [item('offender', keyLabel(stage.keys.map((key) => aggregate('min', stagedAs('s', key)))))],
        source(named('staged'), 's'),
        {
          groupBy: [...stage.keys.map((key) => keyForm(context, key, stagedAs('s', key))), stagedAs('s', loadTs)],
          text: keyTextOf(stage),
          having: [compare(countRows(), '>', literal(1))],
        },
      ),
    });
  }
  if (options.same_ts_conflict !== 'insert_all') steps.push(...sameTimeGuards(satellite, label));
  if (
    (options.out_of_order ?? 'fail') === 'fail' &&
    options.idempotent_rerun !== true &&
    options.same_ts_conflict !== 'insert_all'
  ) {
    steps.push({
      kind: 'guard-rows',
      says: 'A row older than the latest version of its key stops the load, unless it says what was stored for its time.',
      code: 'late_row',
      query: select([item('offender', label('s'))], source(named('sequence'), 's'), {
        where: [
          compare(stagedAs('s', loadTs), '<', storedTime('s', satellite)),
          notExists(versionInForce(satellite, 's')),
        ],
      }),
    });
  }
  return steps;
}

function sameTimeGuards(satellite: Satellite, label: (alias: string) => Expression): readonly Step[] {
  const { stage, context, loadTs } = satellite;
  const within: Step = {
    kind: 'guard-rows',
    says: 'Two contents of a key for one load date stop the load.',
    code: 'same_timestamp_conflict',
    query: select(
      [item('offender', keyLabel(stage.keys.map((key) => aggregate('min', stagedAs('s', key)))))],
      source(named('sequence'), 's'),
      {
        groupBy: [...stage.keys.map((key) => keyForm(context, key, stagedAs('s', key))), stagedAs('s', loadTs)],
        text: keyTextOf(stage),
        having: [compare(countRows(), '>', literal(1))],
      },
    ),
  };
  if (context.options.idempotent_rerun === true) return [within];
  return [
    within,
    {
      kind: 'guard-rows',
      says: 'Another content than the stored one of this load date stops the load.',
      code: 'same_timestamp_conflict',
      query: select([item('offender', label('s'))], source(named('sequence'), 's'), {
        where: [
          compare(stagedAs('s', loadTs), '<=', storedTime('s', satellite)),
          exists(storedAt(satellite, 's', false)),
          notExists(storedAt(satellite, 's', true)),
        ],
      }),
    },
  ];
}

/** Each row with the content before it; real changes are kept. */
function changesStep(satellite: Satellite): Step {
  const { stage, loadTs, context } = satellite;
  const { options } = context;
  const sameTimeCounts = options.same_ts_conflict === 'insert_all' && options.idempotent_rerun !== true;
  const isFresh = any(
    isNull(storedTime('s', satellite)),
    compare(stagedAs('s', loadTs), sameTimeCounts ? '>=' : '>', storedTime('s', satellite)),
  );
  const order = [ascending(stagedAs('s', loadTs)), ascending(contentOn('s', satellite))];
  const partition = stage.keys.map((key) => keyForm(context, key, stagedAs('s', key)));
  const before = window('lag', contentOn('s', satellite), partition, order, { text: keyTextOf(stage) });
  const position = window('row_number', null, partition, order, { text: keyTextOf(stage) });
  const rows = select(
    [
      ...carried(satellite).map(({ name, value }) => item(name, value('s'))),
      item('latest_content_', storedContent('s', satellite)),
      item('content_before_', before),
      item('position_', position),
    ],
    source(named('sequence'), 's'),
    { where: [isFresh, ...(sameTimeCounts ? [notExists(storedAt(satellite, 's', true))] : [])] },
  );
  const digest = stage.hashdiff?.type ?? digestType;
  const first = compare(column('r', 'position_', types.count), '=', literal(1));
  const later = compare(column('r', 'position_', types.count), '>', literal(1));
  return {
    kind: 'let',
    says: 'The changes: rows whose content is not that of the version before them.',
    name: 'changes',
    query: select(
      stage.columns.map((of) => item(of.target.name, stagedAs('r', of))),
      source(rows, 'r'),
      {
        where: [
          any(
            all(first, differs(contentOn('r', satellite), storedContent('r', satellite), 'column')),
            all(later, differs(contentOn('r', satellite), column('r', 'content_before_', digest), 'column')),
          ),
        ],
      },
    ),
  };
}

/**
 * Staged rows placed among the stored versions of their keys: a row is kept when its content is neither that of the
 * version before it nor that of the stored version after it.
 */
function timelineStep(satellite: Satellite): Step {
  const { stage, loadTs, context, content } = satellite;
  const digest = stage.hashdiff?.type ?? digestType;
  const columns = carried(satellite);
  const isStored = (alias: string): Expression => column(alias, 'is_stored_', types.flag);
  const time = (alias: string): Expression => stagedAs(alias, loadTs);
  const storedRows = select(
    [
      ...columns.map(({ name }) => {
        const of = stage.columns.find((candidate) => candidate.target.name === name);
        return item(name, of === undefined || name === content.name ? content.stored : storedAs('t', context, of));
      }),
      item('is_stored_', literal(1)),
    ],
    source(table(context.target.name), 't'),
    {
      where: [
        exists(
          select([item('one', literal(1))], source(named('candidates'), 'k'), { where: sameKey(stage, 'k', 't') }),
        ),
      ],
    },
  );
  const stagedOnes = select(
    [...columns.map(({ name, value }) => item(name, value('s'))), item('is_stored_', literal(0))],
    source(named('sequence'), 's'),
    { where: [notExists(storedAt(satellite, 's', true))] },
  );
  const partition = (alias: string): readonly Expression[] =>
    stage.keys.map((key) => keyForm(context, key, stagedAs(alias, key)));
  const order = (alias: string) => [
    ascending(time(alias)),
    descending(isStored(alias)),
    ascending(contentOn(alias, satellite)),
  ];
  const options = { text: keyTextOf(stage) };
  const placed = select(
    [
      ...columns.map(({ name, value }) => item(name, value('u'))),
      item('is_stored_', isStored('u')),
      item('content_before_', window('lag', contentOn('u', satellite), partition('u'), order('u'), options)),
    ],
    source(union(storedRows, stagedOnes), 'u'),
  );
  const real = select(
    [
      ...columns.map(({ name, value }) => item(name, value('p'))),
      item('is_stored_', isStored('p')),
      item('content_after_', window('lead', contentOn('p', satellite), partition('p'), order('p'), options)),
      item('stored_after_', window('lead', isStored('p'), partition('p'), order('p'), options)),
    ],
    source(placed, 'p'),
    {
      where: [
        any(
          compare(isStored('p'), '=', literal(1)),
          differs(contentOn('p', satellite), column('p', 'content_before_', digest), 'column'),
        ),
      ],
    },
  );
  return {
    kind: 'let',
    says: 'The changes: staged rows that differ from the versions before and after them on the time line of their key.',
    name: 'changes',
    query: select(
      stage.columns.map((of) => item(of.target.name, stagedAs('r', of))),
      source(real, 'r'),
      {
        where: [
          compare(isStored('r'), '=', literal(0)),
          any(
            isNull(column('r', 'stored_after_', types.flag)),
            compare(column('r', 'stored_after_', types.flag), '=', literal(0)),
            differs(contentOn('r', satellite), column('r', 'content_after_', digest), 'column'),
          ),
        ],
      },
    ),
  };
}
