/** Starts and ends that the source delivers: a row is stored when it leaves the state that was known before. */

import {
  any,
  ascending,
  column,
  compare,
  descending,
  differs,
  exists,
  isNull,
  item,
  join,
  literal,
  named,
  select,
  source,
  union,
  window,
} from '../../build.ts';
import type { Expression } from '../../language.ts';
import type { Step } from '../../plan.ts';
import { distinctRows } from '../key-parts.ts';
import { lateRowGuard } from '../late-rows.ts';
import { sameKey, stagedAs } from '../staging.ts';
import { closedFlag, flagAs, newestRows, type Relationships, type WrittenColumn, writtenAs } from './relation.ts';

/** Steps that end in `changes`, the rows to insert. `staged` bears the accepted rows. */
export function deliveredEndSteps(of: Relationships): readonly Step[] {
  const { stage } = of;
  const staged = exists(
    select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 't', 's') }),
  );
  return [
    {
      kind: 'let',
      says: 'Staged relationships with all their keys; identical ones count once.',
      name: 'staged',
      query: distinctRows(stage),
    },
    {
      kind: 'let',
      says: 'The newest stored row of each staged relationship.',
      name: 'stored',
      query: select(
        of.columns.map((written) => item(written.name, writtenAs('n', written))),
        source(newestRows(of, [staged]), 'n'),
      ),
    },
    ...lateGuard(of),
    changesStep(of),
  ];
}

function lateGuard({ stage, loadTs, start, end }: Relationships): readonly Step[] {
  const says =
    'A state that is older than the newest stored one of its relationship, and is not stored, stops the load.';
  const known = [start, end].map(
    (written): Expression => ({
      kind: 'same',
      left: writtenAs('t', written),
      right: writtenAs('s', written),
      text: 'exact',
    }),
  );
  return lateRowGuard(stage, loadTs, says, known);
}

function changesStep(of: Relationships): Step {
  const { stage, columns, loadTs, start, end } = of;
  const line = union(
    select(
      [...columns.map((written) => item(written.name, writtenAs('o', written))), item('is_stored', literal(1))],
      source(named('stored'), 'o'),
    ),
    select(
      [...columns.map((written) => item(written.name, writtenAs('s', written))), item('is_stored', literal(0))],
      source(named('staged'), 's'),
      {
        joins: [join('left', named('stored'), 'o', sameKey(stage, 'o', 's'))],
        where: [any(isNull(stagedAs('o', loadTs)), compare(stagedAs('s', loadTs), '>=', stagedAs('o', loadTs)))],
      },
    ),
  );
  const partition = stage.keys.map((key) => stagedAs('l', key));
  const order = [
    ascending(stagedAs('l', loadTs)),
    descending(flagAs('l', 'is_stored')),
    ascending(closedFlag(of, writtenAs('l', end))),
    ascending(writtenAs('l', end)),
  ];
  const before = (name: string, operand: Expression) => item(name, window('lag', operand, partition, order));
  const followed = select(
    [
      ...columns.map((written) => item(written.name, writtenAs('l', written))),
      item('is_stored', flagAs('l', 'is_stored')),
      before('previous_stored', flagAs('l', 'is_stored')),
      before('previous_start', writtenAs('l', start)),
      before('previous_end', writtenAs('l', end)),
    ],
    source(line, 'l'),
  );
  const previous = (name: string, { type }: WrittenColumn): Expression => column('f', name, type);
  return {
    kind: 'let',
    says: 'Staged rows whose start or end is not what was known before.',
    name: 'changes',
    query: select(
      columns.map((written) => item(written.name, writtenAs('f', written))),
      source(followed, 'f'),
      {
        where: [
          compare(flagAs('f', 'is_stored'), '=', literal(0)),
          any(
            isNull(flagAs('f', 'previous_stored')),
            differs(previous('previous_start', start), writtenAs('f', start)),
            differs(previous('previous_end', end), writtenAs('f', end)),
          ),
        ],
      },
    ),
  };
}
