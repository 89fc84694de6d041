import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import type { SampleKind } from '../../../../protocol/run.ts';
import { valueType } from '../../load/language.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, lastPart, problemsOf, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { Assignment, Expression, Insert, Name, Node, NodeBase, Query } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { NotFollowed, type Reading, type Write } from './effect.ts';
import { anyNumber, quoted } from './print.ts';

/** An UPDATE that ends a version or takes its current flag away expires rows; any other updates them. */
export function updateKind(assignments: readonly Assignment[], table: CatalogTable, node: NodeBase): SampleKind {
  const roles = assignments.flatMap(({ column }) => {
    if (column === null) return [];
    const name = columnName(table, lastPart(column).name, node);
    return table.columns.filter((each) => each.name === name).map(({ role }) => role);
  });
  return roles.some((role) => role === 'effective-end' || role === 'current-flag') ? 'expired' : 'updated';
}

export function assigned(
  assignments: readonly Assignment[],
  table: CatalogTable,
  alias: string,
  reading: Reading,
): ReadonlyMap<string, string> {
  return new Map(
    assignments.map((assignment) => {
      const { column, variable, operator, value } = assignment;
      if (column === null || variable !== null || !/^([-+*/%&|^]?=)$/.test(operator)) {
        throw new NotFollowed('SET is followed for plain columns only', assignment.start);
      }
      demandReads([value]);
      const name = columnName(table, lastPart(column).name, assignment);
      const text =
        value.kind === 'default' ? defaultValue(name, table, value, reading.platform) : valueText(value, reading);
      const former = `${alias}.${quoted(name, reading.platform)}`;
      return [name, operator === '=' ? text : `${former} ${operator.slice(0, -1)} (${text})`] as const;
    }),
  );
}

export function valueText(value: Expression, { slice }: Reading): string {
  if (findAll(value, 'default').length > 0) throw new NotFollowed('DEFAULT as a value is not followed', value.start);
  return slice(value.start, value.end);
}

/** What DEFAULT puts into a column, from its DDL; throws `NotFollowed` where only the run can tell. */
function defaultValue(name: string, table: CatalogTable, node: NodeBase, platform: PlatformName): string {
  const column = table.columns.find((each) => each.name === name);
  const isNumbered = column === undefined || column.computed || column.identity;
  const value = isNumbered ? undefined : givenValue(column, table, { platform });
  if (value === undefined) throw new NotFollowed(`DEFAULT of ${name} is not known before the run`, node.start);
  return value;
}

/**
 * The text of the rows of an INSERT. DEFAULT has a place in the VALUES of an INSERT only, and a preview reads them as a
 * table, so each is given as its value.
 *
 * @param columns the columns that the rows fill, in their order
 */
export function rowsText(
  { start, end }: NodeBase,
  { body }: Query,
  table: CatalogTable,
  columns: readonly string[],
  { slice, platform }: Pick<Reading, 'slice' | 'platform'>,
): string {
  const rows = body.kind === 'values' ? body.rows : [];
  const defaults = rows.flatMap(({ items }) =>
    items.flatMap((item, index) => (item.kind === 'default' ? [{ item, name: columns[index] ?? '' }] : [])),
  );
  let text = '';
  let at = start;
  for (const { item, name } of defaults) {
    text += `${slice(at, item.start)}${defaultValue(name, table, item, platform)}`;
    at = item.end;
  }
  return text + slice(at, end);
}

export function stored(table: CatalogTable, alias: string, { platform }: Reading): ReadonlyMap<string, string> {
  return new Map(table.columns.map(({ name }) => [name, `${alias}.${quoted(name, platform)}`]));
}

/** The columns that an INSERT without a list fills. */
export function positional(table: CatalogTable, { platform }: Pick<Reading, 'platform'>): readonly string[] {
  return table.columns
    .filter((column) => !column.computed && !(isTsql(platform) && column.identity))
    .map(({ name }) => name);
}

/** Values of a new row: those written, then those that the engine gives by itself. */
export interface NewRow {
  readonly after: ReadonlyMap<string, string>;
  readonly numbered: ReadonlySet<string>;
}

/**
 * Fills in the columns that a write leaves out: defaults by their expression, the rest NULL. Numbers of an identity or a
 * sequence are known only to the run, so they are given, as the next free ones, only where a later statement may read them.
 */
export function newRow(
  table: CatalogTable,
  values: ReadonlyMap<string, string>,
  place: string,
  isReadLater: boolean,
  { platform }: Reading,
): NewRow {
  const after = new Map<string, string>();
  const numbered = new Set<string>();
  for (const column of table.columns) {
    const { name, computed, identity, default: stated } = column;
    const value = values.get(name) ?? (computed || identity ? undefined : givenValue(column, table, { platform }));
    if (value !== undefined) after.set(name, value);
    else if (isReadLater && !computed && isNumber(column)) {
      const before = `(SELECT COALESCE(MAX(${quoted(name, platform)}), 0) FROM ${place})`;
      after.set(name, `${before} + ${anyNumber(platform)}`);
      numbered.add(name);
    } else if (isReadLater && !computed && stated !== null) {
      after.set(name, 'NULL');
      numbered.add(name);
    }
  }
  return { after, numbered };
}

/** The value of a column that a write leaves out; undefined where only the run can tell. */
function givenValue(
  { default: stated }: CatalogColumn,
  table: CatalogTable,
  { platform }: Pick<Reading, 'platform'>,
): string | undefined {
  if (stated === null) return 'NULL';
  const isOwn = isTsql(table.platform) === isTsql(platform);
  if (!isOwn && !/^\(*(?:N?'(?:[^']|'')*'|-?\d+(?:\.\d+)?)\)*$/.test(stated)) return undefined;
  const script = parse(`SELECT ${stated}`, { platform });
  const isRead = problemsOf(script).length === 0 && unitsOf(script).every(({ statement }) => isHarmless(statement));
  return isRead ? stated : undefined;
}

function isNumber({ type }: CatalogColumn): boolean {
  return ['integer', 'decimal'].includes(valueType(type).facts.family);
}

export function targetTable(target: Insert['target'], write: Write, reading: Reading): CatalogTable {
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  const name = tableNameOf(target.name);
  const isCommon = write.with?.tables.some((common) => sameIdentifier(common.name.name, name.table)) === true;
  if (isCommon && name.schema === null) {
    throw new NotFollowed('a write through a common table expression is not followed', target.start);
  }
  return knownTable(target.name, reading);
}

export function knownTable(node: Name, { tableOf }: Reading): CatalogTable {
  const name = tableNameOf(node);
  const table = tableOf(name);
  if (table === undefined || table.columns.length === 0) {
    throw new NotFollowed(`the columns of ${name.table} are not known in this folder`, node.start);
  }
  return table;
}

export function columnName(table: CatalogTable, name: string, node: NodeBase): string {
  const column = table.columns.find((each) => sameIdentifier(each.name, name));
  if (column === undefined) throw new NotFollowed(`${table.name.table} has no column ${name}`, node.start);
  return column.name;
}

export function withText(write: Write, { slice }: Reading): string {
  return write.with === null ? '' : slice(write.with.start, write.with.end);
}

export function demandReads(nodes: readonly (Node | null)[]): void {
  const culprit = nodes.find((node) => node !== null && !isHarmless(node));
  if (culprit !== undefined && culprit !== null) {
    throw new NotFollowed('a part of it may do more than read, or is not understood', culprit.start);
  }
}
