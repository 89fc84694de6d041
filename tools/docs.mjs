// Writes the files that are made from the sources (docs pages, schemas, tables); with --check only compares them.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const checkOnly = process.argv.includes('--check');
const work = mkdtempSync(join(tmpdir(), 'mergewright-docs-'));
try {
  const bundle = join(work, 'generated-files.mjs');
  const banner = "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);";
  await build({
    entryPoints: [join(root, 'tools', 'generated-files.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    banner: { js: banner },
  });
  const { generatedDocuments } = await import(pathToFileURL(bundle).href);
  const stale = [];
  for (const document of generatedDocuments) {
    const file = join(root, document.path);
    const current = existsSync(file) ? readFileSync(file, 'utf8') : null;
    const text = document.render(current);
    if (text === current) continue;
    stale.push(document.path);
    if (checkOnly) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  // Pages of rules that are gone would keep being shipped.
  const pages = new Set(generatedDocuments.map((document) => document.path));
  const folder = join(root, 'docs', 'rules');
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (pages.has(`docs/rules/${name}`)) continue;
    stale.push(`docs/rules/${name}`);
    if (!checkOnly) rmSync(join(folder, name));
  }
  if (checkOnly && stale.length > 0) {
    console.error(`Not up to date, run "node tools/docs.mjs": ${stale.join(', ')}`);
    process.exitCode = 1;
  } else if (!checkOnly) {
    console.log(stale.length > 0 ? `written: ${stale.join(', ')}` : 'all up to date');
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
