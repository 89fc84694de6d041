import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { counted } from '../../../protocol/counted.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import { writesRows } from '../model/mentions.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { spoken } from '../model/roles.ts';
import type { ScopeSource } from '../model/scopes.ts';
import { textOf } from '../syntax/inspect.ts';
import { type Entity, entityAt, originOf } from './entity.ts';
import { meaningOf, type ProcedureSource } from './procedures.ts';
import { type DocumentView, loadsOf, localNamed, rangeAt, tableNamed } from './view.ts';

export interface Hover {
  /** Markdown; names are escaped. */
  readonly markdown: string;
  readonly range: Range;
}

/**
 * Explains a table (role, why, key, the loads that write it), a column (role, type, what it is for) or a variable.
 *
 * @param procedures those that `namedCall` may mean
 */
export function hover(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[] = [],
): Hover | undefined {
  const entity = entityAt(view, position, procedures);
  if (entity === undefined) return undefined;
  const range = rangeAt(view, entity.span);
  switch (entity.kind) {
    case 'table':
      return { markdown: tableText(view, entity.table), range };
    case 'column':
      return { markdown: columnText(entity.table, entity.column), range };
    case 'local-table':
      return {
        markdown: `${bold(entity.table.name.table)} · made by this script, ${counted(entity.table.columns.length, 'column')}`,
        range,
      };
    case 'local-column':
      return { markdown: localText(entity), range };
    case 'output':
      return { markdown: outputText(view, entity), range };
    case 'procedure': {
      const [found] = view.folder.procedures(entity.name);
      if (found === undefined) return undefined;
      return { markdown: `${bold(formatTableName(found.name))} · procedure of ${code(fileName(found.file))}`, range };
    }
    case 'alias':
      return { markdown: aliasText(view, entity.alias.source), range };
    case 'variable':
      return { markdown: variableText(view, entity), range };
    case 'argument':
      return undefined;
  }
}

function variableText(view: DocumentView, { variable, span }: Extract<Entity, { kind: 'variable' }>): string {
  const { name, declaration } = variable;
  if (declaration === null) return `${bold(name)} · declared nowhere in this batch`;
  const { kind, type, value, procedure } = declaration;
  if (kind === 'table variable') {
    const columns = localNamed(view, { database: null, schema: null, table: name }, span.start)?.columns ?? [];
    return `${bold(name)} · table variable of this batch: ${code(columns.map((column) => column.name).join(', '))}`;
  }
  const of = procedure === null ? '' : ` of ${code(formatTableName(procedure))}`;
  const first = value === null ? '' : ` · ${kind === 'parameter' ? 'default' : 'begins as'} ${code(shortened(value))}`;
  const meaning = kind === 'parameter' ? meaningOf(name) : '';
  const head = `${bold(name)} · ${code(type)} · ${kind}${of}${first}`;
  return meaning === '' ? head : `${head}\n\n${meaning}`;
}

function localText({ table, column }: Extract<Entity, { kind: 'local-column' }>): string {
  return `${bold(column.name)} · ${code(column.type)} · column of ${code(table.name.table)}`;
}

/** A column of a query: what gives it, and the column of a table behind that. */
function outputText(view: DocumentView, entity: Extract<Entity, { kind: 'output' }>): string {
  const { output, place } = entity;
  const { item, name } = output;
  const origin = originOf(view, entity);
  const gives = item === null ? '' : shortened(textOf(place.script, place.unit, item.expression));
  const head = `${bold(name)} · column of a query of this statement${gives === '' ? '' : ` · ${code(gives)}`}`;
  if (origin?.kind === 'local-column') return `${head}\n\n${localText(origin)}`;
  return origin?.kind === 'column' ? `${head}\n\n${columnText(origin.table, origin.column)}` : head;
}

function aliasText(view: DocumentView, { alias, table, query }: ScopeSource): string {
  if (table !== null) {
    const known = tableNamed(view, table);
    return known === undefined ? `${bold(alias)} · ${code(formatTableName(table))}` : tableText(view, known);
  }
  const passed = (query?.passes ?? []).flatMap(
    (name) => tableNamed(view, name)?.columns.map((each) => each.name) ?? [],
  );
  const names = [...(query?.outputs.map((output) => output.name) ?? []), ...passed];
  return `${bold(alias)} · query of this statement${names.length === 0 ? '' : `: ${code(names.join(', '))}`}`;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 120 ? line : `${line.slice(0, 120)}…`;
}

