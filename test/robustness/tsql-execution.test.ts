/**
 * Conformance runs over the wire whose T-SQL is executed: no case may differ in rows, counts or errors. The command is
 * the one behind `npm run conformance -- --connection mssql://…`; the server is the engine of `support/tsql-engine`.
 */
import { expect, onTestFinished, test } from 'vitest';
import { conformance } from '../../cli/src/conformance/command.ts';
import { openCaseSession } from '../../cli/src/conformance/connect.ts';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { FormName, Shape } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { platformOf } from '../support/loads.ts';
import { filledCase } from '../support/oracle/draft.ts';
import type { Product } from '../support/tsql-engine/database.ts';
import { startTsqlServer } from '../support/tsql-engine/server.ts';
import { randomDraft } from './random-loads.drafts.ts';
import { randomVaultDraft } from './random-vault-loads.drafts.ts';

/** Starts a server of a platform; returns its address. */
async function serve(name: string, backwards: boolean): Promise<string> {
  const platform = platformOf(name);
  const server = await startTsqlServer({
    product: platform.name as Product,
    version: platform.version ?? 2025,
    backwards,
    now: () => new Date(Date.UTC(2031, 4, 6, 7, 8, 9, 123)),
  });
  const password = process.env['MERGEWRIGHT_PASSWORD'];
  process.env['MERGEWRIGHT_PASSWORD'] = 'p@ss';
  onTestFinished(async () => {
    if (password === undefined) delete process.env['MERGEWRIGHT_PASSWORD'];
    else process.env['MERGEWRIGHT_PASSWORD'] = password;
    await server.close();
  });
  return `mssql://loader@127.0.0.1:${server.port}/dwh?encrypt=false&platform=${platform.name}`;
}

test('the command runs every case as scripts for SQL Server 2019', async () => {
  const connection = await serve('sqlserver:2019', false);
  const lines: string[] = [];
  const output = { line: (text: string) => void lines.push(text), error: (text: string) => void lines.push(text) };
  const code = await conformance(['--platform', 'sqlserver:2019', '--connection', connection], output);
  expect(lines.at(-1)).toBe(`${conformanceCases.length} passed, 0 failed, 0 skipped`);
  expect(code).toBe(0);
});

/** Before 2019 there is no UTF-8, so that hashes take ASCII alone; before 2016 HASHBYTES takes 8,000 bytes. */
const beyond2012: Readonly<Record<string, RegExp>> = {
  'HSH-15': /^not_ascii/,
  'HSH-16': /^not_ascii/,
  'HSH-18': /^8152/,
  'SAT-40': /^not_ascii/,
};

/** The chosen cases as the platform's loads; what went wrong, in words. */
async function failuresOn(
  name: string,
  form: FormName,
  shape: Shape,
  backwards: boolean,
  cases: readonly ConformanceCase[],
): Promise<readonly string[]> {
  const platform = platformOf(name);
  const dialect = dialectOf(platform);
  if (dialect === undefined) throw new Error(`${name} has no dialect`);
  const session = await openCaseSession(await serve(name, backwards));
  const enforced = platform.name === 'sqlserver';
  const failures: string[] = [];
  for (const owner of cases) {
    const { status, difference } = await runCase(owner, session, { platform, dialect, form, shape, enforced });
    const refusal = platform.version === 2012 ? beyond2012[owner.id] : undefined;
    const isRight = refusal === undefined ? status === 'passed' : refusal.test(difference ?? '');
    if (!isRight) failures.push(`${owner.id}: ${difference}`);
  }
  await session.close();
  return failures;
}

/** Other platforms take a part of the cases each: one of three, beginning with the given one. */
test.each<[string, FormName, Shape, number, boolean]>([
  ['sqlserver:2019', 'procedure', 'merge', 2, true],
  ['sqlserver:2012', 'script', 'separate', 0, true],
  ['sqlserver:2012', 'procedure', 'merge', 1, false],
  ['sqlserver:2022', 'script', 'merge', 2, true],
  ['synapse', 'procedure', 'separate', 0, false],
  ['synapse', 'script', 'merge', 1, true],
  ['fabric', 'script', 'separate', 2, false],
  ['fabric', 'procedure', 'merge', 0, true],
])('%s as %s, %s', async (name, form, shape, part, backwards) => {
  const cases = conformanceCases.filter((_owner, index) => index % 3 === part);
  expect(await failuresOn(name, form, shape, backwards, cases)).toEqual([]);
});

/** Odd names, values at the edges of their types; expected is what the oracle says. Seeds follow those of DuckDB's tests. */
test.each<[string, FormName, Shape, number, boolean]>([
  ['sqlserver:2019', 'script', 'separate', 1001, true],
  ['sqlserver:2022', 'procedure', 'merge', 1021, false],
  ['synapse', 'script', 'separate', 1041, true],
  ['fabric', 'procedure', 'merge', 1061, false],
])('random loads: %s as %s, %s', async (name, form, shape, seed, backwards) => {
  const seeds = Array.from({ length: 20 }, (_, index) => seed + index);
  const drafts = [...seeds.map(randomDraft), ...seeds.map(randomVaultDraft)];
  expect(await failuresOn(name, form, shape, backwards, drafts.map(filledCase))).toEqual([]);
});
