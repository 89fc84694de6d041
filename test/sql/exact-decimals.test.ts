import { describe, expect, test } from 'vitest';
import { inspection, versionsPlan } from '../../server/src/features/inspection.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import { previewScript } from '../../server/src/workspace/script-preview/script-preview.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

const catalog = catalogFrom(`
CREATE TABLE stg.Account (No decimal(38,0) NOT NULL, Balance decimal(12,2), Fees money, Rate decimal(15,4), Share decimal(16,4));
CREATE TABLE dw.Account (No decimal(38,0) NOT NULL, Balance decimal(20,4), Fees money, Rate decimal(15,4), Share decimal(16,4),
  EffectiveStartDT datetime2(6) NOT NULL, EffectiveExpireDT datetime2(6) NOT NULL, CurrentRowYN char(1) NOT NULL,
  PRIMARY KEY (No, EffectiveStartDT));`);
const target = () => catalog.tables.find((table) => table.name.schema === 'dw') ?? tableIn(catalog, 'no dw.Account');
const source = () => catalog.tables.find((table) => table.name.schema === 'stg') ?? tableIn(catalog, 'no stg.Account');

describe('decimals that a double does not hold', () => {
  test('are read as text in queries for SQL Server, and keys are compared as numbers', () => {
    const found = inspection(target(), [], 'sqlserver');
    if ('message' in found) throw new Error(found.message);
    const { keys, versions } = versionsPlan(found, '', ['12345678901234567890123456789012345678']);
    expect(keys.text).toContain('CAST(v.[No] AS varchar(41)) AS [No]');
    const text = versions?.text ?? '';
    expect(text).toContain('CAST(v.[Balance] AS varchar(41)) AS [Balance]');
    expect(text).toContain('CAST(CAST(v.[Fees] AS decimal(19,4)) AS varchar(41)) AS [Fees]');
    expect(text).toContain('CAST(v.[Share] AS varchar(41)) AS [Share]');
    expect(text).toMatch(/^ +v\.\[Rate\],$/m);
    expect(text).toMatch(/v\.\[No\] = CAST\('?12345678901234567890123456789012345678'? AS decimal\(38, ?0\)\)/);
  });

  test('stay as they are on the embedded engine, which hands every digit over', () => {
    const found = inspection(target(), [], 'duckdb');
    if ('message' in found) throw new Error(found.message);
    expect(versionsPlan(found, '', ['1']).versions?.text).not.toContain('varchar(41)');
  });

  test('are read as text in the preview of a hand-written script, too', () => {
    const text = 'UPDATE dw.Account SET Balance = Balance * 2, Fees = 0, Rate = 1';
    const tables = { tableOf: () => target(), isView: () => false };
    const preview = (platform: 'sqlserver' | 'duckdb') =>
      previewScript(text, platform, tables)
        .plan?.batches.map((batch) => batch.text)
        .join('\n') ?? '';
    expect(preview('sqlserver')).toMatch(
      /CAST\(CAST\(CASE WHEN .* AS decimal\(20,4\)\) AS varchar\(41\)\) AS \[Balance\]/,
    );
    expect(preview('sqlserver')).toMatch(/AS decimal\(19,4\)\) AS varchar\(41\)\) AS \[Fees\]/);
    expect(preview('sqlserver')).toMatch(/END AS \[Rate\]/);
    expect(preview('duckdb')).not.toContain('varchar(41)');
  });

  test('of a sample have the digits of their column on both sides, so that equal values are no change', () => {
    const specification = {
      version: 1,
      pattern: 'scd2',
      source: source().name,
      target: target().name,
      platform: 'sqlserver',
      form: 'script',
      shape: 'separate',
      options: { keys: ['No'], target_key: ['No'], valid_from: 'EffectiveStartDT', valid_to: 'EffectiveExpireDT' },
    } as const;
    const tables = { source: source(), target: target(), extra: {} };
    const { value, problems } = generateLoad({ specification, tables, style: defaultStyle });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const preview = value?.preview?.().batches[0]?.text ?? '';
    expect(preview).toContain('CAST(t.[Balance] AS varchar(41)) AS [Balance]');
    expect(value?.batches[0]?.text).not.toContain('varchar(41)');
  });
});
