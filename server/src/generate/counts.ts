/** Counts and warnings of a plan as result sets, in the order of the contract. */
import { countNames } from '../../../protocol/counts.ts';
import type { LoadPlan } from '../load/plan.ts';
import type { Printer } from '../sql/printer.ts';
import { indent } from '../sql/text.ts';

/** The last result set of every load: one row with exactly the seven counts. */
export function countsText(plan: LoadPlan, printer: Printer, bigint: string): string {
  const items = countNames.map((name) => {
    const value = plan.counts[name];
    return `CAST(${value === null ? 'NULL' : printer.expression(value)} AS ${bigint}) AS ${name}`;
  });
  return `SELECT\n${indent(items.join(',\n'))};`;
}

/** One SELECT a warning, without its condition. */
export function warningRow(warning: LoadPlan['warnings'][number], printer: Printer): string {
  const { code, message } = warning;
  return `SELECT ${printer.textLiteral(code)} AS warning_code, ${printer.expression(message)} AS message`;
}
