/** Every case with the keys that its rows allow, enforced by the engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { targetKeys } from '../../cli/src/conformance/keys.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, openMemorySession, shapes } from '../support/engine.ts';

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

test('nearly every case allows a primary key', () => {
  expect(conformanceCases.filter((one) => targetKeys(one).primaryKey.length > 0).length).toBeGreaterThan(230);
});

describe.each(shapes)('keys enforced, shape %s', (shape) => {
  test.each(conformanceCases)('$id', async (one) => {
    expect(await runCase(one, session, duckdbSettings(shape, true))).toMatchObject({
      status: 'passed',
      difference: null,
    });
  });
});
