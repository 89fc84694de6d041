import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** The table of counts as the README shows it. */
function statedCounts(): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  return /<!-- start:counts -->\n```\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '';
}

test('npm start prints the counts that the README states, in 80 columns', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join('tools', 'start.mjs')], { cwd: root });
  expect(statedCounts().split('\n')).toHaveLength(10);
  expect(stdout).toContain(statedCounts());
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});
