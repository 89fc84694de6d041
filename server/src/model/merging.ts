import type { TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { DerivedDefinition, FileDefinitions } from './definitions.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import { addTo } from './groups.ts';
import type { InSteps } from './in-steps.ts';
import { TableLookup } from './lookup.ts';
import { formatTableName, sameIdentifier, tableKey } from './names.ts';
import type { QueryColumn } from './query-columns.ts';
import { reachIn } from './reach.ts';
import { withRenames } from './renames.ts';
import type { TableChange } from './table-changes.ts';

/**
 * Puts the definitions of all files together: one entry per table, columns of views and CTAS filled in where they can
 * be known, ALTER TABLE and renames of any file applied. A table defined twice keeps its first definition.
 */
export function* mergeInSteps(given: readonly FileDefinitions[]): InSteps<Outcome<readonly TableFacts[]>> {
  const files = withRenames(given);
  const problems: Problem[] = [];
  const merged = new MergedTables(files);
  const define = (facts: TableFacts): void => {
    const known = merged.defined.get(tableKey(facts.name));
    if (known === undefined) merged.add(facts);
    // A table that a script swaps into place is the one that is defined under that name.
    else if (facts.formerNames === undefined && !sameShape(known, facts)) problems.push(definedTwice(known, facts));
  };
  const tables = files.flatMap((file) => file.tables);
  const isRenamed = (facts: TableFacts): boolean => facts.formerNames !== undefined;
  for (const facts of [...tables.filter((each) => !isRenamed(each)), ...tables.filter(isRenamed)]) {
    define(facts);
    yield;
  }
  yield* resolveDerived(
    files.flatMap((file) => file.derived),
    merged,
    define,
  );
  return { value: withSynonyms([...merged.changed.values()], files), problems };
}

/** Synonyms lead to their tables, like names that these bore before. */
function withSynonyms(tables: readonly TableFacts[], files: readonly FileDefinitions[]): readonly TableFacts[] {
  const changes = files.flatMap((file) =>
    file.changes.filter(({ synonym }) => synonym !== null).map((change) => ({ ...change, file })),
  );
  if (changes.length === 0) return tables;
  const lookup = new TableLookup(tables);
  const reaches = reachIn(files);
  const names = new Map<TableFacts, TableName[]>();
  for (const { table, synonym, file } of changes) {
    const meant = lookup.one(table, (facts) => reaches(file, facts));
    if (meant !== undefined && synonym !== null) addTo(names, meant, synonym);
  }
  return tables.map((facts) => {
    const others = names.get(facts);
    return others === undefined ? facts : { ...facts, formerNames: [...(facts.formerNames ?? []), ...others] };
  });
}

/** The tables that are known so far, as they were created and as they are after all changes. */
class MergedTables {
  readonly defined = new Map<string, TableFacts>();
  readonly changed = new Map<string, TableFacts>();
  private readonly changesOf: ReadonlyMap<string, readonly TableChange[]>;
  private readonly places = new Map<TableChange, { readonly file: string; readonly place: number }>();

  constructor(files: readonly FileDefinitions[]) {
    this.changesOf = changesByTable(files);
    for (const { file, changes } of files)
      for (const [place, change] of changes.entries()) this.places.set(change, { file, place });
  }

  add(facts: TableFacts): void {
    const key = tableKey(facts.name);
    const changes = this.changesOf.get(key);
    this.defined.set(key, facts);
    this.changed.set(key, changes === undefined ? facts : this.change(facts, changes));
  }

  private change(facts: TableFacts, changes: readonly TableChange[]): TableFacts {
    return changedTable(facts, changes, (change) => this.places.get(change)?.file ?? facts.file);
  }

  /** The table that a definition reads: a view sees all changes, a copy those that do not stand behind it in its file. */
  readBy(definition: DerivedDefinition, table: TableFacts): TableFacts {
    const changes = this.changesOf.get(tableKey(table.name));
    const created = this.defined.get(tableKey(table.name));
    if (changes === undefined || created === undefined || definition.facts.origin === 'view') return table;
    const before = changes.filter((change) => {
      const at = this.places.get(change);
      return at?.file !== definition.facts.file || at.place < definition.changesBefore;
    });
    return before.length === changes.length ? table : this.change(created, before);
  }
}

/** The changes of each table by its key, in the order of the files. A name with parts left open means the only table that it fits. */
function changesByTable(files: readonly FileDefinitions[]): ReadonlyMap<string, readonly TableChange[]> {
  const found = new Map<string, TableChange[]>();
  if (files.every(({ changes }) => changes.length === 0)) return found;
  const names = new Map<string, TableFacts>();
  for (const { tables, derived } of files)
    for (const facts of [...tables, ...derived.map((each) => each.facts)]) names.set(tableKey(facts.name), facts);
  const lookup = new TableLookup([...names.values()]);
  const reaches = reachIn(files);
  for (const [file, change] of files.flatMap((each) => each.changes.map((change) => [each, change] as const))) {
    const table = lookup.one(change.table, (facts) => reaches(file, facts));
    if (change.newName !== null) {
      // What was changed under the old name so far went with the table, though another one bears that name now.
      const [renamed, ...others] = lookup.formerly(change.table);
      const before = table === undefined ? undefined : found.get(tableKey(table.name));
      if (renamed === undefined || others.length > 0 || table === renamed || before === undefined) continue;
      found.set(tableKey(renamed.name), [...(found.get(tableKey(renamed.name)) ?? []), ...before.splice(0)]);
      continue;
    }
    if (table === undefined) continue;
    const known = found.get(tableKey(table.name));
    if (known === undefined) found.set(tableKey(table.name), [change]);
    else known.push(change);
  }
  return found;
}

function definedTwice(known: TableFacts, again: TableFacts): Problem {
  return {
    code: 'defined-twice',
    severity: 'info',
    message: `${formatTableName(again.name)} is already defined with other columns in ${known.file}; that definition counts. Delete one of the two, or leave one folder out.`,
    file: again.file,
    range: again.range,
  };
}

function sameShape(left: TableFacts, right: TableFacts): boolean {
  return (
    left.columns.length === right.columns.length &&
    left.columns.every((column, index) => {
      const other = right.columns[index];
      return other !== undefined && sameIdentifier(column.name, other.name) && column.type === other.type;
    })
  );
}

/** Views may read views: passes go on as long as one more definition can be filled in. */
function* resolveDerived(
  derived: readonly DerivedDefinition[],
  merged: MergedTables,
  define: (facts: TableFacts) => void,
): InSteps<void> {
  let open = derived;
  while (open.length > 0) {
    const lookup = new TableLookup([...merged.changed.values()]);
    const waiting = new TableLookup(open.map((definition) => definition.facts));
    const still: DerivedDefinition[] = [];
    for (const definition of open) {
      const needed = tablesNeeded(definition).filter((name) =>
        waiting.find(name).some((facts) => facts !== definition.facts),
      );
      if (needed.length > 0) still.push(definition);
      else define(resolveColumns(definition, lookup, merged));
      yield;
    }
    if (still.length === open.length) {
      for (const definition of still) {
        define(resolveColumns(definition, lookup, merged));
        yield;
      }
      return;
    }
    open = still;
  }
}

function tablesNeeded(definition: DerivedDefinition): readonly TableName[] {
  return definition.columns.items.flatMap((item) => {
    if (item.kind === 'all') return [item.table];
    return item.origin?.kind === 'column' ? item.origin.tables : [];
  });
}

/** Fills in a view's or CTAS' columns; types that can't be known are ''. */
function resolveColumns(
  definition: DerivedDefinition,
  lookup: TableLookup<TableFacts>,
  merged: MergedTables,
): TableFacts {
  const read = (name: TableName): TableFacts | undefined => {
    const table = lookup.one(name);
    return table === undefined ? undefined : merged.readBy(definition, table);
  };
  const columns = definition.columns.items.flatMap((item) => resolveItem(item, definition.facts, read));
  const { names } = definition;
  const renamed =
    names.length === 0
      ? columns
      : names.map((name, index): ColumnFacts => {
          const column = names.length === columns.length ? columns[index] : undefined;
          const given = { ...(column ?? unknownColumn(name, definition.facts)), name };
          const declared = definition.declared.find((each) => sameIdentifier(each.name, name));
          return declared === undefined ? given : declaredColumn(declared, given);
        });
  const reads = definition.facts.origin === 'view' ? { reads: tablesNeeded(definition) } : {};
  return { ...definition.facts, ...reads, columns: renamed };
}

/** A column with a type in front of the query is what it says; one without has the query's. */
function declaredColumn(declared: ColumnFacts, given: ColumnFacts): ColumnFacts {
  if (declared.type !== '') return declared;
  return { ...declared, type: given.type, nullable: declared.nullable && given.nullable, collation: given.collation };
}

function resolveItem(
  item: QueryColumn,
  facts: TableFacts,
  read: (name: TableName) => TableFacts | undefined,
): readonly ColumnFacts[] {
  if (item.kind === 'all') {
    return (read(item.table)?.columns ?? [])
      .filter((column) => !item.except.some((name) => sameIdentifier(name, column.name)))
      .map((column) => derivedColumn(column, column.name, facts));
  }
  const range = item.range ?? facts.range;
  const { origin } = item;
  if (origin === null) return [{ ...unknownColumn(item.name, facts), range }];
  if (origin.kind === 'type') {
    return [{ ...unknownColumn(item.name, facts), type: origin.type, nullable: origin.nullable, range }];
  }
  const having = origin.tables
    .flatMap((name) => read(name)?.columns ?? [])
    .filter((column) => sameIdentifier(column.name, origin.column));
  const [only, ...more] = having;
  return only === undefined || more.length > 0
    ? [{ ...unknownColumn(item.name, facts), range }]
    : [{ ...derivedColumn(only, item.name, facts), range }];
}

/** A query hands on type, nullability and collation, but neither defaults nor what makes a column generated. */
function derivedColumn(column: ColumnFacts, name: string, facts: TableFacts): ColumnFacts {
  const { type, nullable, collation } = column;
  return { ...unknownColumn(name, facts), type, nullable, collation };
}

function unknownColumn(name: string, facts: TableFacts): ColumnFacts {
  return {
    name,
    type: '',
    nullable: true,
    identity: false,
    computed: false,
    default: null,
    collation: null,
    range: facts.range,
    period: null,
  };
}

/** A table after all of its changes, one after the other. Columns are found by name, since there may be very many. */
function changedTable(
  table: TableFacts,
  changes: readonly TableChange[],
  fileOf: (change: TableChange) => string,
): TableFacts {
  const columns: (ColumnFacts | null)[] = [];
  const places = new Map<string, number>();
  const add = (column: ColumnFacts): void => {
    places.set(column.name.toLowerCase(), columns.length);
    columns.push(column);
  };
  const placeOf = (name: string): number => places.get(name.toLowerCase()) ?? -1;
  const update = (name: string, change: Partial<ColumnFacts>): void => {
    const column = columns[placeOf(name)];
    if (column != null) columns[placeOf(name)] = { ...column, ...change };
  };
  for (const column of table.columns) add(column);
  let keys = [...table.keys];
  for (const change of changes) {
    if (change.dropsAll) {
      columns.length = 0;
      places.clear();
    }
    const file = fileOf(change);
    for (const column of change.addColumns)
      if (placeOf(column.name) < 0) add(file === table.file ? column : { ...column, file });
    for (const name of change.dropColumns) {
      if (placeOf(name) >= 0) columns[placeOf(name)] = null;
      places.delete(name.toLowerCase());
    }
    for (const altered of change.alterColumns) update(altered.name, altered.change);
    for (const { column, expression } of change.defaults) update(column, { default: expression });
    const primary = change.addKeys.find((key) => key.kind === 'primary-key')?.columns ?? [];
    for (const name of primary) update(name, { nullable: false });
    for (const { from, to } of change.renameColumns) {
      const place = placeOf(from);
      if (place < 0) continue;
      update(from, { name: to });
      places.delete(from.toLowerCase());
      places.set(to.toLowerCase(), place);
      const now = (name: string): string => (sameIdentifier(name, from) ? to : name);
      keys = keys.map((key) => ({ ...key, columns: key.columns.map(now) }));
    }
    keys.push(...change.addKeys);
  }
  keys.sort((left, right) => Number(left.kind !== 'primary-key') - Number(right.kind !== 'primary-key'));
  return { ...table, columns: columns.filter((column) => column !== null), keys };
}
