/** New names of whole tables: sp_rename, RENAME OBJECT, ALTER TABLE … RENAME TO, ALTER SCHEMA … TRANSFER. */
import type { TableName } from '../../../protocol/catalog.ts';
import { lastPart, tableNameOf } from '../syntax/inspect.ts';
import type { AlterTable, Execute, Rename } from '../syntax/tree.ts';
import type { FileDefinitions } from './definitions.ts';
import type { TableFacts } from './facts.ts';
import { nameFits, nameParts, sameIdentifier, tableKey } from './names.ts';
import type { QueryColumns } from './query-columns.ts';
import { type Reaches, reachIn } from './reach.ts';
import { argumentOf, type NewName, renamedTo, type TableChange } from './table-changes.ts';

export interface TableRename {
  readonly table: TableName;
  readonly to: NewName;
}

/** The table that a statement gives a new name; null where it does something else, or only the run knows. */
export function tableRename(statement: Execute | Rename | AlterTable): TableRename | null {
  switch (statement.kind) {
    case 'execute':
      return procedureRename(statement);
    case 'rename': {
      const { objectType, from, column, to, gives } = statement;
      const table = tableNameOf(from);
      if (objectType !== 'OBJECT' || column !== null || table.table === '' || to.name === '') return null;
      return {
        table,
        to: gives === 'name' ? { schema: null, table: to.name } : { schema: to.name, table: table.table },
      };
    }
    case 'alter-table': {
      const action = statement.actions.find((one) => one.kind === 'alter-table-other' && one.name === 'RENAME TO');
      if (action?.kind !== 'alter-table-other' || action.table === null || lastPart(action.table).name === '')
        return null;
      const { schema, table } = tableNameOf(action.table);
      return { table: tableNameOf(statement.name), to: { schema, table } };
    }
  }
}

/** `sp_rename 'schema.table', 'new name'`: the new name is taken as it is written, dots and brackets included. */
function procedureRename(statement: Execute): TableRename | null {
  const to = renamedTo(statement);
  const type = argumentOf(statement, '@objtype', 2);
  if (to === null || to === '' || (type !== null && !sameIdentifier(type, 'OBJECT'))) return null;
  const parts = nameParts(argumentOf(statement, '@objname', 0) ?? '');
  const [table, schema, database, ...more] = [...(parts ?? [])].reverse();
  if (table == null || more.length > 0) return null;
  return { table: { database: database ?? null, schema: schema ?? null, table }, to: { schema: null, table: to } };
}

/** The facts of a table under its new name; the names that it bore before go on leading to it. */
export function underNewName(facts: TableFacts, to: NewName): TableFacts {
  const name = { ...facts.name, table: to.table, schema: to.schema ?? facts.name.schema };
  return { ...facts, name, formerNames: [...(facts.formerNames ?? []), facts.name] };
}

/** A table that has a name, or had it until a moment ago. */
export function bears({ name, formerNames }: TableFacts, asked: TableName): boolean {
  return [name, ...(formerNames ?? [])].some((one) => tableKey(one) === tableKey(asked));
}

/** The columns of a query that reads a table which has another name by now. */
export function fromTable({ items }: QueryColumns, before: TableFacts, now: TableFacts): QueryColumns {
  const follow = (name: TableName): TableName => (nameFits(name, before.name) ? now.name : name);
  return {
    items: items.map((item) => {
      if (item.kind === 'all') return { ...item, table: follow(item.table) };
      if (item.origin?.kind !== 'column') return item;
      return { ...item, origin: { ...item.origin, tables: item.origin.tables.map(follow) } };
    }),
  };
}

/**
 * The same files after the renames that a file makes to tables of other files. Of two tables that bore one name, the
 * one that was made first gives it up. A new name that another table of the folder has stays with that one: then both
 * are as their definitions say.
 */
export function withRenames(files: readonly FileDefinitions[]): readonly FileDefinitions[] {
  if (files.every(({ changes }) => changes.every(({ newName }) => newName === null))) return files;
  const names = new Names(files);
  for (const [place, file] of files.entries()) {
    for (const change of file.changes) if (change.newName !== null) names.rename(file, place, change, change.newName);
  }
  return files.map((file) => ({
    ...file,
    tables: file.tables.map((facts) => names.now(facts)),
    derived: file.derived.map((each) => ({ ...each, facts: names.now(each.facts) })),
  }));
}

interface Bearer {
  readonly made: TableFacts;
  now: TableFacts;
  /** Place of the file that makes it. */
  readonly place: number;
}

/** Who bears which name while renames follow one another. */
class Names {
  private readonly bearers = new Map<string, Bearer[]>();
  private readonly renamed = new Map<TableFacts, TableFacts>();

  private readonly reaches: Reaches;

  constructor(files: readonly FileDefinitions[]) {
    this.reaches = reachIn(files);
    for (const [place, { tables, derived }] of files.entries()) {
      for (const facts of [...tables, ...derived.map((each) => each.facts)])
        this.put({ made: facts, now: facts, place });
    }
  }

  now(facts: TableFacts): TableFacts {
    return this.renamed.get(facts) ?? facts;
  }

  rename(file: FileDefinitions, place: number, { table }: TableChange, to: NewName): void {
    // What the same file makes under the old name, it makes after the rename.
    const fitting = this.bearing(table).filter(
      (bearer) => bearer.place !== place && nameFits(table, bearer.now.name) && this.reaches(file, bearer.made),
    );
    const keys = new Set(fitting.map(({ now }) => tableKey(now.name)));
    if (keys.size !== 1) return;
    const chosen = fitting.findLast((bearer) => bearer.place < place) ?? fitting[0];
    if (chosen === undefined) return;
    const now = underNewName(chosen.now, to);
    if (this.bearing(now.name).some((other) => tableKey(other.now.name) === tableKey(now.name))) return;
    // A definition that stands in two files is one table.
    const same = columnsOf(chosen.now);
    for (const bearer of fitting) {
      if (bearer !== chosen && columnsOf(bearer.now) !== same) continue;
      this.take(bearer);
      bearer.now = underNewName(bearer.now, to);
      this.renamed.set(bearer.made, bearer.now);
      this.put(bearer);
    }
  }

  private bearing(name: TableName): readonly Bearer[] {
    return this.bearers.get(name.table.toLowerCase()) ?? [];
  }

  private put(bearer: Bearer): void {
    const key = bearer.now.name.table.toLowerCase();
    const others = this.bearers.get(key);
    if (others === undefined) this.bearers.set(key, [bearer]);
    else others.push(bearer);
  }

  private take(bearer: Bearer): void {
    const key = bearer.now.name.table.toLowerCase();
    this.bearers.set(
      key,
      this.bearing(bearer.now.name).filter((other) => other !== bearer),
    );
  }
}

function columnsOf({ columns }: TableFacts): string {
  return JSON.stringify(columns.map(({ name, type }) => [name.toLowerCase(), type]));
}
