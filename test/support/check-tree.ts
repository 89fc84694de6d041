import { dialectOf } from '../../server/src/syntax/dialect.ts';
import { childrenOf, walk } from '../../server/src/syntax/inspect.ts';
import { tokenize } from '../../server/src/syntax/tokenizer.ts';
import { tokenKind } from '../../server/src/syntax/tokens.ts';
import type { Script } from '../../server/src/syntax/tree.ts';

/**
 * What is wrong with a parsed script's shape, '' if nothing is: batches follow each other without a gap, units lie in
 * their batch in order, every token stands in exactly one unit, GO line or SQLCMD line, every node lies in its parent,
 * and problems lie in their unit.
 */
export function faultOf(script: Script): string {
  let offset = 0;
  for (const batch of script.batches) {
    if (batch.start !== offset) return `batch at ${batch.start} begins behind or before ${offset}`;
    if (script.text.slice(batch.end, batch.separator?.start ?? batch.end).length > 0) return 'a gap before a separator';
    let last = batch.start;
    for (const unit of batch.units) {
      if (unit.offset < last) return `unit at ${unit.offset} overlaps the one before`;
      last = unit.offset + unit.length;
      if (last > batch.end) return `unit at ${unit.offset} leaves its batch`;
      if (unit.lookahead < 0) return `unit at ${unit.offset} looked backwards`;
      for (const problem of unit.problems) {
        if (problem.start < 0 || problem.end < problem.start || problem.end > unit.length) {
          return `problem ${problem.start}-${problem.end} leaves its unit of ${unit.length}: ${problem.message}`;
        }
      }
      const fault = nodeFault(unit.statement, unit.length);
      if (fault !== '') return `${fault} in the unit at ${unit.offset}`;
    }
    offset = batch.separator?.end ?? batch.end;
  }
  if (offset !== script.text.length) return `the text goes on behind ${offset}`;
  return tokenFault(script);
}

function nodeFault(root: Parameters<typeof walk>[0], length: number): string {
  let fault = '';
  walk(root, (node) => {
    if (fault !== '') return false;
    if (node.start < 0 || node.end < node.start || node.end > length)
      fault = `${node.kind} ${node.start}-${node.end} leaves the unit`;
    for (const child of childrenOf(node)) {
      if (child.start < node.start || child.end > node.end) {
        fault = `${child.kind} ${child.start}-${child.end} leaves its ${node.kind} ${node.start}-${node.end}`;
      }
    }
    return true;
  });
  return fault;
}

function tokenFault(script: Script): string {
  const spans = script.batches.flatMap((batch) => [
    ...batch.units.map((unit) => ({ start: unit.offset, end: unit.offset + unit.length })),
    ...batch.sqlcmd.map(({ start, end }) => ({ start, end })),
    ...(batch.separator === null ? [] : [batch.separator]),
  ]);
  spans.sort((a, b) => a.start - b.start);
  let index = 0;
  for (const token of tokenize(script.text, dialectOf(script.platform))) {
    while (index < spans.length && (spans[index]?.end ?? 0) <= token.start) index += 1;
    const span = spans[index];
    if (span !== undefined && span.start <= token.start && token.end <= span.end) continue;
    // A SQLCMD line may stand inside a unit.
    if (token.kind === tokenKind.sqlcmd) continue;
    return `the token at ${token.start} stands in no unit`;
  }
  return '';
}
