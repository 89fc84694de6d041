/** Names in generated T-SQL, resolved by Microsoft's DacFx against the DDL of the cases' tables. */
import { describe, expect, test } from 'vitest';
import { noKeys } from '../../cli/src/conformance/dialect.ts';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import { type ConformanceCase, columnsOf } from '../../cli/src/conformance/format.ts';
import { type FormName, patternNames, type Shape } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { dacMissing, type NamesModel, unresolvedNames } from '../support/dac.ts';
import { caseLoad, platformOf } from '../support/loads.ts';

const forms: readonly FormName[] = ['script', 'procedure'];
const shapes: readonly Shape[] = ['separate', 'merge'];

/** The tables of a case before its last load. A view's target is what the load creates. */
function tablesOf(owner: ConformanceCase, platform: string): readonly string[] {
  const dialect = dialectOf(platformOf(platform));
  const step = owner.steps.at(-1);
  if (dialect === undefined) throw new Error(`no dialect for ${platform}`);
  const { stage, target, extra = {} } = owner.tables;
  const read = { stage: columnsOf(stage, step?.stage_columns), ...extra };
  const all = owner.config.kind === 'view' ? read : { ...read, target: columnsOf(target, step?.target_columns) };
  return Object.entries(all).map(([table, columns]) => dialect.createTable(table, columns, noKeys));
}

function modelOf(owner: ConformanceCase, platform: string, shape: Shape, form: FormName): NamesModel {
  const { value } = caseLoad(owner, platform, shape, form);
  const batches = [...(value?.batches ?? []), ...(value?.preview?.().batches ?? [])];
  if (batches.length === 0) throw new Error(`${owner.id} has no load for ${platform}`);
  const texts = [...new Set(batches.map((batch) => batch.text.replace(/^-- mergewright: .*\n/m, '')))];
  return { name: `${owner.id} ${form} ${shape}`, ddl: tablesOf(owner, platform), texts };
}

/** The distinct loads of cases. */
function modelsOf(platform: string, cases: readonly ConformanceCase[]): readonly NamesModel[] {
  const models = new Map<string, NamesModel>();
  for (const owner of cases) {
    for (const shape of shapes) {
      for (const form of forms) {
        const model = modelOf(owner, platform, shape, form);
        const content = JSON.stringify([model.ddl, model.texts]);
        if (!models.has(content)) models.set(content, model);
      }
    }
  }
  return [...models.values()];
}

describe.skipIf(dacMissing() !== null)('names in generated T-SQL', () => {
  test('are looked at for every pattern', () => {
    expect(new Set(conformanceCases.map((owner) => owner.pattern))).toEqual(new Set(patternNames));
  });

  test('stand for something on SQL Server 2019', async () => {
    expect(await unresolvedNames(modelsOf('sqlserver:2019', conformanceCases))).toEqual([]);
  });

  test('stand for something on SQL Server 2012', async () => {
    const onePerPattern = patternNames.flatMap(
      (pattern) => conformanceCases.find((owner) => owner.pattern === pattern) ?? [],
    );
    expect(await unresolvedNames(modelsOf('sqlserver:2012', onePerPattern))).toEqual([]);
  });

  test('are found where they stand for nothing', async () => {
    const feed = conformanceCases.find((owner) => owner.id === 'CDC-01');
    if (feed === undefined) throw new Error('the case is gone');
    const models = forms.flatMap((form) => {
      const good = modelOf(feed, 'sqlserver:2019', 'separate', form);
      return faults.map(({ found, put }) => ({
        ...good,
        name: `${form} ${put}`,
        texts: good.texts.map((text) => text.replace(found, put)),
      }));
    });
    const findings = await unresolvedNames(models);
    for (const form of forms) {
      for (const { put, named } of faults) {
        const messages = findings.filter(({ model }) => model === `${form} ${put}`).map(({ message }) => message);
        expect(messages.join('\n'), `${form} ${put}`).toContain(named);
      }
    }
  });
});

/** Slips that a generator could make, and what must be said against them. */
const faults: readonly { readonly found: string; readonly put: string; readonly named: string }[] = [
  { found: 's.[seq]', put: 's.[sequel]', named: '[dbo].[stage].[sequel]' },
  { found: '[end_at] = c.[end_at]', put: '[ends_at] = c.[end_at]', named: '[dbo].[target].[ends_at]' },
  { found: 'FROM [dbo].[target] AS t', put: 'FROM [dbo].[targets] AS t', named: '[dbo].[targets]' },
  { found: 'i.[event_kind]', put: 'i.[event_sort]', named: 'incoming].[event_sort]' },
  { found: 'e.[event_kind]', put: 'e.[event_sort]', named: '[dbo].[target_events].[event_sort]' },
  { found: 'FROM #incoming', put: 'FROM #outgoing', named: 'outgoing]' },
  { found: 'DECLARE @NewRows bigint;', put: 'DECLARE @OldRows bigint;', named: '"@NewRows"' },
];