function tableText(view: DocumentView, table: CatalogTable): string {
  const role =
    table.role === 'unknown'
      ? 'of no known role'
      : `${spoken(table.role)} (${Math.round(table.confidence * 100)} % sure)`;
  const [key] = table.keys;
  const written = writers(view, table);
  return [
    `${bold(formatTableName(table.name))} · ${role}`,
    table.reasons.map((reason) => `- ${escapeMarkdown(reason)}`).join('\n'),
    key === undefined
      ? 'No key is declared or can be inferred.'
      : `Key: ${code(key.columns.join(' + '))}${keyNote(key)}`,
    ...(written.length === 0 ? [] : [`Written by:\n${written.map((line) => `- ${line}`).join('\n')}`]),
  ].join('\n\n');
}

function keyNote(key: CatalogTable['keys'][number]): string {
  if (key.kind === 'inferred') {
    const stated = key.stated ?? [];
    if (stated.length === 0) return ' (inferred, declared nowhere)';
    if (stated.length === key.columns.length) return ' (stated in `mergewright.json`)';
    return ` (${code(stated.join(' + '))} is stated in \`mergewright.json\`, the rest is inferred)`;
  }
  return key.enforced ? '' : ' (declared, not enforced: it proves nothing)';
}

/** Inferred loads, then scripts that write the table. */
function writers(view: DocumentView, table: CatalogTable): readonly string[] {
  const loads = loadsOf(view, table).map((load) => escapeMarkdown(load.title));
  const scripts = view.folder.mentionsOf(table).filter((mention) => writesRows(mention.access));
  const files = [...new Set(scripts.map((mention) => mention.file))].map((file) => {
    const accesses = [
      ...new Set(scripts.filter((mention) => mention.file === file).map((mention) => mention.access.toUpperCase())),
    ];
    return `${code(fileName(file))} (${accesses.join(', ')})`;
  });
  return [...loads, ...files];
}

function columnText(table: CatalogTable, column: CatalogColumn): string {
  const facts = [
    column.nullable ? 'NULL' : 'NOT NULL',
    ...(column.identity ? ['IDENTITY'] : []),
    ...(column.computed ? ['never written by a load'] : []),
    ...(column.default === null ? [] : [`default ${code(column.default)}`]),
    ...(column.collation === null ? [] : [code(column.collation)]),
  ];
  const inKey = table.keys.find((key) => key.columns.some((name) => sameIdentifier(name, column.name)));
  return [
    `${bold(column.name)} · ${code(column.type)} · ${facts.join(' · ')}`,
    `${roleTexts[column.role]} Column of ${code(formatTableName(table.name))}${table.role === 'unknown' ? '' : ` (${spoken(table.role)})`}.`,
    ...(inKey === undefined ? [] : [`Part of the key ${code(inKey.columns.join(' + '))}${keyNote(inKey)}.`]),
  ].join('\n\n');
}

/** What a role means, in one sentence. */
export const roleTexts: Readonly<Record<ColumnRole, string>> = {
  'business-key': 'Business key: identifies the thing in its source.',
  'hash-key': 'Hash key: the digest of the business key.',
  hashdiff: 'Hashdiff: the digest of all attributes; a new version is stored when it differs from the latest one.',
  'load-date': 'Load date: when the row was loaded.',
  'record-source': 'Record source: where the row came from.',
  'load-process': 'Load process: which run stored the row.',
  'effective-start': 'Effective start: from when the version holds.',
  'effective-end': 'Effective end: until when the version holds.',
  'current-flag': 'Current flag: marks the version that holds now.',
  'inactive-date': 'Inactive date: when the source no longer brought the key.',
  'insert-date': 'Insert date: when the row was stored.',
  checksum: 'Checksum: a digest of the row, kept to tell changes.',
  sequence: 'Sequence: the order of events in the source.',
  operation: 'Operation: insert, update or delete, as the source says.',
  'child-key': 'Dependent child key: tells several rows of one parent apart.',
  attribute: 'Attribute: describes the thing and is tracked.',
  technical: 'Technical column: not tracked.',
};

/** The last part of a path or URI, as a person knows it. */
function fileName(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function bold(text: string): string {
  return `**${escapeMarkdown(text)}**`;
}

function code(text: string): string {
  return text === '' ? '*type unknown*' : `\`${text.replaceAll('`', 'ˋ')}\``;
}

/** Names may hold anything; nothing of them is Markdown. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~]/g, '\\$&');
}
