import { describe, expect, test } from 'vitest';
import type { CatalogTable } from '../../protocol/catalog.ts';
import type { Shape } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { readHeader } from '../../server/src/generate/header.ts';
import { resolveOptions } from '../../server/src/generate/options.ts';
import { bindParameters } from '../../server/src/generate/parameters.ts';
import { runLog } from '../../server/src/generate/run-log.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import type { GenerateRequest, HouseStyle } from '../../server/src/generate/types.ts';
import { departmentRequest, inOneDatabase, patientRequest } from '../support/examples.ts';

function scriptOf(platform: string, style: Partial<HouseStyle> = {}): string {
  const { value } = generateLoad({ ...patientRequest(platform), style: { ...defaultStyle, ...style } });
  return value?.files[0]?.text ?? '';
}

/** Departments on Synapse with a target of a distribution; null: stated nowhere. */
function distributed(distribution: string | null, shape: Shape = 'merge'): GenerateRequest {
  return distributedTarget(inOneDatabase(departmentRequest('synapse', 'script', shape)), distribution);
}

function distributedTarget(request: GenerateRequest, distribution: string | null): GenerateRequest {
  const target = { ...request.tables.target, options: distribution === null ? {} : { distribution } };
  return { ...request, tables: { ...request.tables, target } };
}

describe('the parameter block', () => {
  test('takes texts with quotes and semicolons, and nothing else changes', () => {
    const text = scriptOf('sqlserver');
    const bound = bindParameters(
      text,
      { recordsource: "O'Neil; DROP", '@BatchTime': '2024-03-01 06:00:00' },
      'sqlserver',
    );
    expect(bound.problems).toEqual([]);
    expect(bound.value).toContain(`DECLARE @RecordSource varchar(255) = N'O''Neil; DROP';`);
    expect(bound.value).toContain(`DECLARE @BatchTime datetime2(7) = '2024-03-01T06:00:00';`);
    const restored = bound.value
      .replace(`N'O''Neil; DROP'`, 'NULL')
      .replace(`'2024-03-01T06:00:00'`, 'SYSUTCDATETIME()');
    expect(restored).toBe(text);
    expect(bindParameters(bound.value, { RecordSource: 'B' }, 'sqlserver').value).toContain(`= N'B';`);
  });

  test('casts on the embedded engine', () => {
    const bound = bindParameters(scriptOf('duckdb'), { BatchTime: '2024-03-01', SourceSystem: 'EMED' }, 'duckdb');
    expect(bound.problems).toEqual([]);
    expect(bound.value).toContain(`SET VARIABLE BatchTime = CAST('2024-03-01' AS TIMESTAMP);`);
    expect(bound.value).toContain(`SET VARIABLE SourceSystem = CAST('EMED' AS VARCHAR);`);
  });

  test('names what it has where a name is unknown', () => {
    const { value, problems } = bindParameters(scriptOf('duckdb'), { Source: 'x' }, 'duckdb');
    expect(value).toBe(scriptOf('duckdb'));
    expect(problems).toEqual([
      {
        code: 'unknown-parameter',
        severity: 'error',
        message: 'The script has no parameter Source; it has BatchTime, LoadProcess, RecordSource, SourceSystem.',
      },
    ]);
  });

  test('refuses a number that is none, and a script without a block', () => {
    const departments = generateLoad(inOneDatabase(departmentRequest('sqlserver'))).value?.files[0]?.text ?? '';
    expect(bindParameters(departments, { MaxInactivationPct: '1; DROP' }, 'sqlserver').problems[0]?.code).toBe(
      'bad-parameter',
    );
    expect(bindParameters('SELECT 1;', { A: '1' }, 'sqlserver').problems[0]?.code).toBe('no-parameter-block');
  });
});

describe('the header', () => {
  test('holds what departs from the defaults', () => {
    const specification = readHeader(scriptOf('synapse'));
    expect(specification?.target).toEqual({ database: null, schema: 'raw', table: 'SatPatientAddressEMED_TEST' });
    expect(specification?.options).toEqual(patientRequest('synapse').specification.options);
  });

  test.each(['', 'SELECT 1', '-- mergewright: {', '-- mergewright: {"format":2}', '-- mergewright: null'])(
    'is null for %j',
    (text) => {
      expect(readHeader(text)).toBeNull();
    },
  );
});

test('what is stated goes before the house’s defaults', () => {
  const stated = resolveOptions({
    pattern: 'inactivation',
    options: { max_inactivation_pct: 5, hard_deletes: 'flag' },
  });
  expect(stated).toMatchObject({
    max_inactivation_pct: 5,
    hard_deletes: 'flag',
    on_empty_stage: 'skip',
    null_keys: 'skip',
  });
});

