/** What a preview says of rows that the target would refuse for a missing value. */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import {
  compare,
  concat,
  counted,
  countWhere,
  isNull,
  item,
  literal,
  named,
  select,
  shown,
  source,
} from '../load/build.ts';
import type { LoadPlan, Step, Warning, Write } from '../load/plan.ts';
import { formatTableName } from '../model/names.ts';

/**
 * The plan with a count of the rows that a write would leave without a value in a NOT NULL column of the target, and a
 * warning where there are any: they end the run, and a preview that writes nothing can't meet them otherwise.
 */
export function withNullChecks(plan: LoadPlan, target: CatalogTable): LoadPlan {
  const steps: Step[] = [];
  const warnings: Warning[] = [];
  for (const [place, write] of plan.writes.entries()) {
    if (write.kind === 'delete' || (write.kind === 'insert' && write.into !== undefined)) continue;
    const items = assignedOf(write).flatMap(({ column: name, value }, index) => {
      const of = target.columns.find((candidate) => candidate.name === name);
      // Constants and the load's clock have a value; what rows bring stands in a column of the changes.
      const mayLack = of !== undefined && !of.nullable && !of.computed && !of.identity && value.kind === 'column';
      if (!mayLack) return [];
      const missing = counted(`Missing_${place + 1}_${index + 1}`);
      warnings.push({
        code: 'null_value',
        when: compare(missing, '>', literal(0)),
        message: concat(
          literal(`${formatTableName(target.name)}: ${name} is NOT NULL and would get no value in `),
          shown(missing),
          literal(` of the rows to ${write.kind}, so the run fails`),
        ),
      });
      return [item(missing.name, countWhere(isNull(value)))];
    });
    if (items.length === 0) continue;
    const query = select(items, source(named(write.from), 'c'), { where: [...write.where] });
    steps.push({ kind: 'measure', says: `Rows to ${write.kind} that lack a value which the target demands.`, query });
  }
  return steps.length === 0
    ? plan
    : { ...plan, steps: [...plan.steps, ...steps], warnings: [...plan.warnings, ...warnings] };
}

function assignedOf(write: Exclude<Write, { kind: 'delete' }>) {
  return write.kind === 'update' ? write.set : write.values;
}
