import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { Range } from '../../../../protocol/position.ts';
import { buildCatalog } from '../../model/catalog.ts';
import { naturalPart, readMeaning } from '../../model/columns.ts';
import { defaultConventions } from '../../model/default-conventions.ts';
import { definedWhileItRuns, isTemporary } from '../../model/definitions.ts';
import { readElements } from '../../model/elements.ts';
import type { TableFacts } from '../../model/facts.ts';
import { guessRole } from '../../model/roles.ts';
import { structureOf } from '../../model/structure.ts';
import { lastPart, tableNameOf } from '../../syntax/inspect.ts';
import type { Query, Script, Statement, TableElement } from '../../syntax/tree.ts';
import { joinObjects, objectsOfStatement, type SchemaObjects } from './schema-objects.ts';
import { rootSuccession, rootsOf, type Step, stepsOfRoot } from './steps.ts';
import { makeFilter } from './succession.ts';
import type { LocalTables } from './tables.ts';

export interface LocalTablesReading {
  /** The top-level statements that make tables; the same ones mean the same tables. */
  readonly statements: readonly Statement[];
  /** Reads them, and joins their triggers and keys to the folder's. */
  read(
    catalog: readonly CatalogTable[],
    objects: SchemaObjects,
  ): {
    readonly tables: LocalTables;
    readonly objects: SchemaObjects;
  };
}

const makers = makeFilter<Statement, null>(rootSuccession);

/** Finds what a script defines for itself: temporary tables, table variables, tables and views of its own. */
export function localTablesOf(script: Script): LocalTablesReading {
  const roots = rootsOf(script);
  const statements = makers(roots, null, makesTables).flatMap((index) => roots[index] ?? []);
  return {
    statements,
    read(_catalog, objects) {
      const own = joinObjects([objects, ...statements.map(objectsOfStatement)]);
      if (statements.length === 0) return { tables: { tables: [], queries: [], guarded: new Set() }, objects };
      return { tables: readLocal(script, statements), objects: own };
    },
  };
}

function makesTables(root: Statement): boolean {
  return allSteps(root).some((step) => isMaking(step.statement));
}

function allSteps(root: Statement): readonly Step[] {
  const { own, bodies } = stepsOfRoot(root);
  return [...own, ...bodies.flatMap((body) => body.steps)];
}

function isMaking(statement: Statement): boolean {
  switch (statement.kind) {
    case 'create-table':
    case 'declare-table':
    case 'create-view':
    case 'alter-table':
    case 'create-index':
    case 'create-trigger':
      return true;
    case 'select-statement':
      return statement.query.body.kind === 'select' && statement.query.body.into !== null;
    default:
      return false;
  }
}

function readLocal(script: Script, statements: readonly Statement[]): LocalTables {
  const tables = buildCatalog([definedWhileItRuns(script, '')]).tables.filter((table) => table.columns.length > 0);
  const queries: { name: TableName; query: Query }[] = [];
  const guarded = new Set<string>();
  for (const root of statements) {
    for (const { statement } of allSteps(root)) {
      if (statement.kind === 'create-table' && (root !== statement || statement.ifNotExists)) {
        guarded.add(tableNameOf(statement.name).table.toLowerCase());
      }
      if (statement.kind === 'declare-table') {
        const name = { database: null, schema: null, table: statement.name };
        tables.push(withRoles(temporaryFacts(name, statement.elements, script.platform)));
      } else if (statement.kind === 'create-table' && isLocalName(tableNameOf(statement.name), statement.temporary)) {
        const name = { ...tableNameOf(statement.name), schema: null, database: null };
        if (statement.query !== null) queries.push({ name, query: statement.query });
        else tables.push(withRoles(temporaryFacts(name, statement.elements, script.platform)));
      } else if (statement.kind === 'create-view') {
        queries.push({ name: tableNameOf(statement.name), query: statement.query });
      } else if (statement.kind === 'create-table' && statement.query !== null) {
        queries.push({ name: tableNameOf(statement.name), query: statement.query });
      } else if (statement.kind === 'select-statement') {
        const { body } = statement.query;
        if (body.kind === 'select' && body.into !== null) {
          queries.push({ name: tableNameOf(body.into), query: statement.query });
        }
      } else if (statement.kind === 'create-index' && statement.definition.unique) {
        addKey(
          tables,
          tableNameOf(statement.table),
          statement.definition.columns.map((column) => column.name.name),
        );
      }
    }
  }
  const unclear = severallyMade(tables, queries);
  // What a query makes is known better through its query than through the columns that the model could name.
  const byQuery = new Set(queries.map(({ name }) => name.table.toLowerCase()));
  const isKnown = (name: TableName) => !unclear.has(name.table.toLowerCase());
  return {
    tables: tables.filter(({ name }) => isKnown(name) && !byQuery.has(name.table.toLowerCase())),
    queries: queries.filter(({ name }) => isKnown(name)),
    guarded,
  };
}

/**
 * Temporary tables and table variables, by their names in lower case, that several procedures of a script make with other
 * columns each: which one is meant is told by the place of a statement, and nobody says anything of their columns here.
 */
function severallyMade(tables: readonly CatalogTable[], queries: LocalTables['queries']): ReadonlySet<string> {
  const first = new Map<string, string>();
  const unclear = new Set<string>();
  const see = (name: TableName, columns: string): void => {
    if (!isTemporary(name)) return;
    const key = name.table.toLowerCase();
    if ((first.get(key) ?? columns) !== columns) unclear.add(key);
    else first.set(key, columns);
  };
  for (const { name, columns } of tables) see(name, columns.map((column) => column.name.toLowerCase()).join('\n'));
  for (const { name, query } of queries) see(name, namesGiven(query));
  return unclear;
}

function namesGiven({ body }: Query): string {
  if (body.kind !== 'select') return body.kind;
  const names = body.items.map(({ alias, expression }) =>
    alias === null && expression.kind === 'column' ? lastPart(expression).name : (alias?.name ?? expression.kind),
  );
  return names.join('\n').toLowerCase();
}

function isLocalName(name: TableName, temporary: boolean): boolean {
  return temporary || isTemporary(name);
}

function addKey(tables: CatalogTable[], name: TableName, columns: readonly string[]): void {
  if (!isTemporary(name)) return;
  const at = tables.findIndex((table) => table.name.table.toLowerCase() === name.table.toLowerCase());
  const table = tables[at];
  if (table !== undefined)
    tables[at] = { ...table, keys: [...table.keys, { kind: 'unique', columns, enforced: true }] };
}

const nowhere: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

function temporaryFacts(name: TableName, elements: readonly TableElement[], platform: PlatformName): TableFacts {
  const { columns, keys } = readElements({ platform, text: () => '', range: () => nowhere }, elements);
  return { name, platform, file: '', range: nowhere, columns, keys, options: {}, origin: 'table' };
}

function withRoles(facts: TableFacts): CatalogTable {
  const structure = structureOf(facts, defaultConventions);
  const guess = guessRole(structure, defaultConventions);
  const { origin: _, ...table } = facts;
  return { ...table, ...guess, ...readMeaning(structure, guess.role, naturalPart(structure)) };
}
