/** Synapse dedicated SQL pool. */
import type { TableName } from '../../../protocol/catalog.ts';
import type { Expression, Query, Union } from '../load/language.ts';
import type { Write } from '../load/plan.ts';
import type { PrinterStyle } from './expression-printer.ts';
import type { Merge } from './merge.ts';
import { indent } from './text.ts';
import { TsqlPrinter } from './tsql.ts';
import type { MixedCollations, TsqlFeatures } from './tsql-expressions.ts';

const features: TsqlFeatures = {
  // Neither DROP … IF EXISTS nor CREATE OR ALTER is documented for it.
  dropIfExists: false,
  createOrAlter: false,
  stringAgg: true,
  distinctFrom: false,
  utf8: true,
  xactAbort: true,
  appLock: false,
  ddlInTransaction: false,
  parameterDefaults: false,
};

export class SynapsePrinter extends TsqlPrinter {
  /** The name by which a write's text calls the target, whose alias `t` UPDATE and DELETE do not take. */
  private readonly writtenTable: string | null;

  constructor(style: PrinterStyle, mixedCollations: MixedCollations = false, writtenTable: string | null = null) {
    super(style, features, mixedCollations);
    this.writtenTable = writtenTable;
  }

  /** Without a stated distribution a temporary table would be hashed by nothing useful. */
  override materialised(name: string, query: Query | Union): string {
    return `CREATE TABLE ${this.relationName(name)}\nWITH (DISTRIBUTION = ROUND_ROBIN)\nAS\n${this.query(query)};`;
  }

  /** MERGE takes no hint here. */
  protected override mergeHint(): string {
    return '';
  }

  /** Documented are DECLARE and SET; SELECT is kept where one reading gives several values. */
  override assignment(query: Query): string {
    const [only, ...more] = query.items;
    if (only === undefined || more.length > 0) return super.assignment(query);
    return `SET @${only.name} = (\n${indent(this.select(query, null, [this.expression(only.value)]))}\n);`;
  }

  protected override listed(text: string, from: string): string {
    const list = `SELECT STRING_AGG(${text}, ${this.textLiteral(', ')})`;
    return `SET @Offenders = (\n${indent(`${list}\n${from}`)}\n);`;
  }

  override alias(name: string): string {
    return name === 't' && this.writtenTable !== null ? this.writtenTable : name;
  }

  /** UPDATE and DELETE join implicitly: the target stands in neither FROM nor JOIN, and bears its own name. */
  override write(write: Write | Merge, target: TableName): string {
    if (write.kind === 'insert' || write.kind === 'merge') return super.write(write, target);
    const printer = new SynapsePrinter(this.style, this.mixedCollations, this.name(target.table));
    return printer.writeImplicitly(write, target);
  }

  private writeImplicitly(write: Write, target: TableName): string {
    return super.write(write, target);
  }

  protected override updateText(target: string, write: Extract<Write, { kind: 'update' }>): string {
    return `UPDATE ${target}\nSET\n${indent(this.assignments(write.set))}\nFROM ${this.relationName(write.from)} AS c\n${this.joinConditions(write).join('\n')};`;
  }

  protected override deleteText(target: string, write: Extract<Write, { kind: 'delete' }>): string {
    const rows = [`SELECT 1`, `FROM ${this.relationName(write.from)} AS c`, ...this.joinConditions(write)].join('\n');
    return `DELETE FROM ${target}\nWHERE EXISTS (\n${indent(rows)}\n);`;
  }

  private joinConditions(write: Exclude<Write, { kind: 'insert' }>): readonly string[] {
    const conditions: readonly Expression[] = [
      ...this.rowMatch(write.match),
      ...write.where,
      ...this.rowFilter(write.match),
    ];
    return this.filter('WHERE', conditions);
  }
}
