import type { TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { DerivedDefinition, FileDefinitions, TableChange } from './definitions.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import { TableLookup } from './lookup.ts';
import { formatTableName, sameIdentifier, tableKey } from './names.ts';
import type { QueryColumn } from './query-columns.ts';

/**
 * Puts the definitions of all files together: one entry per table, columns of views and CTAS filled in where they can
 * be known, ALTER TABLE of any file applied. A table defined twice keeps its first definition.
 */
export function mergeDefinitions(files: readonly FileDefinitions[]): Outcome<readonly TableFacts[]> {
  const problems: Problem[] = [];
  const defined = new Map<string, TableFacts>();
  const define = (facts: TableFacts): void => {
    const known = defined.get(tableKey(facts.name));
    if (known === undefined) defined.set(tableKey(facts.name), facts);
    else if (!sameShape(known, facts)) problems.push(definedTwice(known, facts));
  };
  for (const file of files) for (const facts of file.tables) define(facts);
  resolveDerived(
    files.flatMap((file) => file.derived),
    defined,
    define,
  );
  const changed = applyChanges(
    [...defined.values()],
    files.flatMap((file) => file.changes),
  );
  return { value: changed, problems };
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
function resolveDerived(
  derived: readonly DerivedDefinition[],
  defined: ReadonlyMap<string, TableFacts>,
  define: (facts: TableFacts) => void,
): void {
  let open = derived;
  while (open.length > 0) {
    const lookup = new TableLookup([...defined.values()]);
    const waiting = new TableLookup(open.map((definition) => definition.facts));
    const still: DerivedDefinition[] = [];
    for (const definition of open) {
      const needed = tablesNeeded(definition).filter((name) =>
        waiting.find(name).some((facts) => facts !== definition.facts),
      );
      if (needed.length > 0) still.push(definition);
      else define(resolveColumns(definition, lookup));
    }
    if (still.length === open.length) {
      for (const definition of still) define(resolveColumns(definition, lookup));
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
function resolveColumns(definition: DerivedDefinition, lookup: TableLookup<TableFacts>): TableFacts {
  const columns = definition.columns.items.flatMap((item) => resolveItem(item, definition.facts, lookup));
  const { names } = definition;
  const renamed =
    names.length === 0
      ? columns
      : names.map((name, index): ColumnFacts => {
          const column = names.length === columns.length ? columns[index] : undefined;
          return { ...(column ?? unknownColumn(name, definition.facts)), name };
        });
  return { ...definition.facts, columns: renamed };
}

function resolveItem(item: QueryColumn, facts: TableFacts, lookup: TableLookup<TableFacts>): readonly ColumnFacts[] {
  if (item.kind === 'all') {
    const table = lookup.one(item.table);
    return (table?.columns ?? [])
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
    .flatMap((name) => lookup.one(name)?.columns ?? [])
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

function applyChanges(tables: readonly TableFacts[], changes: readonly TableChange[]): readonly TableFacts[] {
  if (changes.length === 0) return tables;
  const lookup = new TableLookup(tables);
  const changed = new Map<TableFacts, TableFacts>();
  for (const change of changes) {
    const table = lookup.one(change.table);
    if (table !== undefined) changed.set(table, applyChange(changed.get(table) ?? table, change));
  }
  return tables.map((table) => changed.get(table) ?? table);
}

function applyChange(table: TableFacts, change: TableChange): TableFacts {
  const has = (names: readonly string[], name: string) => names.some((other) => sameIdentifier(other, name));
  const primary = change.addKeys.find((key) => key.kind === 'primary-key')?.columns ?? [];
  const added = change.addColumns.filter(
    (column) => !table.columns.some((known) => sameIdentifier(known.name, column.name)),
  );
  const columns = [...table.columns, ...added]
    .filter((column) => !has(change.dropColumns, column.name))
    .map((column): ColumnFacts => {
      const altered = change.alterColumns.find((other) => sameIdentifier(other.name, column.name));
      const renamed = change.renameColumns.find((other) => sameIdentifier(other.from, column.name));
      const stated = change.defaults.find((other) => sameIdentifier(other.column, column.name));
      return {
        ...column,
        name: renamed?.to ?? column.name,
        type: altered?.type ?? column.type,
        nullable: has(primary, column.name) ? false : (altered?.nullable ?? column.nullable),
        collation: altered?.collation ?? column.collation,
        default: stated?.expression ?? column.default,
      };
    });
  const keys = [...table.keys, ...change.addKeys].sort(
    (left, right) => Number(left.kind !== 'primary-key') - Number(right.kind !== 'primary-key'),
  );
  return { ...table, columns, keys };
}
