/** Hash keys and hashdiffs as bytes, which most vaults on SQL Server keep: nothing is found in their loads. */
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

const ddl = `
CREATE TABLE stg.Stay (stay_no nvarchar(20) NOT NULL, ward_code varchar(10) NOT NULL, bed int NULL, fee decimal(9,2) NULL, load_dts datetime2(6) NOT NULL);
CREATE TABLE rdv.HubStay (StayHK binary(32) NOT NULL PRIMARY KEY, StayNo nvarchar(20) NOT NULL, LoadDate datetime2(6) NOT NULL, RecordSource varchar(50) NOT NULL);
CREATE TABLE rdv.HubWard (WardHK binary(32) NOT NULL PRIMARY KEY, WardCode varchar(10) NOT NULL, LoadDate datetime2(6) NOT NULL, RecordSource varchar(50) NOT NULL);
CREATE TABLE rdv.LinkStayWard (StayWardHK binary(32) NOT NULL PRIMARY KEY, StayHK binary(32) NOT NULL, WardHK binary(32) NOT NULL, LoadDate datetime2(6) NOT NULL, RecordSource varchar(50) NOT NULL);
CREATE TABLE rdv.SatStay (StayHK binary(32) NOT NULL, LoadDate datetime2(6) NOT NULL, HashDiff binary(32) NOT NULL, RecordSource varchar(50) NOT NULL, Bed int NULL, Fee decimal(9,2) NULL, PRIMARY KEY (StayHK, LoadDate));
CREATE TABLE rdv.MaSatStay (StayHK binary(16) NOT NULL, LoadDate datetime2(6) NOT NULL, Bed int NOT NULL, HashDiff binary(16) NOT NULL, RecordSource varchar(50) NOT NULL, Fee decimal(9,2) NULL, PRIMARY KEY (StayHK, LoadDate, Bed));
`;

test.each(['sqlserver:2012', 'sqlserver:2019', 'azuresql', 'synapse', 'fabric'])('on %s', async (platform) => {
  const terminal = await openTerminal({ 'ddl.sql': ddl });
  const loads = [
    ['hub', 'HubStay'],
    ['link', 'LinkStayWard'],
    ['satellite', 'SatStay'],
    ['ma_satellite', 'MaSatStay', '--set', 'cdk=["bed"]', '--set', 'hash_rules.algorithm=md5'],
  ] as const;
  for (const [pattern, target, ...settings] of loads) {
    const load = ['--source', 'stg.Stay', '--target', `rdv.${target}`, '--ddl', 'ddl.sql', '--platform', platform];
    // SQL Server 2012 has no UTF-8, of which it warns.
    const { code } = await terminal.call('generate', pattern, ...load, ...settings, '--out', 'out');
    expect([pattern, code]).toEqual([pattern, platform === 'sqlserver:2012' ? 1 : 0]);
  }
  const { out } = await terminal.call('lint', 'out', '--ddl', 'ddl.sql', '--platform', platform);
  expect(out).toBe('4 files checked: nothing found\n');
});
