import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapes } from '../support/engine.ts';
import { filledCase } from '../support/oracle/draft.ts';
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

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

describe.each(shapes)('every short history, shape %s', (shape) => {
  test.each(drafts)('$id', async (draft) => {
    expect(await runCase(filledCase(draft), session, duckdbSettings(shape))).toMatchObject({
      status: 'passed',
      difference: null,
    });
  });
});
