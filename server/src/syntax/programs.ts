import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseAnyOptions, parseTableOptions } from './options.ts';
import { parseQueryWithTables, refuseOrder } from './queries.ts';
import { skipUntil } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type {
  CreateFunction,
  CreateProcedure,
  CreateTrigger,
  CreateView,
  DataType,
  Identifier,
  Name,
  Option,
  Parameter,
  Query,
  Statement,
  TableElement,
} from './tree.ts';
import { parseDataType } from './types.ts';

/** CREATE, ALTER or CREATE OR ALTER PROCEDURE from the name on. */
export function parseProcedure(cursor: Cursor, start: number, alter: boolean): CreateProcedure {
  const name = parseName(cursor, 'the name of a procedure', 2);
  if (cursor.at(';') && cursor.peekKind(1) === tokenKind.number) {
    cursor.advance();
    cursor.advance();
  }
  const parameters = parseParameters(cursor);
  const options = parseProgramOptions(cursor);
  cursor.eatSequence('FOR', 'REPLICATION');
  findAs(cursor);
  const body = parseBody(cursor);
  return { kind: 'create-procedure', start, end: cursor.end, alter, name, parameters, options, body };
}

/** AS before the body; after a mistake in the head it is looked for. */
function findAs(cursor: Cursor): void {
  if (!cursor.recovering && !cursor.at('AS')) cursor.fail('AS');
  if (cursor.recovering && !skipUntil(cursor, 'AS')) return;
  cursor.advance();
  cursor.recovering = false;
}

/** The statements of a program: all up to the end of the batch. */
function parseBody(cursor: Cursor): readonly Statement[] {
  if (cursor.at('EXTERNAL') && cursor.peek(1) === 'NAME') {
    cursor.advance();
    cursor.advance();
    parseName(cursor, 'a method of an assembly');
    return [];
  }
  return cursor.grammar.statements(cursor);
}

/** Parameters with or without parentheses around them. */
function parseParameters(cursor: Cursor): readonly Parameter[] {
  const parameters: Parameter[] = [];
  const inside = cursor.eat('(');
  if (inside && cursor.eat(')')) return parameters;
  if (cursor.kind === tokenKind.variable) {
    do parameters.push(parseParameter(cursor));
    while (!cursor.recovering && cursor.eat(','));
  } else if (inside) cursor.fail('a parameter');
  if (inside) closeParenthesis(cursor);
  return parameters;
}

function parseParameter(cursor: Cursor): Parameter {
  const { start } = cursor;
  const name = cursor.tokenText;
  if (cursor.kind === tokenKind.variable) cursor.advance();
  else cursor.fail('a parameter');
  cursor.eat('AS');
  const type = cursor.at('CURSOR') ? cursorType(cursor) : parseDataType(cursor);
  cursor.eat('VARYING');
  let nullable: boolean | null = null;
  if (cursor.eat('NULL')) nullable = true;
  else if (cursor.at('NOT')) {
    cursor.advance();
    cursor.expect('NULL');
    nullable = false;
  }
  const value = cursor.eat('=') ? cursor.grammar.operand(cursor) : null;
  let output = false;
  let readOnly = false;
  if (cursor.eatAny('OUT', 'OUTPUT') !== null) output = true;
  else if (cursor.eat('READONLY')) readOnly = true;
  return { kind: 'parameter', start, end: cursor.end, name, type, default: value, output, readOnly, nullable };
}

function cursorType(cursor: Cursor): DataType {
  const { start } = cursor;
  const part = cursor.takeIdentifier();
  const name: Name = { kind: 'name', start, end: cursor.end, parts: [part] };
  return {
    kind: 'data-type',
    start,
    end: cursor.end,
    name,
    arguments: none,
    elements: none,
    fields: none,
    text: 'cursor',
  };
}

const programOptions: ReadonlySet<string> = new Set([
  'RECOMPILE',
  'ENCRYPTION',
  'SCHEMABINDING',
  'NATIVE_COMPILATION',
  'VIEW_METADATA',
  'RETURNS',
  'CALLED',
  'EXECUTE',
  'EXEC',
  'INLINE',
]);

/** WITH RECOMPILE, EXECUTE AS OWNER, SCHEMABINDING …, without parentheses. */
function parseProgramOptions(cursor: Cursor): readonly Option[] {
  const options: Option[] = [];
  if (!cursor.at('WITH')) return listOf(options);
  cursor.advance();
  do {
    const { start } = cursor;
    const name = cursor.tokenText.toUpperCase();
    if (!programOptions.has(name)) {
      cursor.fail('RECOMPILE, ENCRYPTION, SCHEMABINDING, EXECUTE AS or another option');
      break;
    }
    cursor.advance();
    if (name === 'EXECUTE' || name === 'EXEC') {
      cursor.expect('AS');
      if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString || cursor.atName)
        cursor.advance();
      else cursor.fail('CALLER, SELF, OWNER or a user in quotes');
    } else if (name === 'INLINE') {
      cursor.expect('=');
      if (cursor.eatAny('ON', 'OFF') === null) cursor.fail('ON or OFF');
    } else if (name === 'RETURNS' || name === 'CALLED') {
      while (['NULL', 'ON', 'INPUT'].includes(cursor.word)) cursor.advance();
    }
    options.push({ kind: 'option', start, end: cursor.end, name, value: null, columns: none });
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(options);
}

