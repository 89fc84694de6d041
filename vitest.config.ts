import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const cases = 'test/cli/conformance-cases.test.ts';

/** Files that take longest come first, so that no worker begins with one of them when the others are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longest = ['random-loads', 'histories', 'tsql-execution', 'tsql-names', 'tsql-referee', 'syntax-sturdiness'];
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(`robustness/${name}.test.ts`));
      return index === -1 ? longest.length : index;
    };
    return [...(await super.sort(files))].sort((a, b) => place(a) - place(b));
  }
}

/**
 * `quick` holds everything that needs neither a browser nor long runs, `cases` the load cases on the embedded engine, and
 * `robustness` the seeded and exhaustive tests. What has deadlines or measures its own processor time is `timed`:
 * `tools/test.mjs` runs it by itself, one file at a time.
 */
export default defineConfig({
  test: {
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/robustness/**', 'test/e2e/**', cases],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'cases',
          include: [cases],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'robustness',
          include: ['test/robustness/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'timed',
          include: ['test/robustness/timed/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
