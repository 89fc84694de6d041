/** The printer of each platform. */
import type { Platform, PlatformName } from '../../../protocol/platform.ts';
import { defaultSqlServerVersion } from '../../../protocol/platform.ts';
import { DuckDbPrinter } from './duckdb.ts';
import type { PrinterStyle } from './expression-printer.ts';
import { FabricPrinter } from './fabric.ts';
import { azureSqlPrinter, sqlServerPrinter } from './sqlserver.ts';
import { SynapsePrinter } from './synapse.ts';
import type { TsqlPrinter } from './tsql.ts';
import type { MixedCollations } from './tsql-expressions.ts';

/** A printer by the family whose forms it fits; null where the platform has none. */
export type PlatformPrinter =
  | { readonly family: 'tsql'; readonly printer: TsqlPrinter }
  | { readonly family: 'duckdb'; readonly printer: DuckDbPrinter };

/** Loads can be written for the platform. */
export function hasPrinter(name: PlatformName): boolean {
  return name !== 'databricks' && name !== 'delta' && name !== 'spark';
}

/** The printer of a platform; null for a platform whose loads can't be written yet. */
export function printerFor(
  platform: Platform,
  style: PrinterStyle,
  mixedCollations: MixedCollations,
): PlatformPrinter | null {
  switch (platform.name) {
    case 'duckdb':
      return { family: 'duckdb', printer: new DuckDbPrinter(style) };
    case 'sqlserver': {
      const version = platform.version ?? defaultSqlServerVersion;
      return { family: 'tsql', printer: sqlServerPrinter(style, version, mixedCollations) };
    }
    case 'azuresql':
      return { family: 'tsql', printer: azureSqlPrinter(style, mixedCollations) };
    case 'synapse':
      return { family: 'tsql', printer: new SynapsePrinter(style, mixedCollations) };
    case 'fabric':
      return { family: 'tsql', printer: new FabricPrinter(style, mixedCollations) };
    case 'databricks':
    case 'delta':
    case 'spark':
      return null;
  }
}
