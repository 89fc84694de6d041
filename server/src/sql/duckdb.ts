/** DuckDB, the embedded engine. */
import { converted } from '../load/context.ts';
import { type Expression, isText, type Relation, types, type ValueType } from '../load/language.ts';
import type { PlanParameter, RowMatch, Step, Write } from '../load/plan.ts';
import { Printer } from './printer.ts';
import { comment, indent } from './text.ts';
import { duckdbType } from './types.ts';

export class DuckDbPrinter extends Printer {
  /** `rowid` holds until the transaction ends, as long as each row is updated once. */
  readonly traits = { rowAddresses: true };

  quoted(name: string): string {
    return `"${name.replaceAll('"', '""')}"`;
  }

  parameterName(name: string): string {
    return `getvariable(${this.textLiteral(name)})`;
  }

  variableName(name: string): string {
    return this.parameterName(name);
  }

  typeName(type: ValueType): string {
    return duckdbType(type);
  }

  textLiteral(text: string): string {
    if (!text.includes('\n')) return `'${text.replaceAll("'", "''")}'`;
    const parts = text.split('\n').map((line) => `'${line.replaceAll("'", "''")}'`);
    return `(${parts.join(' || chr(10) || ')})`;
  }

  typedLiteral(value: string, type: ValueType): string {
    if (type.facts.family === 'binary') return `unhex(${this.textLiteral(value)})`;
    return `CAST(${this.textLiteral(value)} AS ${this.typeName(type)})`;
  }

  booleanLiteral(value: boolean): string {
    return value ? 'TRUE' : 'FALSE';
  }

  /** Temporary tables stand in a catalog of their own, so no table of the user's can be meant instead. */
  relationName(name: string): string {
    return `temp.${this.name(name)}`;
  }

  /** In a correlated query `s.x` would rather be field x of a column s than column x of the outer relation s. */
  override alias(name: string): string {
    return this.style.columnNames?.has(name) === true ? this.alias(`${name}_`) : name;
  }

  // --- values

  protected trimmed(text: string): string {
    // trim(x) would take every kind of white space.
    return `trim(${text}, ' ')`;
  }

  protected replaced(e: Extract<Expression, { kind: 'replace' }>): string {
    const { operand, find, by } = e;
    const replaced = `replace(${this.expression(operand)}, ${this.textLiteral(find)}, ${this.textLiteral(by)})`;
    const column = operand.kind === 'replace' ? this.plainColumn(operand.operand) : null;
    if (operand.kind !== 'replace' || column === null) return replaced;
    // Hardly a text has what is escaped, and to look for it takes a fifth of the time.
    const holds = [operand.find, find].map((text) => `contains(${column}, ${this.textLiteral(text)})`);
    return `CASE WHEN ${holds.join(' OR ')} THEN ${replaced} ELSE ${column} END`;
  }

  /** A column's text where the expression is printed as nothing more; null else. */
  private plainColumn(e: Expression): string | null {
    const column = e.kind === 'rendered' ? e.operand : e;
    if (column.kind !== 'column') return null;
    const text = this.expression(column);
    return this.expression(e) === text ? text : null;
  }

  protected concatenated(parts: readonly Expression[], between: string): string {
    const texts = parts.map((part) => (part.kind === 'case' ? `(${this.expression(part)})` : this.operand(part)));
    if (between !== '') return this.joined(texts, ` || ${this.textLiteral(between)} || `);
    // A hash text of many columns stands one part below the other.
    return this.joined(texts, parts.length > 4 ? '\n    || ' : ' || ');
  }

  protected movedTime({ operand, by, unit }: Extract<Expression, { kind: 'move-time' }>): string {
    const [count, name] = unit === 'tick' ? [by, 'microsecond'] : [by, unit];
    return `${this.operand(operand)} ${count < 0 ? '-' : '+'} INTERVAL ${Math.abs(count)} ${name.toUpperCase()}S`;
  }

  protected laterOf(left: string, right: string): string {
    return `greatest(${left}, ${right})`;
  }

  protected renderedText({ operand, rendering }: Extract<Expression, { kind: 'rendered' }>): string {
    const value = this.expression(operand);
    switch (rendering.kind) {
      case 'text':
        return isText(operand) && operand.kind === 'column' ? value : `CAST(${value} AS VARCHAR)`;
      case 'padded-text':
        return `rtrim(${value}, ' ')`;
      case 'decimal':
        return `CAST(CAST(${value} AS DECIMAL(38,${rendering.scale})) AS VARCHAR)`;
      case 'boolean':
        return `CAST(CAST(${value} AS INTEGER) AS VARCHAR)`;
      case 'timestamp':
        return `strftime(${value}, '%Y-%m-%d %H:%M:%S.%f')`;
      case 'milliseconds':
        return `strftime(${value}, '%Y-%m-%d %H:%M:%S.%g000')`;
      case 'minutes':
        return `strftime(${value}, '%Y-%m-%d %H:%M:00.000000')`;
      case 'offset-timestamp':
        return `strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S.%f')`;
      case 'time':
        return `strftime(DATE '2000-01-01' + ${value}, '%H:%M:%S.%f')`;
      case 'uuid':
        return `lower(CAST(${value} AS VARCHAR))`;
      case 'binary':
        return `lower(hex(${value}))`;
      case 'integer':
      case 'date':
        return `CAST(${value} AS VARCHAR)`;
    }
  }

  protected shownText(operand: Expression): string {
    const text = `coalesce(left(CAST(${this.expression(operand)} AS VARCHAR), 100), 'NULL')`;
    return isText(operand) ? `coalesce(nullif(trim(${text}, ' '), ''), '(blank)')` : text;
  }

