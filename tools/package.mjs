// Makes the VSIX for one platform: `npm run package`, `npm run package -- --target win32-x64`.
// A staged folder is packaged, since DuckDB's native library has to lie in `dist/node_modules` and nothing else may.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';
import { transform } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const targets = ['win32-x64', 'darwin-x64', 'darwin-arm64', 'linux-x64', 'linux-arm64'];
const programs = ['extension.cjs', 'server.cjs', 'runner.cjs'];
const pages = ['panel.js', 'panel.css'];
/** Folders and files of the repository that the extension reads at run time or that a marketplace shows. */
const shipped = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'client/media',
  'docs/images',
  'docs/rules',
  'schemas',
  'snippets',
  'syntaxes',
  'walkthrough',
  'samples/warehouse',
];

const { values } = parseArgs({ options: { target: { type: 'string' } } });
const target = values.target ?? `${process.platform}-${process.arch}`;
if (!targets.includes(target)) {
  console.error(`package: no build for ${target}; use --target with one of ${targets.join(', ')}.`);
  process.exit(2);
}
const missing = [...programs, ...pages].filter((file) => !existsSync(join(root, 'dist', file)));
if (missing.length > 0) {
  console.error(`package: dist/ lacks ${missing.join(', ')}; run "npm run build" first.`);
  process.exit(1);
}

const stage = join(root, 'out', `stage-${target}`);
rmSync(stage, { recursive: true, force: true });
mkdirSync(join(stage, 'dist'), { recursive: true });
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(stagedManifest(manifest), null, 2)}\n`);
for (const path of shipped) {
  if (existsSync(join(root, path))) cpSync(join(root, path), join(stage, path), { recursive: true });
}
for (const file of programs) {
  const { code } = await transform(readFileSync(join(root, 'dist', file), 'utf8'), {
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    legalComments: 'none',
  });
  writeFileSync(join(stage, 'dist', file), code);
}
for (const file of pages) {
  const text = readFileSync(join(root, 'dist', file), 'utf8');
  writeFileSync(join(stage, 'dist', file), text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*\s*$/, '\n'));
}
stageNativeLibrary(target);
writeFileSync(join(stage, 'THIRD-PARTY-NOTICES.txt'), notices());
refuseMachinePaths(stage);

const vsix = join(root, 'out', `mergewright-${target}.vsix`);
await createVSIX({
  cwd: stage,
  packagePath: vsix,
  target,
  dependencies: false,
  allowMissingRepository: true,
  rewriteRelativeLinks: false,
});
rmSync(stage, { recursive: true, force: true });
console.log(`${vsix.slice(root.length + 1)}  ${(statSync(vsix).size / 1e6).toFixed(1)} MB`);

/** The manifest without what only a checkout needs. */
function stagedManifest({ scripts, dependencies, devDependencies, allowScripts, bin, private: _, type, ...rest }) {
  return { ...rest, engines: { vscode: rest.engines.vscode } };
}

/** Puts DuckDB's binding and the library of one platform where Node's own resolution finds them from `dist`. */
function stageNativeLibrary(platform) {
  const modules = join(stage, 'dist', 'node_modules', '@duckdb');
  cpSync(join(root, 'node_modules', '@duckdb', 'node-bindings'), join(modules, 'node-bindings'), { recursive: true });
  const name = `node-bindings-${platform}`;
  const installed = join(root, 'node_modules', '@duckdb', name);
  cpSync(existsSync(installed) ? installed : download(`@duckdb/${name}`), join(modules, name), { recursive: true });
}

/** Fetches another platform's package by npm, checks it against the lock file, and returns its unpacked folder. */
function download(name) {
  const entry = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`];
  if (entry === undefined) throw new Error(`package-lock.json does not name ${name}`);
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-package-'));
  const npm = spawnSync('npm', ['pack', '--silent', `${name}@${entry.version}`, '--pack-destination', folder], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) throw new Error(`npm pack ${name}@${entry.version} failed: ${npm.stderr}`);
  const [archive] = readdirSync(folder);
  const [algorithm, expected] = entry.integrity.split('-');
  const found = createHash(algorithm)
    .update(readFileSync(join(folder, archive)))
    .digest('base64');
  if (found !== expected) throw new Error(`${name}@${entry.version} is not the package that package-lock.json names`);
  const tar = spawnSync('tar', ['-xzf', archive], { cwd: folder, encoding: 'utf8' });
  if (tar.status !== 0) throw new Error(`tar failed: ${tar.stderr}`);
  return join(folder, 'package');
}

/** Names, versions and licence texts of the packages that the bundles may hold. */
function notices() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const bundled = ['@duckdb/node-api', 'mssql', 'vscode-languageclient', 'vscode-languageserver', 'node-sql-parser'];
  const queue = [...bundled, '@vscode-elements/elements', '@vscode/codicons', 'uplot', 'zod'];
  const seen = new Set();
  const parts = [];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const entry = lock[`node_modules/${name}`];
    if (entry === undefined || seen.has(name)) continue;
    seen.add(name);
    queue.push(...Object.keys(entry.dependencies ?? {}));
    const folder = join(root, 'node_modules', name);
    const licence = existsSync(folder) ? readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)) : undefined;
    const text = licence === undefined ? '' : `\n\n${readFileSync(join(folder, licence), 'utf8').trim()}`;
    parts.push(`${name} ${entry.version} (${entry.license ?? 'see its page'})${text}`);
  }
  return `${parts.sort().join('\n\n----------\n\n')}\n`;
}

/** A path of the machine that builds would tell where it was built, and break nothing until somebody relies on it. */
function refuseMachinePaths(folder) {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(cjs|js|css|json|md|txt)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => readFileSync(file, 'utf8').includes(root));
  if (found.length > 0) throw new Error(`the folder of the checkout stands in ${found.join(', ')}`);
}
