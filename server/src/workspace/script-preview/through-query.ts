import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import { sameIdentifier } from '../../model/names.ts';
import { bare, findAll, lastPart, tableNameOf } from '../../syntax/inspect.ts';
import type { CommonTable, Delete, Expression, SelectItem, TableReference, Update } from '../../syntax/tree.ts';
import { imageRow, NotFollowed, type Reading } from './effect.ts';
import { quoted } from './print.ts';

/** A named query through which T-SQL writes to the one table behind it. */
export interface ThroughQuery {
  readonly common: CommonTable;
  /** The table in the query's FROM. */
  readonly inner: TableReference;
}

/**
 * The named query that is the target of an UPDATE or DELETE, by its name or an alias of FROM; null where the target is a
 * table. Throws `NotFollowed` for a query whose rows are not plainly those of one table.
 */
export function throughQuery(write: Update | Delete, platform: PlatformName): ThroughQuery | null {
  const common = namedTarget(write);
  if (common === undefined || !isTsql(platform)) return null;
  const { body, limit, offset } = common.query;
  const refusal = (what: string): NotFollowed => new NotFollowed(`a write through a named query ${what}`, common.start);
  if (common.columns.length > 0) throw refusal('that lists its columns is not followed');
  if (body.kind !== 'select') throw refusal('is followed for one SELECT only');
  const [inner, ...more] = body.from;
  if (inner?.kind !== 'table' || more.length > 0) throw refusal('is followed over one table only');
  const isNamed = write.with?.tables.some(({ name }) => isNameOf(name.name, inner)) === true;
  if (isNamed) throw refusal('over another one is not followed');
  const narrows = body.distinct || body.groupBy !== null || (limit ?? offset) !== null;
  if (narrows || body.clauses.length > 0) throw refusal('with DISTINCT, GROUP BY or OFFSET is not followed');
  if (write.output.length > 0) throw refusal('is followed without OUTPUT only');
  return { common, inner };
}

/** Columns that the query adds, or gives another name. */
function addedItems({ common }: ThroughQuery): readonly SelectItem[] {
  const { body } = common.query;
  const items = body.kind === 'select' ? body.items : [];
  return items.filter(({ expression, alias }) => {
    const inner = bare(expression);
    if (inner.kind === 'star') return false;
    return !(inner.kind === 'column' && (alias === null || sameIdentifier(alias.name, lastName(inner.parts))));
  });
}

/** The rows of the query with all of the table's columns beside its own and a number for each row, under an alias. */
export function throughText(
  through: ThroughQuery,
  table: CatalogTable,
  alias: string,
  write: Update | Delete,
  reading: Reading,
): string {
  const { common, inner } = through;
  const { body } = common.query;
  const added = addedItems(through);
  demandPlainNames(through, added, table, write);
  const own = inner.alias ?? lastPart(inner.name);
  const name = reading.source(own.start, own.end);
  const image = reading.imageOf(table);
  const items = [
    ...(image === null ? [`ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS ${imageRow}`] : []),
    `${name}.*`,
    ...added.map(
      ({ expression, alias: given }) =>
        `${reading.slice(expression.start, expression.end)} AS ${quoted(given?.name ?? '', reading.platform)}`,
    ),
  ];
  const from = image ?? reading.source(inner.name.start, inner.name.end);
  const where: Expression | null = body.kind === 'select' ? body.where : null;
  const filter = where === null ? '' : ` WHERE ${reading.slice(where.start, where.end)}`;
  const { top, order } = firstRows(through, table, reading);
  return `(SELECT ${top}${items.join(', ')} FROM ${from} AS ${name}${filter}${order}) AS ${alias}`;
}

/** TOP and its order as written, where they say which rows are meant: by a key of the table, or with all that tie. */
function firstRows(
  { common }: ThroughQuery,
  table: CatalogTable,
  reading: Reading,
): { readonly top: string; readonly order: string } {
  const { body, orderBy } = common.query;
  const top = body.kind === 'select' ? body.top : null;
  if (top === null) return { top: '', order: '' };
  const [first, last] = [orderBy[0], orderBy.at(-1)];
  const named = orderBy.flatMap(({ expression }) => {
    const inner = bare(expression);
    return inner.kind === 'column' ? [lastName(inner.parts)] : [];
  });
  const isKey = table.keys.some(
    ({ kind, columns, enforced }) =>
      kind !== 'inferred' && enforced && columns.every((column) => named.some((name) => sameIdentifier(name, column))),
  );
  if (first === undefined || last === undefined || !(isKey || top.withTies))
    throw new NotFollowed('TOP leaves open which rows are written, unless ORDER BY names an enforced key', top.start);
  return {
    top: `${reading.slice(top.start, top.end)} `,
    order: ` ORDER BY ${reading.slice(first.start, last.end)}`,
  };
}

/** Each name of the write must mean the same where it can see all of the table's columns. */
function demandPlainNames(
  { common }: ThroughQuery,
  added: readonly SelectItem[],
  table: CatalogTable,
  write: Update | Delete,
): void {
  const isOfTable = (name: string): boolean => table.columns.some((column) => sameIdentifier(column.name, name));
  const renamed = added.find(({ alias }) => alias === null || isOfTable(alias.name));
  if (renamed !== undefined)
    throw new NotFollowed('a named query that gives a column the name of another is not followed', renamed.start);
  const assignments = write.kind === 'update' ? write.assignments : [];
  for (const { column } of assignments) {
    const name = column === null ? undefined : lastPart(column).name;
    if (column !== null && name !== undefined && added.some(({ alias }) => sameIdentifier(alias?.name ?? '', name)))
      throw new NotFollowed('SET of a column that a named query renames is not followed', column.start);
  }
  const { body } = common.query;
  const items = body.kind === 'select' ? body.items : [];
  if (items.some(({ expression }) => bare(expression).kind === 'star')) return;
  const shown = items.map(({ expression, alias }) => {
    const inner = bare(expression);
    return alias?.name ?? (inner.kind === 'column' ? lastName(inner.parts) : '');
  });
  const inWith = write.with;
  const hidden = findAll(write, 'column').find(({ start, parts }) => {
    const isInside = inWith !== null && start >= inWith.start && start < inWith.end;
    const name = lastName(parts);
    return !isInside && parts.length === 1 && isOfTable(name) && !shown.some((each) => sameIdentifier(each, name));
  });
  if (hidden !== undefined)
    throw new NotFollowed('a column that the named query does not show needs its table before it', hidden.start);
}

function namedTarget({ target, from, with: clause }: Update | Delete): CommonTable | undefined {
  if (target.kind !== 'table' || clause === null) return undefined;
  const { schema, table } = tableNameOf(target.name);
  if (schema !== null) return undefined;
  const aliased = from
    .flatMap((source) => findAll(source, 'table'))
    .find(({ alias }) => alias !== null && sameIdentifier(alias.name, table));
  return clause.tables.find(({ name }) =>
    aliased === undefined ? sameIdentifier(name.name, table) : isNameOf(name.name, aliased),
  );
}

function isNameOf(name: string, reference: TableReference): boolean {
  const { schema, table } = tableNameOf(reference.name);
  return schema === null && sameIdentifier(name, table);
}

function lastName(parts: readonly ({ readonly name: string } | null)[]): string {
  return parts.at(-1)?.name ?? '';
}
