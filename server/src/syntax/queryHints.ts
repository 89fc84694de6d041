import type { Cursor } from './cursor.ts';
import { closeParenthesis } from './names.ts';
import { listOf, none } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { QueryHint } from './tree.ts';

/** Hints of one or two words without a value. A hint of two words is listed under its first. */
const wordHints: Readonly<Record<string, readonly string[]>> = {
  HASH: ['GROUP', 'JOIN', 'UNION'],
  ORDER: ['GROUP'],
  MERGE: ['JOIN', 'UNION'],
  LOOP: ['JOIN'],
  CONCAT: ['UNION'],
  KEEP: ['PLAN', 'UNION'],
  KEEPFIXED: ['PLAN'],
  ROBUST: ['PLAN'],
  ALTERCOLUMN: ['PLAN'],
  SHRINKDB: ['PLAN'],
  CHECKCONSTRAINTS: ['PLAN'],
  EXPAND: ['VIEWS'],
  BYPASS: ['OPTIMIZER_QUEUE'],
  PARAMETERIZATION: ['SIMPLE', 'FORCED'],
  FORCE: ['ORDER', 'EXTERNALPUSHDOWN', 'SCALEOUTEXECUTION', 'SINGLENODE'],
  DISABLE: ['EXTERNALPUSHDOWN', 'SCALEOUTEXECUTION', 'OPTIMIZED_PLAN_FORCING'],
  RECOMPILE: none,
  IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX: none,
  NO_PERFORMANCE_SPOOL: none,
};
/** Hints with a number, with or without an equals sign. */
const numberHints: ReadonlySet<string> = new Set([
  'FAST',
  'MAXDOP',
  'MAXRECURSION',
  'QUERYTRACEON',
  'MAX_GRANT_PERCENT',
  'MIN_GRANT_PERCENT',
  'CARDINALITY_TUNER_LIMIT',
  'USEPLAN',
]);

/** OPTION ( hint, … ); the current token is OPTION. */
export function parseHints(cursor: Cursor): readonly QueryHint[] {
  const hints: QueryHint[] = [];
  cursor.advance();
  if (!cursor.expect('(')) return listOf(hints);
  do hints.push(parseHint(cursor));
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return listOf(hints);
}

function parseHint(cursor: Cursor): QueryHint {
  const { start } = cursor;
  const word = cursor.tokenText.toUpperCase();
  const second = wordHints[word];
  if (second !== undefined) {
    cursor.advance();
    if (word === 'FORCE' && skipPlanForm(cursor)) cursor.expect('PLAN');
    else if (second.length > 0) takeWord(cursor, second);
  } else if (numberHints.has(word)) {
    cursor.advance();
    cursor.eat('=');
    if (cursor.kind === tokenKind.number || cursor.kind === tokenKind.variable) cursor.advance();
    else cursor.fail('a number');
  } else parseLongHint(cursor, word);
  return { kind: 'query-hint', start, end: cursor.end, text: cursor.slice(start, cursor.end).toUpperCase() };
}

function parseLongHint(cursor: Cursor, word: string): void {
  switch (word) {
    case 'OPTIMIZE':
      cursor.advance();
      if (cursor.at('CORRELATED')) {
        // OPTIMIZE CORRELATED UNION ALL
        while (cursor.at('CORRELATED') || cursor.at('UNION') || cursor.at('ALL')) cursor.advance();
        return;
      }
      cursor.expect('FOR');
      if (!cursor.eat('UNKNOWN')) parseOptimizeFor(cursor);
      return;
    case 'USE':
      cursor.advance();
      if (cursor.eat('PLAN')) takeString(cursor);
      else if (cursor.eat('HINT')) parseStrings(cursor);
      else cursor.fail('HINT or PLAN');
      return;
    case 'TABLE':
      cursor.advance();
      cursor.expect('HINT');
      if (cursor.at('(')) cursor.skipParentheses();
      else cursor.fail("'('");
      return;
    case 'LABEL':
      cursor.advance();
      cursor.expect('=');
      takeString(cursor);
      return;
    case 'FOR':
      // Fabric: FOR TIMESTAMP AS OF '…'.
      cursor.advance();
      cursor.expect('TIMESTAMP');
      cursor.expect('AS');
      cursor.expect('OF');
      cursor.grammar.operand(cursor);
      return;
    default:
      cursor.fail('a query hint');
  }
}

/** Fabric: FORCE SINGLE NODE PLAN and FORCE DISTRIBUTED PLAN, up to PLAN. */
function skipPlanForm(cursor: Cursor): boolean {
  if (cursor.eat('DISTRIBUTED')) return true;
  if (!/^single$/i.test(cursor.tokenText) || cursor.peek(1) !== 'NODE') return false;
  cursor.advance();
  cursor.advance();
  return true;
}

function takeWord(cursor: Cursor, words: readonly string[]): void {
  if (words.includes(cursor.tokenText.toUpperCase())) cursor.advance();
  else cursor.fail(words.join(' or '));
}

function takeString(cursor: Cursor): void {
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString) cursor.advance();
  else cursor.fail('a string');
}

/** `(@a = 1, @b UNKNOWN)`. */
function parseOptimizeFor(cursor: Cursor): void {
  if (!cursor.expect('(')) return;
  do {
    if (cursor.kind === tokenKind.variable) cursor.advance();
    else cursor.fail('a variable');
    if (cursor.eat('=')) cursor.grammar.operand(cursor);
    else if (!cursor.eat('UNKNOWN')) cursor.fail("'=' or UNKNOWN");
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}

function parseStrings(cursor: Cursor): void {
  if (!cursor.expect('(')) return;
  do takeString(cursor);
  while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
}
