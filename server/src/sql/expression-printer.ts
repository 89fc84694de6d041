/** How the engines share the writing of names, literals and expressions; the upper part of the default printer. */
import type { TableName } from '../../../protocol/catalog.ts';
import type { Expression, OrderItem, Query, TextRule, Union, ValueType } from '../load/language.ts';
import { isPlainName } from './names.ts';
import { indent } from './text.ts';

/** What house style asks of the printers; see `HouseStyle` for the rest. */
export interface PrinterStyle {
  readonly comma: 'trailing' | 'leading';
  readonly quoteAlways: boolean;
  /** Column names of the load's tables in lower case: aliases keep clear of them where the engine could mistake one for the other. */
  readonly columnNames?: ReadonlySet<string>;
  /** Joins the elements of a list; absent: plainly. A procedure that reads the catalog finds its lists by it. */
  readonly join?: (elements: readonly string[], separator: string) => string;
}

export abstract class ExpressionPrinter {
  readonly style: PrinterStyle;

  constructor(style: PrinterStyle) {
    this.style = style;
  }

  // --- names, types, literals

  /** The name as the platform quotes it. */
  abstract quoted(name: string): string;
  abstract parameterName(name: string): string;
  abstract variableName(name: string): string;
  abstract typeName(type: ValueType): string;
  abstract textLiteral(text: string): string;
  /** A literal of a date, time, number or binary type; bytes are written as hex digits. */
  abstract typedLiteral(value: string, type: ValueType): string;
  abstract booleanLiteral(value: boolean): string;
  /** A query that stands inside an expression. */
  abstract query(query: Query | Union): string;

  /** A name, quoted where the house style or the name asks for it. */
  name(name: string): string {
    return !this.style.quoteAlways && isPlainName(name) ? name : this.quoted(name);
  }

  tableName({ database, schema, table }: TableName): string {
    // An absent schema between two parts keeps its dot.
    const parts = database === null ? [schema, table] : [database, schema ?? '', table];
    return parts.flatMap((part) => (part === null ? [] : [part === '' ? '' : this.name(part)])).join('.');
  }

  // --- values

  expression(e: Expression): string {
    switch (e.kind) {
      case 'column':
        return e.of === null ? this.name(e.name) : `${this.alias(e.of)}.${this.name(e.name)}`;
      case 'parameter':
        return this.parameterName(e.name);
      case 'variable':
        return this.variableName(e.name);
      case 'literal':
        return this.literal(e.value, e.type);
      case 'cast':
        return this.castTo(this.expression(e.operand), e.type, e.operand);
      case 'compare':
        return this.comparison(e);
      case 'same':
        return this.sameness(e.left, e.right, e.text);
      case 'differs':
        return this.distinctness(e.left, e.right, e.text);
      case 'all':
        return e.of.length === 0 ? '1 = 1' : this.conditions(e.of, 'all');
      case 'any':
        return e.of.length === 0 ? '1 = 0' : this.conditions(e.of, 'any');
      case 'is-null':
        return `${this.operand(e.operand)} IS ${e.negated ? 'NOT ' : ''}NULL`;
      case 'in':
        return `${this.operand(e.operand)} IN (${e.values.map((value) => this.expression(value)).join(', ')})`;
      case 'exists':
        return `${e.negated ? 'NOT ' : ''}EXISTS (\n${indent(this.query(e.query))}\n)`;
      case 'case':
        return this.caseOf(e);
      case 'coalesce':
        return `COALESCE(${e.of.map((part) => this.mixed(part)).join(', ')})`;
      case 'null-if':
        return e.value === ''
          ? this.nullIfEmpty(this.expression(e.operand))
          : `NULLIF(${this.expression(e.operand)}, ${this.textLiteral(e.value)})`;
      case 'trim':
        return this.trimmed(this.expression(e.operand));
      case 'upper':
        return `UPPER(${this.expression(e.operand)})`;
      case 'replace':
        return this.replaced(e);
      case 'concat':
        return this.concatenated(e.of, e.between ?? '');
      case 'arithmetic':
        return this.calculation(e);
      case 'move-time':
        return this.movedTime(e);
      case 'later':
        return this.laterOf(this.expression(e.left), this.expression(e.right));
      case 'rendered':
        return this.renderedText(e);
      case 'shown':
        return this.shownText(e.operand);
      case 'digest':
        return this.digest(e);
      case 'checksum':
        return this.checksum(e.of);
      case 'beyond-ascii':
        return this.beyondAscii(this.expression(e.operand));
      case 'beyond-microseconds':
        return this.beyondMicroseconds(this.expression(e.operand));
      case 'aggregate':
        return this.aggregate(e);
      case 'window':
        return this.windowed(e);
      case 'row-address':
        return this.rowAddress(e.of);
    }
  }

