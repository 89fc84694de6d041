/** The loads of the conformance cases as text, for any platform, without an engine. */
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import { type ConformanceCase, columnsOf, type NeutralColumns } from '../../cli/src/conformance/format.ts';
import { stepSpecification } from '../../cli/src/conformance/specification.ts';
import type { CatalogTable } from '../../protocol/catalog.ts';
import { type Platform, parsePlatform } from '../../protocol/platform.ts';
import type { Outcome } from '../../protocol/problem.ts';
import type { FormName, Shape } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import type { GeneratedLoad, GenerateRequest } from '../../server/src/generate/types.ts';
import { bareTable } from './bare-table.ts';

/** Every platform and product version that loads are generated for. */
export const platforms: readonly string[] = [
  'duckdb',
  'sqlserver:2012',
  'sqlserver:2014',
  'sqlserver:2016',
  'sqlserver:2017',
  'sqlserver:2019',
  'sqlserver:2022',
  'sqlserver:2025',
  'azuresql',
  'synapse',
  'fabric',
];

export function platformOf(text: string): Platform {
  const platform = parsePlatform(text);
  if (platform === undefined) throw new Error(`${text} is no platform`);
  return platform;
}

/** What a case's step asks the generator for. */
export function caseRequest(
  owner: ConformanceCase,
  platformText: string,
  shape: Shape = 'separate',
  form: FormName = 'script',
  stepIndex = owner.steps.length - 1,
): GenerateRequest {
  const platform = platformOf(platformText);
  const dialect = dialectOf(platform);
  const step = owner.steps[stepIndex];
  if (dialect === undefined || step === undefined) throw new Error(`${owner.id} has no step ${stepIndex}`);
  const schema = platform.name === 'duckdb' ? null : 'dbo';
  const table = (name: string, columns: NeutralColumns): CatalogTable => {
    const typed = Object.entries(columns).map(([column, type]) => [column, dialect.columnType(type).toLowerCase()]);
    const bare = bareTable(name, Object.fromEntries(typed), platform.name);
    // Dedicated pools merge into hash-distributed tables only.
    const options = platform.name === 'synapse' ? { distribution: `hash(${typed[0]?.[0]})` } : {};
    return { ...bare, name: { ...bare.name, schema }, options };
  };
  const extra = Object.keys(owner.tables.extra ?? {});
  const names = { stage: 'stage', target: 'target', extra: Object.fromEntries(extra.map((role) => [role, role])) };
  return {
    specification: stepSpecification(owner, step, [], names, { platform, form, shape }, schema),
    tables: {
      source: table('stage', columnsOf(owner.tables.stage, step.stage_columns)),
      target: table('target', columnsOf(owner.tables.target, step.target_columns)),
      extra: Object.fromEntries(extra.map((role) => [role, table(role, owner.tables.extra?.[role] ?? {})])),
    },
    style: defaultStyle,
  };
}

export function caseLoad(...of: Parameters<typeof caseRequest>): Outcome<GeneratedLoad | null> {
  return generateLoad(caseRequest(...of));
}
