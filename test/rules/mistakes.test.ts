import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parsePlatform } from '../../protocol/platform.ts';
import { rules } from '../../server/src/rules/registry.ts';
import { dialectOf } from '../../server/src/syntax/dialect.ts';
import { unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { detectPlatform } from '../../server/src/syntax/platform.ts';
import { tokenize } from '../../server/src/syntax/tokenizer.ts';
import { seeded } from '../support/mutate.ts';
import { lintText } from './support.ts';

interface Sample {
  readonly id: string;
  readonly platform: string;
  readonly ddl: string;
  readonly sql: string;
}

const seed = 20261130;
const testFolder = join(import.meta.dirname, '..');

const ofRules = rules.flatMap((rule): readonly Sample[] =>
  [...rule.invalid, ...rule.valid].map(({ platform = rule.platforms[0] ?? 'sqlserver', ddl = '', sql }, index) => ({
    id: `${rule.name} ${index}`,
    platform,
    ddl,
    sql,
  })),
);

const ofFixtures = ['clean', 'faulty'].flatMap((kind): readonly Sample[] => {
  const folder = join(testFolder, 'fixtures/rules', kind);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ddl.sql'))
    .map((file) => file.replace('.ddl.sql', ''))
    .map((id) => ({ id, platform: id.split('-')[0] ?? '', ddl: read(`${id}.ddl.sql`), sql: read(`${id}.sql`) }));
});

const ofLoads = ['test/golden', 'samples'].flatMap((folder): readonly Sample[] =>
  readdirSync(join(testFolder, '..', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((id) => {
      const sql = readFileSync(join(testFolder, '..', folder, id), 'utf8');
      return { id, platform: detectPlatform(sql) ?? 'sqlserver', ddl: '', sql };
    }),
);

/** Findings of rules by name and place, and whether there is a mistake. */
function findingsOf(sql: string, { platform, ddl }: Sample) {
  const found = lintText(sql, { platform, ddl });
  return {
    isBroken: found.some(({ rule }) => rule === 'syntax'),
    places: found
      .filter(({ rule }) => rule !== 'syntax')
      .map(({ rule, range: { start } }) => `${rule} at ${start.line + 1}:${start.character + 1}`),
  };
}

function tokensOf(sample: Sample) {
  const platform = parsePlatform(sample.platform)?.name ?? 'sqlserver';
  const last = unitsOf(parse(sample.sql, { platform })).at(-1);
  const tokens = tokenize(sample.sql, dialectOf(platform)).filter(({ start, end }) => end > start);
  return { tokens, ofLast: tokens.filter(({ start }) => start >= (last?.offset ?? 0)) };
}

/** What some broken texts have that the whole one has not. */
function additions(sample: Sample, texts: readonly string[]): { readonly broken: number; readonly added: string[] } {
  const whole = new Set(findingsOf(sample.sql, sample).places);
  let broken = 0;
  const added = texts.flatMap((text) => {
    const { isBroken, places } = findingsOf(text, sample);
    if (!isBroken) return [];
    broken += 1;
    const end = JSON.stringify(text.slice(-40));
    return places.filter((place) => !whole.has(place)).map((place) => `${sample.id}: ${place} in … ${end}`);
  });
  return { broken, added };
}

/** About so many of a list, picked by the generator. */
function some<T>(items: readonly T[], count: number, random: () => number): readonly T[] {
  return items.filter(() => random() * items.length < count);
}

describe('one mistake is one problem', () => {
  const target = `MERGE dw.Shop WITH (HOLDLOCK) AS t USING stg.Shop AS s ON t.ShopNo = s.ShopNo`;
  const ddl = `CREATE TABLE stg.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(20) NULL);
CREATE TABLE dw.Shop (ShopNo int NOT NULL PRIMARY KEY, City varchar(20) NULL);`;
  const namesOf = (sql: string) => lintText(sql, { ddl }).map(({ rule }) => rule);

  test.each([
    `${target}\nWHEN MATCHED AND EXISTS (SELECT s.City EXCEPT SELECT t.City) THEN UPDATE`,
    `${target}\nWHEN MATCHED AND EXISTS (SELECT s.City EXCEPT SELECT t.City) THEN UPDATE SET City =`,
    `${target}\nWHEN NOT MATCHED THEN INSERT (ShopNo, City) VALUES (s.ShopNo,`,
    `${target}\nWHEN NOT MATCHED THEN INSERT (`,
  ])('a MERGE that ends in its last branch: %s', (sql) => {
    expect(namesOf(sql)).toEqual(['syntax']);
  });

  test('a comparison that was finished before the mistake is still judged', () => {
    const sql = `${target} AND t.City <> s.City\nWHEN NOT MATCHED THEN INSERT (ShopNo, City) VALUES (s.ShopNo,`;
    expect(namesOf(sql)).toEqual(['comparison-misses-null', 'syntax']);
  });

  test('one that may go on is not', () => {
    const update = 'UPDATE t SET City = s.City FROM dw.Shop AS t JOIN stg.Shop AS s ON s.ShopNo = t.ShopNo WHERE';
    expect(namesOf(`${update} t.City <> s.City OR`)).toEqual(['syntax']);
    expect(namesOf(`${update} t.City <> s.City;`)).toEqual(['comparison-misses-null']);
  });

  test('a mistake elsewhere hides nothing of a finished statement', () => {
    const finished = "UPDATE dw.Shop SET City = 'x' WHERE ShopNo NOT IN (SELECT ShopNo FROM stg.Visit);";
    expect(namesOf(`SELECT FROM WHERE;\n${finished}`)).toEqual(['syntax', ...namesOf(finished)]);
    expect(namesOf(finished)).toContain('not-in-may-meet-null');
  });

  test('what may have been the guard is not missed until it can be read', () => {
    const merge = `${target} WHEN NOT MATCHED BY SOURCE THEN DELETE;`;
    expect(namesOf(merge)).toContain('merge-by-source-lacks-stage-guard');
    const broken = `IF EXISTS SELECT 1 FROM stg.Shop)\n${merge}`;
    expect(namesOf(broken)).not.toContain('merge-by-source-lacks-stage-guard');
    expect(namesOf(broken)).toContain('syntax');
  });
});

describe(`broken texts have no finding that the whole text lacks (seed ${seed})`, () => {
  test('cut off in the last statement', () => {
    const random = seeded(seed);
    const sets = [
      [ofRules, 6],
      [ofFixtures, 15],
      [some(ofLoads, 25, random), 5],
    ] as const;
    const results = sets.flatMap(([samples, count]) =>
      samples.map((sample) => {
        const ends = some(tokensOf(sample).ofLast, count, random).map(({ end }) => end);
        return additions(
          sample,
          ends.map((end) => sample.sql.slice(0, end)),
        );
      }),
    );
    expect(results.flatMap(({ added }) => added)).toEqual([]);
    expect(results.reduce((sum, { broken }) => sum + broken, 0)).toBeGreaterThan(1000);
  });

  test('with a token left out anywhere', () => {
    const random = seeded(seed);
    const results = [...ofRules, ...ofFixtures].map((sample) => {
      const gone = some(tokensOf(sample).tokens, 5, random);
      const texts = gone.map(({ start, end }) => {
        const { sql } = sample;
        return sql.slice(0, start) + ' '.repeat(end - start) + sql.slice(end);
      });
      return additions(sample, texts);
    });
    expect(results.flatMap(({ added }) => added)).toEqual([]);
    expect(results.reduce((sum, { broken }) => sum + broken, 0)).toBeGreaterThan(400);
  });
});
