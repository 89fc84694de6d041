// Types, lint, format, unused code, and the rules about the repository itself. Exit 1 when anything is found.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);
let failed = 0;

function step(name, command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' });
  const ok = result.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
  if (!ok) {
    console.log(`${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd());
    failed += 1;
  }
}

step('types', bin('tsc'), ['-p', '.']);
step('types of the panel', bin('tsc'), ['-p', 'tsconfig.webview.json']);
step('lint and format', bin('biome'), ['check', '--error-on-warnings', '.']);
step('unused files, exports and dependencies', bin('knip'), [
  '--no-progress',
  '--include',
  'files,dependencies,unlisted,unresolved,exports',
]);
if (existsSync(join(root, 'tools', 'docs.mjs')))
  step('generated files are up to date', process.execPath, ['tools/docs.mjs', '--check']);

const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
if (lock.includes('"resolved"')) {
  console.log('FAIL package-lock.json names a registry; install with the .npmrc of this folder');
  failed += 1;
} else console.log('ok   lock file without registry addresses');
process.exit(failed > 0 ? 1 : 0);
