import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import {
  type HashInput,
  hashText,
  renderedValue,
  renderingOf,
  resolvedHashRules,
  rowDigest,
  textDigest,
} from '../../server/src/load/digest.ts';
import { rowVectors, textVectors, valueVectors } from '../support/vectors.ts';

function renderingFor(type: string, platform: PlatformName) {
  const { rendering, refusal } = renderingOf(type, platform);
  if (rendering === null) throw new Error(refusal);
  return rendering;
}

describe('digests', () => {
  test.each(textVectors)('$text', ({ text, sha256, sha1, md5 }) => {
    expect(textDigest('sha256', text)).toBe(sha256);
    expect(textDigest('sha1', text)).toBe(sha1);
    expect(textDigest('md5', text)).toBe(md5);
  });
});

describe('rendered values', () => {
  const spelled = valueVectors.flatMap(({ types, value, text }) =>
    Object.entries(types).map(([platform, type]) => ({ platform: platform as PlatformName, type, value, text })),
  );
  test.each(spelled)('$platform $type $value', ({ platform, type, value, text }) => {
    expect(renderedValue(value, renderingFor(type, platform))).toBe(text);
  });

  test.each([
    ['float', 'sqlserver'],
    ['real', 'sqlserver'],
    ['double', 'duckdb'],
    ['xml', 'sqlserver'],
    ['text', 'sqlserver'],
    ['timestamp', 'sqlserver'],
    ['rowversion', 'sqlserver'],
    ['json', 'duckdb'],
    ['integer[]', 'duckdb'],
    ['interval', 'duckdb'],
  ] as const)('%s on %s is refused with a way out', (type, platform) => {
    expect(renderingOf(type, platform).refusal).toMatch(new RegExp(`^${type.replace(/[[\]]/g, '\\$&')} .* cast it`));
  });
});

describe('rows', () => {
  test.each(rowVectors)('$title', ({ role, rules, columns, text, digest }) => {
    const inputs: readonly HashInput[] = columns.map(({ name, type, value }) => ({
      name,
      value,
      rendering: renderingFor(type, 'sqlserver'),
    }));
    const resolved = resolvedHashRules(rules, role);
    expect(hashText(inputs, resolved, role)).toBe(text);
    expect(rowDigest(inputs, resolved, role)).toBe(digest);
  });

  test('the handbook vector', () => {
    const handbook = rowVectors.find(({ title }) => title.startsWith('handbook'));
    expect(handbook?.digest).toBe('e2a444e0a4fb825e126e4d206aa3448985d9f1dd452d7a3b3882a65a1c016b92');
  });
});
