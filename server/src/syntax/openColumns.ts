import { atConstraint, parseColumnConstraint, parseTableConstraint } from './constraints.ts';
import type { Cursor } from './cursor.ts';
import { decodeString } from './literals.ts';
import { closeParenthesis, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { recoverElement } from './recovery.ts';
import { tokenKind } from './tokens.ts';
import type {
  ColumnDefinition,
  Constraint,
  DataType,
  Expression,
  Identifier,
  IdentityClause,
  OpaqueClause,
  TableElement,
} from './tree.ts';
import { parseDataType } from './types.ts';

/** `( column …, constraint … )` of Spark SQL and DuckDB; the current token is the opening parenthesis. */
export function parseOpenElements(cursor: Cursor): readonly TableElement[] {
  const elements: TableElement[] = [];
  cursor.expect('(');
  while (!cursor.atEnd) {
    if (cursor.at(')')) break;
    elements.push(parseElement(cursor));
    if (!cursor.at(',') && !cursor.at(')')) cursor.fail("',' or ')'");
    if (cursor.recovering && !recoverElement(cursor)) return listOf(elements);
    if (!cursor.eat(',')) break;
  }
  closeParenthesis(cursor);
  return listOf(elements);
}

function parseElement(cursor: Cursor): TableElement {
  const { start } = cursor;
  if (cursor.at('CONSTRAINT') && cursor.peek(2) === 'EXPECT') return parseExpectation(cursor);
  if (cursor.at('LIKE')) {
    cursor.advance();
    const table = parseName(cursor, 'a table');
    return { kind: 'like-clause', start, end: cursor.end, table };
  }
  // `primary`, `unique`, `check` and `constraint` may be names of columns in Spark: a constraint goes on with a word or parenthesis.
  const isTyped = cursor.dialect.family === 'spark' && (cursor.peek(2) === ',' || cursor.peek(2) === ')');
  const named = cursor.at('CONSTRAINT') && cursor.nameAhead(1) && !isTyped;
  const keyed =
    (cursor.at('PRIMARY') && cursor.peek(1) === 'KEY') ||
    (cursor.at('FOREIGN') && cursor.peek(1) === 'KEY') ||
    ((cursor.at('UNIQUE') || cursor.at('CHECK')) && cursor.peek(1) === '(');
  if (named || (keyed && atConstraint(cursor))) return parseTableConstraint(cursor);
  return parseColumn(cursor);
}

/** `CONSTRAINT name EXPECT (condition) [ON VIOLATION DROP ROW | FAIL UPDATE]` of Databricks pipelines. */
function parseExpectation(cursor: Cursor): Constraint {
  const { start } = cursor;
  cursor.advance();
  const name = cursor.identifier('the name of a constraint');
  cursor.advance();
  let expression: Expression | null = null;
  if (cursor.expect('(')) {
    expression = cursor.grammar.condition(cursor);
    closeParenthesis(cursor);
  }
  while (!cursor.at(',') && !cursor.at(')') && !cursor.atEnd) cursor.advance();
  return {
    kind: 'constraint',
    start,
    end: cursor.end,
    type: 'expectation',
    name,
    columns: none,
    clustered: null,
    enforced: false,
    expression,
    references: null,
    forColumn: null,
    options: none,
  };
}

interface Draft {
  nullable: boolean | null;
  computed: Expression | null;
  persisted: boolean;
  identity: IdentityClause | null;
  collation: Identifier | null;
  default: Expression | null;
  comment: string | null;
  readonly constraints: Constraint[];
  readonly clauses: OpaqueClause[];
}

/** A column with its type, which pipelines and views may leave out, and its properties in any order. */
export function parseColumn(cursor: Cursor): ColumnDefinition {
  const { start } = cursor;
  const name = parseColumnName(cursor);
  const draft: Draft = {
    nullable: null,
    computed: null,
    persisted: false,
    identity: null,
    collation: null,
    default: null,
    comment: null,
    constraints: [],
    clauses: [],
  };
  let type: DataType | null = null;
  cursor.eat(':');
  if (
    !cursor.recovering &&
    (cursor.atName || cursor.at('UNION') || cursor.kind === tokenKind.variable) &&
    !startsProperty(cursor)
  )
    type = parseDataType(cursor);
  while (!cursor.at(',') && !cursor.at(')') && !cursor.atEnd && !cursor.recovering && parseProperty(cursor, draft));
  return {
    kind: 'column-definition',
    start,
    end: cursor.end,
    name,
    type,
    generated: null,
    hidden: false,
    sparse: false,
    rowGuid: false,
    index: null,
    nullable: draft.nullable,
    computed: draft.computed,
    persisted: draft.persisted,
    identity: draft.identity,
    collation: draft.collation,
    default: draft.default,
    comment: draft.comment,
    constraints: listOf(draft.constraints),
    clauses: listOf(draft.clauses),
  };
}

function parseColumnName(cursor: Cursor): Identifier {
  if (cursor.kind === tokenKind.reserved && cursor.dialect.family === 'spark') return cursor.takeIdentifier();
  let name = cursor.identifier('a column name');
  // Fields of structs in ALTER TABLE … ADD COLUMN.
  while (cursor.at('.') && !cursor.recovering) {
    cursor.advance();
    name = cursor.identifier('a column name');
  }
  return name;
}

/** The word behind a column's name begins a property, not a type. */
function startsProperty(cursor: Cursor): boolean {
  switch (cursor.word) {
    case 'COMMENT':
    case 'GENERATED':
    case 'MASK':
    case 'PRIMARY':
    case 'AS':
      return true;
    default:
      return false;
  }
}

function parseProperty(cursor: Cursor, draft: Draft): boolean {
  const { start } = cursor;
  switch (cursor.word) {
    case 'NULL':
      // Spark says what may not be NULL alone.
      if (cursor.dialect.family === 'spark') return false;
      cursor.advance();
      draft.nullable = true;
      return true;
    case 'NOT':
      cursor.advance();
      cursor.expect('NULL');
      draft.nullable = false;
      return true;
    case 'COMMENT':
      cursor.advance();
      if (cursor.kind === tokenKind.string) {
        draft.comment = decodeString(cursor.tokenText);
        cursor.grammar.primary(cursor);
      } else cursor.fail('a string');
      return true;
    case 'COLLATE':
      cursor.advance();
      draft.collation = cursor.identifier('a collation');
      while (cursor.eat('.')) draft.collation = cursor.identifier('a collation');
      return true;
    case 'DEFAULT':
      cursor.advance();
      draft.default = cursor.grammar.operand(cursor);
      return true;
    case 'GENERATED':
      parseGenerated(cursor, draft);
      return true;
    case 'AS':
      cursor.advance();
      if (cursor.at('(')) draft.computed = parseParenthesised(cursor);
      else cursor.fail("'('");
      return true;
    case 'FIRST':
      cursor.advance();
      return true;
    case 'AFTER':
      cursor.advance();
      cursor.identifier('a column name');
      return true;
    case 'VIRTUAL':
      cursor.advance();
      return true;
    case 'STORED':
      cursor.advance();
      draft.persisted = true;
      return true;
    default:
      return parseOtherProperty(cursor, draft, start);
  }
}

/** DuckDB has no further properties than those above; these words go on with a type: `INTEGER ARRAY`, `INTERVAL DAY`. */
const goesOnWithType = /^(?:array|(?:year|month|day|hour|minute|second)s?)$/i;

/** A type of Spark's stands behind a column's name, and nowhere among the properties: there a comma was lost. */
function isTypeWord(cursor: Cursor, distance: number): boolean {
  return cursor.nameAhead(distance) && sparkTypes.test(cursor.textAhead(distance));
}

const sparkTypes =
  /^(?:bigint|binary|boolean|byte|date|decimal|double|float|int|integer|long|numeric|short|smallint|string|timestamp|timestamp_ltz|timestamp_ntz|tinyint|varchar|variant)$/i;

function parseOtherProperty(cursor: Cursor, draft: Draft, start: number): boolean {
  let name: Identifier | null = null;
  if (cursor.at('CONSTRAINT')) {
    cursor.advance();
    name = cursor.identifier('the name of a constraint');
    if (cursor.at('NOT') || cursor.at('NULL')) return true;
  }
  const constraint = parseColumnConstraint(cursor, start, name);
  if (constraint !== null) {
    draft.constraints.push(constraint);
    if (constraint.type === 'default') draft.default = constraint.expression;
    return true;
  }
  if (!cursor.atName && !cursor.at('USING')) return false;
  // `INT INT`: no property is named like what stands before it.
  if (cursor.repeatsWord) return false;
  if (cursor.dialect.family === 'duckdb' && !cursor.at('USING') && !goesOnWithType.test(cursor.tokenText)) return false;
  if (cursor.dialect.family === 'spark' && (isTypeWord(cursor, 0) || isTypeWord(cursor, 1))) return false;
  // MASK f USING COLUMNS (…), USING COMPRESSION x and whatever else a platform may add.
  const clause = cursor.tokenText.toUpperCase();
  while (
    !cursor.at(',') &&
    !cursor.at(')') &&
    !cursor.atEnd &&
    !cursor.at(';') &&
    !cursor.at('NOT') &&
    !cursor.at('COMMENT')
  ) {
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  draft.clauses.push({ kind: 'opaque-clause', start, end: cursor.end, name: clause });
  return true;
}

/** GENERATED ALWAYS AS (expression), GENERATED ALWAYS | BY DEFAULT AS IDENTITY [(START WITH n INCREMENT BY n)]. */
function parseGenerated(cursor: Cursor, draft: Draft): void {
  const { start } = cursor;
  cursor.advance();
  let always = true;
  if (cursor.eat('BY')) {
    cursor.expect('DEFAULT');
    always = false;
  } else cursor.expect('ALWAYS');
  cursor.expect('AS');
  if (!cursor.eat('IDENTITY')) {
    if (cursor.at('(')) draft.computed = parseParenthesised(cursor);
    else cursor.fail("IDENTITY or '('");
    return;
  }
  let seed: string | null = null;
  let increment: string | null = null;
  if (cursor.eat('(')) {
    while (!cursor.at(')') && !cursor.atEnd && !cursor.recovering) {
      if (cursor.eat('START')) {
        cursor.eat('WITH');
        seed = takeNumber(cursor);
      } else if (cursor.eat('INCREMENT')) {
        cursor.eat('BY');
        increment = takeNumber(cursor);
      } else if (!cursor.eat(',')) cursor.fail('START WITH, INCREMENT BY');
    }
    closeParenthesis(cursor);
  }
  draft.identity = { kind: 'identity', start, end: cursor.end, seed, increment, notForReplication: false, always };
}

function takeNumber(cursor: Cursor): string {
  const { start } = cursor;
  cursor.eatAny('-', '+');
  if (cursor.kind === tokenKind.number || cursor.kind === tokenKind.variable) cursor.advance();
  else cursor.fail('a number');
  return cursor.slice(start, cursor.end);
}

function parseParenthesised(cursor: Cursor): Expression {
  cursor.expect('(');
  const expression = cursor.grammar.expression(cursor);
  closeParenthesis(cursor);
  return expression;
}
