/**
 * Ends that the load derives: the relationships delivered for a driving key are its open ones; those that were open
 * before and are not delivered are closed at the effective time of the delivery.
 */

import {
  aggregate,
  any,
  ascending,
  choose,
  coalesce,
  column,
  compare,
  exists,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  named,
  notExists,
  select,
  source,
  table,
  union,
  window,
} from '../../build.ts';
import type { Expression, Query } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { distinctRows, keyName } from '../key-parts.ts';
import { sameKey, stagedAs } from '../staging.ts';
import {
  flagAs,
  newestRows,
  openEnd,
  type Relationships,
  sameColumns,
  stagedEffectiveTime,
  type WrittenColumn,
  writtenAs,
} from './relation.ts';

/** Steps that end in `changes`, the rows to insert. `staged` bears the accepted rows. */
export function derivedEndSteps(of: Relationships): readonly Step[] {
  return [stagedStep(of), storedStep(of), batchesStep(of), ...timeGuards(of), deliveriesStep(of), changesStep(of)];
}

function stagedStep(of: Relationships): Step {
  const { stage, effectiveTime } = of;
  const filled = {
    ...stage,
    columns: stage.columns.filter((staged) => staged.target !== of.start.target && staged.target !== of.end.target),
  };
  return {
    kind: 'let',
    says: 'Staged relationships with all their keys; identical ones count once.',
    name: 'staged',
    query: distinctRows(filled, [{ name: effectiveTime, type: of.start.type, value: stagedEffectiveTime(of) }]),
  };
}

function storedStep(of: Relationships): Step {
  const staged = exists(
    select([item('one', literal(1))], source(named('staged'), 's'), { where: sameColumns(of.drivers, 't', 's') }),
  );
  return {
    kind: 'let',
    says: 'The newest stored row of each relationship of the staged driving keys.',
    name: 'stored',
    query: select(
      [
        ...of.columns.map((written) => item(written.name, writtenAs('n', written))),
        item(of.isClosed, flagAs('n', of.isClosed)),
      ],
      source(newestRows(of, [staged]), 'n'),
    ),
  };
}

/** The load time of the delivery before, of the same driving key; NULL for the first, which follows the stored rows. */
function previousTime(of: Relationships, alias: string): Expression {
  return column(alias, 'previous_time', of.loadTs.type);
}

function batchesStep(of: Relationships): Step {
  const { drivers, loadTs, effectiveTime, start } = of;
  const time = stagedAs('s', loadTs);
  const delivered = select(
    [
      ...drivers.map((driver) => item(driver.target.name, aggregate('min', stagedAs('s', driver)))),
      item(loadTs.target.name, aggregate('min', time)),
      item(effectiveTime, aggregate('min', column('s', effectiveTime, start.type))),
    ],
    source(named('staged'), 's'),
    { groupBy: [...drivers.map((driver) => stagedAs('s', driver)), time], text: 'column' },
  );
  const newestTime = column('n', 'newest_time', loadTs.type);
  return {
    kind: 'let',
    says: 'Deliveries: a driving key with a load time, the delivery before it, and the newest stored load time. A delivery older than that is known already.',
    name: 'deliveries',
    query: select(
      [
        ...drivers.map((driver) => item(driver.target.name, stagedAs('d', driver))),
        item(loadTs.target.name, stagedAs('d', loadTs)),
        item(effectiveTime, column('d', effectiveTime, start.type)),
        item('newest_time', newestTime),
        item(
          'previous_time',
          window(
            'lag',
            stagedAs('d', loadTs),
            drivers.map((driver) => stagedAs('d', driver)),
            [ascending(stagedAs('d', loadTs))],
          ),
        ),
      ],
      source(delivered, 'd'),
      {
        joins: [join('left', newestOfDrivers(of), 'n', sameColumns(drivers, 'n', 'd'))],
        where: [any(isNull(newestTime), compare(stagedAs('d', loadTs), '>=', newestTime))],
      },
    ),
  };
}

/** Per stored driving key the load time of its newest row. */
function newestOfDrivers({ drivers, loadTs }: Relationships): Query {
  return select(
    [
      ...drivers.map((driver) => item(driver.target.name, aggregate('min', stagedAs('o', driver)))),
      item('newest_time', aggregate('max', stagedAs('o', loadTs))),
    ],
    source(named('stored'), 'o'),
    { groupBy: drivers.map((driver) => stagedAs('o', driver)) },
  );
}

/** Deliveries older than the newest stored row of their driving key must bring what is stored already. */
function timeGuards(of: Relationships): readonly Step[] {
  const { idempotent_rerun: rerun, out_of_order: late } = of.stage.context.options;
  if (rerun === true || late === 'ignore') return [];
  const { stage, drivers, loadTs } = of;
  return [
    {
      kind: 'guard-rows',
      says: 'A relationship that comes with a load time before the newest stored one of its driving key, and is not stored, stops the load.',
      code: 'late_row',
      query: select([item('offender', keyName(stage, 's'))], source(named('staged'), 's'), {
        joins: [join('inner', newestOfDrivers(of), 'n', sameColumns(drivers, 'n', 's'))],
        where: [
          compare(stagedAs('s', loadTs), '<', column('n', 'newest_time', loadTs.type)),
          notExists(
            select([item('one', literal(1))], source(table(stage.context.target.name), 't'), {
              where: [...sameKey(stage, 't', 's'), compare(stagedAs('t', loadTs), '<=', stagedAs('s', loadTs))],
            }),
          ),
        ],
      }),
    },
  ];
}

