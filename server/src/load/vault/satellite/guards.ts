/** What stops a satellite load before it writes: duplicates, conflicts for one load date, late rows. */
import {
  aggregate,
  compare,
  countRows,
  exists,
  item,
  literal,
  named,
  notExists,
  same,
  select,
  source,
  table,
} from '../../build.ts';
import type { Expression, Query } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { keyName } from '../key-parts.ts';
import { keyForm, keyTextOf, sameKey, stagedAs, storedAs } from '../staging.ts';
import { contentOn, type Satellite, storedTime } from './rows.ts';

/** Of the rows of one key, that say it differently at most in case or blanks. */
const anyOf = (value: Expression): Expression => aggregate('min', value);

export function guards(satellite: Satellite): readonly Step[] {
  const { stage, context, loadTs } = satellite;
  const { options } = context;
  const steps: Step[] = [];
  if (options.duplicates === 'fail') {
    steps.push({
      kind: 'guard-rows',
      says: 'A key that is staged more than once for one load date stops the load.',
      code: 'duplicate_key',
      query: select([item('offender', keyName(stage, 's', anyOf))], source(named('staged'), 's'), {
        groupBy: [...stage.keys.map((key) => keyForm(context, key, stagedAs('s', key))), stagedAs('s', loadTs)],
        text: keyTextOf(stage),
        having: [compare(countRows(), '>', literal(1))],
      }),
    });
  }
  if (options.same_ts_conflict !== 'insert_all') steps.push(...sameTimeGuards(satellite));
  if (
    (options.out_of_order ?? 'fail') === 'fail' &&
    options.idempotent_rerun !== true &&
    options.same_ts_conflict !== 'insert_all'
  ) {
    steps.push({
      kind: 'guard-rows',
      says: 'A row older than the latest version of its key stops the load, unless it says what was stored for its time.',
      code: 'late_row',
      query: select([item('offender', keyName(stage, 's'))], source(named('sequence'), 's'), {
        where: [
          compare(stagedAs('s', loadTs), '<', storedTime('s', satellite)),
          notExists(versionInForce(satellite, 's')),
        ],
      }),
    });
  }
  return steps;
}

function sameTimeGuards(satellite: Satellite): readonly Step[] {
  const { stage, context, loadTs } = satellite;
  const within: Step = {
    kind: 'guard-rows',
    says: 'Two contents of a key for one load date stop the load.',
    code: 'same_timestamp_conflict',
    query: select([item('offender', keyName(stage, 's', anyOf))], source(named('sequence'), 's'), {
      groupBy: [...stage.keys.map((key) => keyForm(context, key, stagedAs('s', key))), stagedAs('s', loadTs)],
      text: keyTextOf(stage),
      having: [compare(countRows(), '>', literal(1))],
    }),
  };
  if (context.options.idempotent_rerun === true) return [within];
  return [
    within,
    {
      kind: 'guard-rows',
      says: 'Another content than the stored one of this load date stops the load.',
      code: 'same_timestamp_conflict',
      query: select([item('offender', keyName(stage, 's'))], source(named('sequence'), 's'), {
        where: [
          compare(stagedAs('s', loadTs), '<=', storedTime('s', satellite)),
          exists(storedAt(satellite, 's', false)),
          notExists(storedAt(satellite, 's', true)),
        ],
      }),
    },
  ];
}

/** A stored version at the staged row's load time, of the same or of any content. */
export function storedAt(satellite: Satellite, alias: string, sameContent: boolean): Query {
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
