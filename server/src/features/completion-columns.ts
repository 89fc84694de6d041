import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import { type Binding, bindUnit, scopeAt } from '../model/binding.ts';
import type { LocalTable } from '../model/locals.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { givesNothing } from '../model/query-outputs.ts';
import { type ColumnMention, type Scoped, type ScopeSource, sameTable } from '../model/scopes.ts';
import { findAll, tableNameOf, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import type { Identifier, Unit } from '../syntax/tree.ts';
import type { CompletionItem } from './completion-item.ts';
import type { Clause, Context, Place } from './completion-place.ts';
import { roleTexts } from './hover.ts';
import { quotedName } from './quoting.ts';
import { type DocumentView, localNamed, offsetAt, tableNamed } from './view.ts';

/** Columns where one is named: in queries and writes by what is visible there, in lists of a table by that table. */
export function columnItems(
  view: DocumentView,
  place: Place,
  context: Extract<Context, { kind: 'columns' }>,
): readonly CompletionItem[] {
  const { unit, binding } = readAround(view, place);
  const at = place.offset - place.unit.offset;
  const inside = scopeAt(binding, at);
  const named = columnNamedAt(binding, offsetAt(view, place.range.start) - place.unit.offset);
  const { clause, qualifier, listed } = context;
  if (clause === 'insert' || (clause === 'output' && named?.written === true)) {
    const [target = inside?.target ?? null] = named?.tables ?? [];
    const all = [...listed, ...namesBeside(unit, named)];
    return target === null
      ? []
      : listItems(view, columnsOf(view, target, place.range).filter(isWritable), all, place.range);
  }
  if (inside === undefined && qualifier === null) {
    const [table] = named === undefined || isNew(unit, named, context) ? [] : named.tables;
    const name = table ?? context.listedTable;
    if (name !== null)
      return listItems(view, madeColumns(unit, name) ?? columnsOf(view, name, place.range), listed, place.range);
    if (named !== undefined) return [];
  }
  const scope: Scoped | undefined = inside ?? binding.scopes.findLast(({ node }) => node.start <= at);
  if (scope === undefined) return [];
  return qualifier === null
    ? visibleItems(view, scope, clause, place.range)
    : qualifiedItems(view, scope, clause, qualifier, place.range);
}

/** The other columns of the list that a column stands in, behind it, too. */
function namesBeside(unit: Unit, named: ColumnMention | undefined): readonly string[] {
  if (named === undefined) return [];
  const lists: readonly (readonly Identifier[])[] = [
    ...findAll(unit.statement, 'insert').map(({ columns }) => columns),
    ...findAll(unit.statement, 'merge-insert').map(({ columns }) => columns),
    ...findAll(unit.statement, 'output').map(({ intoColumns }) => intoColumns),
  ];
  const list = lists.find((columns) => columns.includes(named.node)) ?? [];
  return list.filter((column) => column !== named.node).map(({ name }) => name);
}

function columnNamedAt(binding: Binding, start: number): ColumnMention | undefined {
  const found = binding.mentions.find((mention) => mention.kind === 'column' && mention.node.start === start);
  return found?.kind === 'column' ? found : undefined;
}

/** A new column gets its name here; `PARTITIONED BY (a)` names columns as if it made them. */
function isNew(unit: Unit, { node }: ColumnMention, { isKeyList }: Extract<Context, { kind: 'columns' }>): boolean {
  const made = findAll(unit.statement, 'column-definition').some(({ name }) => name === node);
  return made && !isKeyList && !findAll(unit.statement, 'alter-column').some(({ column }) => column === node);
}

/** The columns that a statement gives to a table; null where it makes no such table. */
function madeColumns(unit: Unit, table: TableName): readonly OfferedColumn[] | null {
  const made = findAll(unit.statement, 'create-table').find(({ name }) => sameTable(tableNameOf(name), table));
  if (made === undefined || made.query !== null) return null;
  return made.elements.flatMap((element) =>
    element.kind === 'column-definition' && element.type !== null
      ? [{ name: element.name.name, type: element.type.text, role: null, owner: table.table, readOnly: false }]
      : [],
  );
}

/** What a list has not named yet, in the order of the table, as a list is written. */
function listItems(
  view: DocumentView,
  columns: readonly OfferedColumn[],
  listed: readonly string[],
  range: Range,
): readonly CompletionItem[] {
  return columns
    .filter((column) => !listed.some((name) => sameIdentifier(name, column.name)))
    .map((column, place) => ({
      ...columnItem(view, column, 'insert', range),
      sortText: `m${String(place).padStart(5, '0')}`,
    }));
}

function isWritable({ readOnly }: OfferedColumn): boolean {
  return !readOnly;
}

function qualifiedItems(
  view: DocumentView,
  scope: Scoped,
  clause: Clause,
  qualifier: string,
  range: Range,
): readonly CompletionItem[] {
  const source =
    scope.sources.find(({ alias }) => sameIdentifier(alias, qualifier)) ??
    scope.sources.find(({ table }) => table !== null && sameIdentifier(table.table, qualifier));
  const special = /^(inserted|deleted|excluded)$/i.test(qualifier) ? scope.target : null;
  const columns =
    source === undefined
      ? special === null
        ? []
        : columnsOf(view, special, range)
      : columnsOfSource(view, source, range);
  return columns
    .filter((column) => clause !== 'set' || isWritable(column))
    .map((column) => columnItem(view, column, clause, range));
}

function visibleItems(view: DocumentView, scope: Scoped, clause: Clause, range: Range): readonly CompletionItem[] {
  const { target } = scope;
  const rows = clause === 'output' && target !== null ? rowSets(scope, target) : [];
  // Rows that are inserted have no target yet, and OUTPUT names its columns behind `inserted.` and `deleted.` only.
  const sources =
    clause === 'values' && target !== null
      ? scope.sources.slice(1)
      : [...rows, ...scope.sources.filter(({ table }) => rows.length === 0 || !sameTable(table, target))];
  const ownFirst = clause === 'set' || (sources.length === 0 && clause !== 'values');
  const own = ownFirst && target !== null ? columnsOf(view, target, range) : [];
  const writable = clause === 'set' ? own.filter(isWritable) : own;
  const offered =
    writable.length > 0
      ? writable
      : sources.filter((source) => !rows.includes(source)).flatMap((source) => columnsOfSource(view, source, range));
  const seen = new Set<string>();
  const columns = offered.filter((column) => {
    const key = column.name.toLowerCase();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const aliases = sources
    .filter(({ alias }) => alias !== '')
    .map((source) => ({
      ...aliasItem(source, range),
      ...(rows.includes(source) ? { sortText: `a${source.alias}` } : {}),
    }));
  return [...aliases, ...columns.map((column) => columnItem(view, column, clause, range))];
}

/** The rows that OUTPUT can name: those that a write leaves, and those that it found. */
function rowSets({ node }: Scoped, table: TableName): readonly ScopeSource[] {
  const kind = 'kind' in node ? node.kind : '';
  const names = kind === 'insert' ? ['inserted'] : kind === 'delete' ? ['deleted'] : ['inserted', 'deleted'];
  return names.map((alias) => ({ alias, table, query: null, declared: null }));
}

/**
 * What the names around the cursor mean once a name stands there: `SELECT | FROM t` and `SET | FROM t` read the word
 * behind the cursor as that name.
 */
export function readAround(
  view: DocumentView,
  { unit, batch, offset, context, range }: Place,
): { readonly unit: Unit; readonly binding: Binding } {
  const { text, platform } = view.script;
  const start = offsetAt(view, range.start);
  const longest = offset + longestRest;
  // A statement that is broken here may seem to end anywhere, but not beyond a semicolon.
  const next = batch.units.find(
    (other) => other.offset > offset && (other.offset > longest || /;\s*$/.test(text.slice(offset, other.offset))),
  );
  const end = Math.min(next?.offset ?? batch.end, longest);
  const assigned =
    context.kind === 'columns' && context.clause === 'set' && !/^\s*[+\-*/%&|^]?=/.test(text.slice(offset, end));
  const whole = `${text.slice(unit.offset, start)}${placeholder}${assigned ? ' = 0' : ''}${text.slice(offset, end)}`;
  const [first = unit] = unitsOf(parse(whole, { platform }));
  return { unit: first, binding: bindUnit(first) };
}

const placeholder = 'name__';
/** So many characters behind the cursor decide what is visible at it. */
const longestRest = 8000;

interface OfferedColumn {
  readonly name: string;
  readonly type: string;
  readonly role: ColumnRole | null;
  readonly owner: string;
  /** Identity and computed columns are never written. */
  readonly readOnly: boolean;
}

function columnsOfSource(view: DocumentView, source: ScopeSource, range: Range): readonly OfferedColumn[] {
  if (source.table !== null) return columnsOf(view, source.table, range);
  const { outputs, passes } = source.query ?? givesNothing;
  return [
    ...outputs.map(({ name }) => ({ name, type: '', role: null, owner: source.alias, readOnly: false })),
    ...passes.flatMap((table) => columnsOf(view, table, range)),
  ];
}

function columnsOf(view: DocumentView, name: TableName, range: Range): readonly OfferedColumn[] {
  const local: LocalTable | undefined = localNamed(view, name, offsetAt(view, range.start));
  if (local !== undefined) {
    return local.columns.map((column) => ({
      name: column.name,
      type: column.type,
      role: null,
      owner: name.table,
      readOnly: false,
    }));
  }
  const table: CatalogTable | undefined = tableNamed(view, name);
  return (table?.columns ?? []).map((column: CatalogColumn) => ({
    name: column.name,
    type: column.type,
    role: column.role,
    owner: name.table,
    readOnly: column.identity || column.computed,
  }));
}

/** Keys first where rows are matched, attributes first where they are set. */
const rankByClause: Readonly<Record<Clause, readonly (ColumnRole | null)[]>> = {
  on: ['hash-key', 'business-key', 'child-key', 'current-flag', 'effective-end', 'hashdiff'],
  set: ['effective-end', 'current-flag', 'attribute', 'hashdiff', 'checksum'],
  insert: [],
  values: [],
  output: [],
  other: ['hash-key', 'business-key', 'hashdiff'],
};

function columnItem(view: DocumentView, column: OfferedColumn, clause: Clause, range: Range): CompletionItem {
  const rank = rankByClause[clause].indexOf(column.role);
  return {
    label: column.name,
    kind: 'column',
    detail: [column.type, column.role === null ? '' : column.role.replaceAll('-', ' '), column.owner]
      .filter((part) => part !== '')
      .join(' · '),
    documentation: column.role === null ? '' : roleTexts[column.role],
    insertText: quotedName(column.name, view.script.platform),
    range,
    sortText: `${rank < 0 ? 'm' : String.fromCharCode(97 + rank)}${column.name.toLowerCase()}`,
  };
}

export function aliasItem(source: ScopeSource, range: Range): CompletionItem {
  const detail = source.table === null ? 'query of this statement' : formatTableName(source.table);
  return {
    label: source.alias,
    kind: 'alias',
    detail,
    documentation: '',
    insertText: source.alias,
    range,
    sortText: `z${source.alias}`,
  };
}
