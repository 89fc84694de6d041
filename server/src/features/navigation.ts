import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import type { TableFacts } from '../model/facts.ts';
import type { LocalTable } from '../model/locals.ts';
import { nameFits, sameIdentifier, tableKey } from '../model/names.ts';
import { placedUnits } from '../model/places.ts';
import type { Mention } from '../model/scopes.ts';
import { lastPart, rangeOf, type Span, tableNameOf } from '../syntax/inspect.ts';
import type { Name, Statement } from '../syntax/tree.ts';
import { columnsNamed, type Entity, entityAt, procedureNames } from './entity.ts';
import type { ProcedureSource } from './procedures.ts';
import { argumentsNaming, mentionsOfVariable } from './variables.ts';
import { type DocumentView, type Location, localNamed, rangeAt, tableNamed } from './view.ts';

/**
 * Where the table, column, procedure or variable at a position is defined; definitions and ALTER TABLE of any file.
 *
 * @param procedures those that `namedCall` may mean
 */
export function definition(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[] = [],
): readonly Location[] {
  const entity = entityAt(view, position, procedures);
  if (entity === undefined) return [];
  switch (entity.kind) {
    case 'local-table':
      return [{ file: view.file, range: entity.table.range }];
    case 'local-column':
      return [{ file: view.file, range: entity.column.range }];
    case 'table':
      return [locationOfTable(view, entity.table)];
    case 'column':
      return [locationOfColumn(view, entity.table, entity.column.name)];
    case 'output': {
      const { item, node } = entity.output;
      return [{ file: view.file, range: rangeAt(view, entity.place.span(item ?? node)) }];
    }
    case 'procedure':
      return view.folder.procedures(entity.name).map(({ file, range }) => ({ file, range }));
    case 'alias':
      return [{ file: view.file, range: rangeAt(view, entity.place.span(entity.alias.declared)) }];
    case 'variable': {
      const { declaration, file } = entity.variable;
      const text = file === view.file ? view : procedures.find((source) => source.view.file === file)?.view;
      if (declaration === null || text === undefined) return [];
      return [{ file, range: rangeOf(text.lineStarts, declaration.span) }];
    }
    case 'argument':
      return [];
  }
}

/** The table's definition as its file stands now. */
function locationOfTable(view: DocumentView, table: CatalogTable): Location {
  const definitions = view.folder.definitionsOf(table.file);
  const facts = [...(definitions?.tables ?? []), ...(definitions?.derived.map((derived) => derived.facts) ?? [])];
  const now = facts.find((candidate) => isDefinitionOf(candidate, table));
  return { file: table.file, range: now?.range ?? table.range };
}

function locationOfColumn(view: DocumentView, table: CatalogTable, name: string): Location {
  const inTable = view.folder.definitionsOf(table.file)?.tables.find((candidate) => isDefinitionOf(candidate, table));
  const column = [...(inTable?.columns ?? []), ...table.columns].find((candidate) =>
    sameIdentifier(candidate.name, name),
  );
  return { file: column?.file ?? table.file, range: column?.range ?? table.range };
}

/** A file knows a table by its first name where another file renames it. */
function isDefinitionOf({ name }: TableFacts, table: CatalogTable): boolean {
  return [table.name, ...(table.formerNames ?? [])].some((one) => tableKey(one) === tableKey(name));
}

/** The procedure whose name every file holds that names an entity; null where the entity is none of a procedure. */
export function procedureOf(entity: Entity): TableName | null {
  if (entity.kind === 'procedure') return entity.name;
  return entity.kind === 'variable' ? (entity.variable.declaration?.procedure ?? null) : null;
}

/**
 * The files that mention the table of an entity; the places inside them are found by `referencesIn`. Those that call a
 * procedure are not known before they are read.
 */
export function filesMentioning(view: DocumentView, entity: Entity): readonly string[] {
  if (entity.kind === 'variable') return [entity.variable.file];
  if (entity.kind !== 'table' && entity.kind !== 'column') return [view.file];
  return [
    ...new Set([view.file, entity.table.file, ...view.folder.mentionsOf(entity.table).map((mention) => mention.file)]),
  ];
}

/** A place where an entity is named. */
export interface Reference extends Location {
  readonly declaration: boolean;
  readonly written: boolean;
}

/** Every place of a document that names the entity, in the order of the text; in executed strings, too. */
export function referencesIn(view: DocumentView, entity: Entity): readonly Reference[] {
  const found = new Map<number, Reference>();
  const add = (span: Span, declaration: boolean, written: boolean): void => {
    found.set(span.start, { file: view.file, range: rangeAt(view, span), declaration, written });
  };
  for (const place of placedUnits(view.script)) {
    const { unit, binding, span } = place;
    for (const mention of binding.mentions) {
      if (!isSame(view, mention, entity, span(mention.node).start)) continue;
      if (mention.kind === 'table')
        add(span(lastPart(mention.node)), mention.access === 'define', mention.access !== 'read');
      else add(span(mention.node), mention.written && definesColumns(unit.statement), mention.written);
    }
    if (entity.kind === 'variable')
      for (const named of argumentsNaming(place, entity.variable)) add(named, false, false);
    if (entity.kind === 'procedure') {
      for (const name of procedureNames(unit))
        if (nameFits(entity.name, tableNameOf(name))) add(span(lastPart(name)), makes(unit.statement, name), false);
    }
    if (entity.kind !== 'alias') continue;
    for (const { node, declared } of binding.aliases)
      if (declared === entity.alias.declared) add(span(node), node === declared, false);
  }
  if (entity.kind === 'output') add(entity.place.span(entity.output.node), true, false);
  if (entity.kind === 'variable' && entity.variable.file === view.file) {
    for (const { span, declaration, written } of mentionsOfVariable(view, entity.variable))
      add(span, declaration, written);
  }
  return [...found].sort(([left], [right]) => left - right).map(([, reference]) => reference);
}

function makes(statement: Statement, name: Name): boolean {
  return statement.kind === 'create-procedure' && statement.name === name;
}

function definesColumns({ kind }: Statement): boolean {
  return kind === 'create-table' || kind === 'create-view' || kind === 'declare-table';
}

/** `at` is where the mention stands: several tables of a script may bear one name. */
function isSame(view: DocumentView, mention: Mention, entity: Entity, at: number): boolean {
  switch (entity.kind) {
    case 'table':
      return mention.kind === 'table' && tableNamed(view, mention.name) === entity.table;
    case 'local-table':
      return mention.kind === 'table' && isLocal(view, mention.name, entity.table, at);
    case 'column': {
      if (mention.kind !== 'column' || !sameIdentifier(mention.column, entity.column.name)) return false;
      const found = columnsNamed(view, mention.tables, mention.column);
      return found.length === 1 && found[0]?.table === entity.table;
    }
    case 'local-column':
      return (
        mention.kind === 'column' &&
        sameIdentifier(mention.column, entity.column.name) &&
        mention.tables.some((name) => isLocal(view, name, entity.table, at))
      );
    case 'output':
      return mention.kind === 'column' && mention.output?.node === entity.output.node;
    case 'alias':
    case 'procedure':
    case 'variable':
    case 'argument':
      return false;
  }
}

function isLocal(view: DocumentView, name: TableName, table: LocalTable, at: number): boolean {
  if (!nameFits(name, table.name)) return false;
  const meant = localNamed(view, name, at)?.range.start;
  return meant?.line === table.range.start.line && meant.character === table.range.start.character;
}
