/** How T-SQL writes names, literals and expressions; what a product version lacks stands in `TsqlFeatures`. */
import { type Expression, isText, type Query, type TextRule, typeOf, type ValueType } from '../load/language.ts';
import type { PrinterStyle } from './expression-printer.ts';
import { comparedType } from './incomparable.ts';
import { Printer } from './printer.ts';
import { tsqlType } from './types.ts';

/** What a product or version of the family offers. */
export interface TsqlFeatures {
  /** `DROP … IF EXISTS`. */
  readonly dropIfExists: boolean;
  /** `CREATE OR ALTER`. */
  readonly createOrAlter: boolean;
  /** `STRING_AGG`. */
  readonly stringAgg: boolean;
  /** `IS DISTINCT FROM`. */
  readonly distinctFrom: boolean;
  /** Collations that store text as UTF-8. */
  readonly utf8: boolean;
  /** `SET XACT_ABORT ON`. */
  readonly xactAbort: boolean;
  /** `sp_getapplock`. */
  readonly appLock: boolean;
  /** Relations are materialised inside the transaction; else before it, since it takes no DDL. */
  readonly ddlInTransaction: boolean;
  /** Procedure parameters may have defaults and OUTPUT. */
  readonly parameterDefaults: boolean;
}

/**
 * Whether columns of the tables may have different collations, so that a comparison has to say which one counts: true for
 * the database's own, or a collation's name.
 */
export type MixedCollations = boolean | string;

/** Characters of a value that a message shows. */
export const shownLength = 100;

export abstract class TsqlExpressionPrinter extends Printer {
  readonly features: TsqlFeatures;
  readonly mixedCollations: MixedCollations;

  constructor(style: PrinterStyle, features: TsqlFeatures, mixedCollations: MixedCollations = false) {
    super(style);
    this.features = features;
    this.mixedCollations = mixedCollations;
  }

  quoted(name: string): string {
    // Hardly any name has one, and a wide load is full of names.
    return `[${name.includes(']') ? name.replaceAll(']', ']]') : name}]`;
  }

  parameterName(name: string): string {
    return `@${name}`;
  }

  variableName(name: string): string {
    return `@${name}`;
  }

  typeName(type: ValueType): string {
    return tsqlType(type);
  }

  textLiteral(text: string): string {
    if (!text.includes('\n')) return `${this.textPrefix}'${text.includes("'") ? text.replaceAll("'", "''") : text}'`;
    const parts = text.split('\n').map((line) => `${this.textPrefix}'${line.replaceAll("'", "''")}'`);
    return `(${parts.join(' + NCHAR(10) + ')})`;
  }

  /** ASCII beside a column that is no Unicode text is none either: it would convert the column, and its bytes are others. */
  override literal(value: string | number | boolean | null, type: ValueType | null): string {
    const isPlain = typeof value === 'string' && type?.facts.family === 'text' && !type.facts.unicode;
    return isPlain && /^[ -~]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : super.literal(value, type);
  }

  /** A collation in which different code points are never equal; trailing blanks still do not count in it. */
  protected readonly binary: string = 'Latin1_General_100_BIN2';

  protected readonly textPrefix: string = 'N';
  /** The type of texts that the load makes itself, without its length. */
  protected readonly textType: string = 'nvarchar';

  /** The longest text that is not `max`. */
  protected readonly textLimit: number = 4000;

  typedLiteral(value: string, type: ValueType): string {
    if (type.facts.family === 'binary') {
      // Hex digits stand as they are; of any other text the server says that it is none.
      return /^[\da-f]*$/i.test(value)
        ? `CAST(0x${value} AS ${this.typeName(type)})`
        : `CONVERT(${this.typeName(type)}, ${this.textLiteral(value)}, 2)`;
    }
    return `CAST('${plainLiteral(value, type).replaceAll("'", "''")}' AS ${this.typeName(type)})`;
  }

  booleanLiteral(value: boolean): string {
    return value ? '1' : '0';
  }

  // --- values

  /** Type 121 and 126 forms of dates mean the same under every language; the other styles do not. */
  protected override castTo(text: string, type: ValueType, operand: Expression): string {
    const from = typeOf(operand)?.facts.family;
    return type.facts.family === 'text' && (from === 'timestamp' || from === 'date' || from === 'time')
      ? `CONVERT(${this.typeName(type)}, ${text}, 121)`
      : `CAST(${text} AS ${this.typeName(type)})`;
  }

