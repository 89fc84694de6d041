import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, lastPart } from '../../syntax/inspect.ts';
import type { Expression, Output, SelectItem } from '../../syntax/tree.ts';
import { NotFollowed, type NumberedEffect, type Reading } from './effect.ts';
import { converted, effectTable } from './print.ts';

/** A row that a write changes, by column: as it was, and as it becomes; null where there is no such side. */
export interface ChangedRow {
  readonly table: CatalogTable;
  readonly before: ReadonlyMap<string, string> | null;
  readonly after: ReadonlyMap<string, string> | null;
}

/** The OUTPUT clause whose rows the script goes on with: the one with INTO, or that of a write inside FROM. */
export function keptOutput(outputs: readonly Output[], isSource: boolean): Output | undefined {
  return outputs.find(({ into }) => into !== null) ?? (isSource ? outputs[0] : undefined);
}

/** The values of an OUTPUT clause for one changed row, in terms of the query that finds it. */
export function outputValues(
  outputs: readonly Output[],
  row: ChangedRow,
  action: 'insert' | 'update' | 'delete',
  reading: Reading,
): readonly string[] {
  const items = keptOutput(outputs, true)?.items ?? [];
  return items.flatMap(({ expression }) => {
    if (expression.kind !== 'star') return [outputValue(expression, row, action, reading)];
    const side = sideOf(expression.qualifier[0]?.name ?? '', row);
    if (side === undefined) throw new NotFollowed('OUTPUT of a source as a whole is not followed', expression.start);
    return row.table.columns.map((column) => sideValue(side, column, row, reading));
  });
}

/** The names of an OUTPUT clause's columns. */
export function outputNames({ items }: Output, table: CatalogTable): readonly string[] {
  return items.flatMap(({ expression, alias }: SelectItem, index) => {
    if (expression.kind === 'star') return table.columns.map(({ name }) => name);
    if (alias !== null) return [alias.name];
    return [expression.kind === 'column' ? lastPart(expression).name : `column_${index + 1}`];
  });
}

/** The kept rows of an OUTPUT clause over all effects of its write, as v0, v1 …. */
export function outputRows(effects: readonly NumberedEffect[], platform: PlatformName): string {
  const selects = effects.map(([number, { outputs }]) => {
    const items = outputs.map((_, index) => `o${index} AS v${index}`);
    return `SELECT ${items.join(', ')} FROM ${effectTable(number, platform)}`;
  });
  return selects.join('\nUNION ALL\n');
}

function outputValue(
  expression: Expression,
  row: ChangedRow,
  action: 'insert' | 'update' | 'delete',
  reading: Reading,
): string {
  const { slice } = reading;
  const columns = [...findAll(expression, 'column')].sort((left, right) => left.start - right.start);
  let text = '';
  let at = expression.start;
  for (const column of columns) {
    const [first, second] = column.parts;
    const side = sideOf(first?.name ?? '', row);
    let value: string | undefined;
    if (second === undefined && first?.name.toLowerCase() === '$action') value = `'${action.toUpperCase()}'`;
    else if (side !== undefined && second !== undefined && second !== null) {
      const stands = row.table.columns.find(({ name }) => sameIdentifier(name, second.name));
      if (stands === undefined) {
        throw new NotFollowed(`${row.table.name.table} has no column ${second.name}`, column.start);
      }
      value = sideValue(side, stands, row, reading);
    }
    if (value === undefined) continue;
    text += `${slice(at, column.start)}${/^(CAST\(|')/.test(value) ? value : `(${value})`}`;
    at = column.end;
  }
  return `${text}${slice(at, expression.end)}`;
}

/** NULL with the column's type, since T-SQL takes an untyped one for a number. */
function sideValue(
  side: ReadonlyMap<string, string> | null,
  column: CatalogColumn,
  { table }: ChangedRow,
  { platform }: Reading,
): string {
  return converted(side?.get(column.name) ?? 'NULL', column, table.platform, platform);
}

/** The side of the row that `inserted` or `deleted` means; undefined for any other qualifier. */
function sideOf(qualifier: string, { before, after }: ChangedRow): ReadonlyMap<string, string> | null | undefined {
  if (/^inserted$/i.test(qualifier)) return after;
  return /^deleted$/i.test(qualifier) ? before : undefined;
}
