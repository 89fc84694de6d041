/** Cases whose expectations the oracle fills in: for histories and random change sets that nobody writes by hand. */
import {
  type CaseOptions,
  type CaseRow,
  type ConformanceCase,
  errorCodes,
} from '../../../cli/src/conformance/format.ts';
import { oracleSteps } from './case.ts';

export interface DraftStep {
  readonly now: string;
  readonly stage: readonly CaseRow[];
  readonly extra?: Readonly<Record<string, readonly CaseRow[]>>;
}

export interface DraftCase extends Pick<ConformanceCase, 'id' | 'pattern' | 'tables'> {
  readonly config: CaseOptions;
  readonly steps: readonly DraftStep[];
}

/** The case without what its steps leave: enough where only the texts of its loads matter. */
export function bareCase(draft: DraftCase): ConformanceCase {
  return {
    ...draft,
    title: draft.id,
    steps: draft.steps.map(({ now, stage, extra }) => ({
      now,
      stage_rows: [...stage],
      expected_target_rows: [],
      expected_counts: { inserted: 0, updated: 0, expired: 0, deleted: 0 },
      ...(extra === undefined
        ? {}
        : { extra_rows: Object.fromEntries(Object.entries(extra).map(([role, rows]) => [role, [...rows]])) }),
    })),
  };
}

/** The case with the rows, counts and errors that the oracle says each step leaves. */
export function filledCase(draft: DraftCase): ConformanceCase {
  const bare = bareCase(draft);
  const outcomes = oracleSteps(bare);
  return {
    ...bare,
    steps: bare.steps.map((step, i) => {
      const outcome = outcomes[i];
      if (outcome === undefined) throw new Error(`the oracle gave no outcome for step ${i + 1}`);
      return {
        ...step,
        expected_target_rows: outcome.target.map((row) => ({ ...row })),
        expected_counts: outcome.counts,
        ...(outcome.error === null ? {} : { expect_error: errorCode(outcome.error) }),
      };
    }),
  };
}

function errorCode(code: string): (typeof errorCodes)[number] {
  const known = errorCodes.find((candidate) => candidate === code);
  if (known === undefined) throw new Error(`the oracle refused with ${code}, which is no code of the case format`);
  return known;
}
