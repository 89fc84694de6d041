import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import { isTsql } from '../../../protocol/platform.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { ColumnRole, TableRole } from '../../../protocol/roles.ts';
import { type Binding, bindUnit, scopeAt } from '../model/binding.ts';
import { type LocalTable, localTables } from '../model/locals.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { givesNothing } from '../model/query-outputs.ts';
import { spoken } from '../model/roles.ts';
import type { Scoped, ScopeSource } from '../model/scopes.ts';
import { findAll, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import { type Clause, type Context, type Place, placeAt } from './completion-place.ts';
import { roleTexts } from './hover.ts';
import { quotedName } from './quoting.ts';
import { type DocumentView, localNamed, offsetAt, tableNamed } from './view.ts';

export interface CompletionItem {
  readonly label: string;
  readonly kind: 'column' | 'table' | 'alias' | 'parameter';
  /** Type and role. */
  readonly detail: string;
  readonly documentation: string;
  readonly insertText: string;
  /** What is replaced: the word at the cursor. */
  readonly range: Range;
  /** Items sort by this. */
  readonly sortText: string;
}

/**
 * Completes columns with their roles inside ON, SET, INSERT, WHEN and the clauses of queries, tables by role where a
 * table is named, and load parameters. Keywords and functions are left to other extensions.
 */
export function complete(view: DocumentView, position: Position): readonly CompletionItem[] {
  const offset = offsetAt(view, position);
  const place = placeAt(view, offset);
  if (place === undefined) return [];
  const { context, range } = place;
  switch (context.kind) {
    case 'table':
      return tableItems(view, place, context, range);
    case 'parameter':
      return parameterItems(view, place, range);
    case 'columns':
      return columnItems(view, place, context, range);
  }
}

function columnItems(
  view: DocumentView,
  place: Place,
  context: Extract<Context, { kind: 'columns' }>,
  range: Range,
): readonly CompletionItem[] {
  const binding = bindingAround(view, place);
  const at = place.offset - place.unit.offset;
  const scope: Scoped | undefined = scopeAt(binding, at) ?? binding.scopes.findLast(({ node }) => node.start <= at);
  if (scope === undefined) return [];
  const { clause, qualifier, listed } = context;
  if (clause === 'insert') {
    return scope.target === null
      ? []
      : columnsOf(view, scope.target)
          .filter((column) => !column.readOnly && !listed.some((name) => sameIdentifier(name, column.name)))
          .map((column, place) => ({
            ...columnItem(view, column, clause, range),
            // In the order of the table, as a list is written.
            sortText: `m${String(place).padStart(5, '0')}`,
          }));
  }
  if (qualifier !== null) {
    const source =
      scope.sources.find(({ alias }) => sameIdentifier(alias, qualifier)) ??
      scope.sources.find(({ table }) => table !== null && sameIdentifier(table.table, qualifier));
    const special = /^(inserted|deleted)$/i.test(qualifier) ? scope.target : null;
    const columns =
      source === undefined ? (special === null ? [] : columnsOf(view, special)) : columnsOfSource(view, source);
    return columns
      .filter((column) => clause !== 'set' || !column.readOnly)
      .map((column) => columnItem(view, column, clause, range));
  }
  // Rows that are inserted have no target yet.
  const sources = clause === 'values' && scope.target !== null ? scope.sources.slice(1) : scope.sources;
  const own =
    clause === 'set' && scope.target !== null ? columnsOf(view, scope.target).filter((column) => !column.readOnly) : [];
  const visible = clause === 'set' && own.length > 0 ? own : sources.flatMap((source) => columnsOfSource(view, source));
  const seen = new Set<string>();
  const columns = visible.filter((column) => {
    const key = column.name.toLowerCase();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const aliases = sources.filter(({ alias }) => alias !== '').map((source) => aliasItem(source, range));
  return [...aliases, ...columns.map((column) => columnItem(view, column, clause, range))];
}

/**
 * What the names around the cursor mean once a name stands there: `SELECT | FROM t` and `SET | FROM t` read the word
 * behind the cursor as that name.
 */
function bindingAround(view: DocumentView, { unit, batch, offset, context, range }: Place): Binding {
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
  const [first] = unitsOf(parse(whole, { platform }));
  return first === undefined ? bindUnit(unit) : bindUnit(first);
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

function columnsOfSource(view: DocumentView, source: ScopeSource): readonly OfferedColumn[] {
  if (source.table !== null) return columnsOf(view, source.table);
  const { outputs, passes } = source.query ?? givesNothing;
  return [
    ...outputs.map(({ name }) => ({ name, type: '', role: null, owner: source.alias, readOnly: false })),
    ...passes.flatMap((table) => columnsOf(view, table)),
  ];
}

function columnsOf(view: DocumentView, name: TableName): readonly OfferedColumn[] {
  const local: LocalTable | undefined = localNamed(view, name);
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

function aliasItem(source: ScopeSource, range: Range): CompletionItem {
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

const writtenRoles: readonly TableRole[] = [
  'satellite',
  'ma-satellite',
  'eff-satellite',
  'st-satellite',
  'rt-satellite',
  'hub',
  'link',
  'nh-link',
  'persistent-staging',
  'dimension',
  'xts',
  'reference',
];

function tableItems(
  view: DocumentView,
  place: Place,
  { write, qualifiers }: Extract<Context, { kind: 'table' }>,
  range: Range,
): readonly CompletionItem[] {
  const { platform } = view.script;
  const wanted = (role: TableRole) => (write ? writtenRoles.includes(role) : role === 'staging');
  const { tables } = view.folder.catalog;
  const twice = ambiguousNames(tables);
  const offered = tables.flatMap((table): readonly CompletionItem[] => {
    const { database, schema, table: name } = table.name;
    const all = twice.has(`${schema}.${name}`.toLowerCase()) ? [database, schema, name] : [schema, name];
    const parts = qualifiers.length === 0 ? all.filter((part) => part !== null) : partsBehind(table.name, qualifiers);
    if (parts === null) return [];
    return [
      {
        label: parts.join('.'),
        kind: 'table',
        detail: `${spoken(table.role)} · ${table.columns.length} columns`,
        documentation: table.reasons.join(' '),
        insertText: parts.map((part) => quotedName(part, platform)).join('.'),
        range,
        sortText: `${wanted(table.role) ? 'a' : 'b'}${name.toLowerCase()}`,
      },
    ];
  });
  const schema = qualifiers.length === 0 ? null : '';
  const locals = schema === null ? localTables(view.script) : [];
  const temporary = locals.map(
    (table): CompletionItem => ({
      label: table.name.table,
      kind: 'table',
      detail: `made by this script · ${table.columns.length} columns`,
      documentation: '',
      insertText: table.name.table,
      range,
      sortText: `a${table.name.table.toLowerCase()}`,
    }),
  );
  const commons = schema === null && !write ? commonTables(view, place, range) : [];
  return [...commons, ...temporary, ...offered];
}

/** Names that mean tables of several databases: there the database has to be named. */
function ambiguousNames(tables: readonly CatalogTable[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of tables) {
    const key = `${name.schema}.${name.table}`.toLowerCase();
    if (seen.has(key)) twice.add(key);
    seen.add(key);
  }
  return twice;
}

/** What is left to write of a name behind its schema, its database, or both; null where they are others. */
function partsBehind({ database, schema, table }: TableName, qualifiers: readonly string[]): readonly string[] | null {
  const is = (part: string | null, asked: string | undefined) => part !== null && sameIdentifier(part, asked ?? '');
  const [first, second] = qualifiers;
  if (second !== undefined) return is(schema, second) && (database === null || is(database, first)) ? [table] : null;
  if (is(schema, first)) return [table];
  return is(database, first) && schema !== null ? [schema, table] : null;
}

/** The common tables that the statement has defined before the cursor. */
function commonTables(view: DocumentView, place: Place, range: Range): readonly CompletionItem[] {
  const at = place.offset - place.unit.offset;
  const names = bindingAround(view, place).aliases.flatMap(({ node, declared, source }) =>
    node === declared && source.table === null && source.query !== null && node.end < at ? [source] : [],
  );
  return names.map((source) => ({
    ...aliasItem(source, range),
    kind: 'table',
    sortText: `a${source.alias.toLowerCase()}`,
  }));
}

/** Variables of the batch, and the parameters of the loads that write a table named in the statement. */
function parameterItems(view: DocumentView, place: Place, range: Range): readonly CompletionItem[] {
  const declared = place.batch.units.flatMap(({ statement }) => [
    ...findAll(statement, 'declared-variable').map((variable) => ({
      name: variable.name,
      type: variable.type?.text ?? '',
    })),
    ...findAll(statement, 'parameter').map((parameter) => ({ name: parameter.name, type: parameter.type?.text ?? '' })),
  ]);
  const items = declared.map(({ name, type }) =>
    parameterItem(name, [type, 'declared in this batch'].filter((part) => part !== '').join(' · '), range),
  );
  if (!isTsql(view.script.platform)) return items;
  const targets = unitsOf(view.script)
    .filter((unit) => place.batch.units.includes(unit))
    .flatMap((unit) =>
      bindUnit(unit).mentions.flatMap((mention) =>
        mention.kind === 'table' && mention.access !== 'read' ? [tableNamed(view, mention.name)] : [],
      ),
    );
  const loads = view.folder.loads.filter(({ specification }) =>
    targets.includes(tableNamed(view, specification.target)),
  );
  const parameters = loads.flatMap(({ specification: { options } }) => [
    ...Object.values(options.parameters ?? {}),
    ...Object.values(options.hash_key ?? {}).flatMap((inputs) =>
      inputs.flatMap((input) => (input.startsWith('@') ? [input.slice(1)] : [])),
    ),
  ]);
  const missing = [...new Set(parameters)]
    .map((name) => `@${name}`)
    .filter((name) => !declared.some((other) => sameIdentifier(other.name, name)));
  return [...items, ...missing.map((name) => parameterItem(name, 'load parameter', range))];
}

function parameterItem(name: string, detail: string, range: Range): CompletionItem {
  return {
    label: name,
    kind: 'parameter',
    detail,
    documentation: '',
    insertText: name,
    range,
    sortText: `a${name.toLowerCase()}`,
  };
}
