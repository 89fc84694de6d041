import { type Answer, begin, commit, done, error, rollback, rows, use } from './answers.ts';
import type { Request } from './requests.ts';
import type { SessionState } from './session-state.ts';

/** Answers that need no script: transactions, USE, SET and the driver's own `SELECT 1;`. Anything else is an error. */
export function standardAnswer(request: Request, session: SessionState): Answer {
  if (request.kind === 'transaction') return transactionAnswer(request.operation, session);
  const sql = request.sql.trim().replace(/;$/, '').trim();
  if (sql === '') return [done()];
  const database = /^use\s+(\[(?:[^\]]|\]\])+\]|\w+)$/i.exec(sql)?.[1];
  if (database !== undefined) return [use(database.replace(/^\[(.*)\]$/s, '$1').replaceAll(']]', ']'))];
  if (/^begin\s+tran(saction)?$/i.test(sql)) return [begin()];
  if (/^commit(\s+tran(saction)?)?$/i.test(sql)) return transactionAnswer('commit', session);
  if (/^rollback(\s+tran(saction)?)?$/i.test(sql)) return transactionAnswer('rollback', session);
  if (/^if\s+(@@trancount\s*>\s*0|xact_state\(\)\s*<>\s*0)\s+rollback(\s+tran(saction)?)?$/i.test(sql)) {
    return [session.inTransaction ? rollback() : done()];
  }
  if (/^(set\s[^;]*(;|\n|$)\s*)+$/i.test(sql)) return [done()];
  if (/^select\s+1$/i.test(sql)) return [rows(['[] int not null'], [[1]])];
  const text = `The test server has no answer for: ${request.kind === 'rpc' ? request.procedure : ''} ${request.sql}`;
  return [error({ number: 50000, text: text.slice(0, 2000) })];
}

function transactionAnswer(operation: 'begin' | 'commit' | 'rollback' | 'save', session: SessionState): Answer {
  if (operation === 'begin') return [begin()];
  if (operation === 'save') return [done()];
  const name = operation === 'commit' ? 'COMMIT' : 'ROLLBACK';
  if (!session.inTransaction) {
    const text = `The ${name} TRANSACTION request has no corresponding BEGIN TRANSACTION.`;
    return [error({ number: operation === 'commit' ? 3902 : 3903, text })];
  }
  return [operation === 'commit' ? commit() : rollback()];
}
