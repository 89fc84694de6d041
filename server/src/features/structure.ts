import type { Position, Range } from '../../../protocol/position.ts';
import { absoluteRange, nodesAt, type Span, unitAt, unitsOf, walk } from '../syntax/inspect.ts';
import { type DocumentView, offsetAt, positionAt, rangeAt } from './view.ts';

export interface Fold {
  /** Zero-based lines; `end` is the last line that disappears. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'region' | 'comment' | null;
}

/** Statements, blocks, branches of MERGE, column lists and batches of more than one line. */
export function folds(view: DocumentView): readonly Fold[] {
  const found = new Map<string, Fold>();
  const add = (span: Span, kind: Fold['kind']): void => {
    const start = positionAt(view, span.start).line;
    const end = positionAt(view, Math.max(span.start, span.end - 1)).line;
    if (end > start && !found.has(`${start}`)) found.set(`${start}`, { start, end, kind });
  };
  for (const unit of unitsOf(view.script)) {
    add({ start: unit.offset, end: unit.offset + unit.length }, null);
    walk(unit.statement, (node) => {
      if (foldedKinds.has(node.kind)) add(absoluteRange(unit, node), null);
    });
  }
  for (const match of view.script.text.matchAll(/\/\*[\s\S]*?\*\//g))
    add({ start: match.index, end: match.index + match[0].length }, 'comment');
  return [...found.values()].sort((left, right) => left.start - right.start);
}

const foldedKinds: ReadonlySet<string> = new Set([
  'merge',
  'merge-branch',
  'merge-update',
  'merge-insert',
  'insert',
  'update',
  'delete',
  'create-table',
  'block',
  'try-catch',
  'if',
  'while',
  'loop',
  'case-statement',
  'declare-handler',
  'common-table',
  'derived-table',
  'subquery',
  'case',
  'select-statement',
]);

/** Ranges around a position from the inside out: word, expression, clause, statement, batch, file. */
export function selectionRanges(view: DocumentView, position: Position): readonly Range[] {
  const offset = offsetAt(view, position);
  const text = view.script.text;
  const spans: Span[] = [];
  const unit = unitAt(view.script, offset);
  if (unit !== undefined) {
    spans.push(
      ...nodesAt(unit, offset)
        .map((node) => absoluteRange(unit, node))
        .reverse(),
    );
    spans.push({ start: unit.offset, end: unit.offset + unit.length });
  }
  const batch = view.script.batches.find(({ start, end }) => start <= offset && offset <= end);
  if (batch !== undefined) spans.push({ start: batch.start, end: batch.end });
  spans.push({ start: 0, end: text.length });
  const growing: Span[] = [];
  for (const span of spans) {
    const inner = growing.at(-1);
    const covers = inner === undefined || (span.start <= inner.start && span.end >= inner.end);
    const grows = inner === undefined || span.start < inner.start || span.end > inner.end;
    if (covers && grows && span.end > span.start) growing.push(span);
  }
  return growing.map((span) => rangeAt(view, span));
}
