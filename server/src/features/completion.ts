import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import { type LocalTable, localTables } from '../model/locals.ts';
import { formatTableName } from '../model/names.ts';
import { spoken } from '../model/roles.ts';
import { argumentItems, parameterItems, procedureItems } from './completion-calls.ts';
import { aliasItem, columnItems, readAround } from './completion-columns.ts';
import type { CompletionItem } from './completion-item.ts';
import { type Context, type Place, placeAt } from './completion-place.ts';
import { partsBehind } from './name-tokens.ts';
import type { ProcedureSource } from './procedures.ts';
import { quotedName } from './quoting.ts';
import { type DocumentView, localNamed, offsetAt } from './view.ts';

/**
 * Completes columns with their roles inside ON, SET, INSERT, WHEN, the clauses of queries and the lists of DDL, tables
 * by role where a table is named, procedures behind EXEC, and parameters of calls and loads. Keywords and functions are
 * left to other extensions.
 *
 * @param procedures those that `completedCall` may mean
 */
export function complete(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[] = [],
): readonly CompletionItem[] {
  const place = placeAt(view, offsetAt(view, position));
  if (place === undefined) return [];
  const { context } = place;
  switch (context.kind) {
    case 'table':
      return tableItems(view, place, context);
    case 'procedure':
      return procedureItems(view, place, context);
    case 'parameter':
      return parameterItems(view, place);
    case 'argument':
      return argumentItems(view, place, context, procedures);
    case 'columns':
      return columnItems(view, place, context);
  }
}

/** The procedure whose parameters are completed at a position; undefined where none are. */
export function completedCall(view: DocumentView, position: Position): TableName | undefined {
  const context = placeAt(view, offsetAt(view, position))?.context;
  return context?.kind === 'argument' ? context.call.procedure : undefined;
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
): readonly CompletionItem[] {
  const { range } = place;
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
  const locals = schema === null ? localsAt(view, place) : [];
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
  const commons = schema === null && !write ? commonTables(view, place) : [];
  return [...commons, ...temporary, ...offered];
}

/** The script's own tables, each name once; table variables are known in their batch only. */
function localsAt(view: DocumentView, { batch, offset }: Place): readonly LocalTable[] {
  const names = new Map(localTables(view.script).map(({ name }) => [formatTableName(name).toLowerCase(), name]));
  return [...names.values()].flatMap((name) => {
    const table = localNamed(view, name, offset);
    const start = table === undefined ? 0 : offsetAt(view, table.range.start);
    const isElsewhere = name.table.startsWith('@') && (start < batch.start || start > batch.end);
    return table === undefined || isElsewhere ? [] : [table];
  });
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

/** The common tables that the statement has defined before the cursor. */
function commonTables(view: DocumentView, place: Place): readonly CompletionItem[] {
  const at = place.offset - place.unit.offset;
  const names = readAround(view, place).binding.aliases.flatMap(({ node, declared, source }) =>
    node === declared && source.table === null && source.query !== null && node.end < at ? [source] : [],
  );
  return names.map((source) => ({
    ...aliasItem(source, place.range),
    kind: 'table',
    sortText: `a${source.alias.toLowerCase()}`,
  }));
}
