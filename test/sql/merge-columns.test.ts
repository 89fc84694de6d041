/** What the joined updates of a MERGE keep of the stored row. */
import { expect, test } from 'vitest';
import { column, compare, literal } from '../../server/src/load/build.ts';
import { valueType } from '../../server/src/load/language.ts';
import type { Write } from '../../server/src/load/plan.ts';
import { mergedWrites, storedColumn } from '../../server/src/sql/merge.ts';
import { sqlServerPrinter } from '../../server/src/sql/sqlserver.ts';

const [number, time, text] = [valueType('int'), valueType('datetime2(3)'), valueType('nvarchar(10)')];
const match = { on: [compare(column('t', 'k', number), '=', column('c', 'k', number))], where: [], address: null };

function update(kind: string, set: Extract<Write, { kind: 'update' }>['set']): Write {
  return {
    kind: 'update',
    says: 'Change.',
    shows: 'updated',
    from: 'changes',
    where: [compare(column('c', 'kind', text), '=', literal(kind))],
    match,
    set,
  };
}

test('a kept value has the type of what replaces it, so that only texts take a collation', () => {
  const insert: Write = {
    kind: 'insert',
    says: 'Add.',
    shows: 'inserted',
    from: 'changes',
    where: [compare(column('c', 'kind', text), '=', literal('new'))],
    values: [{ column: 'k', value: column('c', 'k', number) }],
  };
  const [merge] = mergedWrites(
    [
      update('closed', [{ column: 'ends', value: column('c', 'closed_to', time) }]),
      update('renamed', [{ column: 'label', value: column('c', 'label', text) }]),
      insert,
    ],
    storedColumn,
  );
  if (merge === undefined) throw new Error('there is no merge');
  const printer = sqlServerPrinter({ comma: 'trailing', quoteAlways: true }, 2019, true);
  const printed = printer.write(merge, { database: 'Core', schema: 'dbo', table: 'dim' });
  expect(printed).toContain("[ends] = CASE WHEN c.[kind] = N'closed' THEN c.[closed_to] ELSE t.[ends] END");
  expect(printed).toContain('c.[label] COLLATE DATABASE_DEFAULT ELSE t.[label] COLLATE DATABASE_DEFAULT END');
});
