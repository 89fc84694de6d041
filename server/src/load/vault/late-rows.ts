import { compare, item, join, literal, named, notExists, select, source, table } from '../build.ts';
import type { Expression } from '../language.ts';
import type { Step } from '../plan.ts';
import { keyName } from './key-parts.ts';
import { type StagedColumn, sameKey, stagedAs, type VaultStage } from './staging.ts';

/**
 * Stops the load for a `staged` row that is older than a `stored` one of its key, unless the target (`t`) holds what
 * `known` says of the staged row (`s`). No step where the options let late rows pass.
 */
export function lateRowGuard(
  stage: VaultStage,
  loadTs: StagedColumn,
  says: string,
  known: readonly Expression[],
): readonly Step[] {
  const { idempotent_rerun: rerun, out_of_order: late } = stage.context.options;
  if (rerun === true || late === 'ignore') return [];
  const isKnown = select([item('one', literal(1))], source(table(stage.context.target.name), 't'), {
    where: [...sameKey(stage, 't', 's'), ...known],
  });
  return [
    {
      kind: 'guard-rows',
      says,
      code: 'late_row',
      query: select([item('offender', keyName(stage, 's'))], source(named('staged'), 's'), {
        joins: [join('inner', named('stored'), 'o', sameKey(stage, 'o', 's'))],
        where: [compare(stagedAs('s', loadTs), '<', stagedAs('o', loadTs)), notExists(isKnown)],
      }),
    },
  ];
}
