import { describe, expect, test } from 'vitest';
import { unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse, reparse } from '../../server/src/syntax/parse.ts';
import type { Script } from '../../server/src/syntax/tree.ts';
import { seeded } from '../support/mutate.ts';
import { duckdbFixtures, sparkFixtures, tsqlFixtures } from '../support/tsql-fixtures.ts';

/** Every run takes the same seeds; `SEED` takes another first one. */
const firstSeed = Number(process.env['SEED'] ?? 1);

/** What people and tools insert, and what turns the meaning of all that follows. */
const insertions = [
  'GO\n', '\nGO\n', 'go 5\n', ';', "'", '"', '[', '/*', '*/', '--', '\n', ' ', '(', ')', ',', 'x', 'SELECT 1 ', 'BEGIN ',
  'END ', 'MERGE', 'INSERT INTO t VALUES (1)\n', '\n:r x.sql\n', '\n-- COMMAND ----------\n', '%', '$$', ':',
]; // biome-ignore format: one insertion a line would tell no more.

function randomEdit(
  text: string,
  random: () => number,
): { readonly start: number; readonly end: number; readonly text: string } {
  const start = Math.floor(random() * (text.length + 1));
  const longest = random() < 0.1 ? 400 : 12;
  const end = random() < 0.5 ? start : Math.min(text.length, start + Math.floor(random() * longest));
  const inserted = random() < 0.3 ? '' : (insertions[Math.floor(random() * insertions.length)] ?? '');
  return { start, end, text: inserted };
}

describe('a script parsed again after an edit equals one parsed from scratch', () => {
  test.each([...tsqlFixtures, ...sparkFixtures, ...duckdbFixtures])('$name', ({ name, text, platform }) => {
    const random = seeded(firstSeed + name.length);
    const original = parse(text, { platform });
    let script: Script = original;
    for (let count = 0; count < 250; count += 1) {
      const edit = randomEdit(script.text, random);
      const again = reparse(script, edit);
      const fresh = parse(again.text, { platform });
      expect(again, `seed ${firstSeed}, edit ${count}: ${JSON.stringify(edit)}`).toEqual(fresh);
      script = random() < 0.3 ? original : again;
    }
  });

  test('only the statement under the edit and its neighbour are parsed', () => {
    const text = 'SELECT a FROM t WHERE b = 1;\n'.repeat(1000);
    const before = parse(text);
    const start = text.length / 2 - 5;
    const after = reparse(before, { start, end: start + 1, text: '22' });
    const kept = new Set(unitsOf(before).map((unit) => unit.statement));
    expect(unitsOf(after).filter((unit) => !kept.has(unit.statement)).length).toBeLessThanOrEqual(2);
  });
});
