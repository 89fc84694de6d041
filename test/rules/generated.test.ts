import { describe, expect, test } from 'vitest';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import { generatedLoad } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { CaseTables } from '../../cli/src/conformance/tables.ts';
import { parsePlatform } from '../../protocol/platform.ts';
import type { Shape } from '../../protocol/specification.ts';
import { lint } from '../../server/src/rules/engine/lint.ts';
import { rules } from '../../server/src/rules/registry.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { conformanceCases } from '../support/cases.ts';

/** Loads are only generated here, so that nothing needs to run. */
const nowhere: CaseSession = {
  execute: async () => undefined,
  query: async () => [],
  runLoad: async () => {
    throw new Error('nothing runs here');
  },
  close: async () => undefined,
};

/** DuckDB takes every case; the T-SQL texts differ from it by their printer, so every fifth case shows that. */
const runs: readonly (readonly [string, Shape, number])[] = [
  ['duckdb', 'separate', 1],
  ['duckdb', 'merge', 3],
  ['sqlserver', 'separate', 5],
  ['sqlserver', 'merge', 5],
  ['sqlserver:2012', 'separate', 5],
  ['synapse', 'separate', 5],
  ['fabric', 'separate', 5],
  ['fabric', 'merge', 5],
];

async function findings(platformName: string, shape: Shape, every: number) {
  const platform = parsePlatform(platformName);
  const dialect = platform === undefined ? undefined : dialectOf(platform);
  if (platform === undefined || dialect === undefined) throw new Error(`no dialect for ${platformName}`);
  const settings = { platform, form: 'script', shape, dialect, enforced: true } as const;
  const found = new Map<string, string>();
  let texts = 0;
  for (const owner of conformanceCases.filter((_, index) => index % every === 0)) {
    const tables = await CaseTables.create(owner, 'case_', nowhere, settings);
    for (const [index, step] of owner.steps.entries()) {
      await tables.prepare(step);
      if (index < owner.steps.length - 1) continue;
      const load = generatedLoad(owner, index, step, tables, settings);
      if (typeof load === 'string') continue;
      const { source, target, extra } = tables.catalog(step);
      for (const { path, text } of load.files) {
        texts += 1;
        const outcome = lint({
          script: parse(text, { platform: platform.name }),
          file: path,
          platform,
          rules,
          tables: [source, target, ...Object.values(extra)],
          // What a specification declares is no finding in its own load.
          settings: { levels: [], houses: [{ table: null, options: load.specification.options }] },
        });
        for (const { message } of outcome.problems) found.set(message, owner.id);
        for (const { rule, severity, message, range } of outcome.value) {
          const line = text.split('\n')[range.start.line]?.trim() ?? '';
          found.set(`${severity} ${rule}: ${message}`.slice(0, 200), `${owner.id} ${line}`);
        }
      }
    }
  }
  return { texts, found: [...found].map(([finding, where]) => `${finding} (${where})`) };
}

describe.each(runs)('loads generated for %s, %s', (platform, shape, every) => {
  test('are clean', async () => {
    const { texts, found } = await findings(platform, shape, every);
    expect(texts).toBeGreaterThan(40);
    expect(found).toEqual([]);
  });
});
