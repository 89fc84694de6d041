import { expect, test } from 'vitest';
import type { PreviewResult, RunResult } from '../../protocol/run.ts';
import { openTerminal } from './terminal.ts';

const tables = `CREATE TABLE stg.Unit (no INTEGER, city VARCHAR, changed TIMESTAMP);
CREATE TABLE dw.Unit (no INTEGER NOT NULL, city VARCHAR NOT NULL, valid_from TIMESTAMP NOT NULL, valid_to TIMESTAMP,
  is_current BOOLEAN NOT NULL, PRIMARY KEY (no, valid_from));
`;

test('warnings in several result sets before the counts are all told, those elsewhere are not', async () => {
  const warn = (code: string) => `SELECT '${code}' AS warning_code, 'x' AS message;\n`;
  const terminal = await openTerminal({
    'load.sql': `${warn('early')}SELECT 1 AS a;\n${warn('null_key')}${warn('empty_stage')}SELECT 2 AS inserted;\n`,
  });
  const { out } = await terminal.call('run', 'load.sql', '--connection', 'duckdb::memory:', '--json');
  const result: RunResult = JSON.parse(out);
  expect(result.warnings.map(({ code }) => code)).toEqual(['null_key', 'empty_stage']);
});

test('a preview warns of the rows for which a NOT NULL column ends the run, and of none where it goes through', async () => {
  const terminal = await openTerminal({
    'tables.sql': tables,
    'bad.csv': 'no,city,changed\n1,A,2026-01-01\n2,B,\n3,,2026-01-01\n4,,2026-01-01\n',
    'good.csv': 'no,city,changed\n1,A,2026-01-01\n2,"",2026-01-01\n',
  });
  const on = ['--ddl', 'tables.sql', '--connection', 'duckdb:w.duckdb'];
  const pair = ['--source', 'stg.Unit', '--target', 'dw.Unit', '--ddl', 'tables.sql', '--platform', 'duckdb'];
  await terminal.call('generate', 'scd2_timestamp', ...pair, '--set', 'updated_at=changed', '--out', '.');
  const both = async (csv: string) => {
    await terminal.call('seed', ...on, '--csv', `stg.Unit=${csv}`);
    const previewed = await terminal.call('preview', 'scd2_timestamp_Unit.sql', ...on, '--json');
    const ran = await terminal.call('run', 'scd2_timestamp_Unit.sql', ...on, '--json');
    return { preview: JSON.parse(previewed.out) as PreviewResult, run: JSON.parse(ran.out) as RunResult };
  };
  const bad = await both('bad.csv');
  expect(bad.run.status).toBe('failed');
  expect(bad.preview.warnings).toEqual([
    {
      code: 'null_value',
      message: 'dw.Unit: city is NOT NULL and would get no value in 2 of the rows to insert, so the run fails',
    },
    {
      code: 'null_value',
      message: 'dw.Unit: valid_from is NOT NULL and would get no value in 1 of the rows to insert, so the run fails',
    },
  ]);
  const good = await both('good.csv');
  expect(good.run).toMatchObject({ status: 'done', warnings: [], counts: { inserted: 2 } });
  expect(good.preview).toMatchObject({ status: 'done', warnings: [], counts: good.run.counts });
});
