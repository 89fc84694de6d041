/**
 * The default printer: writes plans down in the SQL that engines share. A platform's printer is a list of differences
 * over it, each with the rule of the engine that it follows.
 */
import type { TableName } from '../../../protocol/catalog.ts';
import { select } from '../load/build.ts';
import type { EngineTraits } from '../load/context.ts';
import type {
  Expression,
  Item,
  Join,
  OrderItem,
  Query,
  Relation,
  Source,
  TextRule,
  Union,
  ValueType,
} from '../load/language.ts';
import { isText } from '../load/language.ts';
import type { Assignment, PlanParameter, RowMatch, Step, Write } from '../load/plan.ts';
import type { Merge } from './merge.ts';
import { comment, indent } from './text.ts';

/** What house style asks of the printers; see `HouseStyle` for the rest. */
export interface PrinterStyle {
  readonly comma: 'trailing' | 'leading';
  readonly quoteAlways: boolean;
  /** Column names of the load's tables in lower case: aliases keep clear of them where the engine could mistake one for the other. */
  readonly columnNames?: ReadonlySet<string>;
  /** Joins the elements of a list; absent: plainly. A procedure that reads the catalog finds its lists by it. */
  readonly join?: (elements: readonly string[], separator: string) => string;
}

export abstract class Printer {
  readonly style: PrinterStyle;
  abstract readonly traits: EngineTraits;

  constructor(style: PrinterStyle) {
    this.style = style;
  }

  // --- names, values, types

  /** The name as the platform quotes it. */
  abstract quoted(name: string): string;
  abstract parameterName(name: string): string;
  abstract variableName(name: string): string;
  abstract typeName(type: ValueType): string;
  abstract textLiteral(text: string): string;
  /** A literal of a date, time, number or binary type; bytes are written as hex digits. */
  abstract typedLiteral(value: string, type: ValueType): string;
  abstract booleanLiteral(value: boolean): string;
  /** How a materialised relation is referred to. */
  abstract relationName(name: string): string;

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

  // --- rows

  query(query: Query | Union, into: string | null = null): string {
    return query.kind === 'union' ? this.unionOf(query, into) : this.select(query, into);
  }

  protected unionOf(query: Union, into: string | null): string {
    const parts = query.parts.map((part) => this.unionPart(part)).join('\nUNION ALL\n');
    if (into === null) return parts;
    const items = (query.parts[0]?.items ?? []).map(({ name }) => this.name(name));
    return `SELECT\n${indent(this.commas(items))}\n${into}\nFROM (\n${indent(parts)}\n) AS u`;
  }

  /** One SELECT of several, whose columns have to agree in their collations. */
  protected unionPart(query: Query): string {
    return this.select(query, null);
  }

  /** One SELECT; `items` are the texts of its select list where they are not the query's own. */
  protected select(
    query: Query,
    into: string | null,
    items: readonly string[] = query.items.map((item) => this.item(item)),
  ): string {
    const lines = [
      `SELECT${query.distinct ? ' DISTINCT' : ''}${this.limitBefore(query)}`,
      indent(this.commas(items)),
      ...(into === null ? [] : [into]),
      ...(query.from === null ? [] : [`FROM ${this.source(query.from)}`]),
      ...query.joins.map((joined) => this.join(joined)),
      ...this.filter('WHERE', query.where),
      ...this.grouping(query),
      ...this.filter('HAVING', query.having),
      ...(query.orderBy.length > 0 ? [`ORDER BY ${query.orderBy.map((by) => this.orderItem(by)).join(', ')}`] : []),
      ...this.limitAfter(query),
    ];
    return lines.join('\n');
  }

  protected limitBefore(_query: Query): string {
    return '';
  }

  protected limitAfter(query: Query): readonly string[] {
    return query.limit === null ? [] : [`LIMIT ${query.limit}`];
  }

  protected grouping(query: Query): readonly string[] {
    if (query.groupBy.length === 0) return [];
    const items = query.groupBy.map((by) => this.groupTexts(by, query.text).join(', '));
    return [`GROUP BY ${this.joined(items, ', ')}`];
  }

  item({ name, value }: Item): string {
    const text = this.expression(value);
    const plain = value.kind === 'column' && value.name === name;
    return plain ? text : `${text} AS ${this.name(name)}`;
  }

