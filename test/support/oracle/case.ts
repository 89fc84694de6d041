/** Runs a whole case through the oracle. */
import { type CaseStep, type ConformanceCase, columnsOf } from '../../../cli/src/conformance/format.ts';
import { textRow } from '../../../cli/src/conformance/hashes.ts';
import { type TextRow, textOfCell } from '../../../cli/src/conformance/values.ts';
import type { OracleOutcome } from './load.ts';
import { oracleLoad } from './oracle.ts';

/** The outcome of each step of a case; each step starts from the rows that the one before left. */
export function oracleSteps(owner: ConformanceCase): readonly OracleOutcome[] {
  const outcomes: OracleOutcome[] = [];
  const { tables } = owner;
  let target: readonly TextRow[] = (owner.initial_target_rows ?? []).map((row) => textRow(row, tables.target, owner));
  let events: readonly TextRow[] = [];
  let extra: Readonly<Record<string, readonly TextRow[]>> = {};
  let formerColumns: readonly string[] | undefined;
  for (const step of owner.steps) {
    const stageColumns = columnsOf(tables.stage, step.stage_columns);
    const targetColumns = columnsOf(tables.target, step.target_columns);
    extra = { ...extra, ...extraRows(owner, step) };
    const former = formerColumns;
    const outcome = oracleLoad(owner.pattern, {
      options: { ...owner.config, open_end: textOfOpenEnd(owner) },
      tables: { stage: stageColumns, target: targetColumns, extra: tables.extra ?? {} },
      now: textOfCell(step.now, 'timestamp(7)') ?? '',
      stage: step.stage_rows.map((row) => textRow(row, stageColumns, owner)),
      target: withColumns(target, Object.keys(targetColumns)),
      extra,
      scope: scopeOf(owner, step),
      newColumns: former === undefined ? [] : Object.keys(stageColumns).filter((column) => !former.includes(column)),
      events,
    });
    outcomes.push(outcome);
    ({ target, events } = outcome);
    formerColumns = Object.keys(stageColumns);
  }
  return outcomes;
}

/** Rows that have the columns already stay the very same, so that what is known of them need not be worked out again. */
function withColumns(rows: readonly TextRow[], columns: readonly string[]): readonly TextRow[] {
  const isWhole = (row: TextRow): boolean =>
    Object.keys(row).length === columns.length && columns.every((column) => row[column] !== undefined);
  return rows.map((row) =>
    isWhole(row) ? row : Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
  );
}

function extraRows(owner: ConformanceCase, step: CaseStep): Readonly<Record<string, readonly TextRow[]>> {
  return Object.fromEntries(
    Object.entries(step.extra_rows ?? {}).map(([role, rows]) => [
      role,
      rows.map((row) => textRow(row, owner.tables.extra?.[role] ?? {}, owner)),
    ]),
  );
}

function scopeOf({ tables }: ConformanceCase, step: CaseStep) {
  if (step.scope === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(step.scope).map(([column, values]) => [
      column,
      values.map((value) => textOfCell(value, tables.stage[column] ?? 'string')),
    ]),
  );
}

function textOfOpenEnd({ config, tables }: ConformanceCase): string | null {
  const column = config.valid_to ?? config.end ?? '';
  return textOfCell(config.open_end ?? null, tables.target[column] ?? 'timestamp(6)');
}
