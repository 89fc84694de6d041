import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles one entry point as `tools/build.mjs` does, for tests that start it as a process. It lies inside the checkout, so
 * that it finds its native packages.
 *
 * @param entry path from the checkout's root, such as `runner/src/main.ts`
 * @returns path of the program
 */
export async function bundle(entry: string): Promise<string> {
  const root = resolve(import.meta.dirname, '../..');
  const program = join(root, 'node_modules/.cache/mergewright-test', `${entry.replaceAll('/', '-')}.cjs`);
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['@duckdb/node-bindings', '@duckdb/node-bindings-*'],
    logLevel: 'warning',
  });
  mkdirSync(dirname(program), { recursive: true });
  // Renamed, so that a process which is just being started never reads half of it.
  const fresh = `${program}.${process.pid}`;
  writeFileSync(fresh, outputFiles[0]?.contents ?? '');
  renameSync(fresh, program);
  return program;
}
