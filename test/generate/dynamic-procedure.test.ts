/** The metadata-driven procedure: what it builds for a table is the text of the per-table procedure. */
import { describe, expect, test } from 'vitest';
import type { CatalogTable } from '../../protocol/catalog.ts';
import type { LoadOptions, LoadSpecification, PatternName } from '../../protocol/specification.ts';
import { controlColumns, dynamicPieces } from '../../server/src/generate/forms/dynamic-pieces.ts';
import { procedureBody } from '../../server/src/generate/forms/tsql.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { resolveOptions } from '../../server/src/generate/options.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import { makeContext } from '../../server/src/load/context.ts';
import { planners } from '../../server/src/load/patterns.ts';
import { sqlServerPrinter } from '../../server/src/sql/sqlserver.ts';
import { assembled, classOf } from '../support/assembled-procedure.ts';
import { bareTable } from '../support/bare-table.ts';
import { refereeMissing, refereeTsql, withoutSemicolonBeforeWith } from '../support/referee.ts';

const controls = {
  SourceInactiveDT: 'datetime',
  EffectiveStartDT: 'datetime',
  EffectiveExpireDT: 'datetime',
  CurrentRowYN: 'char(1)',
  PSInsertDT: 'datetime',
};

interface Example {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly keys: readonly string[];
}

const examples: readonly Example[] = [
  {
    name: 'Department',
    columns: { DepartmentID: 'int', DepartmentName: 'varchar(50)', Location: 'varchar(50)', Opened: 'date' },
    keys: ['DepartmentID'],
  },
  { name: 'One attribute', columns: { Code: 'nvarchar(10)', Label: 'nvarchar(80)' }, keys: ['Code'] },
  {
    name: "Odd ] 'names",
    columns: {
      'a]b': 'varchar(20)',
      "it's": 'varbinary(8)',
      Year: 'smallint',
      Month: 'date',
      'Amount of money': 'money',
    },
    keys: ['Year', 'Month', 'a]b'],
  },
];

const options: Readonly<Record<'scd2_day' | 'inactivation', LoadOptions>> = {
  scd2_day: {
    valid_from: 'EffectiveStartDT',
    valid_to: 'EffectiveExpireDT',
    is_current: 'CurrentRowYN',
    current_values: ['Y', 'N'],
    inactive_at: 'SourceInactiveDT',
    inserted_at: 'PSInsertDT',
    initial_valid_from: '1900-01-01 00:00:00',
    open_end: '4000-01-01 00:00:00',
    closing: 'minus-3-ms',
    hard_deletes: 'new_record',
    load: 'full',
  },
  inactivation: {
    valid_from: 'EffectiveStartDT',
    valid_to: 'EffectiveExpireDT',
    is_current: 'CurrentRowYN',
    current_values: ['Y', 'N'],
    inactive_at: 'SourceInactiveDT',
    inserted_at: 'PSInsertDT',
    open_end: '4000-01-01 00:00:00',
    closing: 'minus-3-ms',
    grain: 'day',
    hard_deletes: 'new_record',
  },
};

function tablesOf({ name, columns }: Example): { readonly source: CatalogTable; readonly target: CatalogTable } {
  const at = (database: string, all: Readonly<Record<string, string>>): CatalogTable => ({
    ...bareTable(name, all, 'sqlserver'),
    name: { database, schema: 'dbo', table: name },
  });
  return { source: at('Staging', columns), target: at('PersistentStaging', { ...columns, ...controls }) };
}

function specificationOf(pattern: 'scd2_day' | 'inactivation', example: Example): LoadSpecification {
  const { source, target } = tablesOf(example);
  const attributes = Object.keys(example.columns).filter((name) => !example.keys.includes(name));
  const stated = { ...options[pattern], keys: example.keys, target_key: example.keys, compare: attributes };
  return {
    version: 1,
    pattern,
    source: source.name,
    target: target.name,
    platform: 'sqlserver',
    form: 'dynamic-procedure',
    shape: 'separate',
    options: resolveOptions({ pattern, options: stated }),
  };
}

const style = { comma: 'trailing', quoteAlways: true } as const;
const patterns: readonly ('scd2_day' | 'inactivation')[] = ['scd2_day', 'inactivation'];
const cases = patterns.flatMap((pattern) =>
  examples.flatMap((example) =>
    ([2016, 2019] as const).map((version) => ({ pattern, example, name: example.name, version })),
  ),
);

describe('what the procedure builds', () => {
  test.each(cases)(
    '$pattern of $name on $version is the text of the per-table procedure',
    ({ pattern, example, version }) => {
      const specification = specificationOf(pattern, example);
      const { source, target } = tablesOf(example);
      const printer = sqlServerPrinter(style, version, true);
      const plan = planners[pattern as PatternName]?.(
        makeContext(specification, { source, target, extra: {} }, printer.traits),
      );
      if (plan === undefined) throw new Error(`${pattern} has no plan`);
      const perTable = procedureBody(plan, printer, 'separate', {});
      const made = dynamicPieces(
        specification,
        target,
        (join) => sqlServerPrinter({ ...style, join }, version, true),
        {},
      );
      expect(made.problems).toEqual([]);
      const control = controlColumns(specification.options, target).map((of) => of.name);
      const found = target.columns.map((of) => ({
        name: of.name,
        class: classOf(of.type, example.keys.includes(of.name)),
        isControl: control.includes(of.name),
      }));
      const twin = assembled(made.value?.pieces ?? [], { schema: 'dbo', table: example.name, columns: found });
      expect(twin).toBe(perTable);
      expect(twin).toContain('COMMIT TRANSACTION;');
    },
  );
});

