import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parseIndexOptions } from './options.ts';
import { tokenKind } from './tokens.ts';
import type {
  Constraint,
  Expression,
  Identifier,
  IndexDefinition,
  KeyColumn,
  Option,
  ReferencesClause,
} from './tree.ts';

/** Words that begin a constraint after its name, or without one. */
export function atConstraint(cursor: Cursor): boolean {
  switch (cursor.word) {
    case 'CONSTRAINT':
    case 'UNIQUE':
    case 'FOREIGN':
    case 'CHECK':
    case 'PRIMARY':
      return true;
    case 'DEFAULT':
      return cursor.dialect.family === 'tsql';
    case 'PERIOD':
      return cursor.peek(1) === 'FOR';
    case 'CONNECTION':
      return cursor.peek(1) === '(';
    default:
      return false;
  }
}

/** A table constraint with CONSTRAINT and its name, where they are written. */
export function parseTableConstraint(cursor: Cursor): Constraint {
  const { start } = cursor;
  let name: Identifier | null = null;
  if (cursor.eat('CONSTRAINT')) name = cursor.identifier('the name of a constraint');
  switch (cursor.word) {
    case 'PRIMARY':
    case 'UNIQUE':
      return parseKey(cursor, start, name, true);
    case 'FOREIGN':
      return parseForeignKey(cursor, start, name, true);
    case 'CHECK':
      return parseCheck(cursor, start, name);
    case 'DEFAULT':
      return parseDefaultFor(cursor, start, name);
    case 'PERIOD':
      return parsePeriod(cursor, start, name);
    case 'CONNECTION':
      return parseConnection(cursor, start, name);
    default:
      cursor.fail('PRIMARY KEY, UNIQUE, FOREIGN KEY, CHECK or DEFAULT');
      return finished(cursor, newConstraint('check', start, name));
  }
}

/** A constraint while its parts are gathered. */
type Draft = { -readonly [Key in keyof Constraint]: Constraint[Key] };

function newConstraint(type: Constraint['type'], start: number, name: Identifier | null): Draft {
  return {
    kind: 'constraint',
    start,
    end: start,
    type,
    name,
    columns: none,
    clustered: null,
    enforced: true,
    expression: null,
    references: null,
    forColumn: null,
    options: none,
  };
}

function finished(cursor: Cursor, constraint: Draft): Constraint {
  constraint.end = cursor.end;
  return constraint;
}

/** A constraint at a column: the same without a column list. */
export function parseColumnConstraint(cursor: Cursor, start: number, name: Identifier | null): Constraint | null {
  switch (cursor.word) {
    case 'PRIMARY':
    case 'UNIQUE':
      return parseKey(cursor, start, name, false);
    case 'FOREIGN':
    case 'REFERENCES':
      return parseForeignKey(cursor, start, name, false);
    case 'CHECK':
      return parseCheck(cursor, start, name);
    case 'DEFAULT':
      return parseDefault(cursor, start, name);
    default:
      return null;
  }
}

function parseKey(cursor: Cursor, start: number, name: Identifier | null, ofTable: boolean): Constraint {
  const type = cursor.at('PRIMARY') ? 'primary-key' : 'unique';
  cursor.advance();
  if (type === 'primary-key') cursor.expect('KEY');
  const clustered = parseClustered(cursor);
  if (clustered === false && cursor.dialect.family === 'tsql') cursor.eat('HASH');
  const key = newConstraint(type, start, name);
  key.clustered = clustered;
  if (ofTable) key.columns = cursor.expect('(') ? parseKeyColumnsInside(cursor) : none;
  else if (cursor.at('(') && cursor.dialect.family === 'tsql') {
    cursor.advance();
    key.columns = parseKeyColumnsInside(cursor);
  }
  key.options = parseKeyOptions(cursor);
  key.enforced = parseEnforced(cursor);
  return finished(cursor, key);
}

/** CLUSTERED or NONCLUSTERED, null where neither is written. */
export function parseClustered(cursor: Cursor): boolean | null {
  if (cursor.eat('CLUSTERED')) return true;
  if (cursor.eat('NONCLUSTERED')) return false;
  return null;
}

