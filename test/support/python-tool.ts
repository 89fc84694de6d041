/** Programs from PyPI that tests use, installed into `.cache/` of the checkout on first use. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface PythonTool {
  /** What the folder is called. */
  readonly name: string;
  /** What a message calls it. */
  readonly title: string;
  /** The oldest Python 3 that will do, such as 10. */
  readonly minor: number;
  /** Files whose contents decide what is installed. */
  readonly requirements: readonly string[];
  /** The parameters of each call of pip, given the folder. */
  readonly pip: (home: string) => readonly (readonly string[])[];
}

/** The folder of a virtual environment with the tool in it, or why there is none. */
export type FoundTool = { readonly home: string } | { readonly missing: string };

export function findTool(tool: PythonTool): FoundTool {
  const digest = createHash('sha256');
  for (const file of tool.requirements) digest.update(readFileSync(file));
  const cache = resolve(import.meta.dirname, '../../.cache');
  const home = join(cache, `${tool.name}-${digest.digest('hex').slice(0, 12)}`);
  if (existsSync(home)) return { home };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { missing: `${tool.title} is pinned for linux-x64 only.` };
  }
  const python = ['python3', 'python'].find((command) => isNewEnough(command, tool.minor));
  if (python === undefined) {
    return { missing: `Python 3.${tool.minor} or newer is missing; ${tool.title} comes from PyPI.` };
  }
  // Several test files may get here at once: each installs apart, and the first one gives its folder the final name.
  const own = `${home}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  const complaint = install(tool, python, own);
  if (complaint === null && !existsSync(home)) {
    try {
      renameSync(own, home);
    } catch (error) {
      if (!existsSync(home)) throw error;
    }
  }
  rmSync(own, { recursive: true, force: true });
  return existsSync(home) ? { home } : { missing: `${tool.title} could not be installed: ${complaint}` };
}

/** Passes on why something is missing, to be named as skipped. In CI nothing may be missing: there it is an error. */
export function skipReason(missing: string): string {
  if (process.env['CI'] !== undefined && process.env['CI'] !== '') throw new Error(missing);
  return missing;
}

function isNewEnough(python: string, minor: number): boolean {
  const check = spawnSync(python, ['-c', `import sys, venv, ensurepip; sys.exit(sys.version_info < (3, ${minor}))`]);
  return check.status === 0;
}

function install(tool: PythonTool, python: string, home: string): string | null {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes', '--no-deps'];
  const steps: readonly (readonly [string, readonly string[]])[] = [
    [python, ['-m', 'venv', home]],
    ...tool.pip(home).map((step) => [join(home, 'bin', 'python'), [...pip, ...step]] as const),
  ];
  for (const [command, parameters] of steps) {
    const step = spawnSync(command, parameters, { encoding: 'utf8' });
    if (step.status !== 0) return (step.stderr || String(step.error)).trim().slice(-300);
  }
  return null;
}
