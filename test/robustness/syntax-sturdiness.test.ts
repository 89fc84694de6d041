import { describe, expect, test } from 'vitest';
import { splitBatches } from '../../server/src/syntax/batches.ts';
import { type Dialect, dialectOf } from '../../server/src/syntax/dialect.ts';
import { problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { tokenize } from '../../server/src/syntax/tokenizer.ts';
import { faultOf } from '../support/check-tree.ts';
import { duckdbFixtures, type SqlFixture, sparkFixtures, tsqlFixtures } from '../support/tsql-fixtures.ts';

const fixtures: readonly SqlFixture[] = [...tsqlFixtures, ...sparkFixtures, ...duckdbFixtures];

/** Pieces of a fixture that are small enough to be taken apart completely. */
function piecesOf({ text, platform }: SqlFixture): readonly string[] {
  return platform === 'duckdb' ? text.split(/(?<=;)\n/) : splitBatches(text, platform).map((batch) => batch.text);
}

function faultsOf(texts: Iterable<string>, platform: SqlFixture['platform']): readonly string[] {
  const faults: string[] = [];
  for (const text of texts) {
    const fault = faultOf(parse(text, { platform }));
    if (fault !== '') faults.push(`${fault}: ${JSON.stringify(text.slice(-200))}`);
  }
  return faults;
}

/** Every prefix of a short text; of a long one those that end at a token's border or inside a token. */
function* prefixesOf(text: string, dialect: Dialect): Generator<string> {
  if (text.length <= 1500) for (let end = 0; end <= text.length; end += 1) yield text.slice(0, end);
  else {
    for (const token of tokenize(text, dialect)) {
      yield text.slice(0, token.end);
      if (token.end - token.start > 1) yield text.slice(0, token.end - 1);
    }
  }
}

function* tokenChangesOf(text: string, dialect: Dialect): Generator<string> {
  const tokens = tokenize(text, dialect);
  for (const [index, { start, end }] of tokens.entries()) {
    yield text.slice(0, start) + text.slice(end);
    yield `${text.slice(0, end)} ${text.slice(start)}`;
    const next = tokens[index + 1];
    if (next === undefined) continue;
    const between = text.slice(end, next.start);
    yield `${text.slice(0, start)}${text.slice(next.start, next.end)} ${between}${text.slice(start, end)} ${text.slice(next.end)}`;
  }
}

describe('damaged texts leave a sound tree', () => {
  test.each(fixtures)('every prefix of $name', (fixture) => {
    const dialect = dialectOf(fixture.platform);
    for (const piece of piecesOf(fixture)) expect(faultsOf(prefixesOf(piece, dialect), fixture.platform)).toEqual([]);
  });

  test.each(fixtures)('every deleted, doubled and swapped token of $name', (fixture) => {
    const dialect = dialectOf(fixture.platform);
    for (const piece of piecesOf(fixture)) {
      // A script of many statements needs no more than its first thousands of characters here.
      expect(faultsOf(tokenChangesOf(piece.slice(0, 4000), dialect), fixture.platform)).toEqual([]);
    }
  });

  test.each(fixtures)('$name with other line ends, marks and stray characters', ({ text, platform }) => {
    const variants = [
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('\n', '\r'),
      `\uFEFF${text}`,
      text.replaceAll(' ', '\u00A0'),
      text.replaceAll(' ', ' \0'),
      text.replaceAll('a', '\uD800'),
      text.replaceAll(',', '\u201C'),
      text.slice(1).split('').reverse().join(''),
    ];
    expect(faultsOf(variants, platform)).toEqual([]);
  });

  test('line ends, a byte order mark and odd blanks are no problem', () => {
    for (const { text, platform } of fixtures) {
      for (const variant of [
        text.replaceAll('\n', '\r\n'),
        `\uFEFF${text}`,
        text.replace(/(?<!--) (?=[A-Z])/g, '\u00A0'),
      ]) {
        expect(problemsOf(parse(variant, { platform }))).toEqual([]);
      }
    }
  });
});

describe('extreme texts', () => {
  const deep = 10_000;

  test.each([
    ['parentheses', `SELECT ${'('.repeat(deep)}1${')'.repeat(deep)} AS a;\nSELECT 2`],
    ['opening parentheses', `SELECT ${'('.repeat(deep)}`],
    ['subqueries', `SELECT ${'(SELECT '.repeat(deep)}1${')'.repeat(deep)};`],
    ['derived tables', `SELECT a FROM ${'(SELECT a FROM '.repeat(deep)}t${') AS x'.repeat(deep)};`],
    ['joins in parentheses', `SELECT a FROM ${'('.repeat(deep)}t${' JOIN u ON 1 = 1)'.repeat(deep)};`],
    ['CASE', `SELECT ${'CASE WHEN 1 = 1 THEN '.repeat(deep)}1${' END'.repeat(deep)};`],
    ['calls', `SELECT ${'f('.repeat(deep)}1${')'.repeat(deep)};`],
    ['casts', `SELECT ${'CAST('.repeat(deep)}1${' AS int)'.repeat(deep)};`],
    ['blocks', `${'BEGIN '.repeat(deep)}SELECT 1${' END'.repeat(deep)}`],
    ['IF', `${'IF 1 = 1 '.repeat(deep)}SELECT 1`],
    ['ELSE IF', `IF 1 = 1 SELECT 1 ${'ELSE IF 1 = 1 SELECT 1 '.repeat(deep)}`],
    ['WHILE', `${'WHILE 1 = 1 '.repeat(deep)}BREAK`],
    ['NOT', `SELECT 1 WHERE ${'NOT '.repeat(deep)}a = 1`],
    ['signs', `SELECT ${'- '.repeat(deep)}1`],
    ['sums', `SELECT ${'1 + '.repeat(deep)}1`],
    ['conjunctions', `SELECT 1 WHERE a = 1${' AND a = 1'.repeat(deep)}`],
    ['unions', `SELECT 1${' UNION ALL SELECT 1'.repeat(deep)}`],
    ['joins', `SELECT 1 FROM t${' CROSS JOIN t'.repeat(deep)}`],
    ['comments', `${'/*'.repeat(deep)} x ${'*/'.repeat(deep)} SELECT 1`],
    ['member calls', `SELECT a${'.f()'.repeat(deep)}`],
    ['collations', `SELECT a${' COLLATE x'.repeat(deep)}`],
  ])('10,000 nested or chained %s', (_, text) => {
    const script = parse(text);
    expect(faultOf(script)).toBe('');
  });

  test.each([
    ['lists', `SELECT ${'['.repeat(deep)}1${']'.repeat(deep)}`],
    ['structs', `SELECT ${"{'a': ".repeat(deep)}1${'}'.repeat(deep)}`],
    ['lambdas', `SELECT f(${'lambda x: '.repeat(deep)}1)`],
    ['casts', `SELECT 1${'::INT'.repeat(deep)}`],
    ['types', `CREATE TABLE t (a ${'STRUCT(a '.repeat(deep)}INT${')'.repeat(deep)})`],
  ])('10,000 nested %s of DuckDB', (_, text) => {
    expect(faultOf(parse(text, { platform: 'duckdb' }))).toBe('');
  });

  test.each([
    ['types', `CREATE TABLE t (a ${'ARRAY<'.repeat(deep)}INT${'>'.repeat(deep)})`],
    ['lambdas', `SELECT f(${'x -> '.repeat(deep)}1)`],
    ['paths', `SELECT a${':b'.repeat(deep)}`],
    ['intervals', `SELECT ${'INTERVAL '.repeat(deep)}1 DAY`],
  ])('10,000 nested %s of Spark', (_, text) => {
    expect(faultOf(parse(text, { platform: 'databricks' }))).toBe('');
  });

  test('a string and a comment of 1 MB, with GO lines inside', () => {
    const lines = 'line\nGO\n'.repeat(131_072);
    const script = parse(`SELECT '${lines}';\n/* ${lines} */\nSELECT 2;\nGO\nSELECT 3`);
    expect(problemsOf(script)).toEqual([]);
    expect(script.batches.length).toBe(2);
    expect(unitsOf(script).length).toBe(3);
  });

  test('a string without an end is one problem at its quote', () => {
    const text = "SELECT 1;\nSELECT 'abc;\nGO\nSELECT 2;";
    expect(problemsOf(parse(text))).toMatchObject([
      { start: 17, end: 18, message: 'This string has no closing quote.' },
    ]);
  });
});
