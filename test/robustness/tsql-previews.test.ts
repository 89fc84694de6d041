/** The preview of every case's first load, executed: it runs, and leaves every table as it was. */
import { expect, test } from 'vitest';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import { type ConformanceCase, columnsOf, type NeutralColumns } from '../../cli/src/conformance/format.ts';
import { textRow } from '../../cli/src/conformance/hashes.ts';
import { conformanceCases } from '../support/cases.ts';
import { caseLoad, platformOf } from '../support/loads.ts';
import { Database, type Product } from '../support/tsql-engine/database.ts';
import { runBatch } from '../support/tsql-engine/execute.ts';
import { SessionState } from '../support/tsql-engine/session.ts';

const noKeys = { primaryKey: [], notNull: [], unique: [] };

function send(session: SessionState, text: string): void {
  const failed = runBatch(session, text).find((event) => event.kind === 'error');
  if (failed !== undefined) throw failed.error;
}

/** A session on a database with the tables of a case before its first load. */
function prepared(owner: ConformanceCase, name: string): SessionState {
  const platform = platformOf(name);
  const dialect = dialectOf(platform);
  const [step] = owner.steps;
  if (dialect === undefined || step === undefined) throw new Error(`${owner.id} cannot run on ${name}`);
  const now = () => new Date(Date.UTC(2031, 0, 1));
  const facts = { product: platform.name as Product, version: platform.version ?? 2025, backwards: true, now };
  const session = new SessionState(new Database(facts));
  const { stage, target, extra = {} } = owner.tables;
  const fill = (table: string, columns: NeutralColumns, rows: typeof step.stage_rows): void => {
    send(session, dialect.createTable(table, columns, noKeys));
    const texts = rows.map((row) => textRow(row, columns, owner));
    for (const statement of dialect.insertRows(table, columns, texts)) send(session, statement);
  };
  fill('stage', columnsOf(stage, step.stage_columns), step.stage_rows);
  fill('target', columnsOf(target, step.target_columns), owner.initial_target_rows ?? []);
  for (const [role, columns] of Object.entries(extra)) fill(role, columns, step.extra_rows?.[role] ?? []);
  return session;
}

/** What is wrong with a preview in words; null for nothing, and where there is none. */
function complaint(owner: ConformanceCase, name: string): string | null {
  const session = prepared(owner, name);
  const before = session.database.objects;
  const preview = caseLoad(owner, name, 'separate', 'script', 0).value?.preview?.() ?? null;
  for (const { text } of preview?.batches ?? []) {
    const failed = runBatch(session, text).find((event) => event.kind === 'error');
    if (failed !== undefined && owner.steps[0]?.expect_error === undefined)
      return `${owner.id}: ${failed.error.message}`;
  }
  if (session.transactionCount > 0 || session.kept.size > 0) return `${owner.id} leaves a transaction or tables`;
  const changed = [...session.database.objects].filter(([key, object]) => before.get(key) !== object);
  return changed.length > 0 || before.size !== session.database.objects.size ? `${owner.id} changes a table` : null;
}

test.each(['sqlserver:2019', 'synapse', 'fabric'])('%s', (name) => {
  expect(conformanceCases.map((owner) => complaint(owner, name)).filter((found) => found !== null)).toEqual([]);
});
