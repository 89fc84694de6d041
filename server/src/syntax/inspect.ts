import type { TableName } from '../../../protocol/catalog.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import { consequencesIn } from './consequences.ts';
import { none } from './none.ts';
import type { Expression, Identifier, Kind, Name, Node, NodeBase, Script, SyntaxProblem, Unit } from './tree.ts';

/** Offsets in the file, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The top-level statements of all batches, in order. */
export function unitsOf(script: Script): readonly Unit[] {
  if (script.batches.length === 1) return script.batches[0]?.units ?? [];
  const all: Unit[] = [];
  for (const batch of script.batches) for (const unit of batch.units) all.push(unit);
  return all;
}

/** The problems of all units, with offsets in the file, less those that follow from an earlier one. */
export function problemsOf(script: Script): readonly SyntaxProblem[] {
  // Hardly any unit has problems, and a list for each would take most of the time.
  const faulty = unitsOf(script).filter((unit) => unit.problems.length > 0);
  const follows = faulty.length > 1 ? consequencesIn(script) : undefined;
  return faulty.flatMap((unit) =>
    (follows?.get(unit) ?? unit.problems).map(({ start, end, message }) => ({
      start: start + unit.offset,
      end: end + unit.offset,
      message,
    })),
  );
}

/** Where a node of a unit stands in the file. */
export function absoluteRange(unit: Unit, node: NodeBase): Span {
  return { start: unit.offset + node.start, end: unit.offset + node.end };
}

/** Source text of a node. */
export function textOf(script: Script, unit: Unit, node: NodeBase): string {
  return script.text.slice(unit.offset + node.start, unit.offset + node.end);
}

/** The unit that holds an offset of the file, the one that ends there when none does, else undefined. */
export function unitAt(script: Script, offset: number): Unit | undefined {
  const units = unitsOf(script);
  let low = 0;
  let high = units.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const unit = units[middle];
    if (unit === undefined) return undefined;
    if (offset < unit.offset) high = middle - 1;
    else if (offset >= unit.offset + unit.length) low = middle + 1;
    else return unit;
  }
  const before = units[high];
  return before !== undefined && before.offset + before.length === offset ? before : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'kind' in value && 'start' in value;
}

/** Most nodes of a tree are of these kinds, which have nothing under them. */
const leaves: ReadonlySet<Kind> = new Set(['identifier', 'literal', 'variable', 'default']);

/** The nodes directly under a node, in the order of their fields. */
export function childrenOf(node: Node): readonly Node[] {
  if (leaves.has(node.kind)) return none;
  const children: Node[] = [];
  for (const value of Object.values(node) as readonly unknown[]) {
    if (isNode(value)) children.push(value);
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) children.push(item);
  }
  return children;
}

/** Called for each node before its children; `false` leaves the children out. `parents` begins with the root. */
export type Visitor = (node: Node, parents: readonly Node[]) => unknown;

/** Visits a tree from the top down without recursion, so that no text can exhaust the stack. */
export function walk(root: Node, visit: Visitor): void {
  const parents: Node[] = [];
  const pending: { readonly node: Node; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    parents.length = item.depth;
    if (visit(item.node, parents) === false) continue;
    parents.push(item.node);
    const children = childrenOf(item.node);
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const node = children[index];
      if (node !== undefined) pending.push({ node, depth: item.depth + 1 });
    }
  }
}

/** One function per kind of node; kinds without one are walked through. */
export type Handlers = {
  readonly [K in Node['kind']]?: (node: Extract<Node, { kind: K }>, parents: readonly Node[]) => unknown;
};

/** `walk` with one function per kind. */
export function visit(root: Node, handlers: Handlers): void {
  walk(root, (node, parents) => {
    const handler = handlers[node.kind] as ((node: Node, parents: readonly Node[]) => unknown) | undefined;
    return handler?.(node, parents);
  });
}

