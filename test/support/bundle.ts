import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles one entry point as `tools/build.mjs` does, for tests that start it as a process. It lies inside the checkout, so
 * that it finds its native packages, and goes with the test process.
 *
 * @param entry path from the checkout's root, such as `runner/src/main.ts`
 * @returns path of the program
 */
export async function bundle(entry: string): Promise<string> {
  const root = resolve(import.meta.dirname, '../..');
  const folder = mkdtempSync(join(root, 'node_modules', '.mergewright-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'program.cjs');
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['@duckdb/node-bindings', '@duckdb/node-bindings-*'],
    logLevel: 'warning',
  });
  return outfile;
}