  filter(keyword: string, conditions: readonly Expression[]): readonly string[] {
    if (conditions.length === 0) return [];
    return [
      `${keyword} ${this.joined(
        conditions.map((condition) => this.grouped(condition, 'all')),
        '\n  AND ',
      )}`,
    ];
  }

  source({ relation, alias }: Source): string {
    return `${this.relation(relation)} AS ${this.alias(alias)}`;
  }

  relation(relation: Relation): string {
    switch (relation.kind) {
      case 'table':
        return this.tableName(relation.name);
      case 'named':
        return this.relationName(relation.name);
      case 'latest-rows':
        return `(\n${indent(this.latestRows(relation))}\n)`;
      default:
        return `(\n${indent(this.query(relation))}\n)`;
    }
  }

  /** By a row number; engines with a fitting aggregate take that. */
  protected latestRows({ query, keys, by, text }: Extract<Relation, { kind: 'latest-rows' }>): string {
    const itemValue = (name: string): Expression => {
      const found = query.items.find((item) => item.name === name);
      return found === undefined ? { kind: 'literal', value: null, type: null } : found.value;
    };
    const recency: Expression = {
      kind: 'window',
      name: 'row_number',
      operand: null,
      partition: keys.map(itemValue),
      order: by.map((name) => ({ by: itemValue(name), descending: true })),
      text,
    };
    const numbered = this.select({ ...query, items: [...query.items, { name: 'recency', value: recency }] }, null);
    const items = query.items.map(({ name }) => `r.${this.name(name)}`);
    return `SELECT\n${indent(this.commas(items))}\nFROM (\n${indent(numbered)}\n) AS r\nWHERE r.${this.name('recency')} = 1`;
  }

  join({ kind, source, on }: Join): string {
    const words = { inner: 'INNER JOIN', left: 'LEFT JOIN', full: 'FULL JOIN', cross: 'CROSS JOIN' }[kind];
    const conditions = this.joined(
      on.map((condition) => this.grouped(condition, 'all')),
      '\n   AND ',
    );
    return `${words} ${this.source(source)}${on.length === 0 ? '' : `\n    ON ${conditions}`}`;
  }

  // --- steps and writes, each as statements with their terminators

  /** A step's text; script and preview ask for the same ones. */
  step(step: Step): string {
    const known = this.stepTexts.get(step);
    if (known !== undefined) return known;
    const text = `${comment(step.says)}\n${this.stepText(step)}`;
    this.stepTexts.set(step, text);
    return text;
  }

  private readonly stepTexts = new WeakMap<Step, string>();

  protected abstract stepText(step: Step): string;
  abstract parameter(parameter: PlanParameter): string;

  write(write: Write | Merge, target: TableName): string {
    return `${comment(write.says)}\n${this.writeText(write, this.tableName(target))}`;
  }

  private writeText(write: Write | Merge, target: string): string {
    switch (write.kind) {
      case 'insert':
        return this.insertText(target, write);
      case 'update':
        return this.updateText(target, write);
      case 'delete':
        return this.deleteText(target, write);
      case 'merge':
        return this.mergeText(target, write);
    }
  }

  protected insertText(target: string, write: Extract<Write, { kind: 'insert' }>): string {
    const names = write.values.map(({ column }) => this.name(column));
    const items = write.values.map(({ column, value }) => ({ name: column, value }));
    const query = this.query(this.changeRows(write.from, items, write.where));
    return `INSERT INTO ${target} (\n${indent(this.commas(names))}\n)\n${query};`;
  }

  protected abstract updateText(target: string, write: Extract<Write, { kind: 'update' }>): string;
  protected abstract deleteText(target: string, write: Extract<Write, { kind: 'delete' }>): string;

  /** What finds a change's stored row. */
  protected rowMatch(match: RowMatch): readonly Expression[] {
    return match.on;
  }

  /** What else must hold for the stored row; known already where the row is found by its address. */
  protected rowFilter(match: RowMatch): readonly Expression[] {
    return match.address === null ? match.where : [];
  }

  protected assignments(set: readonly Assignment[]): string {
    return this.commas(set.map(({ column, value }) => `${this.name(column)} = ${this.expression(value)}`));
  }

  private changeRows(from: string, items: readonly Item[], where: readonly Expression[]): Query {
    return select(items, { relation: { kind: 'named', name: from }, alias: 'c' }, { where });
  }

  /** A hint between the target's name and its alias. */
  protected mergeHint(): string {
    return '';
  }

