import { expect, test } from 'vitest';
import { parsePlatform } from '../../protocol/platform.ts';
import { lint } from '../../server/src/rules/engine/lint.ts';
import { rules } from '../../server/src/rules/registry.ts';
import { parse, reparse } from '../../server/src/syntax/parse.ts';
import type { Script } from '../../server/src/syntax/tree.ts';
import { seededRandom } from '../support/random.ts';

/** Each is wrong in its own way, or is nearly so. */
const pieces = rules.flatMap(({ invalid, valid }) => [...invalid, ...valid].map(({ sql }) => sql));

test.each([
  ['sqlserver', 1],
  ['sqlserver', 2],
  ['azuresql', 3],
  ['synapse', 4],
  ['databricks', 5],
  ['duckdb', 6],
])('what is kept from edit to edit changes no finding on %s (seed %i)', (name, seed) => {
  const platform = parsePlatform(name);
  if (platform === undefined) throw new Error(`no platform: ${name}`);
  const random = seededRandom(seed);
  const glue = () => random.oneOf(['\nGO\n', ';\n', '\n', '\n;\n']);
  const check = (script: Script) => lint({ script, file: 'load.sql', platform, rules, tables: [] }).value;
  const options = { platform: platform.name };
  let script = parse(
    random
      .shuffled(pieces)
      .slice(0, 30)
      .map((piece) => piece + glue())
      .join(''),
    options,
  );
  check(script);
  for (let step = 0; step < 25; step += 1) {
    const start = random.below(script.text.length);
    const edit = random.oneOf([
      { start, end: start, text: ' ' },
      { start, end: start, text: `${glue()}${random.oneOf(pieces)}${glue()}` },
      { start, end: Math.min(script.text.length, start + random.below(300)), text: '' },
      { start, end: start + 1, text: random.oneOf(['x', "'", ';', '(', '\nGO\n']) },
    ]);
    script = reparse(script, edit);
    expect(check(script), `seed ${seed}, step ${step}: ${JSON.stringify(edit)}`).toEqual(
      check(parse(script.text, options)),
    );
  }
});