  alias(name: string): string {
    return name;
  }

  literal(value: string | number | boolean | null, type: ValueType | null): string {
    if (value === null) return type === null ? 'NULL' : `CAST(NULL AS ${this.typeName(type)})`;
    if (typeof value === 'boolean') return this.booleanLiteral(value);
    if (typeof value === 'number') return String(value);
    if (type === null || type.facts.family === 'text') return this.textLiteral(value);
    if (type.facts.family === 'boolean') return this.booleanLiteral(/^(1|true|t|y|yes)$/i.test(value));
    return this.typedLiteral(value, type);
  }

  protected castTo(text: string, type: ValueType, _operand: Expression): string {
    return `CAST(${text} AS ${this.typeName(type)})`;
  }

  protected comparison(e: Extract<Expression, { kind: 'compare' }>): string {
    return `${this.operand(e.left)} ${e.operator} ${this.operand(e.right)}`;
  }

  protected sameness(left: Expression, right: Expression, _text: TextRule): string {
    return `${this.operand(left)} IS NOT DISTINCT FROM ${this.operand(right)}`;
  }

  protected distinctness(left: Expression, right: Expression, _text: TextRule): string {
    return `${this.operand(left)} IS DISTINCT FROM ${this.operand(right)}`;
  }

  protected nullIfEmpty(text: string): string {
    return `NULLIF(${text}, '')`;
  }

  protected abstract trimmed(text: string): string;
  protected abstract replaced(e: Extract<Expression, { kind: 'replace' }>): string;
  protected abstract concatenated(parts: readonly Expression[], between: string): string;
  protected abstract movedTime(e: Extract<Expression, { kind: 'move-time' }>): string;
  protected abstract renderedText(e: Extract<Expression, { kind: 'rendered' }>): string;
  protected abstract shownText(operand: Expression): string;
  protected abstract digest(e: Extract<Expression, { kind: 'digest' }>): string;
  protected abstract checksum(of: readonly Expression[]): string;
  protected abstract beyondAscii(text: string): string;
  protected abstract beyondMicroseconds(time: string): string;
  protected abstract rowAddress(of: string): string;
  protected abstract laterOf(left: string, right: string): string;

  /** A value beside others in CASE or COALESCE, where their collations have to agree. */
  protected mixed(e: Expression): string {
    return this.expression(e);
  }

  protected caseOf(e: Extract<Expression, { kind: 'case' }>): string {
    const branches = e.branches.map(
      ({ when, then }) =>
        `WHEN ${this.expression(when)}${this.expression(when).includes('\n') ? '\n    THEN' : ' THEN'} ${this.mixed(then)}`,
    );
    const otherwise = e.otherwise === null ? [] : [`ELSE ${this.mixed(e.otherwise)}`];
    const oneLine = `CASE ${[...branches, ...otherwise].join(' ')} END`;
    if (e.branches.length === 1 && !oneLine.includes('\n')) return oneLine;
    return `CASE\n${indent([...branches, ...otherwise].join('\n'))}\nEND`;
  }

