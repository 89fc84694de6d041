import type { TableName } from '../../../../protocol/catalog.ts';
import { findAll, lastPart, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import type { IndexDefinition, Name, Script, Statement, TableElement } from '../../syntax/tree.ts';

/** A trigger that the DDL or the script creates. */
export interface TriggerFact {
  readonly table: TableName;
  readonly name: string;
  readonly events: readonly string[];
  readonly insteadOf: boolean;
}

export interface ForeignKeyFact {
  readonly from: TableName;
  readonly to: TableName;
}

/** A unique index with a WHERE clause. */
export interface FilteredIndexFact {
  readonly table: TableName;
  readonly name: string;
  /** Columns that its filter reads. */
  readonly filter: readonly string[];
}

/** What stands in the folder besides tables, as far as rules ask. */
export interface SchemaObjects {
  readonly triggers: readonly TriggerFact[];
  readonly foreignKeys: readonly ForeignKeyFact[];
  readonly filteredIndexes: readonly FilteredIndexFact[];
  /** Columns that are GENERATED ALWAYS AS IDENTITY. */
  readonly alwaysIdentities: readonly { readonly table: TableName; readonly column: string }[];
  /** Tables with a columnstore index that CREATE INDEX made. */
  readonly columnstores: readonly TableName[];
}

export const noObjects: SchemaObjects = {
  triggers: [],
  foreignKeys: [],
  filteredIndexes: [],
  alwaysIdentities: [],
  columnstores: [],
};

/** Triggers, foreign keys and special indexes that the statements of some files create. */
export function schemaObjectsOf(scripts: readonly Script[]): SchemaObjects {
  return joinObjects(scripts.flatMap((script) => unitsOf(script).map((unit) => objectsOfStatement(unit.statement))));
}

export function joinObjects(parts: readonly SchemaObjects[]): SchemaObjects {
  // Most statements and files make none.
  const [first = noObjects, ...others] = parts.filter((part) => part !== noObjects);
  if (others.length === 0) return first;
  const all = [first, ...others];
  return {
    triggers: all.flatMap((part) => part.triggers),
    foreignKeys: all.flatMap((part) => part.foreignKeys),
    filteredIndexes: all.flatMap((part) => part.filteredIndexes),
    alwaysIdentities: all.flatMap((part) => part.alwaysIdentities),
    columnstores: all.flatMap((part) => part.columnstores),
  };
}

export function objectsOfStatement(statement: Statement): SchemaObjects {
  switch (statement.kind) {
    case 'create-trigger': {
      if (statement.table === null) return noObjects;
      const trigger: TriggerFact = {
        table: tableNameOf(statement.table),
        name: lastPart(statement.name).name,
        events: statement.events,
        insteadOf: statement.timing === 'instead-of',
      };
      return { ...noObjects, triggers: [trigger] };
    }
    case 'create-table':
      return ofElements(statement.name, statement.elements);
    case 'alter-table':
      return joinObjects(
        statement.actions.map((action) =>
          action.kind === 'add-elements' ? ofElements(statement.name, action.elements) : noObjects,
        ),
      );
    case 'create-index':
      return ofIndex(statement.table, statement.definition);
    default:
      return noObjects;
  }
}

function ofElements(table: Name, elements: readonly TableElement[]): SchemaObjects {
  const foreignKeys: ForeignKeyFact[] = [];
  const parts: SchemaObjects[] = [];
  const alwaysIdentities = elements.flatMap((element) =>
    element.kind === 'column-definition' && element.identity?.always === true
      ? [{ table: tableNameOf(table), column: element.name.name }]
      : [],
  );
  for (const element of elements) {
    if (element.kind === 'index-definition') parts.push(ofIndex(table, element));
    const constraints =
      element.kind === 'constraint' ? [element] : element.kind === 'column-definition' ? element.constraints : [];
    for (const constraint of constraints) {
      if (constraint.references === null) continue;
      foreignKeys.push({ from: tableNameOf(table), to: tableNameOf(constraint.references.table) });
    }
  }
  const none = foreignKeys.length === 0 && alwaysIdentities.length === 0;
  return joinObjects([none ? noObjects : { ...noObjects, foreignKeys, alwaysIdentities }, ...parts]);
}

function ofIndex(table: Name, index: IndexDefinition): SchemaObjects {
  const columnstores = index.columnstore && index.clustered !== false ? [tableNameOf(table)] : [];
  if (!index.unique || index.where === null) return { ...noObjects, columnstores };
  const filter = findAll(index.where, 'column').map((column) => lastPart(column).name);
  const fact: FilteredIndexFact = { table: tableNameOf(table), name: index.name.name, filter };
  return { ...noObjects, columnstores, filteredIndexes: [fact] };
}
