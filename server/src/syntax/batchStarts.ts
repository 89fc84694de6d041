import type { Cursor } from './cursor.ts';
import { tokenKind } from './tokens.ts';
import type { Statement, Unit } from './tree.ts';

/**
 * What a batch holds before a unit: nothing; CREATE SCHEMA, which takes the views and tables along that are made in it;
 * a view or function just before the unit, behind which nothing may stand; or anything else.
 */
export type BatchState = 'empty' | 'schema' | 'closed' | 'open';

/** The state behind one more unit. */
export function batchStateBehind(state: BatchState, { statement, problems }: Unit): BatchState {
  const { kind } = statement;
  // A GO that was meant to separate batches.
  if (kind === 'opaque' && statement.name === 'GO') return 'empty';
  if (kind === 'empty' || state === 'schema') return state;
  if (state === 'empty' && kind === 'create-schema') return 'schema';
  // Behind a mistake in the view, what follows may be its rest.
  return (kind === 'create-view' || kind === 'create-function') && problems.length === 0 ? 'closed' : 'open';
}

/** Reports a unit that stands behind a view or a function in the same batch. */
export function requireOpenBatch(cursor: Cursor): void {
  if (cursor.batch !== 'closed' || cursor.dialect.family !== 'tsql' || cursor.at(';')) return;
  if (/^go$/i.test(cursor.tokenText)) return;
  reportHere(
    cursor,
    'Expected the end of the batch: a view or function stands alone in it. Put GO on the line before this.',
  );
}

/** What CREATE and ALTER make only at the start of a batch (error 111 of the server). */
const programs: ReadonlySet<string> = new Set(['DEFAULT', 'FUNCTION', 'PROC', 'PROCEDURE', 'RULE', 'TRIGGER', 'VIEW']);

/**
 * Reports a program, a view or a schema that does not begin its batch; the current token is CREATE or ALTER and `subject`
 * is what it makes. Synapse makes schemas anywhere.
 */
export function requireBatchStart(cursor: Cursor, subject: string): void {
  const { batch, start } = cursor;
  if (start === 0 && (batch === 'empty' || (batch === 'schema' && subject === 'VIEW'))) return;
  const schema = subject === 'SCHEMA' && cursor.at('CREATE') && cursor.dialect.platform !== 'synapse';
  if (!schema && !programs.has(subject)) return;
  reportHere(
    cursor,
    `${cursor.word} ${subject} must be the first statement of its batch: put GO on the line before it.`,
  );
}

/** The statement itself is read on as if nothing were wrong. */
function reportHere(cursor: Cursor, message: string): void {
  if (cursor.recovering) return;
  cursor.report(cursor.start, cursor.currentEnd, message);
  cursor.recovering = false;
}

/** GO with more on its line than a count. What stands behind it is read as if the line ended there. */
export function parseBrokenGo(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.report(
    start,
    cursor.currentEnd,
    'Expected the end of the line after GO: a GO separates batches only alone on its line.',
  );
  cursor.advance();
  if (cursor.kind === tokenKind.number) cursor.advance();
  cursor.recovering = false;
  return { kind: 'opaque', start, end: cursor.end, name: 'GO' };
}
