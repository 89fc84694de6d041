/**
 * The default printer: writes plans down in the SQL that engines share. A platform's printer is a list of differences
 * over it, each with the rule of the engine that it follows. Names and expressions stand in `ExpressionPrinter`.
 */
import type { TableName } from '../../../protocol/catalog.ts';
import { select } from '../load/build.ts';
import type { EngineTraits } from '../load/context.ts';
import type { Expression, Item, Join, Query, Relation, Source, Union } from '../load/language.ts';
import type { Assignment, PlanParameter, RowMatch, Step, Write } from '../load/plan.ts';
import { ExpressionPrinter } from './expression-printer.ts';
import type { Merge } from './merge.ts';
import { comment, indent } from './text.ts';

export abstract class Printer extends ExpressionPrinter {
  abstract readonly traits: EngineTraits;

  /** How a materialised relation is referred to. */
  abstract relationName(name: string): string;

  // --- rows

  override query(query: Query | Union, into: string | null = null): string {
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
