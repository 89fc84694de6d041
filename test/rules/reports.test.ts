import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintText } from './support.ts';

const folder = join(import.meta.dirname, '../fixtures/reports');

interface Report {
  readonly name: string;
  readonly kind: string;
  readonly platforms: readonly string[];
  readonly expected: readonly {
    readonly hazard: string;
    readonly required: boolean;
    readonly severity: string | null;
  }[];
  readonly forbidden: readonly string[];
  readonly text: string;
}

/** Reads what the comments at the top of a report say. `C04 (optional)` and `I03 if …` need not be found. */
function readReport(file: string): Report {
  const text = readFileSync(join(folder, file), 'utf8');
  const header = (key: string) => new RegExp(`^-- @${key} (.*)$`, 'm').exec(text)?.[1] ?? '';
  return {
    name: file.replace('.sql', ''),
    kind: header('kind'),
    platforms: header('platform').split('+'),
    expected: header('expect-diag')
      .split(',')
      .flatMap((item) => {
        const match = /([A-Z]\d\d)(?:\((\w+)\))?(.*)/.exec(item.trim());
        if (match === null) return [];
        const [, hazard = '', severity = null, rest = ''] = match;
        return [{ hazard, severity, required: !/optional|\bif\b|\bwhen\b/.test(rest) }];
      }),
    forbidden: header('expect-no-diag').match(/[A-Z]\d\d/g) ?? [],
    text,
  };
}

const reports = readdirSync(folder)
  .filter((file) => /^[glpr]\d/.test(file))
  .map(readReport)
  .filter((report) => report.kind !== 'run');

describe.each(
  reports.flatMap((report) => report.platforms.map((platform) => [report.name, platform, report] as const)),
)('%s on %s', (name, platform, report) => {
  const found = lintText(report.text, { platform });
  const hazards = new Set(found.flatMap((diagnostic) => diagnostic.hazards));

  test('raises what its header expects', () => {
    if (name === 'l22-nmbs-partition') {
      const first = found.filter(({ range }) => range.start.line < 14).flatMap(({ hazards }) => hazards);
      expect(first).toEqual(expect.arrayContaining(['D05', 'M07', 'M04']));
      return;
    }
    for (const { hazard, required, severity } of report.expected) {
      if (required) expect([...hazards], hazard).toContain(hazard);
      if (severity === null) continue;
      const own = found.filter((diagnostic) => diagnostic.hazards.includes(hazard));
      expect(own.map((diagnostic) => diagnostic.severity)).toEqual(own.map(() => severity));
    }
  });

  test('raises nothing serious beyond it', () => {
    const allowed = new Set(report.expected.map(({ hazard }) => hazard));
    const extra = found.filter(
      ({ severity, hazards }) =>
        (severity === 'error' || severity === 'warning') && !hazards.some((hazard) => allowed.has(hazard)),
    );
    expect(extra.map(({ rule, message, range }) => `${range.start.line + 1} ${rule}: ${message}`)).toEqual([]);
    expect(report.forbidden.filter((hazard) => hazards.has(hazard))).toEqual([]);
    if (name === 'l22-nmbs-partition') {
      const second = found.filter(({ range }) => range.start.line >= 14).flatMap(({ hazards }) => hazards);
      expect(second.filter((hazard) => ['D05', 'M07', 'M04'].includes(hazard))).toEqual([]);
    }
  });
});