describe.skipIf(refereeMissing() !== null)('the procedure itself', () => {
  test.each([
    { version: '2012', platform: 'sqlserver:2012' },
    { version: '2016', platform: 'sqlserver:2016' },
    { version: '2019', platform: 'sqlserver' },
    { version: '2022', platform: 'sqlserver:2022' },
  ] as const)('passes the grammar of $version', async ({ version, platform }) => {
    const texts = patterns.map((pattern) => {
      const [example] = examples;
      if (example === undefined) throw new Error('no example');
      const { source, target } = tablesOf(example);
      const specification = { ...specificationOf(pattern, example), platform };
      const { value, problems } = generateLoad({
        specification,
        tables: { source, target, extra: {} },
        style: defaultStyle,
      });
      expect(problems).toEqual([]);
      return { name: pattern, text: value?.files.map((file) => file.text).join('\nGO\n') ?? '' };
    });
    expect(await refereeTsql(texts, version)).toEqual([]);
    expect(texts.flatMap(({ text }) => withoutSemicolonBeforeWith(text))).toEqual([]);
  });
});

/** A text as the procedure writes it down: literals with line breaks between them, and nothing that is no literal. */
const literals = /^N'(?:[^']|'')*'(?: \+ NCHAR\(10\) \+ N'(?:[^']|'')*')*$/;

test.each([2016, 2019] as const)('what stands between columns is one text on %i', (version) => {
  const example = examples.at(-1);
  if (example === undefined) throw new Error('no example');
  const { source, target } = tablesOf(example);
  const specification = { ...specificationOf('scd2_day', example), platform: `sqlserver:${version}` };
  const { value } = generateLoad({ specification, tables: { source, target, extra: {} }, style: defaultStyle });
  const text = value?.files.map((file) => file.text).join('\n') ?? '';
  const between =
    version === 2016
      ? [...text.matchAll(/SELECT (N'.*) \+ r\.text\n/g)]
      : [...text.matchAll(/STRING_AGG\(r\.text, (.*)\) WITHIN GROUP/g)];
  const separators = between.map(([, separator = '']) => separator);
  expect(separators).toContain(`N' + N''/'' + '`);
  expect(separators.filter((separator) => !literals.test(separator))).toEqual([]);
});

test('names of two databases are compared under the collation of the one that the procedure is in', () => {
  const [example] = examples;
  if (example === undefined) throw new Error('no example');
  const { source, target } = tablesOf(example);
  const specification = specificationOf('scd2_day', example);
  const { value } = generateLoad({ specification, tables: { source, target, extra: {} }, style: defaultStyle });
  const text = value?.files.map((file) => file.text).join('\n') ?? '';
  expect(text).toContain('AND col.name = c.name COLLATE DATABASE_DEFAULT\n');
});

describe('the tables that it stands for', () => {
  const [example] = examples;
  if (example === undefined) throw new Error('no example');
  const { source, target } = tablesOf(example);
  const complaint = (from: CatalogTable['name'], to: CatalogTable['name']): string | undefined => {
    const specification = { ...specificationOf('scd2_day', example), source: from, target: to };
    const tables = { source: { ...source, name: from }, target: { ...target, name: to }, extra: {} };
    return generateLoad({ specification, tables, style: defaultStyle }).problems[0]?.message;
  };
  const at = (database: string | null, schema: string, table = 'Department') => ({ database, schema, table });

  test('bear one name in two databases', () => {
    expect(complaint(at('Staging', 'dbo'), at('PersistentStaging', 'DBO'))).toBeUndefined();
  });

  test.each([
    ['two schemas of one database', at(null, 'stage'), at(null, 'dw')],
    ['two names', at('Staging', 'dbo', 'DepartmentStage'), at('PersistentStaging', 'dbo')],
    ['one table', at(null, 'dbo'), at(null, 'dbo')],
  ])('are not %s', (_what, from, to) => {
    expect(complaint(from, to)).toMatch(
      /^unsupported: form dynamic-procedure for .+ and .+: its schema and table name stand for both, so they have to bear one name in two databases; the nearest is form procedure\.$/,
    );
  });
});

test('a list of no columns leaves the statement a text on servers without STRING_AGG', () => {
  const [example] = examples;
  if (example === undefined) throw new Error('no example');
  const { source, target } = tablesOf(example);
  const specification = { ...specificationOf('scd2_day', example), platform: 'sqlserver:2016' };
  const { value } = generateLoad({ specification, tables: { source, target, extra: {} }, style: defaultStyle });
  const text = value?.files.map((file) => file.text).join('\n') ?? '';
  const lists = [...text.matchAll(/SET @Sql = @Sql \+ (.*)\($/gm)].map(([, head]) => head);
  expect(new Set(lists)).toEqual(new Set(['COALESCE(STUFF(', 'COALESCE(']));
});
