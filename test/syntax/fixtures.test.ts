import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parsePlatform } from '../../protocol/platform.ts';
import { findAll, problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { type RefereeVersion, refereeMissing, refereeTsql } from '../support/referee.ts';
import { rareTsqlFixtures, tsqlFixtures } from '../support/tsql-fixtures.ts';

const reports = join(import.meta.dirname, '../fixtures/reports');

function header(text: string, field: string): string {
  return new RegExp(`^-- @${field} (\\S+)`, 'm').exec(text)?.[1] ?? '';
}

/** GO CREATE on one line is the fault that this report is about. */
const damaged = 'r02-formatter-joins-go.sql';

describe('scripts from reports', () => {
  const files = readdirSync(reports).filter((file) => file.endsWith('.sql'));

  test.each(files.filter((file) => file !== damaged))('%s parses without a problem', (file) => {
    const text = readFileSync(join(reports, file), 'utf8');
    const platform = parsePlatform(header(text, 'platform').split('+')[0] ?? '')?.name ?? 'sqlserver';
    expect(problemsOf(parse(text, { platform }))).toEqual([]);
  });

  test('a GO with a statement on its line is the only problem of its script', () => {
    const text = readFileSync(join(reports, damaged), 'utf8');
    const [problem, ...others] = problemsOf(parse(text));
    expect(others).toEqual([]);
    expect(text.slice(problem?.start, problem?.end)).toBe('GO');
    expect(problem?.message).toContain('alone on its line');
    const created = unitsOf(parse(text)).flatMap(({ statement }) => findAll(statement, 'create-table'));
    expect(created.map(({ name }) => name.parts.map((part) => part?.name))).toEqual([['stg', 'Foo']]);
  });

  test('a Synapse table has one problem on SQL Server, none on Synapse', () => {
    const text = readFileSync(join(reports, 'p12-synapse-ddl.sql'), 'utf8');
    expect(problemsOf(parse(text, { platform: 'synapse' }))).toEqual([]);
    expect(problemsOf(parse(text, { platform: 'sqlserver' })).map((problem) => problem.message)).toEqual([
      'DISTRIBUTION is Synapse syntax, which SQL Server does not have.',
    ]);
  });
});

describe('fixtures', () => {
  const fixtures = [
    ...tsqlFixtures,
    ...rareTsqlFixtures.map((fixture) => ({ ...fixture, name: `rare ${fixture.name}` })),
  ];

  test.each(fixtures)('$name parses without a problem', ({ text, platform }) => {
    expect(problemsOf(parse(text, { platform }))).toEqual([]);
  });

  /** The grammar of Synapse is part of the newest one only. */
  const versions: Readonly<Record<string, RefereeVersion>> = { fabric: 'fabricdw' };

  test.skipIf(refereeMissing() !== null).each(fixtures)(
    "$name is valid by Microsoft's parser",
    async ({ name, text, platform }) => {
      expect(await refereeTsql([{ name, text }], versions[platform] ?? 'newest')).toEqual([]);
    },
  );
});