  protected override comparison(compared: Extract<Expression, { kind: 'compare' }>): string {
    const e = { ...compared, left: this.comparable(compared.left), right: this.comparable(compared.right) };
    const [left, right] = [this.operand(e.left), this.operand(e.right)];
    if (!isText(e.left) || e.right.kind === 'literal') return `${left} ${e.operator} ${right}`;
    if (e.text === 'column' && e.left === compared.left) return `${left} ${e.operator} ${right}${this.settled()}`;
    if (e.operator !== '=') return `${left} ${e.operator} ${this.binaryText(right, e.right)}`;
    return `(${this.exactly(left, right, e.right)})`;
  }

  /** Equal in every code point: a binary collation, and the length, since `=` ignores trailing blanks in all collations. */
  private exactly(left: string, right: string, e: Expression): string {
    return `${left} = ${this.binaryText(right, e)} AND DATALENGTH(${left}) = DATALENGTH(${right})`;
  }

  /**
   * A text under the binary collation. COLLATE brings text that is not Unicode into the code page of its collation and cuts
   * it to the bytes of its type: in a single-byte one letters of others would all become `?`, in UTF-8 the end of a text
   * with accents would go. So that text becomes Unicode, where the platform has it.
   */
  private binaryText(text: string, e: Expression, room = this.textLimit): string {
    if (typeOf(e)?.facts.unicode !== false || this.textType === 'varchar') return `${text} COLLATE ${this.binary}`;
    const length = this.lengthFor(e) === 'max' ? 'max' : room;
    return `CONVERT(nvarchar(${length}), ${text}) COLLATE ${this.binary}`;
  }

  private settled(): string {
    if (this.mixedCollations === false) return '';
    return ` COLLATE ${this.mixedCollations === true ? 'DATABASE_DEFAULT' : this.mixedCollations}`;
  }

  protected override sameness(one: Expression, other: Expression, text: TextRule): string {
    const [left, right] = [this.comparable(one), this.comparable(other)];
    const [l, r] = [this.operand(left), this.operand(right)];
    if (right.kind === 'literal') return right.value === null ? `${l} IS NULL` : `${l} = ${r}`;
    const exact = (text === 'exact' || left !== one) && isText(left);
    const collated = exact ? this.binaryText(r, right) : isText(left) ? `${r}${this.settled()}` : r;
    if (this.features.distinctFrom) {
      const same = `${l} IS NOT DISTINCT FROM ${collated}`;
      return exact ? `(${same} AND DATALENGTH(${l}) IS NOT DISTINCT FROM DATALENGTH(${r}))` : same;
    }
    const equal = exact ? `(${this.exactly(l, r, right)})` : `${l} = ${collated}`;
    return `(${equal} OR (${l} IS NULL AND ${r} IS NULL))`;
  }

  protected override distinctness(one: Expression, other: Expression, text: TextRule): string {
    const [left, right] = [this.comparable(one), this.comparable(other)];
    const [l, r] = [this.operand(left), this.operand(right)];
    if (right.kind === 'literal') {
      return right.value === null ? `${l} IS NOT NULL` : `(${l} <> ${r} OR ${l} IS NULL)`;
    }
    const exact = (text === 'exact' || left !== one) && isText(left);
    const collated = exact ? this.binaryText(r, right) : isText(left) ? `${r}${this.settled()}` : r;
    if (this.features.distinctFrom) {
      const other = `${l} IS DISTINCT FROM ${collated}`;
      return exact ? `(${other} OR DATALENGTH(${l}) IS DISTINCT FROM DATALENGTH(${r}))` : other;
    }
    const longer = exact ? ` OR DATALENGTH(${l}) <> DATALENGTH(${r})` : '';
    return `(${l} <> ${collated}${longer} OR (${l} IS NULL AND ${r} IS NOT NULL) OR (${l} IS NOT NULL AND ${r} IS NULL))`;
  }

  protected override unionPart(query: Query): string {
    if (this.mixedCollations === false || query.distinct) return super.unionPart(query);
    const items = query.items.map((of) => {
      const text = this.mixed(of.value);
      return text === this.expression(of.value) ? this.item(of) : `${text} AS ${this.name(of.name)}`;
    });
    return this.select(query, null, items);
  }

  protected override mixed(e: Expression): string {
    const text = this.expression(e);
    return isText(e) && e.kind !== 'literal' ? `${text}${this.settled()}` : text;
  }

  protected trimmed(text: string): string {
    return `LTRIM(RTRIM(${text}))`;
  }

  protected replaced({ operand, find, by }: Extract<Expression, { kind: 'replace' }>): string {
    const text = this.expression(operand);
    const whole = this.mayOutgrow(operand) ? `CAST(${text} AS ${this.textType}(max))` : text;
    // Other collations find full-width letters for half-width ones.
    return `REPLACE(${whole} COLLATE ${this.binary}, ${this.textLiteral(find)}, ${this.textLiteral(by)})`;
  }

