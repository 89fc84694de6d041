// Makes a checkout ready: installs what the lock file names when it is missing or older, then builds.
// Uses Node alone, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const flags = new Set(process.argv.slice(2));
const stamp = join(root, 'node_modules', '.mergewright-lock');

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', flags.has('--quiet') ? 'ignore' : 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    console.error(`mergewright: "${command} ${args.join(' ')}" failed; see the lines above.`);
    process.exit(result.status ?? 1);
  }
}

const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`mergewright: Node.js 20 or newer is needed, this is ${process.versions.node}.`);
  process.exit(2);
}
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  // Errors only: a parser that the benchmarks compare with asks for a newer Node than it needs, and npm would warn of it.
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}
if (!flags.has('--no-build')) run(process.execPath, [join('tools', 'build.mjs')]);