  protected aggregate(e: Extract<Expression, { kind: 'aggregate' }>): string {
    if (e.operand === null) return 'COUNT(*)';
    if (e.name === 'count-distinct') return `COUNT(DISTINCT ${this.expression(e.operand)})`;
    return `${e.name.toUpperCase()}(${this.expression(e.operand)})`;
  }

  protected windowed(e: Extract<Expression, { kind: 'window' }>): string {
    const operand = e.operand === null ? (e.name === 'count' ? '*' : '') : this.expression(e.operand);
    const partition = e.partition.map((part) => this.groupTexts(part, e.text).join(', '));
    const clauses = [
      ...(partition.length > 0 ? [`PARTITION BY ${this.joined(partition, ', ')}`] : []),
      ...(e.order.length > 0 ? [`ORDER BY ${e.order.map((item) => this.orderItem(item)).join(', ')}`] : []),
      ...(e.rows === undefined || e.order.length === 0 ? [] : [frames[e.rows]]),
    ];
    return `${e.name.toUpperCase()}(${operand}) OVER (${clauses.join(' ')})`;
  }

  orderItem(item: OrderItem): string {
    return `${this.orderText(item.by)}${item.descending ? ' DESC' : ''}`;
  }

  /** A value that rows are ordered by; texts by code point. */
  protected orderText(e: Expression): string {
    return this.expression(e);
  }

  /** What a grouped or partitioned value is written as; under `exact` more than one item where the engine needs it. */
  protected groupTexts(e: Expression, _text: TextRule): readonly string[] {
    return [this.expression(e)];
  }

  /** Few conditions side by side; comparisons of columns, and more than three conditions, one below the other. */
  protected conditions(parts: readonly Expression[], kind: 'all' | 'any'): string {
    const word = kind === 'all' ? 'AND' : 'OR';
    const texts = parts.map((part) => this.grouped(part, kind));
    const isList = parts.every((part) => part.kind === 'is-null');
    const stacked =
      (parts.length > 3 && !isList) ||
      parts.some((part) => part.kind === 'differs') ||
      texts.some((text) => text.includes('\n'));
    return this.joined(
      texts.map((text, index) => (index === 0 || !stacked ? text : indent(text).trimStart())),
      stacked ? `\n    ${word} ` : ` ${word} `,
    );
  }

  /** Every list of a text is joined here. */
  protected joined(elements: readonly string[], separator: string): string {
    return this.style.join?.(elements, separator) ?? elements.join(separator);
  }

  protected commas(items: readonly string[]): string {
    return this.style.comma === 'trailing' ? this.joined(items, ',\n') : `  ${this.joined(items, '\n, ')}`;
  }

  /** Sums need no parentheses on their left side. */
  private calculation({ operator, left, right }: Extract<Expression, { kind: 'arithmetic' }>): string {
    const isSum = operator === '+' || operator === '-';
    const first = isSum && left.kind === 'arithmetic' && (left.operator === '+' || left.operator === '-');
    return `${first ? this.expression(left) : this.operand(left)} ${operator} ${this.operand(right)}`;
  }

  /** An operand, in parentheses where it is an operation itself. */
  protected operand(e: Expression): string {
    const text = this.expression(e);
    return ['arithmetic', 'all', 'any', 'compare', 'same', 'differs'].includes(e.kind) ? `(${text})` : text;
  }

  /** A part of a conjunction or disjunction. */
  protected grouped(part: Expression, within: 'all' | 'any'): string {
    const text = this.expression(part);
    return this.needsGrouping(part, within) ? `(${text})` : text;
  }

  protected needsGrouping(part: Expression, within: 'all' | 'any'): boolean {
    if (part.kind === 'all' || part.kind === 'any') return part.kind !== within && part.of.length > 1;
    return false;
  }
}

const frames = {
  before: 'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
  after: 'ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING',
  whole: 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
} as const;