  /** REPLACE cuts its result at 8,000 bytes unless its text is `max`; escaping at most doubles a text. */
  private mayOutgrow(e: Expression): boolean {
    switch (e.kind) {
      case 'trim':
      case 'upper':
      case 'null-if':
      case 'rendered':
        return this.mayOutgrow(e.operand);
      case 'column':
      case 'cast':
      case 'parameter': {
        const length = this.lengthFor(e);
        return length !== 'max' && length * 2 > this.textLimit;
      }
      default:
        return false;
    }
  }

  protected concatenated(parts: readonly Expression[], between: string): string {
    const texts = parts.map((part) => (part.kind === 'case' ? `(${this.expression(part)})` : this.operand(part)));
    if (between !== '') return this.joined(texts, ` + ${this.textLiteral(between)} + `);
    // A hash text of many columns stands one part below the other.
    return this.joined(texts, parts.length > 4 ? '\n    + ' : ' + ');
  }

  protected movedTime({ operand, by, unit }: Extract<Expression, { kind: 'move-time' }>): string {
    const [count, part] = unit === 'tick' ? [by * 100, 'nanosecond'] : [by, unit];
    return `DATEADD(${part}, ${count}, ${this.expression(operand)})`;
  }

  protected laterOf(left: string, right: string): string {
    return `CASE WHEN ${left} IS NULL OR ${right} > ${left} THEN ${right} ELSE ${left} END`;
  }

  /** `NULLIF(x, '')` would take a text of blanks for empty. */
  protected override nullIfEmpty(text: string): string {
    return `CASE WHEN DATALENGTH(${text}) > 0 THEN ${text} END`;
  }

  protected renderedText({ operand, rendering }: Extract<Expression, { kind: 'rendered' }>): string {
    const value = this.expression(operand);
    const text = (length: number | 'max', from: string, style = ''): string =>
      `CONVERT(${this.textType}(${length}), ${from}${style === '' ? '' : `, ${style}`})`;
    switch (rendering.kind) {
      case 'text':
        return text(this.lengthFor(operand), value);
      case 'padded-text':
        return `RTRIM(${text(this.lengthFor(operand), value)})`;
      case 'integer':
        return text(20, value);
      case 'decimal': {
        const precision = Math.min(38, Math.max(typeOf(operand)?.facts.precision ?? 38, rendering.scale));
        return text(41, `CONVERT(decimal(${precision},${rendering.scale}), ${value})`);
      }
      case 'boolean':
        return text(1, value);
      case 'date':
        return text(10, value, '23');
      case 'timestamp':
        return text(26, `CONVERT(datetime2(6), ${value})`, '121');
      case 'milliseconds':
        // Through datetime2(3), since the conversion of datetime changed with SQL Server 2016.
        return `${text(23, `CONVERT(datetime2(3), ${value})`, '121')} + ${this.textLiteral('000')}`;
      case 'minutes':
        return `${text(19, `CONVERT(datetime2(0), ${value})`, '121')} + ${this.textLiteral('.000000')}`;
      case 'offset-timestamp':
        return text(26, `CONVERT(datetime2(6), SWITCHOFFSET(${value}, '+00:00'))`, '121');
      case 'time':
        return text(15, `CONVERT(time(6), ${value})`, '121');
      case 'uuid':
        return `LOWER(${text(36, value)})`;
      case 'binary':
        return `LOWER(${text('max', value, '2')})`;
    }
  }

  private lengthFor(operand: Expression): number | 'max' {
    const length = typeOf(operand)?.facts.length ?? Number.POSITIVE_INFINITY;
    return length > 0 && length <= this.textLimit ? length : 'max';
  }

  protected shownText(operand: Expression): string {
    const family = typeOf(operand)?.facts.family;
    const style =
      family === 'timestamp' || family === 'date' || family === 'time' ? ', 121' : family === 'binary' ? ', 1' : '';
    const converted = `CONVERT(${this.textType}(${this.textLimit}), ${this.expression(operand)}${style})`;
    // Shown values are put together, and a text of two collations can be the column of no query.
    const settled = family === 'text' ? `${converted}${this.settled()}` : converted;
    const text = `COALESCE(LEFT(${settled}, ${shownLength}), ${this.textLiteral('NULL')})`;
    return family === 'text'
      ? `COALESCE(NULLIF(${text}, ${this.textLiteral('')}), ${this.textLiteral('(blank)')})`
      : text;
  }

  protected digest({ algorithm, text, length, as }: Extract<Expression, { kind: 'digest' }>): string {
    const { name, digits } = {
      sha256: { name: 'SHA2_256', digits: 64 },
      sha1: { name: 'SHA1', digits: 40 },
      md5: { name: 'MD5', digits: 32 },
    }[algorithm];
    const bytes = `HASHBYTES('${name}', ${this.utf8(text, length)})`;
    // By itself it is varbinary(8000), as which the tables that a load works in would keep it.
    if (as === 'bytes') return `CAST(${bytes} AS varbinary(${digits / 2}))`;
    return `LOWER(CONVERT(varchar(${digits}), ${bytes}, 2))`;
  }

