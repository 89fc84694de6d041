import { describe, expect, test } from 'vitest';
import { columnsOf } from '../../../cli/src/conformance/format.ts';
import { textRow } from '../../../cli/src/conformance/hashes.ts';
import { firstDifference } from '../../../cli/src/conformance/rows.ts';
import { conformanceCases } from '../cases.ts';
import { oracleSteps } from './case.ts';

describe('the oracle agrees with every conformance case', () => {
  test.each(conformanceCases)('$id $title', (owner) => {
    const outcomes = oracleSteps(owner);
    for (const [index, step] of owner.steps.entries()) {
      const outcome = outcomes[index];
      const columns = columnsOf(owner.tables.target, step.target_columns);
      const expected = step.expected_target_rows.map((row) => textRow(row, columns, owner));
      expect(outcome?.error ?? undefined).toBe(step.expect_error);
      expect(firstDifference(outcome?.target ?? [], expected, owner.config.target_identity)).toBeUndefined();
      const stated = Object.entries({ skipped: 0, ...step.expected_counts }).filter(([, count]) => count !== null);
      if (step.expect_error === undefined) expect(outcome?.counts).toMatchObject(Object.fromEntries(stated));
    }
  });
});
