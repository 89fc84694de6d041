import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { platformNames } from '../../protocol/platform.ts';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';

interface Snippet {
  readonly prefix: readonly string[];
  readonly body: readonly string[];
}

interface Manifest {
  readonly contributes: { readonly snippets: readonly { readonly language: string; readonly path: string }[] };
}

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));

/** What the editor inserts when nobody changes a tab stop. */
function inserted(body: readonly string[]): string {
  const names = new Map<string, string>();
  return body
    .join('\n')
    .replace(/(?<!\\)\$\{(\d+):([^}]*)\}/g, (_, number: string, name: string) => {
      names.set(number, name);
      return name;
    })
    .replace(/(?<!\\)\$\{(\d+)\}/g, (_, number: string) => names.get(number) ?? '')
    .replace(/(?<!\\)\$0/g, '')
    .replace(/\\([\\$}])/g, '$1');
}

describe('snippets', () => {
  test.each(manifest.contributes.snippets)('$path parses on its platform', ({ path, language }) => {
    expect(language).toBe('sql');
    const platform = platformNames.find((name) => path.endsWith(`/${name}.json`));
    const snippets: Readonly<Record<string, Snippet>> = JSON.parse(readFileSync(path, 'utf8'));
    expect(Object.keys(snippets).length).toBeGreaterThan(8);
    for (const [name, { prefix, body }] of Object.entries(snippets)) {
      const text = inserted(body);
      expect(prefix.length, name).toBeGreaterThan(0);
      expect(text, name).toContain('TargetTable');
      expect(problemsOf(parse(text, platform === undefined ? {} : { platform })), name).toEqual([]);
    }
  });
});
