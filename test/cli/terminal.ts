import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { commandLine } from '../../cli/src/command-line.ts';

/** What a command did: exit code, standard output, lines of standard error. */
export interface Called {
  readonly code: number;
  readonly out: string;
  readonly err: readonly string[];
}

/** A folder in which commands are called; it goes with the test. */
export class Terminal {
  readonly cwd: string;
  readonly env: Record<string, string> = {};

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  path(name: string): string {
    return join(this.cwd, name);
  }

  async call(...args: string[]): Promise<Called> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await commandLine(args, {
      cwd: this.cwd,
      env: this.env,
      out: (text) => out.push(text),
      err: (text) => err.push(text),
    });
    return { code, out: out.join(''), err };
  }

  async write(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), content);
  }
}

/** @param files contents by path relative to the new folder */
export async function openTerminal(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Terminal> {
  const cwd = await mkdtemp(join(tmpdir(), 'mergewright-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const terminal = new Terminal(cwd);
  for (const [name, content] of Object.entries(files)) await terminal.write(name, content);
  return terminal;
}