  protected mergeText(target: string, merge: Merge): string {
    const parts = [merge.matched, merge.added].map(({ where, items }) =>
      this.query(this.changeRows(merge.from, items, where)),
    );
    const on = this.rowMatch(merge.match).map((part) => this.grouped(part, 'all'));
    if (merge.marker !== null) on.unshift(`${this.alias('c')}.${this.name(merge.marker)} = 1`);
    const and = this.rowFilter(merge.match).map((part) => ` AND ${this.grouped(part, 'all')}`);
    const names = merge.inserts.map(({ column }) => this.name(column));
    const values = merge.inserts.map(({ value }) => this.expression(value));
    return [
      `MERGE INTO ${target}${this.mergeHint()} AS ${this.alias('t')}`,
      `USING (\n${indent(parts.join('\nUNION ALL\n'))}\n) AS ${this.alias('c')}`,
      `    ON ${this.joined(on, '\n   AND ')}`,
      ...(merge.deletes === null
        ? []
        : [`WHEN MATCHED AND ${this.grouped(merge.deletes, 'all')}${and.join('')} THEN\n    DELETE`]),
      ...(merge.updates.length === 0
        ? []
        : [`WHEN MATCHED${and.join('')} THEN\n    UPDATE SET\n${indent(this.assignments(merge.updates), 2)}`]),
      'WHEN NOT MATCHED THEN',
      `    INSERT (\n${indent(this.commas(names), 2)}\n    )`,
      `    VALUES (\n${indent(this.commas(values), 2)}\n    );`,
    ].join('\n');
  }
}

const frames = {
  before: 'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING',
  after: 'ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING',
  whole: 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
} as const;

export function isTextValue(e: Expression): boolean {
  return isText(e);
}

/** A name that no dialect needs quotes for. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reservedWords.has(name.toUpperCase());
}

/** Words that one of the dialects reserves, and every keyword that generated texts use. */
export const reservedWords: ReadonlySet<string> = new Set(
  `ADD ALL ALTER AND ANY AS ASC ASYMMETRIC AUTHORIZATION BACKUP BEGIN BETWEEN BOTH BREAK BROWSE BULK BY CASCADE CASE CAST
CATCH CHECK CHECKPOINT CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS CONTAINSTABLE CONTINUE
CONVERT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE
DECLARE DEFAULT DEFERRABLE DELETE DENY DESC DESCRIBE DISK DISTINCT DISTRIBUTED DO DOUBLE DROP DUMP ELSE END ERRLVL ESCAPE
EXCEPT EXEC EXECUTE EXISTS EXIT EXTERNAL FALSE FETCH FILE FILLFACTOR FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL FUNCTION
GOTO GRANT GROUP HAVING HOLDLOCK IDENTITY IDENTITYCOL IDENTITY_INSERT IF IN INDEX INITIALLY INNER INSERT INTERSECT INTO IS
JOIN KEY KILL LAMBDA LATERAL LEADING LEFT LIKE LIMIT LINENO LOAD MATCHED MERGE NATIONAL NOCHECK NOCOUNT NONCLUSTERED NOT
NULL NULLIF OF OFF OFFSET OFFSETS ON ONLY OPEN OPENDATASOURCE OPENQUERY OPENROWSET OPENXML OPTION OR ORDER OUTER OUTPUT
OVER PARTITION PERCENT PIVOT PLACING PLAN PRECISION PRIMARY PRINT PROC PROCEDURE PUBLIC QUALIFY RAISERROR READ READTEXT
RECONFIGURE REFERENCES REPLICATION RESTORE RESTRICT RETURN RETURNING REVERT REVOKE RIGHT ROLLBACK ROW ROWCOUNT ROWGUIDCOL
ROWS RULE SAVE SCHEMA SECURITYAUDIT SELECT SESSION_USER SET SETUSER SHOW SHUTDOWN SOME STATISTICS SUMMARIZE SYMMETRIC
SYSTEM_USER TABLE TABLESAMPLE TEMP TEXTSIZE THEN THROW TO TOP TRAILING TRAN TRANSACTION TRIGGER TRUE TRUNCATE TRY
TRY_CONVERT TSEQUAL UNION UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER USING VALUES VARIABLE VARYING VIEW WAITFOR WHEN WHERE
WHILE WINDOW WITH WITHIN WRITETEXT`.split(/\s+/),
);
