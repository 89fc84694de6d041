/** What a conformance run sends to a T-SQL server, judged by Microsoft's parser. */
import { describe, expect, test } from 'vitest';
import { textForRun } from '../../cli/src/conformance/batch-time.ts';
import type { Dialect } from '../../cli/src/conformance/dialect.ts';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import { type ConformanceCase, columnsOf } from '../../cli/src/conformance/format.ts';
import { textRow } from '../../cli/src/conformance/hashes.ts';
import { stageKeys, targetKeys } from '../../cli/src/conformance/keys.ts';
import type { CaseSettings } from '../../cli/src/conformance/tables.ts';
import { parsePlatform } from '../../protocol/platform.ts';
import type { FormName } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { shapes } from '../support/engine.ts';
import { lastLoad } from '../support/prepared-load.ts';
import { type RefereeVersion, refereeMissing, refereeTsql } from '../support/referee.ts';

function tsql(name: string): Dialect {
  const platform = parsePlatform(name);
  const dialect = platform === undefined ? undefined : dialectOf(platform);
  if (dialect === undefined) throw new Error(`${name} has no dialect`);
  return dialect;
}

/** Every statement that a case needs besides its loads, as one script. */
function setUp(owner: ConformanceCase, dialect: Dialect): string {
  const { stage, target, extra = {} } = owner.tables;
  const statements = [
    dialect.listTables('mw_'),
    dialect.createTable('stage', stage, stageKeys(owner)),
    dialect.createTable('target', target, targetKeys(owner)),
    ...Object.entries(extra).map(([role, columns]) =>
      dialect.createTable(role, columns, { primaryKey: [], notNull: [], unique: [] }),
    ),
    ...owner.steps.flatMap((step) => {
      const columns = columnsOf(stage, step.stage_columns);
      return [
        dialect.deleteRows('stage'),
        ...dialect.insertRows(
          'stage',
          columns,
          step.stage_rows.map((row) => textRow(row, columns, owner)),
        ),
      ];
    }),
    ...Object.entries(target).map(([column, type]) => dialect.addColumn('stage', `new ${column}`, type)),
    dialect.selectRows('target', target),
    dialect.dropTable('target'),
    dialect.dropView('target'),
    dialect.dropProcedure?.('Load_target'),
  ];
  return statements.join('\nGO\n');
}

describe.runIf(refereeMissing() === null)('tables and rows of all cases', () => {
  test.each<[string, RefereeVersion]>([
    ['sqlserver:2012', '2012'],
    ['synapse', 'newest'],
    ['fabric', 'fabricdw'],
  ])('%s', async (platform, version) => {
    const dialect = tsql(platform);
    const texts = conformanceCases.map((owner) => ({ name: owner.id, text: setUp(owner, dialect) }));
    expect(await refereeTsql(texts, version)).toEqual([]);
  });
});

/** What a run sends for the last step of each case: both shapes, and the loads' own parameters with the step's clock. */
async function lastLoads(name: string, form: FormName): Promise<{ readonly name: string; readonly text: string }[]> {
  const platform = parsePlatform(name);
  if (platform === undefined) throw new Error(`${name} is no platform`);
  const texts: { readonly name: string; readonly text: string }[] = [];
  for (const shape of shapes) {
    const settings: CaseSettings = { platform, dialect: tsql(name), form, shape, enforced: false };
    for (const owner of conformanceCases) {
      const { load, now } = await lastLoad(owner, settings);
      const batches = textForRun(load, now, platform.name).map(({ text }) => text);
      texts.push({ name: `${owner.id} ${shape}`, text: batches.join('\nGO\n') });
    }
  }
  return texts;
}

describe.runIf(refereeMissing() === null)('loads of all cases', () => {
  test.each<[string, FormName, RefereeVersion]>([
    ['sqlserver:2012', 'script', '2012'],
    ['sqlserver:2019', 'procedure', '2019'],
    ['synapse', 'script', 'newest'],
    ['fabric', 'script', 'fabricdw'],
  ])('%s, %s', async (platform, form, version) => {
    const texts = await lastLoads(platform, form);
    expect(texts).toHaveLength(2 * conformanceCases.length);
    expect(await refereeTsql(texts, version)).toEqual([]);
  });
});

describe('T-SQL literals', () => {
  const inserted = (text: string): string =>
    tsql('sqlserver')
      .insertRows('t', { a: 'text' }, [{ a: text }])
      .join('\n');

  test('quotes are doubled', () => {
    expect(inserted("O'Neil")).toContain("N'O''Neil'");
  });

  test('a backslash before a line break is kept: inside one literal T-SQL would join the lines', () => {
    expect(inserted('a\\\nb')).toContain("CAST(N'' AS nvarchar(max)) + N'a\\' + N'\nb'");
  });
});