  protected digest({ algorithm, text, as }: Extract<Expression, { kind: 'digest' }>): string {
    const hex = `${algorithm}(${this.expression(text)})`;
    return as === 'hex' ? hex : `unhex(${hex})`;
  }

  /** The engine has no such checksum; the column stays NULL, and the specification's problems say so. */
  protected checksum(_of: readonly Expression[]): string {
    return 'CAST(NULL AS INTEGER)';
  }

  protected beyondAscii(text: string): string {
    return `octet_length(encode(${text})) <> length(${text})`;
  }

  /** Its timestamps end at microseconds. */
  protected beyondMicroseconds(_time: string): string {
    return 'FALSE';
  }

  protected rowAddress(of: string): string {
    return `${this.alias(of)}.rowid`;
  }

  /** One hash aggregate instead of a window over all rows. */
  protected override latestRows({ query, keys, by }: Extract<Relation, { kind: 'latest-rows' }>): string {
    const alias = this.alias('r');
    const order = by.map((name) => `${alias}.${this.name(name)}`);
    const greatest = order.length === 1 ? (order[0] ?? '') : `(${order.join(', ')})`;
    const items = query.items.map(({ name }) => {
      const value = `${alias}.${this.name(name)}`;
      if (keys.includes(name)) return value;
      if (order.length === 1 && by.includes(name)) return `max(${value}) AS ${this.name(name)}`;
      return `arg_max_null(${value}, ${greatest}) AS ${this.name(name)}`;
    });
    const groups = keys.map((name) => `${alias}.${this.name(name)}`).join(', ');
    return `SELECT\n${indent(this.commas(items))}\nFROM (\n${indent(this.query(query))}\n) AS ${alias}\nGROUP BY ${groups}`;
  }

  // --- steps

  parameter({ name, type, value, clock, description }: PlanParameter): string {
    const text = clock
      ? `CAST(now() AT TIME ZONE 'UTC' AS ${this.typeName(type)})`
      : `CAST(${this.startValue(value, type)} AS ${this.typeName(type)})`;
    return `${comment(`${name}: ${description}.`)}\nSET VARIABLE ${name} = ${text};`;
  }

  private startValue(value: PlanParameter['value'], type: ValueType): string {
    if (value === null) return 'NULL';
    if (typeof value === 'number') return String(value);
    return type.facts.family === 'binary' ? this.typedLiteral(value, type) : this.textLiteral(value);
  }

  protected stepText(step: Step): string {
    switch (step.kind) {
      case 'define':
        return `SET VARIABLE ${step.name} = ${this.expression(converted(step.value, step.type))};`;
      case 'let':
        return `CREATE OR REPLACE TEMP TABLE ${this.name(step.name)} AS\n${this.query(step.query)};`;
      case 'measure':
        return this.measure(step);
      case 'guard-rows': {
        const offenders = this.query({ ...step.query, limit: 5 });
        const stop = `error(${this.textLiteral(`${step.code}: `)} || string_agg(o.offender, ', ' ORDER BY o.offender))`;
        return `SET VARIABLE guard = (\n    SELECT CASE WHEN count(*) > 0 THEN ${stop} END\n    FROM (\n${indent(offenders, 2)}\n    ) AS o\n);`;
      }
      case 'guard': {
        const stop = `error(${this.textLiteral(`${step.code}: `)} || ${this.expression(step.message)})`;
        return `SET VARIABLE guard = (\n    SELECT CASE WHEN ${this.expression(step.when)} THEN ${stop} END\n);`;
      }
    }
  }

  /** One scan gives all values; a struct carries them, since SET VARIABLE sets one at a time. */
  private measure({ query }: Extract<Step, { kind: 'measure' }>): string {
    const values = query.items.map(({ name, value }) => ({ name, text: `CAST(${this.expression(value)} AS BIGINT)` }));
    const [only, ...more] = values;
    if (only !== undefined && more.length === 0) {
      return `SET VARIABLE ${only.name} = (\n${indent(this.select(query, null, [only.text]))}\n);`;
    }
    const struct = `{\n${indent(values.map(({ name, text }) => `${name}: ${text}`).join(',\n'))}\n}`;
    const spread = values.map(({ name }) => `SET VARIABLE ${name} = getvariable('measured').${name};`);
    return [`SET VARIABLE measured = (\n${indent(this.select(query, null, [struct]))}\n);`, ...spread].join('\n');
  }

  // --- writes

  protected override rowMatch(match: RowMatch): readonly Expression[] {
    if (match.address === null) return super.rowMatch(match);
    const address: Expression = { kind: 'column', of: 'c', name: match.address, type: types.count };
    return [{ kind: 'compare', operator: '=', left: { kind: 'row-address', of: 't' }, right: address, text: 'column' }];
  }

  protected updateText(target: string, write: Extract<Write, { kind: 'update' }>): string {
    const where = this.filter('WHERE', [...write.where, ...this.rowMatch(write.match), ...this.rowFilter(write.match)]);
    return `UPDATE ${target} AS ${this.alias('t')}\nSET\n${indent(this.assignments(write.set))}\nFROM ${this.relationName(write.from)} AS ${this.alias('c')}\n${where.join('\n')};`;
  }

  protected deleteText(target: string, write: Extract<Write, { kind: 'delete' }>): string {
    const where = this.filter('WHERE', [...write.where, ...this.rowMatch(write.match), ...this.rowFilter(write.match)]);
    return `DELETE FROM ${target} AS ${this.alias('t')}\nUSING ${this.relationName(write.from)} AS ${this.alias('c')}\n${where.join('\n')};`;
  }
}
