import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import { isTsql } from '../../../protocol/platform.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { ColumnRole, TableRole } from '../../../protocol/roles.ts';
import { bindUnit, type Scoped, type ScopeSource, scopeAt } from '../model/binding.ts';
import { type LocalTable, localTables } from '../model/locals.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { givesNothing } from '../model/query-outputs.ts';
import { spoken } from '../model/roles.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { findAll, unitsOf } from '../syntax/inspect.ts';
import { tokenize } from '../syntax/tokenizer.ts';
import { type Token, tokenKind } from '../syntax/tokens.ts';
import type { ScriptBatch, Unit } from '../syntax/tree.ts';
import { roleTexts } from './hover.ts';
import { quotedName } from './quoting.ts';
import { type DocumentView, localNamed, offsetAt, rangeAt, tableNamed } from './view.ts';

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
      return tableItems(view, context.write, context.schema, range);
    case 'parameter':
      return parameterItems(view, place, range);
    case 'columns':
      return columnItems(view, place, context, range);
  }
}

type Context =
  | { readonly kind: 'table'; readonly write: boolean; readonly schema: string | null }
  | { readonly kind: 'parameter' }
  | {
      readonly kind: 'columns';
      readonly clause: Clause;
      readonly qualifier: string | null;
      readonly listed: readonly string[];
    };

/** Where columns are completed: it decides which come first and which are left out. */
type Clause = 'on' | 'set' | 'insert' | 'values' | 'other';

interface Place {
  readonly unit: Unit;
  readonly batch: ScriptBatch;
  readonly offset: number;
  readonly context: Context;
  readonly range: Range;
}

function placeAt(view: DocumentView, offset: number): Place | undefined {
  const batch = view.script.batches.find((candidate) => candidate.start <= offset && offset <= candidate.end);
  const unit = batch?.units.findLast((candidate) => candidate.offset <= offset);
  if (batch === undefined || unit === undefined) return undefined;
  const tokens = tokenize(view.script.text.slice(unit.offset, offset), dialectOf(view.script.platform));
  if (isInsideText(view, unit, tokens, offset)) return undefined;
  const last = tokens.at(-1);
  const typed = last !== undefined && last.end === offset - unit.offset && isNameToken(last) ? last : undefined;
  const before = typed === undefined ? tokens : tokens.slice(0, -1);
  // Behind the end of a finished statement nothing of it is completed.
  if (typed === undefined && last?.word === ';') return undefined;
  const context = contextOf(before, typed, view.script.text.slice(unit.offset, offset));
  if (context === undefined) return undefined;
  const start = typed === undefined ? offset : unit.offset + typed.start;
  return { unit, batch, offset, context, range: rangeAt(view, { start, end: offset }) };
}

/** In a string or a comment, which end behind the cursor. */
function isInsideText(view: DocumentView, unit: Unit, tokens: readonly Token[], offset: number): boolean {
  const last = tokens.at(-1);
  if (last?.unterminated === true && last.kind !== tokenKind.bracketed) return true;
  const line = view.script.text.slice(view.script.text.lastIndexOf('\n', offset - 1) + 1, offset);
  const afterTokens = view.script.text.slice(unit.offset + (last?.end ?? 0), offset);
  return afterTokens.includes('--') || /\/\*(?![\s\S]*\*\/)/.test(afterTokens) || /^\s*--/.test(line);
}

function isNameToken(token: Token): boolean {
  const { kind } = token;
  return (
    kind === tokenKind.word ||
    kind === tokenKind.reserved ||
    kind === tokenKind.bracketed ||
    kind === tokenKind.doubleQuoted ||
    kind === tokenKind.backticked ||
    kind === tokenKind.variable ||
    (kind === tokenKind.unknown && token.end - token.start === 1)
  );
}

const tableWords: Readonly<Record<string, boolean>> = {
  FROM: false,
  JOIN: false,
  USING: false,
  APPLY: false,
  INTO: true,
  UPDATE: true,
  MERGE: true,
  TRUNCATE: true,
};

const clauses: Readonly<Record<string, Clause>> = {
  ON: 'on',
  SET: 'set',
  VALUES: 'values',
  WHERE: 'other',
  SELECT: 'other',
  HAVING: 'other',
  BY: 'other',
  WHEN: 'other',
  THEN: 'other',
  ELSE: 'other',
  AND: 'other',
  OR: 'other',
  OUTPUT: 'other',
};

/** Words behind which a new thing is named: there nobody wants to be helped. */
const silentWords = new Set([
  'AS',
  'CREATE',
  'PROCEDURE',
  'PROC',
  'FUNCTION',
  'DECLARE',
  'TABLE',
  'VIEW',
  'SCHEMA',
  'DATABASE',
  'USE',
  'GO',
]);

