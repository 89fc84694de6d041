/** What a batch's text says about the commit, and where its calls stand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holdsWholeTransaction, lineOfCall, mayCommit, writesSeveralTimes } from '../../runner/src/commit.ts';
import { splitBatches } from '../../server/src/syntax/batches.ts';

describe('a batch holds its whole transaction', () => {
  test.each([
    'BEGIN TRAN; UPDATE t SET a = 1; COMMIT;',
    "SET XACT_ABORT ON;\nBEGIN TRANSACTION;\nEXEC @r = sys.sp_getapplock @Resource = N'x';\nUPDATE t SET a = 1;\nCOMMIT;",
    'DROP TABLE IF EXISTS #a; SELECT 1 AS b INTO #a; BEGIN TRAN; UPDATE t SET a = 1; COMMIT; INSERT INTO @c VALUES (1);',
    "BEGIN TRAN; UPDATE t SET a = 'begin tran'; COMMIT -- commit",
  ])('%s', (text) => {
    expect(holdsWholeTransaction(text)).toBe(true);
  });

  test.each([
    ['not begun here', 'UPDATE t SET a = 1; COMMIT;'],
    ['not ended here', 'BEGIN TRAN; UPDATE t SET a = 1;'],
    ['twice', 'BEGIN TRAN; UPDATE t SET a = 1; COMMIT; BEGIN TRAN; UPDATE t SET a = 2; COMMIT;'],
    ['a write before it', 'INSERT INTO l VALUES (1); BEGIN TRAN; UPDATE t SET a = 1; COMMIT;'],
    ['a write behind it', 'BEGIN TRAN; UPDATE t SET a = 1; COMMIT; INSERT INTO l VALUES (1);'],
    ['a procedure', 'BEGIN TRAN; EXEC dw.Load; COMMIT;'],
    ['a procedure without EXEC', 'dw.Load; BEGIN TRAN; COMMIT;'],
  ])('but not: %s', (_name, text) => {
    expect(holdsWholeTransaction(text)).toBe(false);
  });

  test.each(['departments.sqlserver.sql', 'patient_addresses.sqlserver.sql', 'departments.fabric.sql'])(
    'as the generated load %s does',
    (name) => {
      const text = readFileSync(join(import.meta.dirname, '../golden/examples', name), 'utf8');
      const [load, ...more] = splitBatches(text, 'sqlserver').filter((batch) => /begin tran/i.test(batch.text));
      expect(more).toEqual([]);
      expect(holdsWholeTransaction(load?.text ?? '')).toBe(true);
    },
  );
});

test.each<[text: string, inTransaction: boolean, may: boolean]>([
  ['SELECT 1', false, false],
  ['UPDATE t SET a = 1', false, true],
  ['UPDATE t SET a = 1', true, false],
  ['COMMIT', true, true],
  ['-- COMMIT\nSELECT 1', true, false],
  ['EXEC dw.Load', true, true],
  ['dw.Load', true, true],
  ["SELECT 'x' INTO t2", false, true],
])('%j may commit (in a transaction: %s): %s', (text, inTransaction, may) => {
  expect(mayCommit(text, inTransaction)).toBe(may);
});

test.each<[text: string, several: boolean]>([
  ['UPDATE t SET a = 1', false],
  ['UPDATE t SET a = 1; DELETE FROM u;', true],
  ['INSERT INTO #a SELECT 1; INSERT INTO t SELECT 1;', false],
  [
    'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1);',
    false,
  ],
  ["UPDATE t SET a = 'delete'; -- insert", false],
])('%j writes several times: %s', (text, several) => {
  expect(writesSeveralTimes(text)).toBe(several);
});

test.each<[text: string, procedure: string, line: number | null]>([
  ['SET NOCOUNT ON;\n\nEXEC dw.Load;', 'dw.Load', 2],
  ["-- runs dw.Load\nPRINT 'dw.Load';\n/* EXEC dw.Load */\nEXECUTE @r = [dw].[Load] 1;", 'dw.Load', 3],
  ['EXEC dw.First;\nEXEC dw.Second;\n', 'Second', 1],
  ['SELECT 1;\nEXEC dw.Outer;\n', 'dw.Inner', 1],
  ['EXEC dw.First;\nEXEC dw.Second;\n', 'dw.Inner', null],
  ['UPDATE dw.T SET a = 1;', 'dw.trAudit', null],
  ['\ndw.Load 1, 2', 'dw.Load', 1],
  ['EXEC "dw"."Load it"', 'dw.Load it', 0],
])('the call in %j of %s stands at line %s', (text, procedure, line) => {
  expect(lineOfCall(text, procedure)).toBe(line);
});
