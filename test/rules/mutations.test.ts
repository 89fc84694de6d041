import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../protocol/problem.ts';
import { lineStartsOf, offsetOf } from '../../server/src/syntax/inspect.ts';
import { type Mutation, mutations } from './mutations.ts';
import { applyFixes, lintText } from './support.ts';

const folder = join(import.meta.dirname, '../fixtures/rules/clean');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const samples = readdirSync(folder)
  .filter((file) => file.endsWith('.ddl.sql'))
  .map((file) => file.replace('.ddl.sql', ''));

interface Sample {
  readonly platform: string;
  readonly sql: string;
  readonly ddl: string;
}

function sampleOf(name: string): Sample {
  return { platform: name.split('-')[0] ?? '', sql: read(`${name}.sql`), ddl: read(`${name}.ddl.sql`) };
}

function mutate(sample: Sample, { from, to, ddl }: Mutation): Sample & { readonly at: number } {
  const text = ddl === true ? sample.ddl : sample.sql;
  const at = text.indexOf(from);
  if (at < 0) throw new Error(`the sample does not hold: ${from}`);
  const changed = text.slice(0, at) + to + text.slice(at + from.length);
  return ddl === true ? { ...sample, ddl: changed, at: -1 } : { ...sample, sql: changed, at };
}

describe.each(samples)('the clean sample %s', (name) => {
  test('raises nothing', () => {
    const { sql, platform, ddl } = sampleOf(name);
    expect(lintText(sql, { platform, ddl }).map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
  });
});

/** At the injected lines or two lines from them: what is missing is noticed at its neighbour. */
function isNear(diagnostic: Diagnostic, mutant: ReturnType<typeof mutate>, mutation: Mutation): boolean {
  const lines = lineStartsOf(mutant.sql);
  const start = offsetOf(lines, mutant.sql, diagnostic.range.start);
  const end = offsetOf(lines, mutant.sql, diagnostic.range.end);
  const line = (offset: number) => mutant.sql.slice(0, offset).split('\n').length;
  return line(start) <= line(mutant.at + mutation.to.length) + 2 && line(end) >= line(mutant.at) - 2;
}

const tally = { found: 0, missed: 0, extra: 0, fixable: 0, fixed: 0 };
afterAll(() => {
  const recall = tally.found / (tally.found + tally.missed);
  const precision = tally.found / (tally.found + tally.extra);
  console.log(
    `mutations: ${mutations.length}, recall ${(recall * 100).toFixed(1)} %, precision ${(precision * 100).toFixed(1)} %, ${tally.fixed} of ${tally.fixable} fixes leave the script clean`,
  );
});

/** Faults that are absent at one place and felt at another: the guard is missing above, the branch below is reported. */
const elsewhere = new Set([
  'inactivation-lacks-stage-guard',
  'inactivation-lacks-share-limit',
  'merge-by-source-lacks-stage-guard',
  'transaction-lacks-xact-abort',
  'merge-source-repeats-keys',
  'row-choice-has-ties',
  'variable-outlives-its-batch',
  'returning-key-stays-closed',
  'merge-by-source-reads-part',
]);

describe.each(mutations.map((mutation) => [mutation.rule, mutation.sample, mutation] as const))(
  '%s in %s',
  (rule, name, mutation) => {
    const mutant = mutate(sampleOf(name), mutation);
    const { platform, ddl } = mutant;
    const found = lintText(mutant.sql, { platform, ddl });
    const own = found.filter((diagnostic) => diagnostic.rule === rule);
    const allowed = new Set([rule, ...(mutation.also ?? [])]);

    test('is found at its place, and nothing else', () => {
      const others = found.filter((diagnostic) => !allowed.has(diagnostic.rule));
      if (own.length > 0) tally.found += 1;
      else tally.missed += 1;
      tally.extra += others.length;
      expect(own.length).toBeGreaterThan(0);
      expect(others.map(({ rule: other, message }) => `${other}: ${message}`)).toEqual([]);
      if (mutant.at >= 0 && !elsewhere.has(rule)) {
        expect(own.some((diagnostic) => isNear(diagnostic, mutant, mutation))).toBe(true);
      }
    });

    test('its fix leaves the script without it', () => {
      const [first] = own;
      const fix = first?.fixes[0];
      if (fix === undefined) return;
      tally.fixable += 1;
      const fixed = applyFixes(mutant.sql, [fix]);
      const after = lintText(fixed, { platform, ddl });
      expect(after.filter((diagnostic) => diagnostic.rule === rule).length, fixed).toBeLessThan(own.length);
      expect(after.filter((diagnostic) => diagnostic.rule === 'syntax')).toEqual([]);
      if (after.filter(({ severity }) => severity === 'error' || severity === 'warning').length === 0) tally.fixed += 1;
    });
  },
);

describe('on the embedded engine', () => {
  const { sql, ddl, platform } = sampleOf('duckdb-scd2');
  const rows = read('duckdb-scd2.rows.sql');

  /** The dimension after a run, in a fixed order. */
  async function result(script: string): Promise<readonly unknown[]> {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(ddl);
    await connection.run(rows);
    await connection.run(script);
    const reader = await connection.runAndReadAll(
      'SELECT member_no, tier, city, valid_from::VARCHAR, valid_to::VARCHAR, is_current FROM dim_member ORDER BY member_no, valid_from',
    );
    connection.closeSync();
    return reader.getRows();
  }

  const expected = [
    [1, 'iron', 'Bern', '2026-01-01 00:00:00', '2026-02-01 00:00:00', false],
    [1, 'blue', 'Bern', '2026-02-01 00:00:00', '2026-03-01 00:00:00', false],
    [1, 'gold', 'Bern', '2026-03-01 00:00:00', null, true],
    [2, 'blue', null, '2026-01-01 00:00:00', '2026-03-01 00:00:00', false],
    [2, 'blue', 'Brig', '2026-03-01 00:00:00', null, true],
    [3, 'blue', 'Chur', '2026-01-01 00:00:00', null, true],
    [4, 'new', null, '2026-03-01 00:00:00', null, true],
  ];

  test('the clean script gives the right rows', async () => {
    expect(await result(sql)).toEqual(expected);
  });

  const faults = [
    {
      rule: 'closing-update-touches-history',
      from: ' AND t.is_current = true AND (t.tier',
      to: ' AND (t.tier',
      wrong: true,
    },
    { rule: 'comparison-misses-null', from: 't.city IS DISTINCT FROM s.city', to: 't.city <> s.city', wrong: true },
    { rule: 'close-and-open-lack-transaction', from: 'BEGIN TRANSACTION;\n', to: '', wrong: false },
  ] as const;

  test.each(faults)(
    '$rule: the fault is felt, the fix gives the right rows again',
    async ({ rule, from, to, wrong }) => {
      const commit = from.startsWith('BEGIN') ? sql.replace('COMMIT;\n', '') : sql;
      const broken = commit.replace(from, to);
      const rowsOfBroken = await result(broken);
      if (wrong) expect(rowsOfBroken).not.toEqual(expected);
      else expect(rowsOfBroken).toEqual(expected);
      const fix = lintText(broken, { platform, ddl }).find((diagnostic) => diagnostic.rule === rule)?.fixes[0];
      if (fix === undefined) throw new Error(`${rule} offers no fix`);
      expect(await result(applyFixes(broken, [fix]))).toEqual(expected);
    },
  );
});
