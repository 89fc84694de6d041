import { findAll } from '../../syntax/inspect.ts';
import type { Node, Statement } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { callName } from './names.ts';
import { indexIn, indicesWhere } from './selections.ts';
import { lastName, meet, type TableNames, tablesIn } from './sides.ts';
import type { Body, Step } from './steps.ts';

/**
 * True when something before or around a write tests whether tables have rows: an IF over them that stops the load
 * or holds the write, a variable filled from them and tested so, or an EXISTS of the write itself.
 */
export function isGuardedBy(body: Body, step: Step, tables: TableNames): boolean {
  const index = indexIn(body, step);
  const { firstTest, filled } = knowledgeOf(body, tables);
  if (firstTest < index) return true;
  const mentions = ({ names, variables }: Reads) =>
    meet(names, tables) || variables.some((name) => (filled.get(name) ?? never) < index);
  if (step.guards.some((guard) => mentions(readsOf(guard.condition)))) return true;
  return step.find('exists').some(({ node, parent }) => {
    if (parent?.node.kind === 'unary') return false;
    const { body: inner } = node.query;
    return (
      inner.kind === 'select' && inner.where === null && inner.from.some((source) => meet(tablesIn(source), tables))
    );
  });
}

/** Later than every step. */
const never = Number.POSITIVE_INFINITY;

/** What a node reads; variables in lower case. */
interface Reads {
  readonly names: TableNames;
  readonly variables: readonly string[];
}

const readsOf = memo((node: Node): Reads => {
  const variables = findAll(node, 'variable').map((variable) => variable.name.toLowerCase());
  return { names: tablesIn(node), variables: [...new Set(variables)] };
});

/** What a step means for guards. */
interface Events {
  /** Variables (lower case) that it fills, with what they are filled from. */
  readonly fills: readonly { readonly variable: string; readonly from: Reads }[];
  /** What it reads when it decides whether the load goes on. */
  readonly tests: readonly Reads[];
}

const eventsOf = memo((step: Step): Events => {
  const { statement } = step;
  const tests = isStop(statement) ? step.guards.map((guard) => readsOf(guard.condition)) : [];
  return { fills: fillsOf(statement), tests: isErrorQuery(step) ? [readsOf(statement)] : tests };
});

function fillsOf(statement: Statement): Events['fills'] {
  switch (statement.kind) {
    case 'declare':
      return statement.variables.flatMap(({ name, value }) =>
        value === null ? [] : [{ variable: name.toLowerCase(), from: readsOf(value) }],
      );
    case 'set-variable':
      return [{ variable: statement.variable.name.toLowerCase(), from: readsOf(statement.value) }];
    case 'select-statement': {
      const { body } = statement.query;
      const items = body.kind === 'select' ? body.items : [];
      return items.flatMap(({ assigns }) =>
        assigns === null ? [] : [{ variable: assigns.name.toLowerCase(), from: readsOf(statement.query) }],
      );
    }
    case 'insert':
      // The row count of a statement that filled the stage.
      return 'name' in statement.target
        ? [{ variable: '@@rowcount', from: { names: tablesIn(statement.target), variables: [] } }]
        : [];
    default:
      return [];
  }
}

/** Ends a load: THROW, RAISERROR, RETURN, GOTO. */
export function isStop(statement: Statement): boolean {
  return ['throw', 'raiserror', 'return', 'goto'].includes(statement.kind);
}

/** A SELECT that raises an error by a function: DuckDB's error(), Spark's raise_error() and assert_true(). */
export function isErrorQuery(step: Step): boolean {
  return (
    step.statement.kind === 'select-statement' &&
    step.find('call').some(({ node }) => ['ERROR', 'RAISE_ERROR', 'ASSERT_TRUE'].includes(callName(node)))
  );
}

const eventIndices = indicesWhere((step) => {
  const { fills, tests } = eventsOf(step);
  return fills.length > 0 || tests.length > 0;
});

/** What follows from a table or a variable that is read: indices of steps, ascending. */
interface Uses {
  readonly tests: number[];
  /** By the variable that is filled from it. */
  readonly fills: Map<string, number[]>;
}

interface BodyUses {
  /** By a table's name without its schema, then by the name as it is written. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Uses>>;
  readonly variables: ReadonlyMap<string, Uses>;
}

/** Collected once a body, so that a guard is found without a walk over all steps for every write. */
const usesIn = memo((body: Body): BodyUses => {
  const tables = new Map<string, Map<string, Uses>>();
  const variables = new Map<string, Uses>();
  const usesOf = <K>(map: Map<K, Uses>, key: K): Uses => {
    const uses = map.get(key) ?? { tests: [], fills: new Map<string, number[]>() };
    map.set(key, uses);
    return uses;
  };
  const all = ({ names, variables: read }: Reads): readonly Uses[] => [
    ...[...names].map((name) => {
      const written = tables.get(lastName(name)) ?? new Map<string, Uses>();
      tables.set(lastName(name), written);
      return usesOf(written, name);
    }),
    ...read.map((name) => usesOf(variables, name)),
  ];
  for (const index of eventIndices(body)) {
    const step = body.steps[index];
    const { fills, tests } = step === undefined ? { fills: [], tests: [] } : eventsOf(step);
    for (const test of tests) for (const uses of all(test)) uses.tests.push(index);
    for (const { variable, from } of fills) {
      for (const uses of all(from)) {
        const indices = uses.fills.get(variable) ?? [];
        indices.push(index);
        uses.fills.set(variable, indices);
      }
    }
  }
  return { tables, variables };
});

/** What is known of tables in a body. */
interface Knowledge {
  /** Index of the first step that stops the load depending on them; `never` where there is none. */
  readonly firstTest: number;
  /** Variables filled from them, with the index of the step that does so first. */
  readonly filled: ReadonlyMap<string, number>;
}

const knownIn = memo((_: Body) => new Map<string, Knowledge>());

function knowledgeOf(body: Body, tables: TableNames): Knowledge {
  const key = [...tables].sort().join('\n');
  const known = knownIn(body).get(key) ?? learn(usesIn(body), tables);
  knownIn(body).set(key, known);
  return known;
}

/** Follows the tables into variables, and those into others, always to the first step that does so. */
function learn(uses: BodyUses, tables: TableNames): Knowledge {
  const filled = new Map<string, number>();
  let firstTest = never;
  const pending: string[] = [];
  /** What is read may have rows of the tables in it from behind the step at `since` on. */
  const follow = ({ tests, fills }: Uses, since: number): void => {
    firstTest = Math.min(firstTest, firstFrom(tests, since));
    for (const [variable, indices] of fills) {
      const index = firstFrom(indices, since + 1);
      if (index >= (filled.get(variable) ?? never)) continue;
      filled.set(variable, index);
      pending.push(variable);
    }
  };
  for (const name of tables) {
    for (const [written, of] of uses.tables.get(lastName(name)) ?? []) {
      if (meet(new Set([written]), new Set([name]))) follow(of, -1);
    }
  }
  for (let variable = pending.shift(); variable !== undefined; variable = pending.shift()) {
    const of = uses.variables.get(variable);
    if (of !== undefined) follow(of, filled.get(variable) ?? never);
  }
  return { firstTest, filled };
}

/** The first number of an ascending list that is not below a limit. */
function firstFrom(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? never) < limit) low = middle + 1;
    else high = middle;
  }
  return ascending[low] ?? never;
}