describe('house style', () => {
  test('keywords in lower case, names and texts as they are', () => {
    const text = scriptOf('sqlserver', { keywordCase: 'lower' });
    expect(text).toContain('insert into [raw].[SatPatientAddressEMED_TEST] (');
    expect(text).toContain('-- End of parameters');
    expect(text).not.toMatch(/^\s*SELECT/m);
  });

  test('brackets only where a name needs them, commas before the next column', () => {
    const text = scriptOf('sqlserver', { brackets: 'when-needed', comma: 'leading' });
    expect(text).toContain('INSERT INTO raw.SatPatientAddressEMED_TEST (\n');
    expect(text).toMatch(/\n\s+PatientKey\n\s+, LoadDate\n/);
  });

  test('hooks log the load with its counts', () => {
    const log = runLog({ database: null, schema: 'etl', table: 'RunLog' }, 'sqlserver');
    expect(log.table).toContain('CREATE TABLE [etl].[RunLog] (');
    const text = scriptOf('sqlserver', { hooks: log.hooks });
    expect(text).toContain(`VALUES (N'satellite raw.SatPatientAddressEMED_TEST', 'begun', SYSUTCDATETIME());`);
    expect(text).toContain(
      `'done', SYSUTCDATETIME(), @NewRows, NULL, NULL, NULL, NULL, @AcceptedRows - @ChangedKeys, @SkippedRows);`,
    );
    expect(text).toContain(`'failed', SYSUTCDATETIME(), ERROR_MESSAGE());`);
  });
});

describe('what a platform can not do', () => {
  test.each([
    { what: 'another database', request: departmentRequest('azuresql'), says: 'unsupported: cross-database' },
    { what: 'another database on Synapse', request: departmentRequest('synapse'), says: 'unsupported: cross-database' },
    {
      what: 'a procedure',
      request: patientRequest('duckdb', 'procedure'),
      says: 'unsupported: form procedure on duckdb',
    },
    {
      what: 'a dynamic satellite',
      request: patientRequest('sqlserver', 'dynamic-procedure'),
      says: 'unsupported: form dynamic-procedure for satellite',
    },
    {
      what: 'MERGE on Synapse into a table that is not hashed',
      request: distributed('round_robin'),
      says: 'unsupported: MERGE into a round_robin table',
    },
    {
      what: 'MERGE on Synapse into a table whose DDL leaves the distribution to the default',
      request: distributed(null),
      says: 'the DDL of ps.Department states no distribution, which is ROUND_ROBIN',
    },
  ])('$what is refused with the nearest form', ({ request, says }) => {
    const { value, problems } = generateLoad(request);
    expect(value).toBeNull();
    expect(problems.map(({ message }) => message).join()).toContain(says);
    expect(problems.map(({ message }) => message).join()).toContain('the nearest is');
  });

  test('MERGE on Synapse goes into hashed tables, and what is no MERGE into any', () => {
    expect(generateLoad(distributed('hash(departmentid)')).value).not.toBeNull();
    // New versions only: the shape changes nothing.
    expect(generateLoad(distributedTarget(patientRequest('synapse', 'script', 'merge'), null)).value).not.toBeNull();
    expect(generateLoad(distributed(null, 'separate')).value).not.toBeNull();
  });

  test('UTF-8 digests before 2019 are limited to ASCII, guarded at run time', () => {
    const { value, problems } = generateLoad(patientRequest('sqlserver:2016'));
    expect(problems.map(({ message }) => message).join()).toContain('unsupported: UTF-8 digest');
    expect(value?.files[0]?.text).toContain('not_ascii: ');
  });

  test.each([
    ['sqlserver:2014', 'nvarchar(max)', true],
    ['sqlserver:2016', 'nvarchar(max)', false],
    ['sqlserver:2014', 'nvarchar(100)', false],
  ])('a digest on %s over %s is limited in its bytes: %s', (platform, type, isLimited) => {
    const request = patientRequest(platform);
    const widened = (table: CatalogTable): CatalogTable => ({
      ...table,
      columns: table.columns.map((of) => (of.name.toLowerCase() === 'city' ? { ...of, type } : of)),
    });
    const { source, target } = request.tables;
    const tables = { ...request.tables, source: widened(source), target: widened(target) };
    const { value, problems } = generateLoad({ ...request, tables });
    expect(value).not.toBeNull();
    expect(problems.some(({ message }) => message.startsWith('unsupported: digest of a long text'))).toBe(isLimited);
  });

  test('a narrowing names both types', () => {
    const request = patientRequest('synapse');
    const columns = request.tables.source.columns.map((of) =>
      of.name === 'city' ? { ...of, type: 'varchar(50)' } : of,
    );
    const tables = { ...request.tables, source: { ...request.tables.source, columns } };
    const { value, problems } = generateLoad({ ...request, tables });
    expect(value).toBeNull();
    expect(problems.find(({ code }) => code === 'narrowed-type')?.message).toContain('varchar(50)');
    expect(problems.find(({ code }) => code === 'narrowed-type')?.message).toContain('varchar(30)');
  });
});

test('a table that is loaded and whose vanished rows are closed has a procedure for each', () => {
  const names = (['scd2_day', 'inactivation'] as const).map((pattern) => {
    const request = inOneDatabase(departmentRequest('sqlserver'));
    const specification = { ...request.specification, pattern, form: 'procedure' as const };
    const text = generateLoad({ ...request, specification }).value?.files[0]?.text ?? '';
    return /CREATE OR ALTER PROCEDURE (\S+)/.exec(text)?.[1];
  });
  expect(names).toEqual(['[ps].[Load_Department]', '[ps].[Inactivate_Department]']);
});
