/** A conformance run over the wire: a test server that speaks TDS and answers as the oracle says. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conformance } from '../../cli/src/conformance/command.ts';
import { openCaseSession, platformOfConnection, UnusableConnection } from '../../cli/src/conformance/connect.ts';
import { tsqlDialect } from '../../cli/src/conformance/dialects/tsql.ts';
import { type ConformanceCase, columnsOf } from '../../cli/src/conformance/format.ts';
import { runCase, tablePrefix } from '../../cli/src/conformance/run.ts';
import type { CaseSettings } from '../../cli/src/conformance/tables.ts';
import { countNames } from '../../protocol/counts.ts';
import { serveWarehouse } from '../runner/warehouse-server.ts';
import { conformanceCases } from '../support/cases.ts';
import { oracleSteps } from '../support/oracle/case.ts';
import { type Answer, begin, commit, done, error, rows } from '../support/tds/answers.ts';

const platform = { name: 'sqlserver', version: 2019 } as const;
const settings: CaseSettings = {
  platform,
  dialect: tsqlDialect(platform),
  form: 'script',
  shape: 'separate',
  enforced: false,
};

/** Loads end with their counts; everything else is what the run itself sends. */
const isLoad = (sql: string): boolean => /\bAS skipped;/.test(sql);

function answers(owner: ConformanceCase): (sql: string) => Answer {
  const outcomes = oracleSteps(owner);
  let step = -1;
  return (sql) => {
    if (/INFORMATION_SCHEMA\.TABLES/.test(sql))
      return [rows(['TABLE_NAME nvarchar(128)', 'TABLE_TYPE varchar(10)'], [])];
    const outcome = outcomes[isLoad(sql) ? step + 1 : step];
    if (isLoad(sql) && outcome !== undefined) {
      step += 1;
      return outcome.error === null
        ? [
            begin(),
            commit(),
            rows(
              countNames.map((name) => `${name} bigint`),
              [countNames.map((name) => outcome.counts[name])],
            ),
          ]
        : [error({ number: 50010, text: `${outcome.error}: K1` })];
    }
    if (/^SELECT .* FROM \[dbo\]\.\[mw_\w+_target\];/s.test(sql) && outcome !== undefined) {
      const columns = Object.keys(columnsOf(owner.tables.target, owner.steps[step]?.target_columns));
      return [
        rows(
          columns.map((name) => `${name} nvarchar(max)`),
          outcome.target.map((row) => columns.map((name) => onServer(row[name] ?? null))),
        ),
      ];
    }
    return [done()];
  };
}

/** The server writes a bit as 1 or 0. */
function onServer(value: string | null): string | null {
  return value === 'true' ? '1' : value === 'false' ? '0' : value;
}

let password: string | undefined;
beforeEach(() => {
  password = process.env['MERGEWRIGHT_PASSWORD'];
  process.env['MERGEWRIGHT_PASSWORD'] = 'p@ss';
});
afterEach(() => {
  if (password === undefined) delete process.env['MERGEWRIGHT_PASSWORD'];
  else process.env['MERGEWRIGHT_PASSWORD'] = password;
});

