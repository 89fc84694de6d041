/** The last step of a satellite load: which staged rows become versions. */
import {
  all,
  any,
  ascending,
  column,
  compare,
  descending,
  differs,
  exists,
  isNull,
  item,
  literal,
  named,
  notExists,
  select,
  source,
  table,
  union,
  window,
} from '../../build.ts';
import { type Expression, types } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { keyForm, keyTextOf, sameKey, stagedAs, storedAs } from '../staging.ts';
import { storedAt } from './guards.ts';
import { carried, contentOn, contentType, type Satellite, storedContent, storedTime } from './rows.ts';

/** Each row with the content before it; real changes are kept. */
export function changesStep(satellite: Satellite): Step {
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
  const digest = contentType(satellite);
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
export function timelineStep(satellite: Satellite): Step {
  const { stage, loadTs, context, content } = satellite;
  const digest = contentType(satellite);
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
