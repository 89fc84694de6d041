/** Keys that a load has proved unique before a statement: it stops where a query finds one of them twice. */
import { bare, findAll } from '../../syntax/inspect.ts';
import type { Expression, Query, Select, Statement } from '../../syntax/tree.ts';
import { isErrorQuery, isStop } from './guards.ts';
import { memo } from './memo.ts';
import { callOf, columnName, includes, plainColumn, same } from './names.ts';
import { indicesOf, indicesWhere } from './selections.ts';
import { meet, type TableNames, tablesIn } from './sides.ts';
import { type Body, conjuncts, type Scope, type Source, type Step, scopeOfQuery } from './steps.ts';
import type { Tables } from './tables.ts';

/** Columns of one table, by its own names for them. */
interface TableKey {
  readonly table: TableNames;
  readonly columns: readonly string[];
}

/**
 * True where a guard before the step proves that a source holds each value of these columns once: the load stops on what
 * `GROUP BY key HAVING COUNT(*) > 1` finds in the same table, and nothing adds rows to that table behind it.
 *
 * @param index of the step in the body
 */
export function isProvedUnique(
  body: Body,
  index: number,
  source: Source,
  columns: readonly string[],
  tables: Tables,
): boolean {
  const proofs = seekers(body).filter((place) => place < index);
  if (proofs.length === 0) return false;
  const levels = levelsOf(source, columns, tables);
  return levels.some((level, depth) =>
    proofs.some((place) => {
      const step = body.steps[place];
      const sought = step === undefined ? [] : repeatsSoughtBy(step);
      return sought.some(
        ({ query, key }) =>
          meet(level.table, key.table) &&
          key.columns.every((name) => includes(level.columns, name)) &&
          isStoppedBy(body, place, query) &&
          !isWritten(body, place + 1, index, key.table) &&
          // What a table of the script got besides the query that made it is not proved.
          levels.slice(0, depth).every((above) => !isWritten(body, 0, index, above.table)),
      );
    }),
  );
}

const seekers = indicesWhere((step) => repeatsSoughtBy(step).length > 0);

/** The queries of a step that look for repeated keys of one table. */
const repeatsSoughtBy = memo((step: Step) =>
  step.find('query').flatMap(({ node, scope }): readonly { readonly query: Query; readonly key: TableKey }[] => {
    const key = repeatedKey(node, scope);
    return key === null ? [] : [{ query: node, key }];
  }),
);

/** The key that `SELECT … FROM one GROUP BY key HAVING COUNT(*) > 1` looks for; null for any other query. */
function repeatedKey(query: Query, outer: Scope | null): TableKey | null {
  const { body } = query;
  if (body.kind !== 'select' || body.groupBy === null || body.having === null) return null;
  if (body.groupBy.all || body.groupBy.clauses.length > 0 || !countsMoreThanOne(body.having)) return null;
  const source = onlySource(query, outer);
  const columns = namesOf(body.groupBy.items);
  if (source === null || columns === null || !keepsEveryKey(body, columns)) return null;
  return allRowsOf(source, columns);
}

/** The table whose rows a source holds all of, but for those without a key; null where a query leaves others out. */
function allRowsOf(from: Source, columns: readonly string[]): TableKey | null {
  let [source, names] = [from, columns];
  for (let depth = 0; depth < 24; depth += 1) {
    const query = ownQuery(source);
    if (query === null) return { table: tablesIn(source.node), columns: names };
    const passed = passedThrough(query, source, names);
    if (passed?.names.length !== names.length || query.body.kind !== 'select') return null;
    const { distinct, top, groupBy } = query.body;
    const limited = distinct || top !== null || groupBy !== null || (query.limit ?? null) !== null;
    if (limited || !keepsEveryKey(query.body, passed.names)) return null;
    [source, names] = [passed.source, passed.names];
  }
  return null;
}

function countsMoreThanOne(having: Expression): boolean {
  const inner = bare(having);
  if (inner.kind !== 'binary') return false;
  const call = callOf(inner.left, 'COUNT', 'COUNT_BIG');
  const limit = bare(inner.right);
  if (call === null || limit.kind !== 'literal') return false;
  const [counted] = call.arguments;
  const countsRows = counted === undefined || ['star', 'literal'].includes(bare(counted).kind);
  const { operator } = inner;
  return countsRows && ((operator === '>' && limit.value === '1') || (operator === '>=' && limit.value === '2'));
}

/** Rows without a key may be left out: NULL equals nothing. A filter of another kind proves a part of the rows only. */
function keepsEveryKey(select: Select, keys: readonly string[]): boolean {
  return conjuncts(select.where).every((condition) => {
    const column = condition.kind === 'is-null' && condition.not ? plainColumn(condition.operand) : null;
    return column !== null && includes(keys, columnName(column));
  });
}

