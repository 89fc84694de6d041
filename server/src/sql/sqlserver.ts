/** SQL Server by product version, and Azure SQL Database. */
import type { SqlServerVersion } from '../../../protocol/platform.ts';
import type { PrinterStyle } from './expression-printer.ts';
import { TsqlPrinter } from './tsql.ts';
import type { MixedCollations, TsqlFeatures } from './tsql-expressions.ts';

/** CREATE OR ALTER came with a service pack of 2016, so 2016 takes the older way; STRING_AGG with 2017, UTF-8 with 2019. */
function sqlServerFeatures(version: SqlServerVersion): TsqlFeatures {
  return {
    dropIfExists: version >= 2016,
    createOrAlter: version >= 2017,
    stringAgg: version >= 2017,
    distinctFrom: version >= 2022,
    utf8: version >= 2019,
    xactAbort: true,
    appLock: true,
    ddlInTransaction: true,
    parameterDefaults: true,
  };
}

export function sqlServerPrinter(
  style: PrinterStyle,
  version: SqlServerVersion,
  mixedCollations: MixedCollations,
): TsqlPrinter {
  return new TsqlPrinter(style, sqlServerFeatures(version), mixedCollations);
}

/** Azure SQL Database is kept up to the newest version. */
export function azureSqlPrinter(style: PrinterStyle, mixedCollations: MixedCollations): TsqlPrinter {
  return new TsqlPrinter(style, sqlServerFeatures(2025), mixedCollations);
}
