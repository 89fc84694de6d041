/** Fabric Warehouse. */
import type { Query, Union, ValueType } from '../load/language.ts';
import type { PrinterStyle } from './expression-printer.ts';
import { TsqlPrinter } from './tsql.ts';
import type { MixedCollations, TsqlFeatures } from './tsql-expressions.ts';
import { tsqlType } from './types.ts';

const features: TsqlFeatures = {
  dropIfExists: true,
  createOrAlter: true,
  stringAgg: true,
  distinctFrom: false,
  utf8: true,
  // Not documented there; snapshot isolation and TRY … CATCH do.
  xactAbort: false,
  appLock: false,
  ddlInTransaction: false,
  parameterDefaults: true,
};

export class FabricPrinter extends TsqlPrinter {
  // Text is UTF-8 varchar; there is no nvarchar.
  protected override readonly textPrefix = '';
  protected override readonly textType = 'varchar';
  protected override readonly binary = 'Latin1_General_100_BIN2_UTF8';
  protected override readonly textLimit = 8000;
  // A character takes up to four bytes of UTF-8.
  protected override readonly offenderLimit = 390;

  constructor(style: PrinterStyle, mixedCollations: MixedCollations = false) {
    super(style, features, mixedCollations);
  }

  override typeName(type: ValueType): string {
    return fabricType(type);
  }

  /** A temporary table must be distributed, else it can't be joined to the warehouse's tables. */
  override materialised(name: string, query: Query | Union): string {
    return `CREATE TABLE ${this.relationName(name)}\nWITH (DISTRIBUTION = ROUND_ROBIN)\nAS\n${this.query(query)};`;
  }

  protected override mergeHint(): string {
    return '';
  }
}

/** Types that the warehouse lacks, by the nearest that it has. */
export function fabricType(type: ValueType): string {
  const text = tsqlType(type);
  const { family, base, scale, length, precision } = type.facts;
  switch (family) {
    case 'text': {
      const bytes = length === null || length > 8000 ? 'max' : Math.min(type.facts.unicode ? length * 3 : length, 8000);
      return base === 'char' || base === 'nchar' ? `char(${bytes})` : `varchar(${bytes})`;
    }
    case 'timestamp':
      return base === 'datetimeoffset' ? 'datetime2(6)' : `datetime2(${Math.min(scale ?? 6, 6)})`;
    case 'time':
      return `time(${Math.min(scale ?? 6, 6)})`;
    case 'integer':
      return base === 'tinyint' || base === 'utinyint' ? 'smallint' : text;
    case 'decimal':
      return base === 'money' || base === 'smallmoney' ? `decimal(${precision ?? 19},4)` : text;
    default:
      return text;
  }
}
