import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseName } from './names.ts';
import { parseOpaque } from './opaque.ts';
import { tokenKind } from './tokens.ts';
import type { DeclaredVariable, Identifier, SetVariable, Statement } from './tree.ts';
import { parseDataType } from './types.ts';

/** SET key = value, SET VARIABLE x = value, SET VAR x = value; everything behind a key's equals sign is the value. */
export function parseOpenSet(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  if (cursor.dialect.family === 'duckdb') return parseDuckdbSet(cursor, start);
  if ((cursor.at('VARIABLE') || cursor.at('VAR')) && (cursor.nameAhead(1) || cursor.peek(1) === '(')) {
    cursor.advance();
    return parseSetVariables(cursor, start, 'VARIABLE');
  }
  // A script sets its variables without the word; options of the session are not to be set in one.
  if (cursor.scriptDepth > 0 && (cursor.atName || cursor.at('('))) return parseSetVariables(cursor, start, '');
  const from = cursor.start;
  while (!cursor.at('=') && !cursor.at('TO') && !cursor.at(';') && !cursor.atEnd) cursor.advance();
  const names = [cursor.slice(from, cursor.end).toUpperCase()];
  if (cursor.at('=') || cursor.at('TO')) cursor.advance();
  return setOption(cursor, start, names);
}

/** DuckDB: SET [SESSION | GLOBAL | LOCAL] setting = value, SET TIME ZONE value, SET SCHEMA value, SET VARIABLE x = value. */
function parseDuckdbSet(cursor: Cursor, start: number): Statement {
  if (cursor.at('VARIABLE') && cursor.peek(1) !== '=' && cursor.peek(1) !== 'TO') {
    cursor.advance();
    return parseSetVariables(cursor, start, 'VARIABLE');
  }
  if ((cursor.at('SESSION') || cursor.at('GLOBAL') || cursor.at('LOCAL')) && cursor.nameAhead(1)) cursor.advance();
  const from = cursor.start;
  const isZone = cursor.eatSequence('TIME', 'ZONE');
  if (!isZone) parseName(cursor, 'the name of a setting');
  const names = [cursor.slice(from, cursor.end).toUpperCase()];
  const isSchema = cursor.kind === tokenKind.string && names[0] === 'SCHEMA';
  if (!isZone && !isSchema && !cursor.eat('=') && !cursor.eat('TO')) cursor.fail("'='");
  const value = cursor.start;
  cursor.grammar.expression(cursor);
  if (!cursor.at(';') && !cursor.atEnd) cursor.fail("';'");
  return { kind: 'set-option', start, end: cursor.end, names, value: cursor.slice(value, cursor.end), table: null };
}

/** `x = value`; several of them or `(x, y) = (query)` are read, and kept as the text of an option. */
function parseSetVariables(cursor: Cursor, start: number, word: string): Statement {
  const from = cursor.start;
  const found: SetVariable[] = [];
  do {
    if (cursor.at('(')) {
      parseNames(cursor);
      cursor.expect('=');
      cursor.grammar.expression(cursor);
      return setOption(cursor, start, [word], from);
    }
    const at = cursor.start;
    const name = lastOf(cursor);
    if (!cursor.eat('=') && !cursor.eat('TO')) {
      if (cursor.dialect.family !== 'duckdb') return parseOpaque(cursor, start);
      cursor.fail("'='");
    }
    // Databricks takes a query without parentheses, too.
    if (cursor.at('SELECT') && cursor.dialect.family === 'spark') {
      cursor.grammar.query(cursor);
      return setOption(cursor, start, [word], from);
    }
    const value = cursor.grammar.expression(cursor);
    if (cursor.dialect.family === 'duckdb' && !cursor.at(';') && !cursor.atEnd) cursor.fail("';'");
    const variable = { kind: 'variable', start: at, end: name.end, name: name.name } as const;
    found.push({ kind: 'set-variable', start, end: cursor.end, variable, operator: '=', value });
  } while (!cursor.recovering && cursor.dialect.family === 'spark' && cursor.eat(','));
  const [only, ...others] = found;
  return only !== undefined && others.length === 0 ? only : setOption(cursor, start, [word], from);
}

/** `(x, session.y)`. */
function parseNames(cursor: Cursor): void {
  cursor.advance();
  do parseName(cursor, 'a variable');
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}

/** A variable's name without the schema `session` before it. */
function lastOf(cursor: Cursor): Identifier {
  const name = parseName(cursor, 'a variable');
  return name.parts[name.parts.length - 1] ?? cursor.missingIdentifier();
}

function setOption(cursor: Cursor, start: number, names: readonly string[], from = cursor.start): Statement {
  while (!cursor.at(';') && !cursor.atEnd && !cursor.recovering) cursor.advance();
  const value = cursor.end > from ? cursor.slice(from, cursor.end) : '';
  return { kind: 'set-option', start, end: cursor.end, names, value, table: null };
}

/** DECLARE [OR REPLACE] [VARIABLE] names [type] [DEFAULT | = value]. */
export function parseOpenDeclare(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  cursor.eatSequence('OR', 'REPLACE');
  if ((cursor.at('VARIABLE') || cursor.at('VAR')) && cursor.nameAhead(1) && cursor.peek(1) !== 'DEFAULT')
    cursor.advance();
  const names: { readonly name: string; readonly start: number }[] = [];
  do names.push({ start: cursor.start, name: lastOf(cursor).name });
  while (!cursor.recovering && cursor.eat(','));
  const typed = cursor.atName && !cursor.at('DEFAULT');
  const type = typed ? parseDataType(cursor) : null;
  const value = cursor.eatAny('DEFAULT', '=') === null ? null : cursor.grammar.expression(cursor);
  const variables: DeclaredVariable[] = names.map(({ name, start: from }) => ({
    kind: 'declared-variable',
    start: from,
    end: cursor.end,
    name,
    type,
    value,
  }));
  return { kind: 'declare', start, end: cursor.end, variables };
}
