import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lintText } from './support.ts';

const folder = join(import.meta.dirname, '../fixtures/rules/faulty');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

function findings(name: string, platform: string): readonly string[] {
  const found = lintText(read(`${name}.sql`), { platform, ddl: read(`${name}.ddl.sql`) });
  return found
    .filter(({ severity }) => severity === 'error' || severity === 'warning')
    .map(({ rule, range }) => `${range.start.line + 1} ${rule}`);
}

test('a satellite load with undelimited hashes gives one finding for each flaw', () => {
  expect(findings('synapse-satellite', 'synapse')).toEqual([
    '8 hash-lacks-delimiter',
    '9 hash-lacks-delimiter',
    '13 comparison-reads-all-versions',
  ]);
});

test('a persistent staging load of the usual kind gives one finding for each flaw', () => {
  expect(findings('sqlserver-staging', 'sqlserver')).toEqual([
    '6 interval-ends-one-unit-early',
    '8 dynamic-sql-lacks-quotename',
    '9 metadata-lookup-lacks-schema',
    '17 checksum-misses-changes',
    '17 source-is-read-with-nolock',
    '19 stored-hash-may-be-null',
    '31 throw-follows-unterminated-statement',
  ]);
});

test('a single MERGE on Databricks gives the one that changed rows never come back', () => {
  const found = lintText(
    `MERGE INTO gold.customer AS t USING (SELECT customer_no, MAX(city) AS city FROM stage.customer GROUP BY customer_no) AS s
ON t.customer_no = s.customer_no
WHEN MATCHED AND t.is_current = true AND NOT (t.city <=> s.city) THEN UPDATE SET is_current = false, valid_to = current_timestamp()
WHEN NOT MATCHED THEN INSERT (customer_no, city, valid_from, valid_to, is_current) VALUES (s.customer_no, s.city, current_timestamp(), NULL, true);`,
    { platform: 'databricks' },
  );
  expect(found.map(({ rule }) => rule)).toEqual(['merge-loses-changed-version']);
});
