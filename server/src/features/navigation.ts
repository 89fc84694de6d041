import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import { bindUnit, type Mention } from '../model/binding.ts';
import type { TableFacts } from '../model/facts.ts';
import { nameFits, sameIdentifier, tableKey } from '../model/names.ts';
import { absoluteRange, lastPart, unitsOf } from '../syntax/inspect.ts';
import { columnsNamed, type Entity, entityAt } from './entity.ts';
import { type DocumentView, type Location, rangeAt, tableNamed } from './view.ts';

/** Where the table or column at a position is defined; definitions and ALTER TABLE of any file. */
export function definition(view: DocumentView, position: Position): readonly Location[] {
  const entity = entityAt(view, position);
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
  return { file: table.file, range: column?.range ?? table.range };
}

/** A file knows a table by its first name where another file renames it. */
function isDefinitionOf({ name }: TableFacts, table: CatalogTable): boolean {
  return [table.name, ...(table.formerNames ?? [])].some((one) => tableKey(one) === tableKey(name));
}

/** The files that mention the table of an entity; the places inside them are found by `referencesIn`. */
export function filesMentioning(view: DocumentView, entity: Entity): readonly string[] {
  if (entity.kind === 'local-table' || entity.kind === 'local-column') return [view.file];
  return [
    ...new Set([view.file, entity.table.file, ...view.folder.mentionsOf(entity.table).map((mention) => mention.file)]),
  ];
}

/** A place where an entity is named. */
export interface Reference extends Location {
  readonly declaration: boolean;
  readonly written: boolean;
}

/** Every place of a document that names the entity, in the order of the text. */
export function referencesIn(view: DocumentView, entity: Entity): readonly Reference[] {
  return unitsOf(view.script).flatMap((unit) =>
    bindUnit(unit).mentions.flatMap((mention): readonly Reference[] => {
      if (!isSame(view, mention, entity)) return [];
      const node = mention.kind === 'table' ? lastPart(mention.node) : mention.node;
      const range: Range = rangeAt(view, absoluteRange(unit, node));
      const defined =
        mention.kind === 'table'
          ? mention.access === 'define'
          : mention.written && unit.statement.kind === 'create-table';
      return [
        {
          file: view.file,
          range,
          declaration: defined,
          written: mention.kind === 'table' ? mention.access !== 'read' : mention.written,
        },
      ];
    }),
  );
}

function isSame(view: DocumentView, mention: Mention, entity: Entity): boolean {
  switch (entity.kind) {
    case 'table':
      return mention.kind === 'table' && tableNamed(view, mention.name) === entity.table;
    case 'local-table':
      return mention.kind === 'table' && nameFits(mention.name, entity.table.name);
    case 'column': {
      if (mention.kind !== 'column' || !sameIdentifier(mention.column, entity.column.name)) return false;
      const found = columnsNamed(view, mention.tables, mention.column);
      return found.length === 1 && found[0]?.table === entity.table;
    }
    case 'local-column':
      return (
        mention.kind === 'column' &&
        sameIdentifier(mention.column, entity.column.name) &&
        mention.tables.some((name) => nameFits(name, entity.table.name))
      );
  }
}
