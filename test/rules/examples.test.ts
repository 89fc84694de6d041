import { describe, expect, test } from 'vitest';
import { rules } from '../../server/src/rules/registry.ts';
import { applyFixes, lintText } from './support.ts';

describe.each(rules.map((rule) => [rule.name, rule] as const))('%s', (name, rule) => {
  test.each(rule.invalid)('reports the invalid example %#', (example) => {
    const found = lintText(example.sql, example).filter((diagnostic) => diagnostic.rule === name);
    expect(found.map(({ rule: found }) => found)).toContain(name);
    for (const { range, message } of found) {
      expect(message).toMatch(/[.]$/);
      expect(range.end.line > range.start.line || range.end.character > range.start.character).toBe(true);
    }
  });

  test.each(rule.valid)('accepts the valid example %#', (example) => {
    const found = lintText(example.sql, example).map(({ rule: found, message }) => `${found}: ${message}`);
    expect(found.filter((text) => text.startsWith(`${name}:`))).toEqual([]);
    expect(found.filter((text) => text.startsWith('syntax:'))).toEqual([]);
  });

  // Only a generator can show that a script is stale; the test of drift brings one.
  if (name === 'generated-script-is-stale') return;

  test('a fix takes its finding away, adds no syntax problem and no other serious finding', () => {
    let best = 'none';
    for (const example of rule.invalid) {
      const before = lintText(example.sql, example);
      for (const finding of before.filter((diagnostic) => diagnostic.rule === name)) {
        const [fix] = finding.fixes;
        if (fix === undefined) continue;
        best = fix.safe || best === 'safe' ? 'safe' : 'unsafe';
        const fixed = applyFixes(example.sql, [fix]);
        const after = lintText(fixed, example);
        const count = (list: typeof after, rule: string) => list.filter((other) => other.rule === rule).length;
        expect(count(after, name), fixed).toBeLessThan(count(before, name));
        expect(count(after, 'syntax'), fixed).toBe(0);
        for (const { rule, severity } of after) {
          if (severity === 'error')
            expect(count(after, rule), `${rule} after: ${fixed}`).toBeLessThanOrEqual(count(before, rule));
        }
      }
    }
    expect(best).toBe(rule.fix);
  });
});

test('at least two thirds of the rules offer a fix', () => {
  const fixable = rules.filter((rule) => rule.fix !== 'none').length;
  expect(fixable / rules.length).toBeGreaterThanOrEqual(2 / 3);
});
