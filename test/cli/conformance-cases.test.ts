import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { patternNames } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, openMemorySession, shapes } from '../support/engine.ts';
import { caseRequest } from '../support/loads.ts';

const firstCases = patternNames.flatMap((pattern) => conformanceCases.find((one) => one.pattern === pattern) ?? []);

/** A load without an update has one text for both shapes; running it again would show nothing new. */
function merges(one: ConformanceCase): boolean {
  const [separate, merge] = shapes.map((shape) => {
    const { value } = generateLoad(caseRequest(one, 'duckdb', shape));
    return value?.files.map((file) => file.text.replace(/^-- mergewright:.*$/m, '')).join('\n');
  });
  return separate !== merge;
}

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

describe.each(shapes)('shape %s', (shape) => {
  const cases = shape === 'separate' ? conformanceCases : conformanceCases.filter(merges);
  describe.each(patternNames.filter((pattern) => cases.some((one) => one.pattern === pattern)))('%s', (pattern) => {
    test.each(cases.filter((one) => one.pattern === pattern))('$id $title', async (one) => {
      expect(await runCase(one, session, duckdbSettings(shape))).toMatchObject({ status: 'passed', difference: null });
    });
  });

  // The other cases run so among the robustness tests.
  test.each(firstCases)('$id with its keys enforced', async (one) => {
    expect(await runCase(one, session, duckdbSettings(shape, true))).toMatchObject({
      status: 'passed',
      difference: null,
    });
  });
});
