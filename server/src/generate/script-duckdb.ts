/** The script of a plan for the embedded engine: one batch, one transaction. */
import { countNames } from '../../../protocol/counts.ts';
import type { LoadPlan } from '../load/plan.ts';
import type { DuckDbPrinter } from '../sql/duckdb.ts';
import { mergedWrites, storedColumn } from '../sql/merge.ts';
import { comment, indent } from '../sql/text.ts';

/** What stands between the parameter block and the end of a DuckDB script. */
export function duckdbBody(plan: LoadPlan, printer: DuckDbPrinter, shape: 'separate' | 'merge'): string {
  const writes = shape === 'merge' ? mergedWrites(plan.writes, storedColumn) : plan.writes;
  const lock = printer.tableName({ ...plan.target, table: `${plan.target.table}_load_is_running` });
  const relations = plan.steps.flatMap((step) => (step.kind === 'let' ? [step.name] : []));
  return [
    'BEGIN TRANSACTION;',
    `${comment('One load of this table at a time: a second one meets this table and fails.')}\nCREATE TABLE ${lock} (one INTEGER);`,
    ...plan.steps.map((step) => printer.step(step)),
    ...writes.map((write) => printer.write(write, plan)),
    [`DROP TABLE ${lock};`, 'COMMIT;'].join('\n'),
    relations.map((name) => `DROP TABLE ${printer.relationName(name)};`).join('\n'),
    warningsText(plan, printer),
    `${comment('What changed.')}\n${countsText(plan, printer)}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

export function countsText(plan: LoadPlan, printer: DuckDbPrinter): string {
  const items = countNames.map((name) => {
    const value = plan.counts[name];
    return `CAST(${value === null ? 'NULL' : printer.expression(value)} AS BIGINT) AS ${name}`;
  });
  return `SELECT\n${indent(items.join(',\n'))};`;
}

export function warningsText(plan: LoadPlan, printer: DuckDbPrinter): string {
  if (plan.warnings.length === 0) return '';
  const rows = plan.warnings.map(
    ({ code, when, message }) =>
      `SELECT ${printer.textLiteral(code)} AS warning_code, ${printer.expression(message)} AS message\nWHERE ${printer.expression(when)}`,
  );
  return `${comment('What was left out.')}\n${rows.join('\nUNION ALL\n')};`;
}