function namesOf(expressions: readonly Expression[]): readonly string[] | null {
  const columns = expressions.map((expression) => plainColumn(expression));
  return columns.every((column) => column !== null) ? columns.map(columnName) : null;
}

/** The steps that stop a load, by what they depend on. */
const stopsIn = memo((body: Body) => {
  /** By variable in lower case: index of the last stop that tests it. */
  const byVariable = new Map<string, number>();
  const queries = new Set<Query>();
  for (const index of indicesOf(body, 'throw', 'raiserror', 'return', 'goto')) {
    const step = body.steps[index];
    if (step === undefined || !isStop(step.statement)) continue;
    for (const { condition, negated } of step.guards) {
      for (const variable of findAll(condition, 'variable')) byVariable.set(variable.name.toLowerCase(), index);
      if (negated) continue;
      for (const query of findAll(condition, 'query')) queries.add(query);
    }
  }
  return { byVariable, queries };
});

/** Whether the load stops on what a query finds: by itself, in the condition of an IF, or through a variable. */
function isStoppedBy(body: Body, index: number, query: Query): boolean {
  const step = body.steps[index];
  if (step === undefined) return false;
  const { byVariable, queries } = stopsIn(body);
  if (isErrorQuery(step) || queries.has(query)) return true;
  return filledBy(step.statement).some((name) => (byVariable.get(name.toLowerCase()) ?? -1) > index);
}

/** The variables that a statement fills from a query. */
function filledBy(statement: Statement): readonly string[] {
  switch (statement.kind) {
    case 'declare':
      return statement.variables.flatMap(({ name, value }) => (value === null ? [] : [name]));
    case 'set-variable':
      return [statement.variable.name];
    case 'select-statement': {
      const { body } = statement.query;
      return body.kind === 'select' ? body.items.flatMap(({ assigns }) => assigns?.name ?? []) : [];
    }
    default:
      return [];
  }
}

/** The table behind a source, and those behind that one where a query makes it from the rows of one other. */
function levelsOf(from: Source, columns: readonly string[], tables: Tables): readonly TableKey[] {
  const levels: TableKey[] = [];
  let [source, names] = [from, columns];
  for (let depth = 0; depth < 24; depth += 1) {
    const own = ownQuery(source);
    if (own === null) levels.push({ table: tablesIn(source.node), columns: names });
    const query = own ?? makerOf(source, tables);
    const passed = query === null ? null : passedThrough(query, source, names);
    if (passed === null) break;
    [source, names] = [passed.source, passed.names];
  }
  return levels;
}

function ownQuery({ node, common }: Source): Query | null {
  return common?.query ?? (node.kind === 'derived-table' ? node.query : null);
}

function makerOf({ node }: Source, tables: Tables): Query | null {
  const name = node.kind === 'table' ? node.name.parts.at(-1)?.name : undefined;
  return name === undefined ? null : tables.madeBy(name);
}

function onlySource(query: Query, outer: Scope | null): Source | null {
  const [source, ...more] = scopeOfQuery(query, outer)?.scope.sources ?? [];
  return source === undefined || more.length > 0 ? null : source;
}

/** The one source of a query, with its names for the query's columns; a column that the query computes is left out. */
function passedThrough(
  query: Query,
  { outer, node, common }: Source,
  names: readonly string[],
): { readonly source: Source; readonly names: readonly string[] } | null {
  const source = onlySource(query, outer);
  if (source === null || query.body.kind !== 'select') return null;
  const { items } = query.body;
  const listed = common?.columns ?? (node.kind === 'derived-table' ? node.columns : []);
  const isStarred = items.some(({ expression }) => bare(expression).kind === 'star');
  const inner = names.flatMap((name) => {
    const place = listed.findIndex((column) => same(column.name, name));
    const item = place >= 0 ? items[place] : items.find((each) => same(outputName(each), name));
    const column = item === undefined ? null : plainColumn(item.expression);
    if (column !== null) return [columnName(column)];
    return item === undefined && isStarred ? [name] : [];
  });
  return { source, names: inner };
}

function outputName({ alias, expression }: Select['items'][number]): string {
  const column = plainColumn(expression);
  return alias?.name ?? (column === null ? '' : columnName(column));
}

/** Whether a step from one index up to before another adds rows to a table, or changes them. */
function isWritten(body: Body, from: number, to: number, table: TableNames): boolean {
  for (let index = from; index < to; index += 1) {
    const step = body.steps[index];
    if (step !== undefined && meet(writtenBy(step), table)) return true;
  }
  return false;
}

const writtenBy = memo((step: Step): TableNames => {
  const writes = [...step.find('insert'), ...step.find('update'), ...step.find('merge')];
  return new Set(writes.flatMap(({ node, scope }) => [...tablesIn(scope?.target?.node ?? node.target)]));
});
