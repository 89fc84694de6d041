/** Scripts and previews for the embedded engine: one batch, one transaction. */
import type { CatalogTable } from '../../../../protocol/catalog.ts';
import type { Shape } from '../../../../protocol/specification.ts';
import type { LoadPlan, Write } from '../../load/plan.ts';
import type { DuckDbPrinter } from '../../sql/duckdb.ts';
import { type Merge, mergedWrites, storedColumn } from '../../sql/merge.ts';
import { commaList, comment, indent } from '../../sql/text.ts';
import { countsText, warningRow } from '../counts.ts';
import { withNullChecks } from '../null-checks.ts';
import { blockEnd, blockStart } from '../parameters.ts';
import { sampleQueries } from '../samples.ts';
import type { HouseStyle } from '../types.ts';

/** The script without its header. */
export function duckdbScript(plan: LoadPlan, printer: DuckDbPrinter, shape: Shape, hooks: HouseStyle['hooks']): string {
  const lock = printer.tableName({ ...plan.target, table: `${plan.target.table}_load_is_running` });
  const writes = shape === 'merge' ? mergedWrites(plan.writes, storedColumn) : plan.writes;
  const changes = [
    ...writes.map((write) => printer.write(write, targetOf(write, plan))),
    ...replacement(plan, printer),
  ];
  return paragraphs([
    parameterBlock(plan, printer),
    hooks.before ?? '',
    'BEGIN TRANSACTION;',
    `${comment('One load of this table at a time: a second one meets this table and fails.')}\nCREATE TABLE ${lock} (one INTEGER);`,
    ...keptTables(plan, printer),
    ...plan.steps.map((step) => printer.step(step)),
    ...changes,
    `DROP TABLE ${lock};\nCOMMIT;`,
    hooks.after ?? '',
    ...ending(plan, printer),
  ]);
}

/** What a preview sends: the steps, which write temporary tables only, then samples, warnings and counts. */
export function duckdbPreview(load: LoadPlan, printer: DuckDbPrinter, target: CatalogTable): string {
  const plan = withNullChecks(load, target);
  const statements = [
    ...plan.steps.map((step) => printer.step(step)),
    ...sampleQueries(plan, target).map((query) => `${printer.query(query)};`),
    ...ending(plan, printer),
  ];
  // A table of the load's own may not be there yet; what the preview puts in its place is rolled back.
  const rolledBack =
    plan.keeps.length === 0 ? statements : ['BEGIN TRANSACTION;', ...keptTables(plan, printer), ...statements];
  const end = plan.keeps.length === 0 ? [] : ['ROLLBACK;'];
  return paragraphs([parameterBlock(plan, printer), ...rolledBack.slice(0, -1), ...end, ...rolledBack.slice(-1)]);
}

function targetOf(write: Write | Merge, plan: LoadPlan): LoadPlan['target'] {
  return write.kind === 'insert' ? (write.into ?? plan.target) : plan.target;
}

function parameterBlock(plan: LoadPlan, printer: DuckDbPrinter): string {
  if (plan.parameters.length === 0) return '';
  return [blockStart, ...plan.parameters.map((parameter) => printer.parameter(parameter)), blockEnd].join('\n');
}

function ending(plan: LoadPlan, printer: DuckDbPrinter): readonly string[] {
  const relations = plan.steps.flatMap((step) => (step.kind === 'let' ? [step.name] : []));
  const warnings = plan.warnings.map(
    (warning) => `${warningRow(warning, printer)}\nWHERE ${printer.expression(warning.when)}`,
  );
  return [
    relations.map((name) => `DROP TABLE ${printer.relationName(name)};`).join('\n'),
    warnings.length === 0 ? '' : `${comment('What was left out.')}\n${warnings.join('\nUNION ALL\n')};`,
    `${comment('What changed.')}\n${countsText(plan, printer, 'BIGINT')}`,
  ];
}

function keptTables(plan: LoadPlan, printer: DuckDbPrinter): readonly string[] {
  return plan.keeps.map(({ says, name, columns }) => {
    const lines = columns.map(
      (of) => `${printer.name(of.name)} ${printer.typeName(of.type)}${of.nullable ? '' : ' NOT NULL'}`,
    );
    return `${comment(says)}\nCREATE TABLE IF NOT EXISTS ${printer.tableName(name)} (\n${indent(commaList(lines, printer.style.comma))}\n);`;
  });
}

function replacement({ replaces, target }: LoadPlan, printer: DuckDbPrinter): readonly string[] {
  if (replaces === null) return [];
  const name = printer.tableName(target);
  if (replaces.kind === 'view') {
    return [`${comment(replaces.says)}\nCREATE OR REPLACE VIEW ${name} AS\n${printer.query(replaces.query)};`];
  }
  const columns = replaces.query.items.map((item) => printer.name(item.name));
  return [
    `${comment(replaces.says)}\nDELETE FROM ${name};`,
    `INSERT INTO ${name} (\n${indent(commaList(columns, printer.style.comma))}\n)\n${printer.query(replaces.query)};`,
  ];
}

function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
