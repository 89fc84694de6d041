import { bare } from '../../syntax/inspect.ts';
import type { ColumnReference, Expression, Merge, MergeBranch, Select } from '../../syntax/tree.ts';
import { memoByStep } from './memo.ts';
import { columnName, includes, plainColumn } from './names.ts';
import { type Sides, sidesOf, sourceOfColumn } from './sides.ts';
import { conjuncts, type Scope, type Source, type Step, selectsOf } from './steps.ts';
import type { Tables } from './tables.ts';
import { type CurrentTest, currentTest } from './versions.ts';

/** One equality of the ON condition between a target column and a source expression. */
interface KeyPair {
  readonly test: Expression;
  readonly target: ColumnReference;
  /** The source side. */
  readonly other: Expression;
  readonly otherColumn: ColumnReference | null;
  readonly nullSafe: boolean;
}

export interface OnTest {
  readonly test: Expression;
  readonly sides: Sides;
  readonly current: CurrentTest | null;
}

/** A MERGE, taken apart. */
export interface MergeFacts {
  readonly merge: Merge;
  readonly scope: Scope;
  readonly target: Source;
  /** The USING side; several where it is a join. */
  readonly sources: readonly Source[];
  readonly pairs: readonly KeyPair[];
  /** Conditions of ON that are no pair. */
  readonly others: readonly OnTest[];
  /** It stands inside INSERT … SELECT … FROM (MERGE …). */
  readonly nested: boolean;
}

/** All MERGE statements of a step, those inside an INSERT's FROM included. */
export const mergesOf = memoByStep((step: Step, tables: Tables): readonly MergeFacts[] => {
  return step.find('merge').flatMap(({ node, scope, parent }) => {
    const target = scope?.target ?? null;
    if (scope === null || target === null) return [];
    return [{ ...onFacts(node, scope, target, tables), nested: parent?.node.kind === 'dml-table' }];
  });
});

function onFacts(merge: Merge, scope: Scope, target: Source, tables: Tables): Omit<MergeFacts, 'nested'> {
  const pairs: KeyPair[] = [];
  const others: OnTest[] = [];
  for (const test of conjuncts(merge.on)) {
    const pair = pairOf(test, scope, target, tables);
    if (pair !== null) pairs.push(pair);
    else others.push({ test, sides: sidesOf(test, scope, target, tables), current: currentTest(test, scope, tables) });
  }
  return { merge, scope, target, sources: scope.sources.filter((source) => source !== target), pairs, others };
}

function pairOf(test: Expression, scope: Scope, target: Source, tables: Tables): KeyPair | null {
  const sides = equatedSides(test);
  if (sides === null) return null;
  const { left, right, nullSafe } = sides;
  for (const [first, second] of [
    [left, right],
    [right, left],
  ] as const) {
    const column = plainColumn(first);
    if (column === null || sourceOfColumn(column, scope, tables) !== target) continue;
    const other = sidesOf(second, scope, target, tables);
    if (other.target || !(other.source || other.unknown)) continue;
    return { test, target: column, other: second, otherColumn: plainColumn(second), nullSafe };
  }
  return null;
}

/** `a = b`, `a <=> b`, `a IS NOT DISTINCT FROM b`. */
export function equatedSides(
  test: Expression,
): { readonly left: Expression; readonly right: Expression; readonly nullSafe: boolean } | null {
  const inner = bare(test);
  if (inner.kind === 'binary' && ['=', '==', '<=>'].includes(inner.operator)) {
    return { left: inner.left, right: inner.right, nullSafe: inner.operator === '<=>' };
  }
  if (inner.kind === 'is-distinct' && inner.not) return { left: inner.left, right: inner.right, nullSafe: true };
  return null;
}

/** The branches of a MERGE for one kind of match, in their order. */
export function branchesOf(merge: Merge, match: MergeBranch['match']): readonly MergeBranch[] {
  return merge.branches.filter((branch) => branch.match === match);
}

/** Names of the target columns that ON equates with the source. */
export function keyColumns(facts: MergeFacts): readonly string[] {
  return facts.pairs.map((pair) => columnName(pair.target));
}

/** Names of the source columns that ON equates with the target; null when one of them is computed. */
export function sourceKeyColumns(facts: Pick<MergeFacts, 'pairs'>): readonly string[] | null {
  const names = facts.pairs.map((pair) => (pair.otherColumn === null ? null : columnName(pair.otherColumn)));
  return names.every((name) => name !== null) ? names : null;
}

/** The source holds changed rows twice: a UNION in which one SELECT gives NULL for the key, with or without its type. */
export function hasNullKeyUnion(facts: Pick<MergeFacts, 'sources' | 'pairs'>): boolean {
  const { sources } = facts;
  const keys = sourceKeyColumns(facts);
  return sources.some((source) => {
    const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
    if (query === null) return false;
    const selects = selectsOf(query);
    if (selects.length < 2) return false;
    const names = outputNames(selects[0], source);
    return selects.some((select) =>
      select.items.some(({ expression }, place) => {
        const name = names[place] ?? null;
        return isNull(expression) && (keys === null || name === null || includes(keys, name));
      }),
    );
  });
}

/** The names under which a source's columns are read, by place; null where the first SELECT gives none. */
function outputNames(first: Select | undefined, { node, common }: Source): readonly (string | null)[] {
  const listed = common?.columns ?? (node.kind === 'derived-table' ? node.columns : []);
  if (listed.length > 0) return listed.map(({ name }) => name);
  return (first?.items ?? []).map(({ alias, expression }) => {
    const column = plainColumn(expression);
    return alias?.name ?? (column === null ? null : columnName(column));
  });
}

function isNull(expression: Expression): boolean {
  const inner = bare(expression);
  if (inner.kind === 'cast') return isNull(inner.operand);
  return inner.kind === 'literal' && inner.type === 'null';
}

/** Literal rows are there to be read by the author. */
export function isLiteralSource(source: Source): boolean {
  const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
  if (query === null) return false;
  return query.body.kind === 'values' || selectsOf(query).every((select) => select.from.length === 0);
}
