import type { CellValue, ResultSet } from '../../protocol/run.ts';
import { ResultSets } from './result-sets.ts';
import type { EngineError, Session } from './session.ts';

/** The result sets of a text of our own; rejects with the first error that is answered. */
export async function query(session: Session, text: string, maxRows = 100_000): Promise<readonly ResultSet[]> {
  const sets = new ResultSets(maxRows);
  const errors: EngineError[] = [];
  const end = await session.execute(text, {
    columns: (columns) => sets.begin(columns),
    rows: (rows) => sets.add(rows),
    message: () => undefined,
    error: (error) => errors.push(error),
  });
  const [first] = errors;
  if (first !== undefined) throw new Error(first.message);
  if (end.kind !== 'finished') throw new Error(end.kind === 'lost' ? end.reason : 'The query was cancelled.');
  return sets.take();
}

/** The rows of the text's first result set. */
export async function queryRows(session: Session, text: string): Promise<readonly (readonly CellValue[])[]> {
  const [first] = await query(session, text);
  return first?.rows ?? [];
}
