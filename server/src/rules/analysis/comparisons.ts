import { bare, childrenOf } from '../../syntax/inspect.ts';
import type { Binary, ColumnReference, Expression, IsNull, Node } from '../../syntax/tree.ts';
import { columnName, plainColumn, same } from './names.ts';
import { sourceOfColumn } from './sides.ts';
import type { Entry, Scope, Step } from './steps.ts';
import type { Tables } from './tables.ts';

/** `a <> b` or `a = b` between plain columns of two different sources. */
export interface ColumnComparison {
  readonly entry: Entry<'binary'>;
  readonly node: Binary;
  readonly left: ColumnReference;
  readonly right: ColumnReference;
  /** True or false when both sides' nullability is known, else null. */
  readonly nullable: boolean | null;
  /** Another condition beside it tests one of its columns for NULL. */
  readonly nullTested: boolean;
}

/** Comparisons with the given operators between columns of two different sources, in the order of the text. */
export function columnComparisons(
  step: Step,
  tables: Tables,
  operators: readonly string[],
): readonly ColumnComparison[] {
  return step.find('binary').flatMap((entry) => {
    const { node, scope } = entry;
    if (!operators.includes(node.operator)) return [];
    const left = plainColumn(node.left);
    const right = plainColumn(node.right);
    if (left === null || right === null) return [];
    const leftSource = sourceOfColumn(left, scope, tables);
    const rightSource = sourceOfColumn(right, scope, tables);
    if (leftSource === null || rightSource === null || leftSource === rightSource) return [];
    return [
      {
        entry,
        node,
        left,
        right,
        nullable: eitherNullable(left, right, scope, tables),
        nullTested: testsNullOf(entry, [left, right]),
      },
    ];
  });
}

/** True when one side may be NULL, false when neither may, null when that is not known. */
function eitherNullable(
  left: ColumnReference,
  right: ColumnReference,
  scope: Scope | null,
  tables: Tables,
): boolean | null {
  const first = storedNullable(left, scope, tables);
  const second = storedNullable(right, scope, tables);
  if (first === true || second === true) return true;
  return first === false && second === false ? false : null;
}

/** Nullability of the column itself: that an outer join may leave it empty is another question. */
export function storedNullable(column: ColumnReference, scope: Scope | null, tables: Tables): boolean | null {
  const source = sourceOfColumn(column, scope, tables);
  const columns = source === null ? null : (tables.relation(source)?.columns ?? null);
  return columns?.find((candidate) => same(candidate.name, columnName(column)))?.nullable ?? null;
}

/** True when the predicate around an entry tests one of some columns for NULL. */
function testsNullOf(entry: Entry, columns: readonly ColumnReference[]): boolean {
  const top = predicateAround(entry);
  return nullTestsIn(top).some((test) => {
    const tested = plainColumn(test.operand);
    return tested !== null && columns.some((column) => sameReference(column, tested));
  });
}

/** The whole condition that an expression is part of. */
function predicateAround(entry: Entry): Node {
  let top: Entry = entry;
  const logical = ['binary', 'unary', 'parenthesis', 'is-null', 'is-truth'];
  while (top.parent !== null && logical.includes(top.parent.node.kind)) top = top.parent;
  return top.node;
}

function nullTestsIn(node: Node): readonly IsNull[] {
  const found: IsNull[] = [];
  const pending: Node[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'is-null') found.push(next);
    if (next.kind !== 'query') pending.push(...childrenOf(next));
  }
  return found;
}

function sameReference(left: ColumnReference, right: ColumnReference): boolean {
  return (
    same(columnName(left), columnName(right)) &&
    (left.parts.length === 1 ||
      right.parts.length === 1 ||
      same(left.parts.at(-2)?.name ?? '', right.parts.at(-2)?.name ?? ''))
  );
}

/** True when an odd number of NOTs stands above, inside the same predicate. */
export function isNegated(entry: Entry): boolean {
  let negated = false;
  for (let at = entry.parent; at !== null; at = at.parent) {
    const { node } = at;
    if (node.kind === 'unary' && (node.operator === 'NOT' || node.operator === '!')) negated = !negated;
    else if (!['binary', 'parenthesis'].includes(node.kind)) break;
  }
  return negated;
}

/** ISNULL, COALESCE, IFNULL or NVL with a literal: what stands for NULL. */
export function sentinelOf(
  expression: Expression,
): { readonly column: Expression; readonly value: string; readonly national: boolean } | null {
  const inner = bare(expression);
  if (inner.kind !== 'call' || inner.arguments.length !== 2) return null;
  const name = inner.name.parts.at(-1)?.name.toUpperCase() ?? '';
  if (!['ISNULL', 'COALESCE', 'IFNULL', 'NVL'].includes(name)) return null;
  const [column, fallback] = inner.arguments;
  if (column === undefined || fallback === undefined) return null;
  const value = bare(fallback);
  if (value.kind !== 'literal' || value.type === 'null') return null;
  return { column, value: value.value, national: value.type === 'national' };
}