/** CREATE, ALTER or CREATE OR ALTER FUNCTION from the name on. */
export function parseFunction(cursor: Cursor, start: number, alter: boolean): CreateFunction {
  const name = parseName(cursor, 'the name of a function', 2);
  let parameters: readonly Parameter[] = none;
  if (cursor.at('(')) parameters = parseParameters(cursor);
  else cursor.fail("'('");
  cursor.expect('RETURNS');
  let returns: DataType | null = null;
  let returnsVariable: string | null = null;
  let returnsElements: readonly TableElement[] = none;
  let inline = false;
  if (cursor.kind === tokenKind.variable) {
    returnsVariable = cursor.tokenText;
    cursor.advance();
    cursor.expect('TABLE');
    returnsElements = cursor.grammar.tableElements(cursor);
  } else if (cursor.eat('TABLE')) {
    if (cursor.at('(')) returnsElements = cursor.grammar.tableElements(cursor);
    else inline = true;
  } else returns = parseDataType(cursor);
  if (returns !== null && cursor.at('NOT') && cursor.peek(1) === 'NULL') {
    cursor.advance();
    cursor.advance();
  }
  const options = parseProgramOptions(cursor);
  if (cursor.at('ORDER') && cursor.peek(1) === '(') {
    cursor.advance();
    cursor.skipParentheses();
  }
  cursor.eat('AS');
  let query: Query | null = null;
  let body: readonly Statement[] = none;
  if (cursor.at('EXTERNAL')) parseBody(cursor);
  else if (inline && !cursor.recovering) query = parseInline(cursor);
  else {
    if (cursor.recovering && skipUntil(cursor, 'BEGIN')) cursor.recovering = false;
    if (!cursor.at('BEGIN')) cursor.fail('BEGIN');
    body = [cursor.grammar.statement(cursor)];
  }
  const { end } = cursor;
  return {
    kind: 'create-function',
    start,
    end,
    alter,
    name,
    parameters,
    returns,
    returnsVariable,
    returnsElements,
    options,
    query,
    expression: null,
    body,
  };
}

/** `RETURN ( query )` of an inline function, the parentheses being optional. */
function parseInline(cursor: Cursor): Query | null {
  if (!cursor.expect('RETURN')) return null;
  const { start } = cursor;
  if (cursor.at('(')) {
    cursor.advance();
    const inner = parseQueryWithTables(cursor);
    refuseOrder(cursor, inner);
    closeParenthesis(cursor);
    return cursor.at('UNION') || cursor.at('EXCEPT') || cursor.at('INTERSECT')
      ? cursor.grammar.queryFrom(cursor, { kind: 'query-group', start, end: cursor.end, query: inner })
      : inner;
  }
  return parseQueryWithTables(cursor);
}

/** CREATE, ALTER or CREATE OR ALTER TRIGGER from the name on. */
export function parseTrigger(cursor: Cursor, start: number, alter: boolean): CreateTrigger {
  const name = parseName(cursor, 'the name of a trigger', 2);
  let table: Name | null = null;
  cursor.expect('ON');
  if (!cursor.eat('DATABASE') && !cursor.eatSequence('ALL', 'SERVER')) table = parseName(cursor, 'a table or DATABASE');
  const options = cursor.at('WITH') ? parseProgramOptions(cursor) : none;
  let timing: CreateTrigger['timing'] = 'after';
  if (cursor.eat('INSTEAD')) {
    cursor.expect('OF');
    timing = 'instead-of';
  } else if (cursor.eatAny('FOR', 'AFTER') === null) cursor.fail('AFTER, FOR or INSTEAD OF');
  const events: string[] = [];
  do {
    if ((cursor.atName && table === null) || cursor.at('INSERT') || cursor.at('UPDATE') || cursor.at('DELETE')) {
      events.push(cursor.tokenText.toUpperCase());
      cursor.advance();
    } else cursor.fail('INSERT, UPDATE or DELETE');
  } while (!cursor.recovering && cursor.eat(','));
  if (cursor.at('WITH') && cursor.peek(1) === 'APPEND') {
    cursor.advance();
    cursor.advance();
  }
  cursor.eatSequence('NOT', 'FOR', 'REPLICATION');
  findAs(cursor);
  const external = cursor.at('EXTERNAL');
  const body = parseBody(cursor);
  if (body.length === 0 && !external) cursor.fail('a statement');
  return { kind: 'create-trigger', start, end: cursor.end, alter, name, table, timing, events, options, body };
}

/** CREATE, ALTER or CREATE OR ALTER [MATERIALIZED] VIEW from the name on (T-SQL). */
export function parseView(cursor: Cursor, start: number, alter: boolean, materialized: boolean): CreateView {
  const name = parseName(cursor, 'the name of a view', 2);
  const columns: readonly Identifier[] = cursor.at('(') ? parseIdentifierList(cursor) : none;
  const options: Option[] = [];
  if (cursor.at('WITH')) {
    if (cursor.peek(1) === '(') {
      cursor.advance();
      options.push(...(materialized ? parseAnyOptions(cursor) : parseTableOptions(cursor)));
    } else options.push(...parseProgramOptions(cursor));
  }
  cursor.expect('AS');
  const query = parseQueryWithTables(cursor);
  refuseOrder(cursor, query);
  if (cursor.at('WITH') && cursor.peek(1) === 'CHECK') {
    const optionStart = cursor.start;
    cursor.advance();
    cursor.advance();
    cursor.expect('OPTION');
    options.push({
      kind: 'option',
      start: optionStart,
      end: cursor.end,
      name: 'WITH CHECK OPTION',
      value: null,
      columns: none,
    });
  }
  const { end } = cursor;
  return {
    kind: 'create-view',
    start,
    end,
    alter,
    orReplace: false,
    materialized,
    temporary: false,
    name,
    columns,
    elements: none,
    options,
    query,
  };
}
