// Bundles extension, language server, runner, command line and conformance run into dist/, and the panel's page.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
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
  legalComments: 'none',
  keepNames: false,
};

mkdirSync(dist, { recursive: true });
const present = (entries) =>
  Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file))));
for (const stale of ['panel.js', 'panel.css']) rmSync(join(dist, stale), { force: true });
await Promise.all([
  build({
    ...common,
    entryPoints: present(nodeBundles),
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
  Object.keys(present(pageBundles)).length === 0
    ? undefined
    : build({
        ...common,
        entryPoints: present(pageBundles),
        outdir: dist,
        platform: 'browser',
        target: 'es2022',
        format: 'iife',
        minify: true,
        loader: { '.css': 'css', '.ttf': 'dataurl', '.woff': 'dataurl' },
      }),
]);