describe('cases on a T-SQL server', () => {
  const ids = ['SAT-12', 'SCD2-15', 'SCD2-33', 'SCD2-41', 'INA-12', 'INA-29', 'DAY-06', 'HUB-13', 'NHL-01', 'SCD2-42'];
  const chosen = conformanceCases.filter(({ id }) => ids.includes(id));

  test.each(chosen)('$id', async (owner) => {
    const answer = answers(owner);
    const server = await serveWarehouse({
      users: { loader: 'p@ss' },
      handler: (request) =>
        request.kind === 'batch' && !/SERVERPROPERTY/.test(request.sql) ? answer(request.sql) : undefined,
    });
    const session = await openCaseSession(`mssql://loader@127.0.0.1:${server.port}/dwh?encrypt=false`);
    expect(await runCase(owner, session, settings)).toMatchObject({ status: 'passed', difference: null });
    await session.close();
    const loads = server.recorder.sql().filter(isLoad);
    expect(loads).toHaveLength(owner.steps.length);
    // Vault loads take their time from the stage.
    if (owner.config.valid_from === undefined) return;
    for (const [i, { now }] of owner.steps.entries()) {
      expect(loads[i]).toContain(`DECLARE @BatchTime datetime2(7) = '${now.replace(' ', 'T')}`);
    }
  });

  test('values are cast to the type of their column, whatever else stands in it', () => {
    const rows = [{ is_vip: 'true' }, { is_vip: 'false' }, { is_vip: null }];
    expect(tsqlDialect(platform).insertRows('t', { is_vip: 'boolean' }, rows)).toEqual([
      'INSERT INTO [dbo].[t] ([is_vip])\nSELECT CAST(1 AS bit)\nUNION ALL\nSELECT CAST(0 AS bit)\nUNION ALL\nSELECT CAST(NULL AS bit);',
    ]);
  });

  test('runs of both shapes can share a database', () => {
    const [owner] = chosen;
    if (owner === undefined) throw new Error('no case');
    const [separate, merge] = (['separate', 'merge'] as const).map((shape) => tablePrefix(owner, { shape }));
    expect(separate).toMatch(/^mw_separate_[a-z0-9_]+_$/);
    expect(merge).toBe(separate?.replace('separate', 'merge'));
  });

  test('the address says which platform it is', () => {
    expect(platformOfConnection('mssql://loader@host:1433/dwh?encrypt=false')).toBe('sqlserver');
    expect(platformOfConnection('mssql://loader@host/dwh?platform=fabric')).toBe('fabric');
    expect(platformOfConnection('duckdb::memory:')).toBe('duckdb');
    expect(() => platformOfConnection('warehouse')).toThrow(UnusableConnection);
  });

  test('a server that is not there is one line', async () => {
    await expect(openCaseSession('mssql://loader@127.0.0.1:1/dwh?encrypt=false')).rejects.toThrow(UnusableConnection);
  });
});

describe('a server whose version is not stated', () => {
  const utf8 = /COLLATE Latin1_General_100_BIN2_UTF8/;
  const refuses = (text: string) => [error({ number: 448, text })];
  const owner = conformanceCases.find(({ id }) => id === 'HUB-13');

  /** Runs one case on a server that refuses some texts; the lines, and the loads that were sent. */
  async function runOn(refused: RegExp, ...more: readonly string[]) {
    if (owner === undefined) throw new Error('no case');
    const answer = answers(owner);
    const server = await serveWarehouse({
      users: { loader: 'p@ss' },
      handler: ({ kind, sql }) => {
        if (kind !== 'batch' || /SERVERPROPERTY/.test(sql)) return undefined;
        return refused.test(sql) ? refuses(`refused: ${refused.source}`) : answer(sql);
      },
    });
    const lines: string[] = [];
    const connection = `mssql://loader@127.0.0.1:${server.port}/dwh?encrypt=false`;
    await conformance(
      ['--cases', join(import.meta.dirname, '../conformance'), '--id', owner.id, '--connection', connection, ...more],
      { line: (text) => lines.push(text), error: (text) => lines.push(text) },
    );
    return { lines, loads: server.recorder.sql().filter(isLoad) };
  }

  test('that takes UTF-8 gets the loads of the default version', async () => {
    const { lines, loads } = await runOn(/no text has this/);
    expect(lines).toEqual(['hub  1 passed, 0 failed, 0 skipped', '1 passed, 0 failed, 0 skipped']);
    expect(loads[0]).toMatch(utf8);
  });

  test('that has no UTF-8 collation gets the nearest loads that it can run', async () => {
    const { lines, loads } = await runOn(utf8);
    expect(lines[0]).toBe('the server refuses what SQL Server 2019 takes, so its loads are those of sqlserver:2017');
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped');
    expect(loads[0]).toContain('"platform":"sqlserver:2017"');
    expect(loads[0]).toContain('DROP TABLE IF EXISTS');
  });

  test('that has no DROP … IF EXISTS either gets those of 2012', async () => {
    const { loads } = await runOn(/COLLATE Latin1_General_100_BIN2_UTF8|STRING_AGG|DROP TABLE IF EXISTS/);
    expect(loads[0]).toContain('"platform":"sqlserver:2012"');
  });

  test('keeps to a version that is stated', async () => {
    const { lines, loads } = await runOn(utf8, '--platform', 'sqlserver:2022');
    expect(lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped');
    expect(loads[0]).toContain('"platform":"sqlserver:2022"');
  });
});
