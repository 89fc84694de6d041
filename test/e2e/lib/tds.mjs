import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The scripted SQL Server of the tests with its answers, bundled since Node 20 reads no TypeScript. */
export async function tdsServer(root) {
  const source = join(root, 'test', 'support', 'tds');
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-tds-'));
  const outfile = join(folder, 'tds.mjs');
  await build({
    stdin: { contents: "export * from './server.ts'; export * from './answers.ts';", resolveDir: source, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    // The certificate lies beside the sources.
    define: { 'import.meta.dirname': JSON.stringify(source) },
    logLevel: 'error',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
