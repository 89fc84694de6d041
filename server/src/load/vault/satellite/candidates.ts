/** The steps that find the staged rows of keys which may get a version; the stage's other columns are read for these only. */
import {
  aggregate,
  any,
  ascending,
  column,
  compare,
  countRows,
  differs,
  exists,
  isNull,
  item,
  join,
  latestRows,
  literal,
  named,
  same,
  select,
  source,
  table,
  window,
} from '../../build.ts';
import { instant } from '../../clock.ts';
import { type Expression, type Relation, types } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { acceptedRows } from '../../stage.ts';
import { partAs } from '../key-parts.ts';
import { keyCount, keyForm, keyTextOf, sameKey, sameKeyValue, stagedAs, stagedRows, storedAs } from '../staging.ts';
import { besideColumns, carried, contentOn, type Satellite, storedContent, storedTime } from './rows.ts';

const highWater = 'HighWaterMark';

/** Under `hwm` rows at or before the newest stored load time are not read; ghost times do not count. */
export function highWaterStep({ context, loadTs }: Satellite): readonly Step[] {
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

/** Keys, load date and content of the staged rows: what all rows are compared by. */
export function stagedStep(satellite: Satellite): Step {
  const { stage, loadTs } = satellite;
  return {
    kind: 'let',
    says: 'Staged rows with a key: what they are compared by.',
    name: 'staged',
    query: stagedRows(stage, besideColumns(satellite), {
      columns: stage.columns.filter((of) => stage.keys.includes(of) || of === loadTs || of === stage.hashdiff),
    }),
  };
}

/** Different whole numbers have different digests, and are counted in a fraction of the time. */
export function stagedKeyCount({ stage, parts }: Satellite): Step {
  const says = 'Distinct keys in the stage.';
  const isNumbered = parts.every((part) => part.isPresent && part.type.facts.family === 'integer');
  const isHashed = stage.keys.every((key) => parts.some((part) => part.key === key));
  const [only, ...more] = parts.map((part) => partAs('s', part));
  if (!isNumbered || !isHashed || only === undefined) return keyCount(stage, named('staged'), says, acceptedRows.name);
  const groups = select([item('rows', countRows())], source(named('staged'), 's'), { groupBy: [only, ...more] });
  const query =
    more.length === 0
      ? select([item(acceptedRows.name, aggregate('count-distinct', only))], source(named('staged'), 's'))
      : select([item(acceptedRows.name, countRows())], source(groups, 'k'));
  return { kind: 'measure', says, query };
}

/** Keys that may get a version: one of their rows differs from the latest version, or comes before it. */
export function candidatesStep(satellite: Satellite): Step {
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

/** All staged rows of the candidates; rows that say the same at one load time count once. */
export function sequenceStep(satellite: Satellite): Step {
  const { stage, loadTs, parts } = satellite;
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
      ...parts.map((part) => item(part.name, partAs('s', part))),
      item('latest_time_', storedTime('k', satellite)),
      item('latest_content_', storedContent('k', satellite)),
      item('repeat_no_', window('row_number', null, partition, order, { text: keyTextOf(stage) })),
    ],
    source(rowsOfCandidates(satellite), 's'),
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
        ...parts.map((part) => item(part.name, partAs('r', part))),
        item('latest_time_', storedTime('r', satellite)),
        item('latest_content_', storedContent('r', satellite)),
      ],
      source(rows, 'r'),
      { where: [compare(column('r', 'repeat_no_', types.count), '=', literal(1))] },
    ),
  };
}

/**
 * The staged rows of the candidates, from the stage itself. Hash keys are found by what they are hashed from, so that
 * digests are made again for these rows only.
 */
function rowsOfCandidates(satellite: Satellite): Relation {
  const { stage, parts } = satellite;
  const { context, keys } = stage;
  const isHashed = parts.length > 0;
  const plain = keys.filter((key) => !parts.some((part) => part.key === key));
  const isCandidate = select([item('one', literal(1))], source(named(isHashed ? 'staged' : 'candidates'), 'n'), {
    joins: isHashed ? [join('inner', named('candidates'), 'k', sameKey(stage, 'k', 'n'))] : [],
    where: [
      ...parts.map((part) =>
        part.isPresent
          ? compare(partAs('n', part), '=', part.value, 'column')
          : same(partAs('n', part), part.value, 'column'),
      ),
      ...plain.map((key) => sameKeyValue(context, key, stagedAs('n', key), key.value)),
    ],
  });
  return stagedRows(stage, besideColumns(satellite), { where: [exists(isCandidate)] });
}

function isRead(satellite: Satellite, alias: string): readonly Expression[] {
  if (satellite.context.options.hwm !== true) return [];
  const mark = column('w', highWater, satellite.loadTs.type);
  return [any(isNull(mark), compare(stagedAs(alias, satellite.loadTs), '>', mark))];
}

function withHighWater({ context }: Satellite) {
  return context.options.hwm === true ? [join('cross', named('high_water'), 'w', [])] : [];
}
