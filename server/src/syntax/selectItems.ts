import type { Cursor } from './cursor.ts';
import { decodeString } from './literals.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import { resumeAt } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Identifier, SelectItem, Star, StarReplacement, Variable } from './tree.ts';

const assignmentOperators: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '||=']);

/** The items of SELECT, OUTPUT or RETURNING. */
export function parseSelectItems(cursor: Cursor): readonly SelectItem[] {
  const items: SelectItem[] = [];
  do {
    // DuckDB and Databricks tolerate a comma behind the last item.
    if (items.length > 0 && cursor.dialect.family !== 'tsql' && (cursor.at('FROM') || cursor.atEnd)) break;
    items.push(parseSelectItem(cursor));
    if (items.length > 1) resumeAt(cursor, ',');
    if (cursor.nameAhead(1) || cursor.peek(1) === '(') resumeAt(cursor, 'FROM');
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(items);
}

export function parseSelectItem(cursor: Cursor): SelectItem {
  const { start } = cursor;
  if (cursor.at('*')) return plainItem(cursor, start, parseStar(cursor, none, start));
  if (cursor.dialect.family === 'tsql') {
    if (cursor.kind === tokenKind.variable && assignmentOperators.has(cursor.peek(1))) return parseAssigning(cursor);
    if (cursor.peek(1) === '=' && isAliasToken(cursor)) return parseEqualsAlias(cursor);
  } else if (cursor.dialect.family === 'duckdb' && cursor.atName && cursor.peek(1) === ':') {
    return parseEqualsAlias(cursor);
  }
  const value = cursor.grammar.value(cursor);
  const expression =
    value.kind === 'column' && cursor.at('.') && cursor.peek(1) === '*'
      ? qualifiedStar(cursor, value.parts, start)
      : value;
  if (value.kind === 'column' && expression.kind === 'star' && value.parts[value.parts.length - 1] === null) {
    cursor.report(start, cursor.end, 'Expected the name of a table between the dots.');
  }
  if (expression.kind === 'star') return plainItem(cursor, start, expression);
  return withAlias(cursor, start, expression);
}

function plainItem(cursor: Cursor, start: number, expression: Expression): SelectItem {
  return { kind: 'select-item', start, end: cursor.end, expression, alias: null, aliasStyle: null, assigns: null };
}

function withAlias(cursor: Cursor, start: number, expression: Expression): SelectItem {
  if (cursor.eat('AS')) {
    if (cursor.dialect.family === 'spark' && cursor.at('(')) {
      parseAliases(cursor);
      return plainItem(cursor, start, expression);
    }
    const alias = parseAlias(cursor);
    const { end } = cursor;
    // No clause begins like a call: `SELECT 1 AS a coalesce(b, 2)` lacks a comma.
    if (cursor.dialect.family !== 'tsql' && cursor.nameAhead(0) && cursor.word === '' && cursor.peek(1) === '(') {
      cursor.fail("',' or FROM");
    }
    return { kind: 'select-item', start, end, expression, alias, aliasStyle: 'as', assigns: null };
  }
  if (cursor.dialect.family === 'spark' && cursor.at('(') && cursor.nameAhead(1) && expression.kind === 'call') {
    parseAliases(cursor);
    return plainItem(cursor, start, expression);
  }
  if (isAliasToken(cursor, expression) && !cursor.recovering && !endsItem(cursor)) {
    const alias = parseAlias(cursor);
    return { kind: 'select-item', start, end: cursor.end, expression, alias, aliasStyle: 'bare', assigns: null };
  }
  return plainItem(cursor, start, expression);
}

/** `(a, b)`, the aliases of a function that gives several columns; every word may be one. */
function parseAliases(cursor: Cursor): void {
  cursor.advance();
  do {
    if (cursor.kind === tokenKind.reserved) cursor.advance();
    else cursor.identifier('a column name');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}

/** Words that may be names and yet end an item where they stand without AS. */
function endsItem(cursor: Cursor): boolean {
  if (cursor.dialect.family === 'tsql') return isLabelOrStatement(cursor) || isPseudoColumn(cursor);
  if (cursor.dialect.family !== 'spark') return false;
  // FOR goes on with PIVOT, DO with a loop; WINDOW and ROW FORMAT may follow a SELECT without FROM.
  return (
    cursor.at('FOR') ||
    (cursor.at('DO') && cursor.scriptDepth > 0) ||
    (cursor.at('WINDOW') && (cursor.peek(2) === 'AS' || cursor.peek(1) === 'IDENTIFIER')) ||
    (cursor.at('ROW') && cursor.peek(1) === 'FORMAT')
  );
}

/** `THROW;` and labels behind an item, which T-SQL reads as the next statement only after a semicolon. */
function isLabelOrStatement(cursor: Cursor): boolean {
  return cursor.kind === tokenKind.word && cursor.peek(1) === ':' && cursor.onNewLine;
}

/** `$identity` and its like are no aliases; `$(Var)` may stand for one. */
function isPseudoColumn(cursor: Cursor): boolean {
  return cursor.kind === tokenKind.word && /^\$[^(]/.test(cursor.tokenText);
}

/** A name or, on T-SQL, a string can be an alias. In DuckDB a string behind a name with dots is a literal of that type. */
function isAliasToken(cursor: Cursor, expression?: Expression): boolean {
  if (cursor.atName) return true;
  if (cursor.dialect.family === 'spark' || (cursor.dialect.family === 'duckdb' && expression?.kind !== 'column'))
    return false;
  return cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString;
}

function parseAlias(cursor: Cursor): Identifier {
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString) {
    const { start, currentEnd: end } = cursor;
    const name = decodeString(cursor.tokenText);
    cursor.advance();
    return { kind: 'identifier', start, end, name, quote: 'double' };
  }
  // Spark and DuckDB take keywords behind AS.
  if (cursor.dialect.family !== 'tsql' && cursor.kind === tokenKind.reserved) return cursor.takeIdentifier();
  return cursor.identifier('an alias');
}

function parseAssigning(cursor: Cursor): SelectItem {
  const { start, currentEnd, tokenText } = cursor;
  const assigns: Variable = { kind: 'variable', start, end: currentEnd, name: tokenText };
  cursor.advance();
  cursor.advance();
  const expression = cursor.grammar.value(cursor);
  return { kind: 'select-item', start, end: cursor.end, expression, alias: null, aliasStyle: null, assigns };
}

function parseEqualsAlias(cursor: Cursor): SelectItem {
  const { start } = cursor;
  const alias = parseAlias(cursor);
  cursor.advance();
  const expression = cursor.grammar.value(cursor);
  return { kind: 'select-item', start, end: cursor.end, expression, alias, aliasStyle: 'equals', assigns: null };
}

function qualifiedStar(cursor: Cursor, qualifier: Star['qualifier'], start: number): Star {
  cursor.advance();
  return parseStar(cursor, qualifier, start);
}

/** `*` with DuckDB's EXCLUDE, REPLACE, RENAME and Databricks' EXCEPT. */
export function parseStar(cursor: Cursor, qualifier: Star['qualifier'], start: number): Star {
  cursor.advance();
  let except: readonly Identifier[] = none;
  const replace: StarReplacement[] = [];
  if (cursor.dialect.family !== 'tsql') {
    if ((cursor.at('EXCEPT') || cursor.at('EXCLUDE')) && cursor.peek(1) === '(' && !isQueryAhead(cursor)) {
      cursor.advance();
      except = parseDottedList(cursor);
    } else if (cursor.at('EXCLUDE') && cursor.nameAhead(1)) {
      cursor.advance();
      except = [cursor.takeIdentifier()];
    }
    if (cursor.at('REPLACE') && cursor.peek(1) === '(') {
      cursor.advance();
      cursor.advance();
      do {
        const from = cursor.start;
        const expression = cursor.grammar.value(cursor);
        cursor.eat('AS');
        const alias = cursor.identifier('a column name');
        replace.push({ kind: 'star-replacement', start: from, end: cursor.end, expression, alias });
      } while (!cursor.recovering && cursor.eat(','));
      closeParenthesis(cursor);
    }
    if (cursor.dialect.family === 'duckdb' && starFilters.has(cursor.at('NOT') ? cursor.peek(1) : cursor.word)) {
      // `* LIKE 'a%'` chooses columns by their names.
      cursor.eat('NOT');
      cursor.advance();
      cursor.eat('TO');
      cursor.grammar.operand(cursor);
    }
    if (cursor.at('RENAME') && cursor.peek(1) === '(') {
      cursor.advance();
      cursor.skipParentheses();
    }
  }
  return { kind: 'star', start, end: cursor.end, qualifier, except, replace };
}

const starFilters: ReadonlySet<string> = new Set('LIKE ILIKE GLOB SIMILAR ~ !~ ~~ !~~ ~~* !~~* ~~~'.split(' '));

function isQueryAhead(cursor: Cursor): boolean {
  return cursor.peek(2) === 'SELECT' || cursor.peek(2) === '(';
}

/** Names with dots (fields of structs) count by their last part. */
function parseDottedList(cursor: Cursor): readonly Identifier[] {
  const names: Identifier[] = [];
  cursor.advance();
  do {
    if (names.length > 0 && cursor.at(')') && cursor.dialect.family === 'duckdb') break;
    let name = cursor.identifier('a column name');
    while (cursor.eat('.')) name = cursor.identifier('a column name');
    names.push(name);
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(names);
}
