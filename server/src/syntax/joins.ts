import type { Cursor } from './cursor.ts';
import { parseIdentifierList } from './names.ts';
import { none } from './none.ts';
import type { Identifier, JoinType, TableSource } from './tree.ts';

interface JoinOperator {
  readonly type: JoinType;
  readonly natural: boolean;
  readonly hint: string | null;
  /** ON is asked for. */
  readonly conditional: boolean;
}

type ReadSource = (cursor: Cursor) => TableSource;

/** The joins behind a source, from left to right. */
export function parseJoins(cursor: Cursor, first: TableSource, readSource: ReadSource): TableSource {
  let left = first;
  while (!cursor.recovering) {
    const operator = parseOperator(cursor);
    if (operator === null) return left;
    left = parseJoin(cursor, left, operator, readSource);
  }
  return left;
}

function parseJoin(cursor: Cursor, left: TableSource, operator: JoinOperator, readSource: ReadSource): TableSource {
  let right = readSource(cursor);
  const { type, natural, hint } = operator;
  // `a JOIN b JOIN c ON … ON …`: what stands before ON belongs to the right side.
  if (operator.conditional) {
    while (!cursor.recovering && !cursor.at('ON') && !cursor.at('USING')) {
      const inner = parseOperator(cursor);
      if (inner === null) break;
      right = parseJoin(cursor, right, inner, readSource);
    }
  }
  let using: readonly Identifier[] = none;
  let on = null;
  if (cursor.at('ON') && (operator.conditional || cursor.dialect.family !== 'tsql')) {
    cursor.advance();
    on = cursor.grammar.condition(cursor);
  } else if (cursor.dialect.family !== 'tsql' && cursor.at('USING') && cursor.peek(1) === '(') {
    cursor.advance();
    using = parseIdentifierList(cursor);
  } else if (operator.conditional && cursor.dialect.family !== 'spark') {
    cursor.fail('ON');
  }
  return { kind: 'join', start: left.start, end: cursor.end, type, natural, hint, left, right, on, using };
}

const joinHints: ReadonlySet<string> = new Set([
  'LOOP',
  'HASH',
  'MERGE',
  'REMOTE',
  'REDUCE',
  'REPLICATE',
  'REDISTRIBUTE',
]);

/** Reads a join operator up to the word JOIN or APPLY; null (and nothing read) where none begins. */
function parseOperator(cursor: Cursor): JoinOperator | null {
  const { family } = cursor.dialect;
  switch (cursor.word) {
    case 'JOIN':
      cursor.advance();
      return { type: 'inner', natural: false, hint: null, conditional: true };
    case 'INNER':
      cursor.advance();
      return finish(cursor, 'inner', false);
    case 'LEFT':
    case 'RIGHT':
    case 'FULL': {
      const type = cursor.at('LEFT') ? 'left' : cursor.at('RIGHT') ? 'right' : 'full';
      cursor.advance();
      if (family !== 'tsql') {
        if (cursor.eat('SEMI')) return finish(cursor, 'semi', false);
        if (cursor.eat('ANTI')) return finish(cursor, 'anti', false);
      }
      cursor.eat('OUTER');
      return finish(cursor, type, false);
    }
    case 'CROSS': {
      cursor.advance();
      if (family === 'tsql' && cursor.eat('APPLY'))
        return { type: 'cross-apply', natural: false, hint: null, conditional: false };
      if (!cursor.eat('JOIN')) cursor.fail('JOIN or APPLY');
      return { type: 'cross', natural: false, hint: null, conditional: false };
    }
    case 'OUTER': {
      cursor.advance();
      if (!cursor.eat('APPLY')) cursor.fail('APPLY');
      return { type: 'outer-apply', natural: false, hint: null, conditional: false };
    }
    default:
      return family === 'tsql' ? null : parseOtherOperator(cursor);
  }
}

function parseOtherOperator(cursor: Cursor): JoinOperator | null {
  switch (cursor.word) {
    case 'NATURAL': {
      cursor.advance();
      const inner = parseOperator(cursor);
      return { type: inner?.type ?? 'inner', natural: true, hint: null, conditional: false };
    }
    case 'SEMI':
    case 'ANTI': {
      if (cursor.peek(1) !== 'JOIN') return null;
      const type = cursor.at('SEMI') ? 'semi' : 'anti';
      cursor.advance();
      return finish(cursor, type, false);
    }
    case 'ASOF': {
      cursor.advance();
      cursor.eatAny('LEFT', 'RIGHT', 'FULL', 'INNER', 'SEMI', 'ANTI');
      cursor.eat('OUTER');
      return finish(cursor, 'asof', false);
    }
    case 'POSITIONAL':
      if (cursor.peek(1) !== 'JOIN') return null;
      cursor.advance();
      cursor.advance();
      return { type: 'positional', natural: false, hint: null, conditional: false };
    default:
      return null;
  }
}

function finish(cursor: Cursor, type: JoinType, natural: boolean): JoinOperator {
  let hint: string | null = null;
  if (cursor.dialect.family === 'tsql' && joinHints.has(cursor.word)) {
    hint = cursor.word;
    cursor.advance();
  }
  cursor.expect('JOIN');
  return { type, natural, hint, conditional: true };
}
