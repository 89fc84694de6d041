/** Columns and declared keys of a column list, as a statement writes them. */
import type { CatalogKey } from '../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import type { Range } from '../../../protocol/position.ts';
import { bare } from '../syntax/inspect.ts';
import type { ColumnDefinition, Constraint, NodeBase, TableElement } from '../syntax/tree.ts';
import type { ColumnFacts } from './facts.ts';
import { sameIdentifier } from './names.ts';

/** What reading a node needs to know of the file around it. */
export interface Source {
  readonly platform: PlatformName;
  readonly text: (node: NodeBase) => string;
  readonly range: (node: NodeBase) => Range;
}

/** Columns and declared keys of a column list: of a table, a table type or a table variable. */
export function readElements(
  source: Source,
  elements: readonly TableElement[],
): { readonly columns: readonly ColumnFacts[]; readonly keys: readonly CatalogKey[] } {
  const definitions = elements.filter((element) => element.kind === 'column-definition');
  const keys = [
    ...definitions.flatMap((column) => column.constraints.flatMap((constraint) => keyOf(constraint, column))),
    ...elements.flatMap((element) => (element.kind === 'constraint' ? keyOf(element, null) : [])),
    ...elements.flatMap((element) =>
      element.kind === 'index-definition' && element.unique && element.where === null
        ? [{ kind: 'unique' as const, columns: element.columns.map((column) => column.name.name), enforced: true }]
        : [],
    ),
  ].sort((left, right) => Number(left.kind !== 'primary-key') - Number(right.kind !== 'primary-key'));
  const primary = keys.find((key) => key.kind === 'primary-key')?.columns ?? [];
  const period = elements.find((element) => element.kind === 'constraint' && element.type === 'period');
  const periodNames = period?.kind === 'constraint' ? period.columns.map((column) => column.name.name) : [];
  return {
    columns: definitions
      .filter((column) => column.name.name !== '')
      .map((column) => columnFacts(source, column, primary, periodNames)),
    keys,
  };
}

function columnFacts(
  source: Source,
  column: ColumnDefinition,
  primary: readonly string[],
  periodNames: readonly string[],
): ColumnFacts {
  const name = column.name.name;
  const cast = column.computed === null ? null : bare(column.computed);
  const type = column.type?.text ?? (cast?.kind === 'cast' ? cast.type.text : '');
  const period = periodOf(column, periodNames);
  const identity = column.identity !== null;
  const inKey = primary.some((other) => sameIdentifier(other, name));
  const declared = column.constraints.find((constraint) => constraint.type === 'default')?.expression ?? null;
  const expression = column.default ?? declared;
  return {
    name,
    type,
    nullable: inKey || identity || period !== null ? false : (column.nullable ?? true),
    identity,
    computed: column.computed !== null || column.generated !== null || isRowVersion(type, source.platform),
    default: expression === null ? null : source.text(expression),
    collation: column.collation?.name ?? null,
    range: source.range(column),
    period,
  };
}

function periodOf(column: ColumnDefinition, periodNames: readonly string[]): ColumnFacts['period'] {
  if (column.generated === 'row-start') return 'start';
  if (column.generated === 'row-end') return 'end';
  const place = periodNames.findIndex((name) => sameIdentifier(name, column.name.name));
  return place === 0 ? 'start' : place === 1 ? 'end' : null;
}

function isRowVersion(type: string, platform: PlatformName): boolean {
  return type === 'rowversion' || (type === 'timestamp' && isTsql(platform));
}

function keyOf(constraint: Constraint, column: ColumnDefinition | null): CatalogKey[] {
  if (constraint.type !== 'primary-key' && constraint.type !== 'unique') return [];
  const names = constraint.columns.map((key) => key.name.name);
  const columns = names.length === 0 && column !== null ? [column.name.name] : names;
  return columns.length === 0 ? [] : [{ kind: constraint.type, columns, enforced: constraint.enforced }];
}
