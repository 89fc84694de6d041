import { defineConfig } from 'vitest/config';

/** `quick` holds everything that needs neither a browser nor long runs; `robustness` the seeded and exhaustive tests. */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/robustness/**', 'test/e2e/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'robustness',
          include: ['test/robustness/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
