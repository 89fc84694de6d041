// Bundles extension, language server, runner, command line and conformance run into dist/, and the panel's page.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const external = ['vscode', '@duckdb/node-bindings', '@duckdb/node-bindings-*'];

const nodeBundles = {
  server: 'server/src/main.ts',
  runner: 'runner/src/main.ts',
  cli: 'cli/src/main.ts',
  conformance: 'cli/src/conformance.ts',
  extension: 'client/src/extension.ts',
};
const pageBundles = { panel: 'client/webview/panel.ts' };

/** Shared by every bundle; the sources keep their names in stack traces. */
const common = {
  bundle: true,
  sourcemap: 'linked',
  logLevel: 'warning',
  absWorkingDir: root,
  write: false,
  legalComments: 'none',
  keepNames: false,
};

mkdirSync(dist, { recursive: true });
const results = await Promise.all([
  build({
    ...common,
    entryPoints: nodeBundles,
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external,
    minify: process.argv.includes('--minify'),
    // The text of a program stays in memory while it runs; names stay readable in stack traces.
    minifyWhitespace: true,
  }),
  build({
    ...common,
    entryPoints: pageBundles,
    outdir: dist,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    minify: true,
    loader: { '.css': 'css', '.ttf': 'dataurl', '.woff': 'dataurl' },
  }),
]);
for (const { path, contents } of results.flatMap((result) => result.outputFiles)) replace(path, contents);

/** Puts a file in its place at once: a program that starts meanwhile finds the former one or the new one, never a part. */
function replace(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, contents);
  renameSync(beside, path);
}
