import { findAll, lastPart, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import type { IndexDefinition, Name, Script, Statement, TableElement } from '../../syntax/tree.ts';
import type { FilteredIndexFact, ForeignKeyFact, SchemaObjects, TriggerFact } from './tables.ts';

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
  return {
    triggers: parts.flatMap((part) => part.triggers),
    foreignKeys: parts.flatMap((part) => part.foreignKeys),
    filteredIndexes: parts.flatMap((part) => part.filteredIndexes),
    alwaysIdentities: parts.flatMap((part) => part.alwaysIdentities),
    columnstores: parts.flatMap((part) => part.columnstores),
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
  return joinObjects([{ ...noObjects, foreignKeys, alwaysIdentities }, ...parts]);
}

function ofIndex(table: Name, index: IndexDefinition): SchemaObjects {
  const columnstores = index.columnstore && index.clustered !== false ? [tableNameOf(table)] : [];
  if (!index.unique || index.where === null) return { ...noObjects, columnstores };
  const filter = findAll(index.where, 'column').map((column) => lastPart(column).name);
  const fact: FilteredIndexFact = { table: tableNameOf(table), name: index.name.name, filter };
  return { ...noObjects, columnstores, filteredIndexes: [fact] };
}
