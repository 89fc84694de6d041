/** Sample rows of a preview, made from the plan's writes: what the target's rows are before and after. */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import { sampleColumns } from '../../../protocol/preview.ts';
import {
  ascending,
  column,
  compare,
  item,
  join,
  literal,
  named,
  rowAddress,
  select,
  source,
  table,
  union,
  window,
} from '../load/build.ts';
import { columnType } from '../load/context.ts';
import { type Expression, type Item, type Query, types, type Union } from '../load/language.ts';
import type { LoadPlan, Write } from '../load/plan.ts';
import { changeColumns } from '../sql/merge.ts';
import { numberOf, replacementSamples } from './replacement-samples.ts';

/** Changes shown for each write. */
const samplesPerWrite = 20;

/** One result set a write, then those of a target that is built anew: `sample_kind`, `sample_no`, `sample_side`, then the target's columns. */
export function sampleQueries(plan: LoadPlan, target: CatalogTable): readonly (Query | Union)[] {
  const writes = plan.writes.filter((write) => write.kind !== 'insert' || write.into === undefined);
  return [
    ...writes.map((write, index) => sampleQuery(write, plan, target, index * samplesPerWrite)),
    ...replacementSamples(plan, target, samplesPerWrite),
  ];
}

function sampleQuery(write: Write, plan: LoadPlan, target: CatalogTable, offset: number): Query | Union {
  const [kindName, numberName, sideName] = sampleColumns;
  const head = (side: 'before' | 'after'): readonly Item[] => [
    item(kindName, literal(write.shows)),
    item(numberName, numberOf(offset)),
    item(sideName, literal(side)),
  ];
  const after = new Map(assignments(write).map(({ column: name, value }) => [name, value]));
  const columns = target.columns.filter((of) => !of.computed || write.kind !== 'insert');
  const stored = (of: (typeof columns)[number]): Expression => column('t', of.name, columnType(target, of));
  const rows = source(numbered(write), 'c');
  const where = [compare(column('c', numberName, types.count), '<=', literal(samplesPerWrite))];
  if (write.kind === 'insert') {
    const items = columns.map((of) => item(of.name, after.get(of.name) ?? literal(null, columnType(target, of))));
    return select([...head('after'), ...items], rows, { where });
  }
  const { match } = write;
  const on =
    match.address === null
      ? [...match.on, ...match.where]
      : [compare(rowAddress('t'), '=', column('c', match.address, types.count))];
  const joins = [join('inner', table(plan.target), 't', on)];
  const before = select([...head('before'), ...columns.map((of) => item(of.name, stored(of)))], rows, { joins, where });
  if (write.kind === 'delete') return before;
  return union(
    before,
    select([...head('after'), ...columns.map((of) => item(of.name, after.get(of.name) ?? stored(of)))], rows, {
      joins,
      where,
    }),
  );
}

function assignments(write: Write): readonly { readonly column: string; readonly value: Expression }[] {
  return write.kind === 'update' ? write.set : write.kind === 'insert' ? write.values : [];
}

/** The write's rows of the change relation with a number each. */
function numbered(write: Write): Query {
  const used = changeColumns([
    ...assignments(write).map(({ value }) => value),
    ...write.where,
    ...(write.kind === 'insert' || write.match.address !== null ? [] : write.match.on),
  ]);
  const address =
    write.kind === 'insert' || write.match.address === null ? null : column('c', write.match.address, types.count);
  const columns = distinct(address === null ? used : [...used, address]);
  // The rows before and after are numbered apart, so nothing may tie: what finds a stored row is that row's own.
  const own = address !== null ? [address] : write.kind === 'insert' ? used.slice(0, 3) : changeColumns(write.match.on);
  const order = distinct(own).map((of) => ascending(of));
  return select(
    [...columns.map((of) => item(of.name, of)), item(sampleColumns[1], window('row_number', null, [], order))],
    source(named(write.from), 'c'),
    { where: write.where },
  );
}

/** Each column once, in the order of first use. */
function distinct(columns: readonly Expression[]): readonly Extract<Expression, { kind: 'column' }>[] {
  const named = columns.filter((of) => of.kind === 'column');
  return [...new Map(named.map((of) => [of.name, of])).values()];
}
