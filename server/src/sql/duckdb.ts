/** DuckDB, the embedded engine. */
import type { Expression, Relation, ValueType } from '../load/language.ts';
import type { LoadPlan, PlanParameter, Step, Write } from '../load/plan.ts';
import { type Merge, storedColumn } from './merge.ts';
import { isTextValue, Printer } from './printer.ts';
import { commaList, comment, indent } from './text.ts';
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
    const parts = text.split('\n').map((line) => `'${line.replaceAll("'", "''")}'`);
    return parts.length === 1 ? (parts[0] ?? "''") : `(${parts.join(' || chr(10) || ')})`;
  }

  typedLiteral(value: string, type: ValueType): string {
    return `CAST(${this.textLiteral(value)} AS ${this.typeName(type)})`;
  }

  booleanLiteral(value: boolean): string {
    return value ? 'TRUE' : 'FALSE';
  }

  /** Temporary tables stand in a catalog of their own, so no table of the user's can be meant instead. */
  relationName(name: string): string {
    return `temp.${this.name(name)}`;
  }

  // --- values

  protected trimmed(text: string): string {
    // trim(x) would take every kind of white space.
    return `trim(${text}, ' ')`;
  }

  protected replaced(text: string, find: string, by: string): string {
    return `replace(${text}, ${this.textLiteral(find)}, ${this.textLiteral(by)})`;
  }

  protected concatenated(parts: readonly Expression[]): string {
    return parts.map((part) => (part.kind === 'case' ? `(${this.expression(part)})` : this.operand(part))).join(' || ');
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
        return isTextValue(operand) && operand.kind === 'column' ? value : `CAST(${value} AS VARCHAR)`;
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
    return `coalesce(left(CAST(${this.expression(operand)} AS VARCHAR), 100), 'NULL')`;
  }

  protected digest({ algorithm, text, as }: Extract<Expression, { kind: 'digest' }>): string {
    const hex = `${algorithm}(${this.expression(text)})`;
    return as === 'hex' ? hex : `unhex(${hex})`;
  }

  protected rowAddress(of: string): string {
    return `${of}.rowid`;
  }

  /** One hash aggregate instead of a window over all rows. */
  protected override latestRows({ query, keys, by }: Extract<Relation, { kind: 'latest-rows' }>): string {
    const order = by.map((name) => `r.${this.name(name)}`);
    const greatest = order.length === 1 ? (order[0] ?? '') : `(${order.join(', ')})`;
    const items = query.items.map(({ name }) => {
      const value = `r.${this.name(name)}`;
      if (keys.includes(name)) return value;
      if (order.length === 1 && by.includes(name)) return `max(${value}) AS ${this.name(name)}`;
      return `arg_max_null(${value}, ${greatest}) AS ${this.name(name)}`;
    });
    const groups = keys.map((name) => `r.${this.name(name)}`).join(', ');
    return `SELECT\n${indent(commaList(items, this.style.comma))}\nFROM (\n${indent(this.query(query))}\n) AS r\nGROUP BY ${groups}`;
  }

  // --- steps

  parameter({ name, type, value, clock, description }: PlanParameter): string {
    const text = clock
      ? `CAST(now() AT TIME ZONE 'UTC' AS ${this.typeName(type)})`
      : `CAST(${value === null ? 'NULL' : typeof value === 'number' ? value : this.textLiteral(value)} AS ${this.typeName(type)})`;
    return `${comment(`${name}: ${description}.`)}\nSET VARIABLE ${name} = ${text};`;
  }

  step(step: Step): string {
    return `${comment(step.says)}\n${this.stepText(step)}`;
  }

  private stepText(step: Step): string {
    switch (step.kind) {
      case 'define':
        return `SET VARIABLE ${step.name} = ${this.expression({ kind: 'cast', operand: step.value, type: step.type })};`;
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
    const counts = query.items.map(({ name, value }) => ({ name, text: `CAST(${this.expression(value)} AS BIGINT)` }));
    const [only, ...more] = counts;
    const rest = { ...query, items: [] };
    if (only !== undefined && more.length === 0) {
      return `SET VARIABLE ${only.name} = (\n${indent(this.measured(only.text, rest))}\n);`;
    }
    const fields = counts.map(({ name, text }) => `${this.name(name)}: ${text}`);
    const struct = `{\n${indent(fields.join(',\n'), 2)}\n    }`;
    const spread = counts.map(({ name }) => `SET VARIABLE ${name} = getvariable('measured').${this.name(name)};`);
    return [`SET VARIABLE measured = (\n${indent(this.measured(struct, rest))}\n);`, ...spread].join('\n');
  }

  private measured(text: string, query: Extract<Step, { kind: 'measure' }>['query']): string {
    return this.select(
      { ...query, items: [{ name: 'measured', value: { kind: 'literal', value: null, type: null } }] },
      null,
    ).replace(/^SELECT\n.*$/m, () => `SELECT ${text}`);
  }

  // --- writes

  write(write: Write | Merge, plan: LoadPlan): string {
    return `${comment(write.says)}\n${this.writeText(write, plan)}`;
  }

  private writeText(write: Write | Merge, plan: LoadPlan): string {
    const target = this.tableName(plan.target);
    switch (write.kind) {
      case 'insert': {
        const names = write.values.map(({ column }) => this.name(column));
        const query = this.query({
          kind: 'query',
          distinct: false,
          items: write.values.map(({ column, value }) => ({ name: column, value })),
          from: { relation: { kind: 'named', name: write.from }, alias: 'c' },
          joins: [],
          where: write.where,
          groupBy: [],
          text: 'column',
          having: [],
          orderBy: [],
          limit: null,
        });
        return `INSERT INTO ${target} (\n${indent(commaList(names, this.style.comma))}\n)\n${query};`;
      }
      case 'update': {
        const set = write.set.map(({ column, value }) => `${this.name(column)} = ${this.expression(value)}`);
        const where = this.filter('WHERE', [...write.where, ...this.matched(write)]);
        return `UPDATE ${target} AS t\nSET\n${indent(commaList(set, this.style.comma))}\nFROM ${this.relationName(write.from)} AS c\n${where.join('\n')};`;
      }
      case 'delete': {
        const where = this.filter('WHERE', [...write.where, ...this.matched(write)]);
        return `DELETE FROM ${target} AS t\nUSING ${this.relationName(write.from)} AS c\n${where.join('\n')};`;
      }
      case 'merge':
        return this.mergeText(write, target);
    }
  }

  private matched({ match }: { readonly match: Merge['match'] }): readonly Expression[] {
    if (match.address === null) return [...match.on, ...match.where];
    const address: Expression = { kind: 'column', of: 'c', name: match.address, type: storedType };
    return [{ kind: 'compare', operator: '=', left: { kind: 'row-address', of: 't' }, right: address, text: 'column' }];
  }

  private mergeText(merge: Merge, target: string): string {
    const from = { relation: { kind: 'named', name: merge.from } as const, alias: 'c' };
    const parts = [merge.matched, ...(merge.added === null ? [] : [merge.added])].map(({ where, items }) =>
      this.query({
        kind: 'query',
        distinct: false,
        items,
        from,
        joins: [],
        where,
        groupBy: [],
        text: 'column',
        having: [],
        orderBy: [],
        limit: null,
      }),
    );
    const on = this.matched(merge).map((part) => this.grouped(part, 'all'));
    const names = merge.inserts.map(({ column }) => this.name(column));
    const values = merge.inserts.map(({ value }) => this.expression(value));
    const set = merge.updates.map(({ column, value }) => `${this.name(column)} = ${this.expression(value)}`);
    const { comma } = this.style;
    return [
      `MERGE INTO ${target} AS t`,
      `USING (\n${indent(parts.join('\nUNION ALL\n'))}\n) AS c`,
      `    ON ${on.join(' AND ')}`,
      ...(merge.deletes === null ? [] : [`WHEN MATCHED AND ${this.grouped(merge.deletes, 'all')} THEN\n    DELETE`]),
      ...(set.length === 0 ? [] : [`WHEN MATCHED THEN\n    UPDATE SET\n${indent(commaList(set, comma), 2)}`]),
      `WHEN NOT MATCHED THEN\n    INSERT (\n${indent(commaList(names, comma), 2)}\n    )\n    VALUES (\n${indent(commaList(values, comma), 2)}\n    );`,
    ].join('\n');
  }
}

const storedType = {
  text: 'BIGINT',
  origin: 'duckdb' as const,
  facts: { base: 'bigint', family: 'integer' as const, length: null, unicode: false, precision: 19, scale: 0 },
};

export { storedColumn };