/** `a ASC, b DESC )` behind the opening parenthesis. */
export function parseKeyColumnsInside(cursor: Cursor): readonly KeyColumn[] {
  const columns: KeyColumn[] = [];
  do {
    const { start } = cursor;
    const name = cursor.identifier('a column name');
    const direction = cursor.eatAny('ASC', 'DESC');
    if (cursor.dialect.family === 'spark') cursor.eat('TIMESERIES');
    columns.push({ kind: 'key-column', start, end: cursor.end, name, descending: direction === 'DESC' });
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(columns);
}

/** WITH FILLFACTOR = n, WITH (…), ON filegroup, FILESTREAM_ON filegroup, in this order. */
function parseKeyOptions(cursor: Cursor): readonly Option[] {
  if (cursor.dialect.family !== 'tsql') return none;
  const options: Option[] = [];
  if (cursor.at('WITH')) options.push(...parseWithIndexOptions(cursor));
  if (cursor.at('ON') && cursor.peek(1) !== 'DELETE' && cursor.peek(1) !== 'UPDATE')
    options.push(parseFilegroup(cursor));
  if (cursor.at('FILESTREAM_ON')) options.push(parseFilegroup(cursor));
  return listOf(options);
}

/** WITH (…) or the old form without parentheses; the current token is WITH. */
function parseWithIndexOptions(cursor: Cursor): readonly Option[] {
  cursor.advance();
  if (cursor.at('(')) return parseIndexOptions(cursor);
  const options: Option[] = [];
  do {
    const { start } = cursor;
    if (cursor.kind !== tokenKind.word && !cursor.at('FILLFACTOR')) {
      cursor.fail("'(' or FILLFACTOR");
      break;
    }
    const name = cursor.tokenText.toUpperCase();
    if (!oldOptions.has(name)) {
      cursor.fail("'(' or FILLFACTOR");
      break;
    }
    cursor.advance();
    let value: string | null = null;
    if (name === 'FILLFACTOR') {
      cursor.expect('=');
      value = cursor.tokenText;
      if (cursor.kind === tokenKind.number) cursor.advance();
      else cursor.fail('a number');
    }
    options.push({ kind: 'option', start, end: cursor.end, name, value, columns: none });
  } while (!cursor.recovering && cursor.eat(','));
  return options;
}

const oldOptions: ReadonlySet<string> = new Set([
  'FILLFACTOR',
  'PAD_INDEX',
  'IGNORE_DUP_KEY',
  'DROP_EXISTING',
  'STATISTICS_NORECOMPUTE',
  'SORT_IN_TEMPDB',
]);

/** ON filegroup, ON scheme (column), ON "default"; the current token is ON, TEXTIMAGE_ON or FILESTREAM_ON. */
export function parseFilegroup(cursor: Cursor): Option {
  const { start, word } = cursor;
  cursor.advance();
  const from = cursor.start;
  if (cursor.kind === tokenKind.string) cursor.advance();
  else cursor.identifier('a filegroup or partition scheme');
  const columns: readonly Identifier[] = cursor.at('(') ? parseIdentifierList(cursor) : none;
  return { kind: 'option', start, end: cursor.end, name: word, value: cursor.slice(from, cursor.end), columns };
}

/** NOT ENFORCED and RELY; Spark's keys prove nothing even without the words. */
function parseEnforced(cursor: Cursor): boolean {
  let enforced = cursor.dialect.family !== 'spark';
  for (;;) {
    if (cursor.at('NOT') && cursor.peek(1) === 'ENFORCED') {
      cursor.advance();
      cursor.advance();
      enforced = false;
    } else if (cursor.at('ENFORCED')) {
      cursor.advance();
    } else if (
      cursor.dialect.family === 'spark' &&
      (cursor.at('RELY') || cursor.at('NORELY') || cursor.at('DEFERRABLE'))
    ) {
      cursor.advance();
    } else if (cursor.dialect.family === 'spark' && cursor.at('INITIALLY')) {
      cursor.advance();
      if (cursor.atName) cursor.advance();
    } else return enforced;
  }
}

function parseForeignKey(cursor: Cursor, start: number, name: Identifier | null, ofTable: boolean): Constraint {
  const key = newConstraint('foreign-key', start, name);
  if (cursor.eat('FOREIGN')) {
    cursor.expect('KEY');
    if (ofTable || cursor.at('(')) key.columns = cursor.expect('(') ? parseKeyColumnsInside(cursor) : none;
  }
  key.references = parseReferences(cursor);
  cursor.eatSequence('NOT', 'FOR', 'REPLICATION');
  key.enforced = parseEnforced(cursor);
  return finished(cursor, key);
}

function parseReferences(cursor: Cursor): ReferencesClause {
  const { start } = cursor;
  cursor.expect('REFERENCES');
  const table = parseName(cursor, 'a table');
  const columns = cursor.at('(') ? parseIdentifierList(cursor) : none;
  let onDelete: string | null = null;
  let onUpdate: string | null = null;
  if (cursor.dialect.family === 'spark' && cursor.at('MATCH')) {
    cursor.advance();
    cursor.eat('FULL');
  }
  while (cursor.at('ON') && (cursor.peek(1) === 'DELETE' || cursor.peek(1) === 'UPDATE') && !cursor.recovering) {
    cursor.advance();
    const isDelete = cursor.at('DELETE');
    if ((isDelete ? onDelete : onUpdate) !== null) cursor.fail('the end of the constraint');
    cursor.advance();
    const action = parseReferenceAction(cursor);
    if (isDelete) onDelete = action;
    else onUpdate = action;
  }
  return { kind: 'references', start, end: cursor.end, table, columns, onDelete, onUpdate };
}

function parseReferenceAction(cursor: Cursor): string {
  if (cursor.eat('CASCADE')) return 'CASCADE';
  if (cursor.dialect.family !== 'tsql' && cursor.eat('RESTRICT')) return 'RESTRICT';
  if (cursor.eat('SET')) {
    if (cursor.eat('NULL')) return 'SET NULL';
    cursor.expect('DEFAULT');
    return 'SET DEFAULT';
  }
  if (cursor.eat('NO')) {
    cursor.expect('ACTION');
    return 'NO ACTION';
  }
  cursor.fail('CASCADE, NO ACTION, SET NULL or SET DEFAULT');
  return '';
}

function parseCheck(cursor: Cursor, start: number, name: Identifier | null): Constraint {
  cursor.advance();
  cursor.eatSequence('NOT', 'FOR', 'REPLICATION');
  const check = newConstraint('check', start, name);
  if (cursor.expect('(')) {
    check.expression = cursor.grammar.condition(cursor);
    closeParenthesis(cursor);
  }
  if (cursor.dialect.family === 'spark') parseEnforced(cursor);
  return finished(cursor, check);
}

function parseDefault(cursor: Cursor, start: number, name: Identifier | null): Constraint {
  cursor.advance();
  const constraint = newConstraint('default', start, name);
  constraint.expression = parseDefaultValue(cursor);
  if (cursor.at('WITH') && cursor.peek(1) === 'VALUES') {
    cursor.advance();
    cursor.advance();
  }
  return finished(cursor, constraint);
}

/** The value of DEFAULT; T-SQL takes no query in it. */
function parseDefaultValue(cursor: Cursor): Expression {
  const value = cursor.dialect.family === 'tsql' ? cursor.grammar.value(cursor) : cursor.grammar.operand(cursor);
  if (value.kind === 'subquery' && cursor.dialect.family === 'tsql') {
    cursor.report(value.start, value.end, 'Expected a constant or function: a DEFAULT takes no query.');
  }
  return value;
}

/** `DEFAULT … FOR column` of ALTER TABLE … ADD. */
function parseDefaultFor(cursor: Cursor, start: number, name: Identifier | null): Constraint {
  cursor.advance();
  const constraint = newConstraint('default', start, name);
  constraint.expression = parseDefaultValue(cursor);
  if (cursor.expect('FOR')) constraint.forColumn = cursor.identifier('a column name');
  cursor.eatSequence('WITH', 'VALUES');
  return finished(cursor, constraint);
}

function parsePeriod(cursor: Cursor, start: number, name: Identifier | null): Constraint {
  cursor.advance();
  cursor.expect('FOR');
  cursor.expect('SYSTEM_TIME');
  const period = newConstraint('period', start, name);
  if (cursor.expect('(')) period.columns = parseKeyColumnsInside(cursor);
  return finished(cursor, period);
}

/** `CONNECTION (a TO b, …)` of graph edges. */
function parseConnection(cursor: Cursor, start: number, name: Identifier | null): Constraint {
  cursor.advance();
  cursor.expect('(');
  do {
    parseName(cursor, 'a node table');
    cursor.expect('TO');
    parseName(cursor, 'a node table');
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  if (cursor.at('ON') && cursor.peek(1) === 'DELETE') {
    cursor.advance();
    cursor.advance();
    parseReferenceAction(cursor);
  }
  return finished(cursor, newConstraint('connection', start, name));
}

/** `INDEX name …` inside CREATE TABLE, of the table or at a column. */
export function parseInlineIndex(cursor: Cursor, ofTable = false): IndexDefinition {
  const { start } = cursor;
  cursor.advance();
  const name = cursor.identifier('the name of an index');
  const unique = cursor.eat('UNIQUE');
  const clustered = parseClustered(cursor);
  if (cursor.at('HASH')) cursor.advance();
  const columnstore = cursor.eat('COLUMNSTORE');
  const listed = cursor.eat('(');
  const columns = listed ? parseKeyColumnsInside(cursor) : none;
  if (!listed && ofTable && !columnstore) cursor.fail("'(' and the columns of the index");
  const tail = parseIndexTail(cursor);
  return { kind: 'index-definition', start, end: cursor.end, name, unique, clustered, columnstore, columns, ...tail };
}

type IndexTail = Pick<IndexDefinition, 'include' | 'where' | 'options'>;

/** INCLUDE, ORDER, WHERE, WITH, ON and FILESTREAM_ON of an index. */
export function parseIndexTail(cursor: Cursor): IndexTail {
  const options: Option[] = [];
  let include: readonly Identifier[] = none;
  let where: Expression | null = null;
  if (cursor.eat('INCLUDE')) include = parseIdentifierList(cursor);
  if (cursor.at('ORDER') && cursor.peek(1) === '(') {
    const { start } = cursor;
    cursor.advance();
    const columns = parseIdentifierList(cursor);
    options.push({ kind: 'option', start, end: cursor.end, name: 'ORDER', value: null, columns });
  }
  if (cursor.eat('WHERE')) where = cursor.grammar.condition(cursor);
  if (cursor.at('WITH')) options.push(...parseWithIndexOptions(cursor));
  if (cursor.at('ON')) options.push(parseFilegroup(cursor));
  if (cursor.at('FILESTREAM_ON')) options.push(parseFilegroup(cursor));
  return { include, where, options: listOf(options) };
}
