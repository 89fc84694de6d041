/** What a server of the SQL Server family takes, where a run does not state its version. */
import type { SqlServerVersion } from '../../../protocol/platform.ts';
import type { CaseSession } from './session.ts';

/** A statement that a version brought and that its loads need; newest first. It changes nothing. */
const needs: readonly { readonly version: SqlServerVersion; readonly probe: string }[] = [
  { version: 2019, probe: "SELECT CONVERT(varchar(8), N'x' COLLATE Latin1_General_100_BIN2_UTF8) AS probe;" },
  { version: 2017, probe: "SELECT STRING_AGG(p.probe, N',') AS probe FROM (SELECT N'x' AS probe) AS p;" },
  { version: 2016, probe: 'DROP TABLE IF EXISTS #mergewright_probe;' },
];
const oldest: SqlServerVersion = 2012;

/**
 * The version of SQL Server whose loads the server can run: the newest one whose need it does not refuse. What only speaks
 * the dialect is judged in the same way, since its number says nothing about its collations.
 */
export async function versionOfServer(session: CaseSession): Promise<SqlServerVersion> {
  for (const { version, probe } of needs) {
    if (await takes(session, probe)) return version;
  }
  return oldest;
}

async function takes(session: CaseSession, probe: string): Promise<boolean> {
  return session.execute(probe).then(
    () => true,
    () => false,
  );
}
