/** Window functions: numbers, neighbours, and aggregates over a frame. */
import type { Call, WindowFrame } from '../../../server/src/syntax/tree.ts';
import { aggregateOf, order } from './aggregates.ts';
import type { BindValue } from './conditions.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Bound, Environment, Scope } from './scope.ts';
import { bigint, type SqlType } from './types.ts';
import { grouped, rowKey, type Value } from './values.ts';

type Order = (a: Environment, b: Environment) => number;
/** Results for the rows of one partition, which are in order. */
type OverPartition = (rows: readonly Environment[]) => readonly Value[];

export function bindWindow(name: string, e: Call, scope: Scope, value: BindValue): Bound {
  const { over } = e;
  const { windows } = scope;
  if (over === null || windows === null || over.name !== null) throw new BeyondEngine('a named window');
  const partition = over.partitionBy.map((of) => value(of, scope));
  const orders = over.orderBy.map((item) => order(item, scope, value));
  const inOrder: Order = (a, b) => orders.reduce((so, compare) => so || compare(a, b), 0);
  const { type, results } = windowFunction(name, e, orders.length > 0 ? inOrder : null, scope, value);
  const keyOf = rowKey(partition.map((of) => of.type));
  const place = windows.length;
  windows.push({
    compute: (rows) => {
      const values = new Map<Environment, Value>();
      const parts = grouped(rows, (row) => keyOf(partition.map((of) => of.run(row))));
      for (const part of parts.values()) {
        const sorted = [...part].sort(inOrder);
        for (const [index, result] of results(sorted).entries()) {
          const row = sorted[index];
          if (row !== undefined) values.set(row, result);
        }
      }
      return rows.map((row) => values.get(row) ?? null);
    },
  });
  return { type, canon: `window ${place}`, run: (env) => env.windows?.[place] ?? null };
}

interface WindowFunction {
  readonly type: SqlType;
  readonly results: OverPartition;
}

function windowFunction(name: string, e: Call, inOrder: Order | null, scope: Scope, value: BindValue): WindowFunction {
  const [argument] = e.arguments;
  const frame = e.over?.frame ?? null;
  if (name === 'ROW_NUMBER' || name === 'LAG' || name === 'LEAD') {
    if (inOrder === null)
      throw new SqlError(4112, `The function '${name}' must have an OVER clause with ORDER BY.`, 15);
    if (frame !== null) throw new SqlError(10752, `The function '${name}' may not have a window frame.`, 15);
  }
  if (name === 'ROW_NUMBER') return { type: bigint, results: (rows) => rows.map((_row, index) => BigInt(index + 1)) };
  if (argument?.kind === 'star' && name === 'COUNT_BIG') {
    return { type: bigint, results: (rows) => framed(rows, frame, inOrder, (part) => BigInt(part.length)) };
  }
  if (argument === undefined) throw new BeyondEngine(`window function ${name}`);
  const operand = value(argument, scope);
  if (name === 'LAG' || name === 'LEAD') {
    if (e.arguments.length > 1) throw new BeyondEngine(`${name} with an offset`);
    const step = name === 'LAG' ? -1 : 1;
    return {
      type: operand.type,
      results: (rows) => rows.map((_row, index) => neighbour(rows, index + step, operand)),
    };
  }
  const { type, fold } = aggregateOf(name, operand.type);
  const known = (rows: readonly Environment[]) => rows.map((row) => operand.run(row)).filter((found) => found !== null);
  return { type, results: (rows) => framed(rows, frame, inOrder, (part) => fold(known(part))) };
}

function neighbour(rows: readonly Environment[], index: number, operand: Bound): Value {
  const row = rows[index];
  return row === undefined ? null : operand.run(row);
}

/** Without a frame: all rows, or with an order those up to the row and its equals. */
function framed(
  rows: readonly Environment[],
  frame: WindowFrame | null,
  inOrder: Order | null,
  fold: (rows: readonly Environment[]) => Value,
): readonly Value[] {
  if (inOrder === null) {
    const all = fold(rows);
    return rows.map(() => all);
  }
  if (frame === null) {
    return rows.map((row) => fold(rows.filter((other) => inOrder(other, row) <= 0)));
  }
  if (frame.unit !== 'rows') throw new BeyondEngine(`frame ${frame.unit}`);
  return rows.map((_row, index) => {
    const from = bound(frame.from, index, rows.length);
    const to = frame.to === null ? index : bound(frame.to, index, rows.length);
    return fold(rows.slice(Math.max(0, from), Math.max(0, to + 1)));
  });
}

function bound({ type, offset }: WindowFrame['from'], index: number, count: number): number {
  const by = offset?.kind === 'literal' ? Number(offset.value) : Number.NaN;
  switch (type) {
    case 'unbounded-preceding':
      return 0;
    case 'unbounded-following':
      return count - 1;
    case 'current-row':
      return index;
    case 'preceding':
      return index - checked(by);
    case 'following':
      return index + checked(by);
  }
}

function checked(offset: number): number {
  if (Number.isNaN(offset)) throw new BeyondEngine('a frame whose offset is no number');
  return offset;
}