/** Staged relationships of fresh deliveries, each with whether it opens now and when its present stint was opened. */
function deliveriesStep(of: Relationships): Step {
  const { stage, drivers, loadTs, isClosed, effectiveTime, start } = of;
  const wasOpen = choose(
    [[isNull(previousTime(of, 'd')), flagAs('o', isClosed)]],
    choose([[isNotNull(stagedAs('p', loadTs)), literal(0)]]),
  );
  const opened = select(
    [
      ...stagedColumns(of).map((written) => item(written.name, writtenAs('s', written))),
      item(effectiveTime, column('s', effectiveTime, start.type)),
      item('opens', choose([[isNull(wasOpen), literal(1)]], literal(0))),
    ],
    source(named('staged'), 's'),
    {
      joins: [
        join('inner', named('deliveries'), 'd', [
          ...sameColumns(drivers, 'd', 's'),
          compare(stagedAs('d', loadTs), '=', stagedAs('s', loadTs)),
        ]),
        join('left', named('stored'), 'o', [
          ...sameKey(stage, 'o', 's'),
          compare(flagAs('o', isClosed), '=', literal(0)),
        ]),
        join('left', named('staged'), 'p', [
          ...sameKey(stage, 'p', 's'),
          compare(stagedAs('p', loadTs), '=', previousTime(of, 'd')),
        ]),
      ],
    },
  );
  const openedNow = choose([[compare(flagAs('r', 'opens'), '=', literal(1)), stagedAs('r', loadTs)]]);
  const openedBefore = window(
    'max',
    openedNow,
    stage.keys.map((key) => stagedAs('r', key)),
    [ascending(stagedAs('r', loadTs))],
    { rows: 'before' },
  );
  return {
    kind: 'let',
    says: 'Delivered relationships: whether each opens now, and the load time at which it was opened in this run (NULL: it is stored).',
    name: 'delivered',
    query: select(
      [
        ...stagedColumns(of).map((written) => item(written.name, writtenAs('r', written))),
        item(effectiveTime, column('r', effectiveTime, start.type)),
        item('opens', flagAs('r', 'opens')),
        item('opened_at', coalesce(openedNow, openedBefore)),
      ],
      source(opened, 'r'),
    ),
  };
}

/** Written columns that `staged` bears: all but the start and the end, which the load sets. */
function stagedColumns(of: Relationships): readonly WrittenColumn[] {
  return of.columns.filter(({ target }) => target !== of.start.target && target !== of.end.target);
}

function changesStep(of: Relationships): Step {
  return {
    kind: 'let',
    says: 'Rows to add: relationships that open, and a closing row for each that was open before and is not delivered again.',
    name: 'changes',
    query: union(openings(of), closingsOfStored(of), closingsOfStaged(of)),
  };
}

function openings(of: Relationships): Query {
  return select(
    of.columns.map((written) => {
      if (written.target === of.start.target) return item(written.name, column('s', of.effectiveTime, of.start.type));
      return item(written.name, written.target === of.end.target ? openEnd(of) : writtenAs('s', written));
    }),
    source(named('delivered'), 's'),
    { where: [compare(flagAs('s', 'opens'), '=', literal(1))] },
  );
}

/** The open row with the end, the effective time and the load time of the delivery `d` that closes it. */
function closingItems(of: Relationships, value: (written: WrittenColumn) => Expression) {
  return of.columns.map((written) => {
    const { target, type } = written;
    const effective = column('d', of.effectiveTime, of.start.type);
    if (target === of.end.target || target === of.effectiveFrom?.target) {
      return item(
        written.name,
        type.text === of.start.type.text ? effective : { kind: 'cast', operand: effective, type },
      );
    }
    return item(written.name, target === of.loadTs.target ? stagedAs('d', of.loadTs) : value(written));
  });
}

function isNotDelivered(of: Relationships, alias: string): Expression {
  return notExists(
    select([item('one', literal(1))], source(named('staged'), 's'), {
      where: [...sameKey(of.stage, 's', alias), compare(stagedAs('s', of.loadTs), '=', stagedAs('d', of.loadTs))],
    }),
  );
}

function closingsOfStored(of: Relationships): Query {
  return select(
    closingItems(of, (written) => writtenAs('o', written)),
    source(named('deliveries'), 'd'),
    {
      joins: [join('inner', named('stored'), 'o', sameColumns(of.drivers, 'o', 'd'))],
      where: [
        isNull(previousTime(of, 'd')),
        compare(flagAs('o', of.isClosed), '=', literal(0)),
        isNotDelivered(of, 'o'),
      ],
    },
  );
}

/** A relationship that an earlier delivery of this run brought: its row is among the openings of the run, or stored. */
function closingsOfStaged(of: Relationships): Query {
  const { stage, drivers, loadTs } = of;
  const isStored = isNull(column('p', 'opened_at', loadTs.type));
  return select(
    closingItems(of, (written) => {
      const opened =
        written.target === of.start.target ? column('b', of.effectiveTime, of.start.type) : writtenAs('b', written);
      return choose([[isStored, writtenAs('o', written)]], opened);
    }),
    source(named('deliveries'), 'd'),
    {
      joins: [
        join('inner', named('delivered'), 'p', [
          ...sameColumns(drivers, 'p', 'd'),
          compare(stagedAs('p', loadTs), '=', previousTime(of, 'd')),
        ]),
        join('left', named('delivered'), 'b', [
          ...sameKey(stage, 'b', 'p'),
          compare(stagedAs('b', loadTs), '=', column('p', 'opened_at', loadTs.type)),
        ]),
        join('left', named('stored'), 'o', [
          ...sameKey(stage, 'o', 'p'),
          compare(flagAs('o', of.isClosed), '=', literal(0)),
        ]),
      ],
      where: [isNotDelivered(of, 'p')],
    },
  );
}
