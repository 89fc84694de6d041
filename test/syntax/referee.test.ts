import { describe, expect, test } from 'vitest';
import { refereeMissing, refereeTsql, withoutSemicolonBeforeWith } from '../support/referee.ts';

describe.skipIf(refereeMissing() !== null)('the referee', () => {
  test('names what it refuses with its place in the text', async () => {
    const refusals = await refereeTsql([
      { name: 'good', text: 'SELECT 1;\nGO\nSELECT 2;' },
      { name: 'bad', text: 'SELECT 1;\nGO\n\nSELECT FROM;' },
    ]);
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toMatchObject({ name: 'bad', line: 4, column: 8 });
  });

  test('judges by the grammar of a version', async () => {
    const text = 'SELECT a FROM t WHERE a IS DISTINCT FROM 1;';
    expect(await refereeTsql([{ name: 'x', text }], '2022')).toHaveLength(0);
    expect(await refereeTsql([{ name: 'x', text }], '2019')).toHaveLength(1);
    const clone = 'CREATE TABLE dbo.a AS CLONE OF dbo.b;';
    expect(await refereeTsql([{ name: 'x', text: clone }], 'fabricdw')).toHaveLength(0);
    expect(await refereeTsql([{ name: 'x', text: clone }], '2022')).toHaveLength(1);
  });
});

test('a common table expression needs a semicolon before it', () => {
  expect(withoutSemicolonBeforeWith('SELECT 1\nWITH a AS (SELECT 1 AS b) SELECT b FROM a')).toEqual([2]);
  expect(withoutSemicolonBeforeWith('SELECT 1;\nWITH a (b) AS (SELECT 1) SELECT b FROM a')).toEqual([]);
  expect(withoutSemicolonBeforeWith('BEGIN\nWITH a AS (SELECT 1 AS b) SELECT b FROM a END')).toEqual([]);
  expect(withoutSemicolonBeforeWith('SELECT a FROM t WITH (NOLOCK)')).toEqual([]);
});
