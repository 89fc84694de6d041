import type { Cursor } from './cursor.ts';
import { parseName } from './names.ts';
import { none } from './none.ts';
import { parseOpaque } from './opaque.ts';
import { parseQueryWithTables } from './queries.ts';
import { parseCompound, skipCompound } from './scripting.ts';
import type { Expression, Parameter, Query, Statement } from './tree.ts';
import { parseDataType } from './types.ts';

/** CREATE FUNCTION … RETURN expression | query, CREATE MACRO … AS expression | TABLE query. Others are opaque. */
export function parseOpenFunction(cursor: Cursor, start: number): Statement {
  const macro = cursor.at('MACRO') || cursor.dialect.family === 'duckdb';
  cursor.advance();
  cursor.eatSequence('IF', 'NOT', 'EXISTS');
  const name = parseName(cursor, 'the name of a function');
  if (!cursor.at('(')) return parseOpaque(cursor, start);
  const parameters = parseParameters(cursor);
  while (!cursor.at(macro ? 'AS' : 'RETURN') && !cursor.at(';') && !cursor.atEnd) {
    if (cursor.at('AS')) return skipProgram(cursor, start);
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  if (cursor.atEnd || cursor.at(';')) return { kind: 'opaque', start, end: cursor.end, name: 'CREATE FUNCTION' };
  cursor.advance();
  let query: Query | null = null;
  let expression: Expression | null = null;
  if (macro && cursor.at('TABLE')) cursor.advance();
  if (cursor.at('SELECT') || cursor.at('WITH') || cursor.at('FROM') || cursor.at('VALUES'))
    query = parseQueryWithTables(cursor);
  else expression = cursor.grammar.expression(cursor);
  // Further overloads of a macro follow with a comma.
  if (macro && cursor.at(',')) return parseOpaque(cursor, start);
  const { end } = cursor;
  return {
    kind: 'create-function',
    start,
    end,
    alter: false,
    name,
    parameters,
    returns: null,
    returnsVariable: null,
    returnsElements: none,
    options: none,
    query,
    expression,
    body: none,
  };
}

function parseParameters(cursor: Cursor): readonly Parameter[] {
  const parameters: Parameter[] = [];
  cursor.advance();
  while (!cursor.at(')') && !cursor.atEnd && !cursor.recovering) {
    const { start } = cursor;
    const mode = parameterMode(cursor);
    const name = cursor.identifier('a parameter');
    const typed = cursor.atName && !cursor.at('DEFAULT');
    const type = typed ? parseDataType(cursor) : null;
    const value = cursor.eatAny(':=', 'DEFAULT', '=>') === null ? null : cursor.grammar.operand(cursor);
    while (!cursor.at(',') && !cursor.at(')') && !cursor.atEnd) cursor.advance();
    parameters.push({
      kind: 'parameter',
      start,
      end: cursor.end,
      name: name.name,
      type,
      default: value,
      output: mode === 'OUT' || mode === 'INOUT',
      readOnly: false,
      nullable: null,
    });
    if (!cursor.eat(',')) break;
  }
  cursor.expect(')');
  return parameters;
}

/** IN, OUT or INOUT before a parameter's name; each of them may be a name itself. */
function parameterMode(cursor: Cursor): string {
  const { word } = cursor;
  const isMode = word === 'IN' || ((word === 'OUT' || word === 'INOUT') && cursor.nameAhead(1) && cursor.nameAhead(2));
  if (!isMode) return '';
  cursor.advance();
  return word;
}

/**
 * CREATE PROCEDURE name (parameters) characteristics AS BEGIN … END, as Databricks has it: LANGUAGE SQL, SQL SECURITY
 * INVOKER, COMMENT, DEFAULT COLLATION, [NOT] DETERMINISTIC, MODIFIES SQL DATA in any order.
 */
export function parseOpenProcedure(cursor: Cursor, start: number): Statement {
  cursor.advance();
  cursor.eatSequence('IF', 'NOT', 'EXISTS');
  const name = parseName(cursor, 'the name of a procedure');
  if (!cursor.at('(')) return skipProgram(cursor, start);
  const parameters = parseParameters(cursor);
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at('BEGIN')) cursor.advance();
  if (!cursor.at('BEGIN')) return { kind: 'opaque', start, end: cursor.end, name: 'CREATE PROCEDURE' };
  cursor.recovering = false;
  const body = [parseCompound(cursor)];
  const { end } = cursor;
  return { kind: 'create-procedure', start, end, alter: false, name, parameters, options: none, body };
}

/** Programs of other languages and forms that are not known: bounded by the body's END. */
function skipProgram(cursor: Cursor, start: number): Statement {
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at('BEGIN')) cursor.advance();
  if (!cursor.at('BEGIN')) return { kind: 'opaque', start, end: cursor.end, name: 'CREATE PROCEDURE' };
  return skipCompound(cursor, start);
}
