import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { dialectOf } from '../../server/src/syntax/dialect.ts';
import { problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { scripts } from '../support/hand-written.ts';
import { mutate, seeded } from '../support/mutate.ts';

const seed = 20261130;
const count = 3000;
const kinds = ['delete', 'duplicate', 'swap'] as const;

/** Every statement of the embedded engine's loads, generated and hand-written, once. */
function statements(): readonly string[] {
  const root = join(import.meta.dirname, '..');
  const files = readdirSync(join(root, 'golden'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /duckdb.*\.sql$/.test(file))
    .sort();
  const texts = [
    ...scripts.map(({ text }) => text),
    ...files.map((file) => readFileSync(join(root, 'golden', file), 'utf8')),
  ];
  const found = texts.flatMap((text) =>
    unitsOf(parse(text, { platform: 'duckdb' })).map(({ offset, length }) => text.slice(offset, offset + length)),
  );
  return [...new Set(found)];
}

/** Whether the engine's parser takes a text: the one of today, or the one that is to follow it. */
async function makeReferee(): Promise<(text: string) => Promise<boolean>> {
  const connections: DuckDBConnection[] = [];
  for (const setup of ['SELECT 1', 'CALL enable_peg_parser()']) {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(setup);
    connections.push(connection);
  }
  return async (text) => {
    for (const connection of connections) {
      const accepted = await connection.extractStatements(text).then(
        () => true,
        () => false,
      );
      if (accepted) return true;
    }
    return false;
  };
}

/**
 * What the engine's grammar lets through and its names refuse: a literal whose type is called like a column, a column
 * called IS or NOT, an operator behind its operand, a number that names a column.
 */
const refusedLater: readonly RegExp[] = [
  /[\w"]\s*'(?:[^']|'')*'/,
  /\bNOT\s+NULL\b/i,
  /\|\|/,
  /\bAS\s+USING\b/i,
  /\bSELECT 1 1\b/,
];

describe(`faults of a single token in loads of DuckDB (seed ${seed})`, async () => {
  const isAccepted = await makeReferee();
  const bases = statements();
  const random = seeded(seed);
  const mutants: { readonly text: string; readonly accepted: boolean; readonly problem: number | null }[] = [];
  while (mutants.length < count) {
    const base = bases[Math.floor(random() * bases.length)] ?? '';
    const mutant = mutate(base, dialectOf('duckdb'), kinds[mutants.length % kinds.length] ?? 'delete', random);
    if (mutant === null) continue;
    const [problem] = problemsOf(parse(mutant.text, { platform: 'duckdb' }));
    const accepted = await isAccepted(mutant.text);
    mutants.push({ text: mutant.text, accepted, problem: problem?.start ?? null });
  }

  test('nearly all that the engine refuses are told', () => {
    const refused = mutants.filter(({ accepted }) => !accepted);
    const told = refused.filter(({ problem }) => problem !== null);
    console.log(`single-token faults of DuckDB: ${told.length} of ${refused.length} told`);
    expect(told.length / refused.length).toBeGreaterThan(0.97);
  });

  test('what the engine takes has no problem', () => {
    const taken = mutants.filter(({ accepted, problem }) => accepted && problem !== null);
    const wrong = taken.filter(({ text, problem }) => {
      const around = text.slice(Math.max(0, (problem ?? 0) - 60), (problem ?? 0) + 30);
      return !refusedLater.some((pattern) => pattern.test(around));
    });
    expect(wrong.map(({ text, problem }) => text.slice(Math.max(0, (problem ?? 0) - 60), (problem ?? 0) + 30))).toEqual(
      [],
    );
  });
});
