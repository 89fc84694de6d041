import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conformance } from '../../cli/src/conformance/command.ts';

const cases = join(import.meta.dirname, '..', 'conformance');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-conformance-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await conformance(args, { line: (text) => lines.push(text), error: (text) => errors.push(text) });
  return { code, lines, errors };
}

/** The cases of a pattern, changed, in a folder of their own. */
function changedCases(pattern: string, change: (text: string) => string): string {
  writeFileSync(join(folder, `${pattern}.json`), change(readFileSync(join(cases, `${pattern}.json`), 'utf8')));
  return folder;
}

describe('the conformance command', () => {
  test('one line per pattern, then the sum', async () => {
    expect(await run('--cases', cases, '--pattern', 'scd2_day')).toEqual({
      code: 0,
      lines: ['scd2_day  9 passed, 0 failed, 0 skipped', '9 passed, 0 failed, 0 skipped'],
      errors: [],
    });
  });

  test('a case that differs gets a line with its step and the first difference, and exit code 1', async () => {
    const changed = changedCases('scd2_day', (text) =>
      text.replaceAll('"Memphis"', '"Nashville"').replaceAll('Cleveland', 'Memphis'),
    );
    const { code, lines } = await run('--cases', changed, '--id', 'DAY-02');
    expect(code).toBe(0);
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped');
    const wrong = changedCases('scd2_day', (text) =>
      text.replace('"current_yn": "Y"', '"current_yn": "N"').replace('"current_yn":"Y"', '"current_yn":"N"'),
    );
    const failed = await run('--cases', wrong, '--id', 'DAY-01');
    expect(failed.code).toBe(1);
    expect(failed.lines[0]).toMatch(
      /^DAY-01 step 1: row \("D\d", "1900-01-01 00:00:00"\): current_yn is "Y", expected "N"$/,
    );
    expect(failed.lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
  });

  test('an unknown option fails, a case for other platforms is skipped', async () => {
    const unknown = changedCases('scd2_day', (text) => text.replaceAll('minus-3-ms', 'minus-one-fortnight'));
    const { code, lines } = await run('--cases', unknown, '--id', 'DAY-02');
    expect(code).toBe(1);
    expect(lines[0]).toMatch(/^DAY-02 step 1: not generated: option "closing" expects /);
    const elsewhere = changedCases('scd2_day', (text) =>
      text.replaceAll(/"config": ?\{/g, '"config":{"engines":["fabric"],'),
    );
    expect((await run('--cases', elsewhere)).lines.at(-1)).toBe('0 passed, 0 failed, 9 skipped');
  });

  test('the JSON file holds every outcome', async () => {
    const json = join(folder, 'outcomes.json');
    await run('--cases', cases, '--pattern', 'scd2_day', '--shape', 'merge', '--json', json);
    const outcomes: unknown = JSON.parse(readFileSync(json, 'utf8'));
    expect(outcomes).toHaveLength(9);
    expect(outcomes).toMatchObject([
      { id: 'DAY-01', pattern: 'scd2_day', status: 'passed', step: null, difference: null },
      {},
      {},
      {},
      {},
      {},
      {},
      {},
      {},
    ]);
  });

  test.each([
    [['--shape', 'triangle'], '--shape triangle is unknown; choose one of separate, merge'],
    [['--platform', 'oracle'], /^--platform oracle is unknown; choose one of sqlserver, /],
    [['--pattern', 'scd9'], /^--pattern scd9 is unknown; choose one of satellite, /],
    [['--id', 'NONE-1'], /is chosen; check --pattern and --id$/],
    [['--cases', 'nowhere'], /^nowhere cannot be read: /],
    [['--color'], /--color.*usage: npm run conformance/],
    [['--connection', 'oracle://x'], /oracle/],
  ])('%j is refused in one line with exit code 2', async (args, message) => {
    const { code, lines, errors } = await run('--cases', cases, ...args);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(errors[0]).not.toContain('\n');
  });
});
