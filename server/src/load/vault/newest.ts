/** The newest stored load time of the staged keys: what most satellites compare with. */
import { aggregate, exists, item, literal, named, select, source, table } from '../build.ts';
import type { Step } from '../plan.ts';
import { keyForm, keyTextOf, type StagedColumn, sameKey, storedAs, type VaultStage } from './staging.ts';

/** Materialises `newest`: per staged key that is stored, the key and its `newest_time`. */
export function newestStored(stage: VaultStage, loadTs: StagedColumn): Step {
  const { context, keys } = stage;
  const stored = (of: StagedColumn) => storedAs('t', context, of);
  const isStaged = exists(
    select([item('one', literal(1))], source(named('staged'), 's'), { where: sameKey(stage, 't', 's') }),
  );
  return {
    kind: 'let',
    says: 'The newest stored load time of each staged key.',
    name: 'newest',
    query: select(
      [
        ...keys.map((key) => item(key.target.name, aggregate('min', stored(key)))),
        item('newest_time', aggregate('max', stored(loadTs))),
      ],
      source(table(context.target.name), 't'),
      { where: [isStaged], groupBy: keys.map((key) => keyForm(context, key, stored(key))), text: keyTextOf(stage) },
    ),
  };
}
