/**
 * T-SQL as SQL Server and Azure SQL Database speak it; Synapse and Fabric are lists of differences over this printer.
 * Names and expressions stand in `TsqlExpressionPrinter`.
 */
import { column } from '../load/build.ts';
import { converted } from '../load/context.ts';
import { type Expression, isText, type Query, typeOf, types, type Union } from '../load/language.ts';
import { guardNumbers, type PlanParameter, type Step, type Write } from '../load/plan.ts';
import { comparedType, restored } from './incomparable.ts';
import { comment, indent } from './text.ts';
import { shownLength, TsqlExpressionPrinter } from './tsql-expressions.ts';

export class TsqlPrinter extends TsqlExpressionPrinter {
  readonly traits = { rowAddresses: false };

  /** Characters of a key in a message: five of them, put together, stay within what STRING_AGG gives, 8,000 bytes. */
  protected readonly offenderLimit: number = 700;

  relationName(name: string): string {
    return `#${name}`;
  }

  /** The type of message variables, without its length. */
  get messageType(): string {
    return this.textType;
  }

  // --- rows

  protected override limitBefore(query: Query): string {
    return query.limit === null ? '' : ` TOP (${query.limit})`;
  }

  protected override limitAfter(): readonly string[] {
    return [];
  }

  /** DISTINCT follows the collation, ignores trailing blanks and takes not every type, so exact rows are found by groups. */
  protected override select(query: Query, into: string | null, items?: readonly string[]): string {
    const isExact = query.text === 'exact' && query.items.some(({ value }) => isText(value));
    if (!query.distinct || !(isExact || query.items.some(({ value }) => comparedType(value) !== null))) {
      return super.select(query, into, items);
    }
    const grouped = (name: string, value: Expression) => column('d', name, typeOf(value) ?? types.count);
    return super.select(
      {
        ...query,
        distinct: false,
        from: { relation: { ...query, distinct: false, orderBy: [], limit: null }, alias: 'd' },
        joins: [],
        where: [],
        groupBy: query.items.map(({ name, value }) => grouped(name, value)),
        having: [],
      },
      into,
      query.items.map(({ name, value }) => this.groupedItem(name, grouped(name, value))),
    );
  }

  /** A column of rows that are grouped by it: a text is one of its group, which are the same. */
  private groupedItem(name: string, of: Expression): string {
    const value = this.comparedForm(of) ?? of;
    const one: Expression = isText(value) ? { kind: 'aggregate', name: 'min', operand: value, text: 'exact' } : value;
    const type = typeOf(of);
    if (value === of || type === null) return this.item({ name, value: one });
    return `${restored(this.expression(one), type)} AS ${this.name(name)}`;
  }

  /** A relation that later statements read. */
  materialised(name: string, query: Query | Union): string {
    return `${this.query(query, `INTO ${this.relationName(name)}`)};`;
  }

  dropRelation(name: string): string {
    const relation = this.relationName(name);
    return this.features.dropIfExists
      ? `DROP TABLE IF EXISTS ${relation};`
      : `IF OBJECT_ID('tempdb..${relation}') IS NOT NULL DROP TABLE ${relation};`;
  }

  // --- steps

  parameter({ name, type, value, clock, description }: PlanParameter): string {
    const text = clock ? 'SYSUTCDATETIME()' : value === null ? 'NULL' : this.literal(value, type);
    return `${comment(`${name}: ${description}.`)}\nDECLARE @${name} ${this.typeName(type)} = ${text};`;
  }

  protected stepText(step: Step): string {
    switch (step.kind) {
      case 'define':
        return `SET @${step.name} = ${this.expression(converted(step.value, step.type))};`;
      case 'let':
        return this.materialised(step.name, step.query);
      case 'measure':
        return this.assignment(step.query);
      case 'guard-rows':
        return `SET @Offenders = NULL;\n${this.offenders(step.query)}\nIF @Offenders IS NOT NULL\n${this.stop(step.code, '@Offenders')}`;
      case 'guard':
        return `IF ${this.expression(step.when)}\n${this.stop(step.code, this.expression(step.message))}`;
    }
  }

  /** Sets variables to the items of a query of one row. */
  assignment(query: Query): string {
    const assigned = query.items.map(({ name, value }) => `@${name} = ${this.expression(value)}`);
    return `${this.select(query, null, assigned)};`;
  }

  /** Sets `@Offenders` to up to five offenders that the query finds, NULL for none. */
  private offenders(query: Query): string {
    const of = `o.${this.name('offender')}`;
    const isLong = query.items.some(({ value }) => labelLength(value) > this.offenderLimit);
    const from = `FROM (\n${indent(this.query({ ...query, limit: 5 }))}\n) AS o`;
    return this.listed(isLong ? `LEFT(${of}, ${this.offenderLimit})` : of, from);
  }

  /** Sets `@Offenders` to the texts of a relation. */
  protected listed(text: string, from: string): string {
    return this.features.stringAgg
      ? `SELECT @Offenders = STRING_AGG(${text}, ${this.textLiteral(', ')})\n${from};`
      : `SELECT @Offenders = COALESCE(@Offenders + ${this.textLiteral(', ')}, ${this.textLiteral('')}) + ${text}\n${from};`;
  }

  /** THROW takes % in its message as reserved. */
  protected stop(code: Extract<Step, { kind: 'guard' }>['code'], message: string): string {
    const percent = this.textLiteral('%');
    return `BEGIN
    SET @Message = LEFT(${this.textLiteral(`${code}: `)} + REPLACE(${message}, ${percent}, ${percent} + ${percent}), 2000);
    THROW ${guardNumbers[code]}, @Message, 1;
END;`;
  }

  // --- writes

  protected override mergeHint(): string {
    return ' WITH (HOLDLOCK)';
  }

  protected updateText(target: string, write: Extract<Write, { kind: 'update' }>): string {
    return `UPDATE t\nSET\n${indent(this.assignments(write.set))}\n${this.changedRows(target, write)};`;
  }

  protected deleteText(target: string, write: Extract<Write, { kind: 'delete' }>): string {
    return `DELETE t\n${this.changedRows(target, write)};`;
  }

  private changedRows(target: string, write: Exclude<Write, { kind: 'insert' }>): string {
    const on = this.join({
      kind: 'inner',
      source: { relation: { kind: 'named', name: write.from }, alias: 'c' },
      on: this.rowMatch(write.match),
    });
    const where = this.filter('WHERE', [...write.where, ...this.rowFilter(write.match)]);
    return [`FROM ${target} AS t`, on, ...where].join('\n');
  }
}

/** The most characters that the name of a key in a message may have. */
function labelLength(e: Expression): number {
  if (e.kind === 'shown') return shownLength;
  if (e.kind === 'literal') return String(e.value).length;
  if (e.kind !== 'concat') return Number.POSITIVE_INFINITY;
  const between = (e.between ?? '').length * (e.of.length - 1);
  return e.of.reduce((sum, part) => sum + labelLength(part), between);
}
