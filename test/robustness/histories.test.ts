import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapesOf } from '../support/engine.ts';
import { bareCase, filledCase } from '../support/oracle/draft.ts';
import {
  changeFeedDrafts,
  lateRowDrafts,
  memberSetDrafts,
  singleAttributeDrafts,
  twoAttributeDrafts,
} from './histories.drafts.ts';

const drafts = [
  ...singleAttributeDrafts(),
  ...twoAttributeDrafts(),
  ...lateRowDrafts(),
  ...changeFeedDrafts(),
  ...memberSetDrafts(),
];
const runs = await Promise.all(drafts.map(async (draft) => ({ draft, shapes: await shapesOf(bareCase(draft)) })));

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

describe.each(runs)('every short history: $draft.id', ({ draft, shapes }) => {
  // What the oracle says takes as long to work out as a run takes, so both shapes are held against it.
  let owner: ConformanceCase | undefined;
  afterAll(() => {
    owner = undefined;
  });

  test.each(shapes)('shape %s', async (shape) => {
    owner ??= filledCase(draft);
    expect(await runCase(owner, session, duckdbSettings(shape))).toMatchObject({ status: 'passed', difference: null });
  });
});
