import type { Cursor } from './cursor.ts';
import { parseGroupedItems } from './grouping.ts';
import { parseJoins } from './joins.ts';
import { parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { parsePivot, parseUnpivot } from './pivot.ts';
import { parseSelectItem } from './selectItems.ts';
import type {
  Expression,
  Identifier,
  Name,
  OrderItem,
  Query,
  QueryBody,
  Select,
  SelectItem,
  Star,
  TableSource,
} from './tree.ts';
import { parseOrderBy } from './windows.ts';

/**
 * One step of Spark's pipe syntax (`FROM t |> WHERE a > 1 |> SELECT a`); the current token is the mark `|>`. A step is
 * kept as the SELECT that means the same: everything before it is the source of its FROM.
 *
 * @param readSelect reads a SELECT, which may stand behind the mark without a FROM of its own
 * @param readSetOperation reads UNION and its like with the operand behind it
 */
export function parsePipe(
  cursor: Cursor,
  input: QueryBody,
  readSelect: (cursor: Cursor) => Select,
  readSetOperation: (cursor: Cursor, left: QueryBody) => QueryBody,
): QueryBody {
  const { start } = input;
  cursor.advance();
  const from = sourcesOf(input);
  const shape = (parts: Partial<Select>): Select => ({ ...emptySelect, start, end: cursor.end, from, ...parts });
  switch (cursor.word) {
    case 'SELECT': {
      const select = readSelect(cursor);
      return select.from.length > 0 ? select : { ...select, start, from };
    }
    case 'EXTEND': {
      cursor.advance();
      const everything = starItem(input.end);
      const items = parseItems(cursor);
      return shape({ items: [everything, ...items] });
    }
    case 'SET':
      cursor.advance();
      return shape({ items: [changedStar(cursor, input.end, { replace: parseReplacements(cursor) })] });
    case 'DROP': {
      cursor.advance();
      const except = parseNames(cursor);
      return shape({ items: [changedStar(cursor, input.end, { except })] });
    }
    case 'AS': {
      cursor.advance();
      const alias = cursor.identifier('an alias');
      return { kind: 'from-first', start, end: cursor.end, from: [derivedTable(input, alias, cursor.end)] };
    }
    case 'WHERE': {
      cursor.advance();
      const where = cursor.grammar.condition(cursor);
      return shape({ items: [starItem(input.end)], where });
    }
    case 'AGGREGATE':
      return parseAggregate(cursor, shape);
    case 'PIVOT':
      return fromFirst(parsePivot(cursor, asOne(input)));
    case 'UNPIVOT':
      return fromFirst(parseUnpivot(cursor, asOne(input)));
    case 'TABLESAMPLE':
      return parseSample(cursor, shape, input.end);
    case 'UNION':
    case 'EXCEPT':
    case 'INTERSECT':
    case 'MINUS':
    case 'SETMINUS':
      return readSetOperation(cursor, input);
    case 'ORDER':
    case 'SORT':
    case 'CLUSTER':
    case 'DISTRIBUTE':
    case 'WINDOW':
    case 'LIMIT':
    case 'OFFSET':
      return parseOrganisation(cursor, input);
    default:
  }
  const source = asOne(input);
  const joined = parseJoins(cursor, source, cursor.grammar.singleSource);
  if (joined === source) cursor.fail('a pipe operator such as SELECT, WHERE or AGGREGATE');
  return fromFirst(joined);
}

const emptySelect: Select = {
  kind: 'select',
  start: 0,
  end: 0,
  top: null,
  distinct: false,
  items: none,
  into: null,
  from: none,
  where: null,
  groupBy: null,
  having: null,
  windows: none,
  qualify: null,
  clauses: none,
};

/** `AGGREGATE [items] [GROUP BY items]`, which gives the aggregates and the grouped columns. */
function parseAggregate(cursor: Cursor, shape: (parts: Partial<Select>) => Select): Select {
  cursor.advance();
  const aggregates = cursor.at('GROUP') ? [] : parseItems(cursor);
  if (!cursor.at('GROUP')) return shape({ items: aggregates });
  const grouped = parseGroupedItems(cursor);
  return shape({ items: [...aggregates, ...grouped.items], groupBy: grouped.groupBy });
}

/** The order that these words have in a query; each step may have several. */
function parseOrganisation(cursor: Cursor, input: QueryBody): QueryBody {
  const { start } = input;
  let orderBy: readonly OrderItem[] = none;
  let limit: Expression | null = null;
  let offset: Expression | null = null;
  for (let again = true; again && !cursor.recovering; ) {
    if (cursor.at('ORDER')) orderBy = parseOrderBy(cursor);
    else if (cursor.at('SORT') || cursor.at('CLUSTER') || cursor.at('DISTRIBUTE')) parseSorting(cursor);
    else if (cursor.eat('LIMIT')) limit = cursor.eat('ALL') ? null : cursor.grammar.expression(cursor);
    else if (cursor.eat('OFFSET')) offset = cursor.grammar.expression(cursor);
    else if (cursor.at('WINDOW')) skipWindows(cursor);
    else again = false;
  }
  const query: Query = {
    kind: 'query',
    start,
    end: cursor.end,
    with: null,
    body: input,
    orderBy,
    offset,
    limit,
    forClause: null,
  };
  return { kind: 'query-group', start, end: cursor.end, query };
}

function parseSorting(cursor: Cursor): void {
  cursor.advance();
  cursor.expect('BY');
  do {
    cursor.grammar.value(cursor);
    cursor.eatAny('ASC', 'DESC');
    if (cursor.eat('NULLS')) cursor.eatAny('FIRST', 'LAST');
  } while (!cursor.recovering && cursor.eat(','));
}

function skipWindows(cursor: Cursor): void {
  cursor.advance();
  do {
    cursor.identifier('the name of a window');
    cursor.expect('AS');
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.identifier("'('");
  } while (!cursor.recovering && cursor.eat(','));
}

function parseSample(cursor: Cursor, shape: (parts: Partial<Select>) => Select, at: number): Select {
  const { start } = cursor;
  cursor.advance();
  if (cursor.at('(')) cursor.skipParentheses();
  else cursor.fail("'('");
  if (cursor.eat('REPEATABLE') && cursor.at('(')) cursor.skipParentheses();
  const items = [starItem(at)];
  return shape({ items, clauses: [{ kind: 'opaque-clause', start, end: cursor.end, name: 'TABLESAMPLE' }] });
}

function parseItems(cursor: Cursor): readonly SelectItem[] {
  const items: SelectItem[] = [];
  do items.push(parseSelectItem(cursor));
  while (!cursor.recovering && cursor.eat(','));
  return items;
}

/** `SET a = expression, …`: the columns keep their places. */
function parseReplacements(cursor: Cursor): Star['replace'] {
  const replace: Star['replace'][number][] = [];
  do {
    const { start } = cursor;
    const alias = cursor.identifier('a column name');
    while (cursor.eat('.')) cursor.identifier('a field');
    cursor.expect('=');
    const expression = cursor.grammar.value(cursor);
    replace.push({ kind: 'star-replacement', start, end: cursor.end, expression, alias });
  } while (!cursor.recovering && cursor.eat(','));
  return replace;
}

function parseNames(cursor: Cursor): readonly Identifier[] {
  const names: Identifier[] = [];
  do {
    const name: Name = parseName(cursor, 'a column name');
    const last = name.parts[name.parts.length - 1];
    if (last) names.push(last);
  } while (!cursor.recovering && cursor.eat(','));
  return listOf(names);
}

/** Stands for all columns that come in, where nobody wrote a star. */
function starItem(at: number, end = at, parts: Partial<Star> = {}): SelectItem {
  const expression: Star = { kind: 'star', start: at, end, qualifier: none, except: none, replace: none, ...parts };
  return { kind: 'select-item', start: at, end, expression, alias: null, aliasStyle: null, assigns: null };
}

function changedStar(cursor: Cursor, at: number, parts: Partial<Star>): SelectItem {
  return starItem(at, cursor.end, parts);
}

function sourcesOf(body: QueryBody): readonly TableSource[] {
  return body.kind === 'from-first' ? body.from : [derivedTable(body, null, body.end)];
}

function asOne(body: QueryBody): TableSource {
  if (body.kind === 'from-first' && body.from.length === 1 && body.from[0] !== undefined) return body.from[0];
  return derivedTable(body, null, body.end);
}

function derivedTable(body: QueryBody, alias: Identifier | null, end: number): TableSource {
  const { start } = body;
  const query: Query = {
    kind: 'query',
    start,
    end: body.end,
    with: null,
    body,
    orderBy: none,
    offset: null,
    limit: null,
    forClause: null,
  };
  return { kind: 'derived-table', start, end, lateral: false, query, alias, columns: none };
}

function fromFirst(source: TableSource): QueryBody {
  return { kind: 'from-first', start: source.start, end: source.end, from: [source] };
}