function contextOf(before: readonly Token[], typed: Token | undefined, text: string): Context | undefined {
  const word = typed === undefined ? '' : text.slice(typed.start, typed.end);
  if (word.startsWith('@') || word.startsWith('$')) return { kind: 'parameter' };
  const last = before.at(-1);
  if (last?.word === '.') {
    const owner = before.at(-2);
    const qualifier = owner === undefined ? '' : unquoted(text.slice(owner.start, owner.end));
    const keyword = before.at(-3)?.word ?? '';
    const write = tableWords[keyword];
    if (write !== undefined) return { kind: 'table', write, schema: qualifier };
    return { kind: 'columns', clause: clauseOf(before), qualifier, listed: [] };
  }
  if (last !== undefined && silentWords.has(last.word)) return undefined;
  const write = last === undefined ? undefined : tableWords[last.word];
  if (write !== undefined) return { kind: 'table', write, schema: null };
  const insert = insertListOf(before, text);
  if (insert !== null) return { kind: 'columns', clause: 'insert', qualifier: null, listed: insert };
  return { kind: 'columns', clause: clauseOf(before), qualifier: null, listed: [] };
}

/** Names in the column list of an INSERT that is still open at the cursor; null outside of one. */
function insertListOf(before: readonly Token[], text: string): readonly string[] | null {
  let depth = 0;
  const names: string[] = [];
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const token = before[index];
    if (token === undefined) break;
    if (token.word === ')') depth += 1;
    else if (token.word === '(') {
      if (depth > 0) depth -= 1;
      else return opensInsertList(before.slice(0, index)) ? names : null;
    } else if (depth === 0 && isNameToken(token)) names.push(unquoted(text.slice(token.start, token.end)));
    else if (token.word !== ',' && depth === 0) return null;
  }
  return null;
}

/** `INSERT (` of a MERGE, or `INSERT [INTO] name (`. */
function opensInsertList(before: readonly Token[]): boolean {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const token = before[index];
    if (token?.word === 'INSERT') return true;
    if (token === undefined || !(isNameToken(token) || token.word === '.')) return false;
  }
  return false;
}

function clauseOf(before: readonly Token[]): Clause {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const word = before[index]?.word ?? '';
    const clause = clauses[word];
    if (clause === 'set') return startsAssignment(before) ? 'set' : 'other';
    if (clause === 'on' || clause === 'values') return clause;
    if (clause !== undefined && word !== 'AND' && word !== 'OR' && word !== 'THEN' && word !== 'ELSE') return clause;
  }
  return 'other';
}

/** Left of the equals sign: behind SET or a comma, perhaps with the target's alias. */
function startsAssignment(before: readonly Token[]): boolean {
  const qualified = before.at(-1)?.word === '.';
  const word = before.at(qualified ? -3 : -1)?.word;
  return word === 'SET' || word === ',';
}

function unquoted(text: string): string {
  const inner = /^[["`](.*?)[\]"`]?$/.exec(text);
  return inner?.[1] ?? text;
}

function columnItems(
  view: DocumentView,
  place: Place,
  context: Extract<Context, { kind: 'columns' }>,
  range: Range,
): readonly CompletionItem[] {
  const binding = bindUnit(place.unit);
  const at = place.offset - place.unit.offset;
  const scope: Scoped | undefined = scopeAt(binding, at) ?? binding.scopes.findLast(({ node }) => node.start <= at);
  if (scope === undefined) return [];
  const { clause, qualifier, listed } = context;
  if (clause === 'insert') {
    return scope.target === null
      ? []
      : columnsOf(view, scope.target)
          .filter((column) => !column.readOnly && !listed.some((name) => sameIdentifier(name, column.name)))
          .map((column) => columnItem(view, column, clause, range));
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
  const own =
    clause === 'set' && scope.target !== null ? columnsOf(view, scope.target).filter((column) => !column.readOnly) : [];
  const visible =
    clause === 'set' && own.length > 0 ? own : scope.sources.flatMap((source) => columnsOfSource(view, source));
  const seen = new Set<string>();
  const columns = visible.filter((column) => {
    const key = column.name.toLowerCase();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const aliases = scope.sources.filter(({ alias }) => alias !== '').map((source) => aliasItem(source, range));
  return [...aliases, ...columns.map((column) => columnItem(view, column, clause, range))];
}

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
  write: boolean,
  schema: string | null,
  range: Range,
): readonly CompletionItem[] {
  const wanted = (role: TableRole) => (write ? writtenRoles.includes(role) : role === 'staging');
  const inSchema = view.folder.catalog.tables.filter(
    ({ name }) => schema === null || (name.schema !== null && sameIdentifier(name.schema, schema)),
  );
  const tables = inSchema.map((table): CompletionItem => {
    const parts = [schema === null ? table.name.schema : null, table.name.table].filter((part) => part !== null);
    return {
      label: parts.join('.'),
      kind: 'table',
      detail: `${spoken(table.role)} · ${table.columns.length} columns`,
      documentation: table.reasons.join(' '),
      insertText: parts.map((part) => quotedName(part, view.script.platform)).join('.'),
      range,
      sortText: `${wanted(table.role) ? 'a' : 'b'}${table.name.table.toLowerCase()}`,
    };
  });
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
  return [...temporary, ...tables];
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
