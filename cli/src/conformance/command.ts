/** The command behind `npm run conformance`: runs load cases on any connection and says where the loads differ. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  defaultSqlServerVersion,
  formatPlatform,
  isTsql,
  type Platform,
  parsePlatform,
  platformNames,
} from '../../../protocol/platform.ts';
import {
  type FormName,
  formNames,
  type PatternName,
  patternNames,
  type Shape,
} from '../../../protocol/specification.ts';
import { openCaseSession, platformOfConnection, UnusableConnection } from './connect.ts';
import { dialectOf } from './dialects/index.ts';
import { readCases, UnreadableCases } from './format.ts';
import { failureLine, summaryLines } from './report.ts';
import { type CaseOutcome, runCase } from './run.ts';
import { versionOfServer } from './server-version.ts';
import type { CaseSession } from './session.ts';
import type { CaseSettings } from './tables.ts';

const usage =
  'usage: npm run conformance -- [--cases DIR] [--connection C] [--shape separate|merge] [--form F] [--platform P] [--pattern P] [--id ID] [--enforced] [--json FILE]';

/** Where a command's lines go. */
export interface Output {
  readonly line: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Wrong usage or unreadable input: one line, exit code 2. */
class UsageError extends Error {}

interface Request {
  readonly folder: string;
  readonly connection: string;
  readonly pattern: PatternName | undefined;
  readonly id: string | undefined;
  readonly json: string | undefined;
  readonly settings: CaseSettings;
  /** The platform has a version by default only. */
  readonly isVersionOpen: boolean;
}

/** Runs the cases that the arguments choose. Returns the exit code: 0 when none failed, 1 when one did, 2 for wrong usage. */
export async function conformance(args: readonly string[], output: Output): Promise<number> {
  try {
    return await runCases(parseRequest(args), output);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof UnreadableCases || error instanceof UnusableConnection)) {
      throw error;
    }
    output.error(error.message);
    return 2;
  }
}

async function runCases(request: Request, output: Output): Promise<number> {
  const cases = readCases(request.folder).filter(
    ({ id, pattern }) =>
      (request.pattern === undefined || pattern === request.pattern) && (request.id === undefined || id === request.id),
  );
  if (cases.length === 0) throw new UsageError(`no case of ${request.folder} is chosen; check --pattern and --id`);
  const session = await openCaseSession(request.connection);
  const outcomes: CaseOutcome[] = [];
  try {
    const settings = await settingsFor(request, session, output);
    for (const one of cases) {
      const outcome = await runCase(one, session, settings);
      if (outcome.status === 'failed') output.line(failureLine(outcome));
      outcomes.push(outcome);
    }
  } finally {
    await session.close();
  }
  for (const line of summaryLines(outcomes)) output.line(line);
  if (request.json !== undefined) writeOutcomes(request.json, outcomes);
  return outcomes.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** The settings as asked for, or with an older version where the server refuses what the default one needs. */
async function settingsFor({ settings, isVersionOpen }: Request, session: CaseSession, output: Output) {
  if (!isVersionOpen) return settings;
  const version = await versionOfServer(session);
  if (version === defaultSqlServerVersion) return settings;
  const platform: Platform = { name: 'sqlserver', version };
  const dialect = dialectOf(platform) ?? settings.dialect;
  output.line(
    `the server refuses what SQL Server ${defaultSqlServerVersion} takes, so its loads are those of ${formatPlatform(platform)}`,
  );
  return { ...settings, platform, dialect };
}

function writeOutcomes(file: string, outcomes: readonly CaseOutcome[]): void {
  try {
    writeFileSync(file, `${JSON.stringify(outcomes, null, 2)}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--json ${file} cannot be written (${reason}); name a file in a folder that exists`);
  }
}

function parseRequest(args: readonly string[]): Request {
  const { values } = parsedArguments(args);
  const connection = values.connection ?? 'duckdb::memory:';
  const platform = chosenPlatform(values.platform, connection);
  const dialect = dialectOf(platform);
  if (dialect === undefined) throw new UsageError(`cases cannot run on ${platform.name} yet; use sqlserver or duckdb`);
  const enforced = values.enforced ?? false;
  if (enforced && (platform.name === 'synapse' || platform.name === 'fabric')) {
    throw new UsageError(`${platform.name} enforces no keys; leave --enforced out`);
  }
  const form = chosen('--form', values.form, formNames) ?? 'script';
  return {
    folder: values.cases ?? 'test/conformance',
    connection,
    pattern: chosen('--pattern', values.pattern, patternNames),
    id: values.id,
    json: values.json,
    isVersionOpen: platform.name === 'sqlserver' && values.platform?.includes(':') !== true,
    settings: {
      platform,
      dialect,
      form: form satisfies FormName,
      shape: chosen<Shape>('--shape', values.shape, ['separate', 'merge']) ?? 'separate',
      enforced,
    },
  };
}

function parsedArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        cases: { type: 'string' },
        connection: { type: 'string' },
        shape: { type: 'string' },
        form: { type: 'string' },
        platform: { type: 'string' },
        pattern: { type: 'string' },
        id: { type: 'string' },
        json: { type: 'string' },
        enforced: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}; ${usage}`);
  }
}

function chosen<T extends string>(flag: string, value: string | undefined, known: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = known.find((candidate) => candidate === value);
  if (found === undefined) throw new UsageError(`${flag} ${value} is unknown; choose one of ${known.join(', ')}`);
  return found;
}

/** The platform of the connection, unless `--platform` names another of the same family. */
function chosenPlatform(stated: string | undefined, connection: string): Platform {
  const connected = platformOfConnection(connection);
  const text = stated ?? connected;
  const platform = parsePlatform(text);
  if (platform === undefined) {
    throw new UsageError(`--platform ${text} is unknown; choose one of ${platformNames.join(', ')}`);
  }
  if (isTsql(platform.name) !== isTsql(connected)) {
    throw new UsageError(`loads for ${platform.name} do not run on ${connection}; leave --platform out`);
  }
  return platform;
}