  /** The text's UTF-8 bytes as a varchar. Without a `_UTF8` collation only ASCII has them; a guard sees to that. */
  protected utf8(text: Expression, length: number): string {
    const isLong = length > this.textLimit;
    const whole = isLong
      ? `CAST(${this.textLiteral('')} AS ${this.textType}(max)) + ${this.expression(text)}`
      : this.expression(text);
    // A code point takes up to three bytes per UTF-16 unit.
    const type = length * 3 > 8000 ? 'varchar(max)' : `varchar(${Math.max(1, length * 3)})`;
    const collated = isLong || text.kind === 'concat' ? `(${whole})` : whole;
    return this.features.utf8
      ? `CONVERT(${type}, ${collated} COLLATE Latin1_General_100_BIN2_UTF8)`
      : `CONVERT(${type}, ${collated} COLLATE ${this.binary})`;
  }

  protected checksum(of: readonly Expression[]): string {
    return `BINARY_CHECKSUM(${this.joined(
      of.map((part) => this.expression(part)),
      ', ',
    )})`;
  }

  /** Under a binary collation a range of letters is a range of code points. */
  protected beyondAscii(text: string): string {
    return `PATINDEX(N'%[^' + NCHAR(1) + N'-' + NCHAR(127) + N']%' COLLATE ${this.binary}, ${text}) > 0`;
  }

  protected beyondMicroseconds(time: string): string {
    return `DATEPART(nanosecond, ${time}) % 1000 <> 0`;
  }

  protected rowAddress(_of: string): string {
    throw new Error('T-SQL has no row addresses; a plan asks the traits first');
  }

  protected override aggregate(e: Extract<Expression, { kind: 'aggregate' }>): string {
    if (e.operand === null) return 'COUNT_BIG(*)';
    const operand = this.expression(e.operand);
    const family = typeOf(e.operand)?.facts.family;
    if (e.name === 'count') return `COUNT_BIG(${operand})`;
    if (e.name === 'count-distinct') return `COUNT_BIG(DISTINCT ${operand})`;
    if (e.name === 'sum' && family === 'integer') return `SUM(CAST(${operand} AS bigint))`;
    // MIN and MAX do not take bit.
    if (family === 'boolean') return `CAST(${e.name.toUpperCase()}(CAST(${operand} AS tinyint)) AS bit)`;
    return `${e.name.toUpperCase()}(${operand})`;
  }

  protected override windowed(e: Extract<Expression, { kind: 'window' }>): string {
    return super.windowed(e).replace(/^COUNT\(/, 'COUNT_BIG(');
  }

  protected override groupTexts(e: Expression, text: TextRule): readonly string[] {
    const value = this.comparedForm(e) ?? e;
    const written = this.expression(value);
    const isExact = text === 'exact' || value !== e;
    return isExact && isText(value) ? [this.sortedText(written, value), `DATALENGTH(${written})`] : [written];
  }

  protected override orderText(e: Expression): string {
    const value = this.comparedForm(e) ?? e;
    return isText(value) ? this.sortedText(this.expression(value), value) : this.expression(value);
  }

  /** A column keeps its length where rows are sorted: the server sets memory aside for all that the type may hold. */
  private sortedText(text: string, e: Expression): string {
    const length = this.lengthFor(e);
    return this.binaryText(text, e, e.kind === 'column' && length !== 'max' ? length : this.textLimit);
  }

  /** A value as it stands in a comparison. */
  private comparable(e: Expression): Expression {
    return e.kind === 'literal' ? e : (this.comparedForm(e) ?? e);
  }

  /** What stands for a value of a type that is neither compared nor grouped nor sorted; null for a type that is. */
  protected comparedForm(operand: Expression): Expression | null {
    const type = comparedType(operand);
    return type === null ? null : { kind: 'cast', operand, type };
  }
}

/** A date or number as T-SQL reads it under every language: a date and a time with T between them. */
function plainLiteral(value: string, { facts }: ValueType): string {
  if (facts.family === 'date') return value.slice(0, 10);
  if (facts.family !== 'timestamp') return value;
  const match = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?(.*)$/.exec(value);
  if (match === null) return value;
  const [, day = '', time = '00:00:00', fraction = '', offset = ''] = match;
  const digits = facts.base === 'datetime' || facts.base === 'smalldatetime' ? fraction.slice(0, 4) : fraction;
  return `${day}T${time.length === 5 ? `${time}:00` : time}${digits}${offset}`;
}