/** All nodes of one kind under a root, the root included. */
export function findAll<K extends Node['kind']>(root: Node, kind: K): readonly Extract<Node, { kind: K }>[] {
  const found: Extract<Node, { kind: K }>[] = [];
  walk(root, (node) => {
    if (node.kind === kind) found.push(node as Extract<Node, { kind: K }>);
  });
  return found;
}

/** The nodes at an offset of the file, from the statement down to the smallest. A node ends behind its last character. */
export function nodesAt(unit: Unit, offset: number): readonly Node[] {
  const at = offset - unit.offset;
  const path: Node[] = [];
  let next: Node | undefined = at >= 0 && at <= unit.length ? unit.statement : undefined;
  while (next !== undefined) {
    path.push(next);
    const inside: readonly Node[] = childrenOf(next).filter((child) => child.start <= at && at <= child.end);
    // Of two neighbours that touch at the offset the one that goes on there is meant.
    next = inside.find((child) => at < child.end) ?? inside[0];
  }
  return path;
}

/** The expression without the parentheses around it. */
export function bare(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === 'parenthesis') inner = inner.inner;
  return inner;
}

/** The operands of a chain of one operator, such as all conditions joined by AND, parentheses looked through. */
export function operandsOf(expression: Expression, operator: string): readonly Expression[] {
  const operands: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = bare(next);
    if (inner.kind === 'binary' && inner.operator === operator) pending.push(inner.right, inner.left);
    else operands.push(next);
  }
  return operands;
}

/** The last part of a name: the table, column or procedure itself. */
export function lastPart(name: Name | { readonly parts: readonly (Identifier | null)[] }): Identifier {
  const last = name.parts[name.parts.length - 1];
  return last ?? { kind: 'identifier', start: 0, end: 0, name: '', quote: 'none' };
}

/** Database, schema and table of a name; a server in front is left out. */
export function tableNameOf(name: Name): TableName {
  const [table, schema, database] = [...name.parts].reverse();
  return { database: database?.name ?? null, schema: schema?.name ?? null, table: table?.name ?? '' };
}

/** Offsets at which the lines of a text start. A line ends with LF, CR or CR LF. */
export function lineStartsOf(text: string): readonly number[] {
  const starts = [0];
  for (let offset = 0; offset < text.length; offset += 1) {
    if (endsLine(text, offset)) starts.push(offset + 1);
  }
  return starts;
}

/** The line starts of a text in which the characters from `start` to `end` of an older text were replaced. */
export function lineStartsAfter(
  before: readonly number[],
  edit: { readonly start: number; readonly end: number; readonly length: number },
  text: string,
): readonly number[] {
  const { start, end, length } = edit;
  // A line break is one or two characters, so a start that touches the edit is looked for again.
  const first = Math.max(1, countUpTo(before, start - 1));
  const starts = before.slice(0, first);
  for (let offset = Math.max(0, start - 1); offset < start + length; offset += 1) {
    if (endsLine(text, offset)) starts.push(offset + 1);
  }
  for (let at = countUpTo(before, end); at < before.length; at += 1)
    starts.push((before[at] ?? 0) + start + length - end);
  return starts;
}

/** How many numbers of an ascending list are at most a limit. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function endsLine(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset);
  return code === 10 || (code === 13 && text.charCodeAt(offset + 1) !== 10);
}

/** Position of an offset, given the text's line starts. */
export function positionOf(lineStarts: readonly number[], offset: number): Position {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, character: offset - (lineStarts[low] ?? 0) };
}

/** Offset of a position; beyond the end of a text it is the text's end. */
export function offsetOf(lineStarts: readonly number[], text: string, position: Position): number {
  const start = lineStarts[position.line];
  return start === undefined ? text.length : Math.min(text.length, start + position.character);
}

export function rangeOf(lineStarts: readonly number[], span: Span): Range {
  return { start: positionOf(lineStarts, span.start), end: positionOf(lineStarts, span.end) };
}
