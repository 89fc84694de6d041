import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { patternNames } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { duckdbSettings, openMemorySession, shapes, shapesOf } from '../support/engine.ts';

const firstCases = patternNames.flatMap((pattern) => conformanceCases.find((one) => one.pattern === pattern) ?? []);

const merging = new Set(
  (await Promise.all(conformanceCases.map(async (one) => ((await shapesOf(one)).includes('merge') ? one : [])))).flat(),
);

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

describe.each(shapes)('shape %s', (shape) => {
  const cases = shape === 'separate' ? conformanceCases : conformanceCases.filter((one) => merging.has(one));
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
