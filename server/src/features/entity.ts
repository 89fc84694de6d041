import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import type { LocalTable } from '../model/locals.ts';
import { sameIdentifier } from '../model/names.ts';
import { inStrings, type PlacedUnit, placed } from '../model/places.ts';
import type { QueryOutput } from '../model/query-outputs.ts';
import type { AliasMention, ColumnMention, Mention, TableMention } from '../model/scopes.ts';
import { bare, findAll, lastPart, type Span, tableNameOf, unitAt } from '../syntax/inspect.ts';
import type { Name, NodeBase, Unit } from '../syntax/tree.ts';
import { type ProcedureSource, procedureNamed } from './procedures.ts';
import { namedArgumentAt, type Variable, variableAt, variableOfParameter } from './variables.ts';
import { type DocumentView, localNamed, offsetAt, tableNamed } from './view.ts';

/** What the text at a position names. */
export type Entity =
  | { readonly kind: 'table'; readonly table: CatalogTable; readonly mention: TableMention; readonly span: Span }
  | { readonly kind: 'local-table'; readonly table: LocalTable; readonly span: Span }
  | {
      readonly kind: 'column';
      readonly table: CatalogTable;
      readonly column: CatalogColumn;
      readonly mention: ColumnMention;
      readonly span: Span;
    }
  | {
      readonly kind: 'local-column';
      readonly table: LocalTable;
      readonly column: LocalTable['columns'][number];
      readonly span: Span;
    }
  /** A column of a query inside the same statement. */
  | { readonly kind: 'output'; readonly output: QueryOutput; readonly place: PlacedUnit; readonly span: Span }
  | { readonly kind: 'procedure'; readonly name: TableName; readonly span: Span }
  | { readonly kind: 'variable'; readonly variable: Variable; readonly span: Span }
  /** `@a` of `EXEC p @a = 1`: a parameter of another text. */
  | { readonly kind: 'argument'; readonly procedure: TableName; readonly name: string; readonly span: Span }
  | { readonly kind: 'alias'; readonly alias: AliasMention; readonly place: PlacedUnit; readonly span: Span };

/**
 * What is named at a position, in executed strings, too; undefined when it is nothing, or nobody can tell which.
 *
 * @param procedures those that `namedCall` may mean; a named argument is a parameter of the first of them
 */
export function entityAt(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[] = [],
): Entity | undefined {
  const entity = writtenAt(view, position);
  if (entity?.kind !== 'argument') return entity;
  const source = procedureNamed(procedures, entity.procedure);
  const variable = source === undefined ? undefined : variableOfParameter(source, entity.name);
  return variable === undefined ? entity : { kind: 'variable', variable, span: entity.span };
}

/** The procedure whose parameter an argument names at a position. */
export function namedCall(view: DocumentView, position: Position): TableName | undefined {
  const entity = writtenAt(view, position);
  return entity?.kind === 'argument' ? entity.procedure : undefined;
}

function writtenAt(view: DocumentView, position: Position): Entity | undefined {
  const offset = offsetAt(view, position);
  const variable = variableAt(view, offset);
  if (variable !== undefined) return { kind: 'variable', ...variable };
  const unit = unitAt(view.script, offset);
  const own = unit === undefined ? undefined : entityIn(view, placed(view.script, unit), offset);
  if (own !== undefined) return own;
  for (const string of inStrings(view.script)) {
    const entity = entityIn(view, string, offset);
    if (entity !== undefined) return entity;
  }
  return undefined;
}

function entityIn(view: DocumentView, place: PlacedUnit, offset: number): Entity | undefined {
  const isHere = ({ node }: { readonly node: NodeBase }): boolean => {
    const { start, end } = place.span(node);
    return start <= offset && offset <= end;
  };
  const { mentions, aliases } = place.binding;
  const mention = mentions.findLast(isHere);
  const entity = mention === undefined ? undefined : entityOf(view, place, mention);
  // `t.a`: a cursor between both names means the column.
  if (entity !== undefined) return entity;
  const alias = aliases.findLast(isHere);
  if (alias === undefined) return procedureIn(place, offset) ?? argumentIn(place, offset);
  return { kind: 'alias', alias, place, span: place.span(alias.node) };
}

function argumentIn(place: PlacedUnit, offset: number): Entity | undefined {
  const found = namedArgumentAt(place, offset);
  return found === undefined ? undefined : { kind: 'argument', ...found };
}

/** The procedure that is called or made at an offset. */
function procedureIn({ unit, span }: PlacedUnit, offset: number): Entity | undefined {
  const name = procedureNames(unit).find((each) => span(each).start <= offset && offset <= span(each).end);
  return name === undefined ? undefined : { kind: 'procedure', name: tableNameOf(name), span: span(name) };
}

/** The names of the procedures that a statement calls or makes. */
export function procedureNames({ statement }: Unit): readonly Name[] {
  return [
    ...findAll(statement, 'execute').flatMap(({ procedure }) => (procedure?.kind === 'name' ? [procedure] : [])),
    ...(statement.kind === 'create-procedure' ? [statement.name] : []),
  ];
}

function entityOf(view: DocumentView, place: PlacedUnit, mention: Mention): Entity | undefined {
  if (mention.kind === 'column') return columnEntity(view, place, mention);
  const span = place.span(lastPart(mention.node));
  const local = localNamed(view, mention.name, span.start);
  if (local !== undefined) return { kind: 'local-table', table: local, span };
  const table = tableNamed(view, mention.name);
  return table === undefined ? undefined : { kind: 'table', table, mention, span };
}

function columnEntity(view: DocumentView, place: PlacedUnit, mention: ColumnMention): Entity | undefined {
  const span = place.span(mention.node);
  if (mention.output !== null) return { kind: 'output', output: mention.output, place, span };
  const found = columnsNamed(view, mention.tables, mention.column);
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return { kind: 'column', ...only, mention, span };
  for (const name of mention.tables) {
    const table = localNamed(view, name, span.start);
    const column = table?.columns.find((candidate) => sameIdentifier(candidate.name, mention.column));
    if (table !== undefined && column !== undefined) return { kind: 'local-column', table, column, span };
  }
  return undefined;
}

/** The column that a query hands on under this name, followed through the queries between; undefined for anything else. */
export function originOf(
  view: DocumentView,
  { output, place }: Extract<Entity, { kind: 'output' }>,
): Entity | undefined {
  const expression = output.item === null ? null : bare(output.item.expression);
  if (expression?.kind !== 'column') return undefined;
  const node = lastPart(expression);
  const mention = place.binding.mentions.find((each) => each.kind === 'column' && each.node === node);
  const entity = mention === undefined ? undefined : entityOf(view, place, mention);
  return entity?.kind === 'output' ? originOf(view, entity) : entity;
}

/** The columns of a name in the tables that a mention may belong to. */
export function columnsNamed(
  view: DocumentView,
  tables: readonly TableName[],
  name: string,
): readonly { readonly table: CatalogTable; readonly column: CatalogColumn }[] {
  const seen = new Set<CatalogTable>();
  return tables.flatMap((tableName) => {
    const table = tableNamed(view, tableName);
    if (table === undefined || seen.has(table)) return [];
    seen.add(table);
    const column = table.columns.find((candidate) => sameIdentifier(candidate.name, name));
    return column === undefined ? [] : [{ table, column }];
  });
}
