/** MERGE. */
import type { Merge, MergeBranch } from '../../../server/src/syntax/tree.ts';
import { type Table, withRows } from './database.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCondition, bindValue } from './expressions.ts';
import { type Environment, Scope } from './scope.ts';
import { bindSources } from './sources.ts';
import type { Value } from './values.ts';
import type { SessionWorld } from './world.ts';
import { bindAssignments, changedRow, insertedRow, insertPlaces, stored, targetName, type Write } from './writes.ts';

type Row = readonly Value[];
/** What a branch makes of a pair: another row, or null for none. */
interface Branch {
  readonly match: MergeBranch['match'];
  readonly applies: (env: Environment) => boolean;
  readonly make: (env: Environment) => Row | null;
}

/** The target is source 0 of the scope, the rows merged in are source 1. */
const target = 0;
const source = 1;

export function bindMerge(statement: Merge, world: SessionWorld): Write {
  if (statement.with !== null || statement.top !== null || statement.output.length > 0)
    throw new BeyondEngine('a clause of MERGE');
  if (!statement.terminated) throw new SqlError(10713, 'A MERGE statement must be terminated by a semi-colon (;).', 15);
  if (statement.source === null || statement.on === null || statement.target.kind !== 'table')
    throw new BeyondEngine('a MERGE without USING or ON');
  const name = targetName(statement.target);
  const scope = new Scope(world, null);
  const targets = bindSources([statement.target], scope, bindCondition);
  const sources = bindSources([statement.source], scope, bindCondition);
  const on = bindCondition(statement.on, scope);
  const table = world.table(name);
  const branches = statement.branches.map((branch) => bindBranch(branch, table, scope));
  return () => {
    const outcome = merged(
      rowsAt(target, targets(null)),
      rowsAt(source, sources(null)),
      (env) => on.test(env) === true,
      branches,
      scope,
    );
    const now = world.table(name);
    const kept = now.rows.flatMap((row) => {
      const next = outcome.changed.get(row);
      return next === undefined ? [row] : next === null ? [] : [next];
    });
    world.session.putTable(withRows(now, [...kept, ...outcome.inserted]));
    return outcome.changed.size + outcome.inserted.length;
  };
}

function rowsAt(place: number, rows: readonly (readonly Row[])[]): readonly Row[] {
  return rows.flatMap((joined) => {
    const row = joined[place];
    return row === undefined ? [] : [row];
  });
}

interface MergeOutcome {
  /** Old row → its new state, null for deleted. */
  readonly changed: ReadonlyMap<Row, Row | null>;
  readonly inserted: readonly Row[];
}

function merged(
  old: readonly Row[],
  fresh: readonly Row[],
  matches: (env: Environment) => boolean,
  branches: readonly Branch[],
  scope: Scope,
): MergeOutcome {
  const changed = new Map<Row, Row | null>();
  const inserted: Row[] = [];
  const met = new Set<Row>();
  const first = (match: MergeBranch['match'], env: Environment): Branch | undefined =>
    branches.find((branch) => branch.match === match && branch.applies(env));
  for (const added of fresh) {
    const partners = old.filter((row) => matches({ rows: [row, added], outer: null }));
    for (const row of partners) {
      met.add(row);
      const env = { rows: [row, added], outer: null };
      const branch = first('matched', env);
      if (branch === undefined) continue;
      if (changed.has(row))
        throw new SqlError(8672, 'The MERGE statement attempted to UPDATE or DELETE the same row more than once.');
      changed.set(row, branch.make(env));
    }
    if (partners.length > 0) continue;
    const env = { rows: [nulls(scope, target), added], outer: null };
    const made = first('not-matched', env)?.make(env);
    if (made !== undefined && made !== null) inserted.push(made);
  }
  for (const row of old) {
    if (met.has(row)) continue;
    const env = { rows: [row, nulls(scope, source)], outer: null };
    const branch = first('not-matched-by-source', env);
    if (branch !== undefined) changed.set(row, branch.make(env));
  }
  return { changed, inserted };
}

function nulls(scope: Scope, place: number): Row {
  return (scope.sources[place]?.columns ?? []).map(() => null);
}

/** Branches see both sides where both are there, else the one that is. */
function bindBranch({ match, condition, action }: MergeBranch, table: Table, scope: Scope): Branch {
  scope.visible = match === 'matched' ? null : match === 'not-matched' ? [source, source + 1] : [target, target + 1];
  try {
    const test = condition === null ? null : bindCondition(condition, scope);
    return {
      match,
      applies: (env) => test === null || test.test(env) === true,
      make: bindAction(action, table, scope),
    };
  } finally {
    scope.visible = null;
  }
}

function bindAction(action: MergeBranch['action'], table: Table, scope: Scope): Branch['make'] {
  switch (action?.kind) {
    case 'merge-delete':
      return () => null;
    case 'merge-update': {
      const changes = bindAssignments(action.assignments, table, scope);
      return (env) => changedRow(env.rows[target] ?? [], changes(env));
    }
    case 'merge-insert': {
      const places = insertPlaces(action.columns, table);
      if (places.length !== action.values.length)
        throw new SqlError(10709, 'The number of columns for each row in a table value constructor must be the same.');
      const values = action.values.map((value, index) => {
        const bound = bindValue(value, scope);
        const store = stored(bound.type, table, places[index] ?? 0);
        return (env: Environment) => store(bound.run(env));
      });
      return (env) =>
        insertedRow(
          table,
          places,
          values.map((run) => run(env)),
        );
    }
    default:
      throw new BeyondEngine(`MERGE action ${action?.kind}`);
  }
}
