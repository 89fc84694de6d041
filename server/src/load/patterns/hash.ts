import { item, select, source, table } from '../build.ts';
import { type LoadContext, report, textParameters } from '../context.ts';
import type { LoadPlan } from '../plan.ts';
import { rebuildPlan } from '../vault/rebuild.ts';
import { stagedColumns } from '../vault/staging.ts';

/** Hash columns beside the staged ones, by the load's hash rules: the stage of a vault load, rebuilt on each run. */
export function planHash(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  const columns = stagedColumns(context);
  if (!columns.some((of) => of.role !== null)) {
    report(
      context,
      'no-hash-columns',
      `Say which columns of ${target.name.table} are hashes, and over which stage columns, with --set hash_columns={"…":["…"]}.`,
    );
  }
  return rebuildPlan(context, {
    says: `Hash columns of ${target.name.table} over the rows of ${from.name.table}.`,
    parameters: textParameters(context),
    steps: [],
    rows: select(
      columns.map((of) => item(of.target.name, of.value)),
      source(table(from.name), 's'),
    ),
    warnings: [],
  });
}
