import type { CatalogTable } from '../../../protocol/catalog.ts';
import { defaultSqlServerVersion, isTsql, parsePlatform } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { DataCheck, VersionsPlan } from '../../../protocol/requests.ts';
import type { Batch, CellValue } from '../../../protocol/run.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import type { Query } from '../load/language.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { DuckDbPrinter } from '../sql/duckdb.ts';
import { exactDecimals } from '../sql/exact-decimals.ts';
import type { PrinterStyle } from '../sql/expression-printer.ts';
import { FabricPrinter } from '../sql/fabric.ts';
import type { Printer } from '../sql/printer.ts';
import { azureSqlPrinter, sqlServerPrinter } from '../sql/sqlserver.ts';
import { SynapsePrinter } from '../sql/synapse.ts';
import { comment } from '../sql/text.ts';
import { dataChecks } from './data-checks.ts';
import { type VersionedTable, versionedTable } from './version-columns.ts';
import { type BusinessKey, businessKeyOf, businessRefusalOf, keysQuery, versionsQuery } from './versions.ts';

/** How a target is looked at on a platform: the table that keeps versions, and the printer of its queries. */
export interface Inspection {
  readonly versioned: VersionedTable;
  /** The hub's names for the keys of a satellite; null where there is none. */
  readonly business: BusinessKey | null;
  /** Why there is none though the keys are hashes, in words. */
  readonly businessRefusal: string | null;
  readonly loads: readonly LoadSpecification[];
  readonly print: (query: Query) => Batch;
}

/** What is needed to look at a table's versions on a platform; else why that cannot be done. */
export function inspection(
  table: CatalogTable,
  loads: readonly LoadSpecification[],
  platform: string,
  tables: readonly CatalogTable[] = [],
): Inspection | Problem {
  const versioned = versionedTable(table, loads);
  if (versioned === undefined) {
    const message = `${table.name.table} shows no key with a start or load date in its DDL, so it has no versions to look at.`;
    return { code: 'no-versions', severity: 'error', message };
  }
  const printer = printerOf(platform);
  if (printer === undefined) {
    return { code: 'unsupported', severity: 'error', message: `unsupported: versions on ${platform}` };
  }
  const name = parsePlatform(platform)?.name;
  const isFamily = name !== undefined && isTsql(name);
  const business = businessKeyOf(versioned, tables);
  return {
    versioned,
    business,
    businessRefusal: businessRefusalOf(versioned, tables),
    loads,
    print: (query) => ({ text: `${printer.query(isFamily ? exactDecimals(query) : query)};`, line: 0 }),
  };
}

/** The queries behind the panel's timeline. */
export function versionsPlan(
  { versioned, business, businessRefusal, print }: Inspection,
  search: string,
  key: readonly CellValue[] | null,
): VersionsPlan {
  return {
    keyColumns: versioned.keys.map((column) => column.name),
    businessColumns: (business?.columns ?? []).map((column) => column.name),
    businessRefusal,
    start: versioned.start.name,
    end: versioned.end?.name ?? null,
    tracked: versioned.tracked.map((column) => column.name),
    closingGap: versioned.closingGap,
    keys: print(keysQuery(versioned, business, search)),
    versions: key === null ? null : print(versionsQuery(versioned, key)),
  };
}

/** The invariants of a table as queries, and all of them as one script; what can't be asked is said in both. */
export function checksOf(
  { versioned, loads, print }: Inspection,
  catalog: Pick<TableCatalog, 'tables' | 'lookup'>,
): { readonly checks: readonly DataCheck[]; readonly script: string } {
  const checks = dataChecks(versioned, catalog, loads).map((check): DataCheck => {
    const { name, description } = check;
    return 'query' in check
      ? { name, description, batch: print(check.query), refusal: null }
      : { name, description, batch: null, refusal: check.refusal };
  });
  const script = checks.map(scriptOf).join('\n');
  return { checks, script };
}

function scriptOf({ name, description, batch, refusal }: DataCheck): string {
  const head = comment(`${name}: ${description}`);
  return batch === null ? `${head}\n${comment(`Not checked: ${refusal}`)}\n` : `${head}\n${batch.text}\n`;
}

/** Columns of live tables may have any collation, so comparisons say which one counts. */
const mixedCollations = true;
const style: PrinterStyle = { comma: 'trailing', quoteAlways: true };

export function printerOf(text: string): Printer | undefined {
  const platform = parsePlatform(text);
  switch (platform?.name) {
    case 'duckdb':
      return new DuckDbPrinter(style);
    case 'sqlserver':
      return sqlServerPrinter(style, platform.version ?? defaultSqlServerVersion, mixedCollations);
    case 'azuresql':
      return azureSqlPrinter(style, mixedCollations);
    case 'synapse':
      return new SynapsePrinter(style, mixedCollations);
    case 'fabric':
      return new FabricPrinter(style, mixedCollations);
    default:
      return undefined;
  }
}
