import { describe, expect, test } from 'vitest';
import { bindUnit } from '../../server/src/model/binding.ts';
import { formatTableName } from '../../server/src/model/names.ts';
import { textOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';

/** Mentions of a script, one line each: `read stg.T`, `Col of a|b`, `Col! of t` for written ones. */
function mentions(text: string): readonly string[] {
  const script = parse(text);
  return unitsOf(script).flatMap((unit) =>
    bindUnit(unit).mentions.map((mention) => {
      if (mention.kind === 'table') return `${mention.access} ${formatTableName(mention.name)}`;
      expect(textOf(script, unit, mention.node)).toContain(mention.column);
      return `${mention.column}${mention.written ? '!' : ''} of ${mention.tables.map(formatTableName).join('|') || (mention.output === null ? '?' : 'query')}`;
    }),
  );
}

describe('binding', () => {
  test('MERGE', () => {
    expect(
      mentions(`MERGE INTO dw.Sat AS t USING stg.P AS s ON t.K = s.K
        WHEN MATCHED AND t.X <> s.X THEN UPDATE SET X = s.X, t.Y = Z
        WHEN NOT MATCHED THEN INSERT (K, X) VALUES (s.K, X) OUTPUT inserted.K;`),
    ).toEqual([
      'merge dw.Sat',
      'read stg.P',
      'K of dw.Sat',
      'K of stg.P',
      'X of dw.Sat',
      'X of stg.P',
      'X! of dw.Sat',
      'X of stg.P',
      'Y! of dw.Sat',
      'Z of dw.Sat|stg.P',
      'K! of dw.Sat',
      'X! of dw.Sat',
      'K of stg.P',
      'X of stg.P',
      'K of dw.Sat',
    ]);
  });

  test('UPDATE through an alias', () => {
    expect(mentions('UPDATE t SET X = s.X FROM dw.Sat AS t JOIN stg.P AS s ON s.K = t.K WHERE t.C = 1')).toEqual([
      'read dw.Sat',
      'read stg.P',
      'K of stg.P',
      'K of dw.Sat',
      'update dw.Sat',
      'X! of dw.Sat',
      'X of stg.P',
      'C of dw.Sat',
    ]);
  });

  test('common tables and derived tables hide what they read', () => {
    expect(
      mentions(
        'WITH c AS (SELECT a AS x FROM t1) INSERT INTO t2 (p) SELECT c.x + d.y FROM c CROSS JOIN (SELECT b AS y FROM t3) AS d',
      ),
    ).toEqual(['read t1', 'a of t1', 'insert t2', 'p! of t2', 'read t3', 'b of t3', 'x of query', 'y of query']);
  });

  test('columns of tables reach through the stars of queries, columns of queries through their names', () => {
    expect(
      mentions('WITH c AS (SELECT *, 1 AS n FROM t1) SELECT q.a, q.n, n FROM (SELECT c.* FROM c) AS q ORDER BY n, b'),
    ).toEqual(['read t1', 'a of t1', 'n of query', 'n of query', 'n of query', 'b of t1']);
    expect(mentions('SELECT upper(a) AS a FROM t ORDER BY a')).toEqual(['read t', 'a of t', 'a of query']);
    expect(mentions('WITH c (x) AS (SELECT a FROM t) SELECT x, a FROM c')).toEqual([
      'read t',
      'a of t',
      'x of query',
      'a of ?',
    ]);
  });

  test('columns in computed columns, checks, filtered indexes, distributions, and of views', () => {
    expect(
      mentions(
        'CREATE TABLE t (a int CHECK (a > 0), b AS (a + 1), INDEX i (a) INCLUDE (b) WHERE a > 0, CHECK (b > a)) WITH (DISTRIBUTION = HASH(a))',
      ),
    ).toEqual(['define t', ...'a! a b! a a b a b a a'.split(' ').map((name) => `${name} of t`)]);
    expect(mentions('CREATE INDEX i ON t (a) INCLUDE (b) WHERE c IS NOT NULL')).toEqual([
      'alter t',
      'a of t',
      'b of t',
      'c of t',
    ]);
    expect(mentions("ALTER TABLE t ADD CONSTRAINT d DEFAULT 'x' FOR a, CHECK (b > 0)")).toEqual([
      'alter t',
      'a of t',
      'b of t',
    ]);
    expect(mentions('CREATE VIEW v (x) AS SELECT a FROM t')).toEqual(['define v', 'x! of v', 'read t', 'a of t']);
    expect(mentions('CREATE VIEW v AS SELECT a AS x, b FROM t')).toEqual([
      'define v',
      'read t',
      'a of t',
      'b of t',
      'x! of v',
    ]);
  });

  test('rows of a trigger are those of its table', () => {
    expect(
      mentions(
        'CREATE TRIGGER tr ON t AFTER UPDATE AS INSERT log (k) SELECT i.k FROM inserted AS i JOIN deleted ON deleted.k = i.k',
      ),
    ).toEqual(['read t', 'insert log', 'k! of log', 'k of t', 'k of t', 'k of t']);
    expect(mentions('SELECT a FROM inserted')).toEqual(['read inserted', 'a of inserted']);
  });

  test('OUTPUT into a table variable', () => {
    expect(mentions('DELETE t OUTPUT deleted.a INTO @gone (a)')).toEqual(['delete t', 'a of t', 'a! of @gone']);
  });

  test('a subquery sees the sources around it', () => {
    expect(mentions('SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND z = 1)')).toEqual([
      'read a',
      'read b',
      'k of b',
      'k of a',
      'z of b|a',
    ]);
  });

  test('DELETE, TRUNCATE, DDL and procedures', () => {
    expect(mentions('DELETE FROM a WHERE x = 1')).toEqual(['delete a', 'x of a']);
    expect(mentions('TRUNCATE TABLE a')).toEqual(['delete a']);
    expect(mentions('CREATE TABLE a (k int PRIMARY KEY, r int REFERENCES b (k2), UNIQUE (r))')).toEqual([
      'define a',
      'k! of a',
      'r! of a',
      'read b',
      'k2 of b',
      'r of a',
    ]);
    expect(mentions('CREATE PROCEDURE p AS BEGIN IF EXISTS (SELECT 1 FROM a) DELETE b; END')).toEqual([
      'read a',
      'delete b',
    ]);
  });
});
