/** Sample rows of a preview for a load that builds its target anew: rows that come, that become other ones, that go. */
import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { sampleColumns } from '../../../protocol/preview.ts';
import type { SampleKind } from '../../../protocol/run.ts';
import {
  any,
  arithmetic,
  ascending,
  column,
  compare,
  differs,
  item,
  join,
  literal,
  named,
  notExists,
  select,
  source,
  table,
  union,
  window,
} from '../load/build.ts';
import { columnType } from '../load/context.ts';
import { type Expression, type Item, type Query, types, type Union } from '../load/language.ts';
import type { LoadPlan } from '../load/plan.ts';
import { sameIdentifier } from '../model/names.ts';
import { isComparable } from '../model/types.ts';

type Cell = (column: CatalogColumn) => Expression;

const [kindName, numberName, sideName] = sampleColumns;

/** One result set per kind, shaped like those of `sampleQueries`; where rows have no identity, only rows that come. */
export function replacementSamples(
  { replaces, target: name }: LoadPlan,
  target: CatalogTable,
  limit: number,
): readonly (Query | Union)[] {
  if (replaces?.kind !== 'rows') return [];
  const columns = target.columns.filter((of) => replaces.query.items.some((one) => sameIdentifier(one.name, of.name)));
  const keys = columns.filter((of) => replaces.identity.some((one) => sameIdentifier(one, of.name)));
  const told = columns.filter((of) => !keys.includes(of) && isComparable(of.type, target.platform));
  const stored: Cell = (of) => column('t', of.name, columnType(target, of));
  const coming: Cell = (of) => column('b', of.name, columnType(target, of));
  const storedRows = source(table(name), 't');
  const builtRows = source(named(replaces.built), 'b');
  const on = keys.map((of) => compare(stored(of), '=', coming(of)));
  const order = keys.length > 0 ? keys : columns;
  const row = (cell: Cell, mark: string): readonly Item[] =>
    columns.map((of, index) => item(`${mark}_${index + 1}`, cell(of)));
  const number = (cell: Cell): Item =>
    item(
      numberName,
      window(
        'row_number',
        null,
        [],
        order.slice(0, 3).map((of) => ascending(cell(of))),
      ),
    );
  const lacksTwin = (rows: typeof storedRows): readonly Expression[] =>
    keys.length === 0 ? [] : [notExists(select([item('one', literal(1))], rows, { where: on }))];
  const shown = (kind: SampleKind, offset: number, side: 'before' | 'after', rows: Query): Query =>
    select(
      [
        item(kindName, literal(kind)),
        item(numberName, numberOf(offset)),
        item(sideName, literal(side)),
        ...columns.map((of, index) => item(of.name, column('c', `${side}_${index + 1}`, columnType(target, of)))),
      ],
      source(rows, 'c'),
      { where: [compare(column('c', numberName, types.count), '<=', literal(limit))] },
    );
  const come = select([...row(coming, 'after'), number(coming)], builtRows, { where: lacksTwin(storedRows) });
  if (keys.length === 0) return [shown('inserted', 0, 'after', come)];
  const become = select([...row(stored, 'before'), ...row(coming, 'after'), number(coming)], builtRows, {
    joins: [join('inner', table(name), 't', on)],
    where: [any(...told.map((of) => differs(stored(of), coming(of))))],
  });
  const go = select([...row(stored, 'before'), number(stored)], storedRows, { where: lacksTwin(builtRows) });
  return [
    shown('inserted', 0, 'after', come),
    ...(told.length === 0
      ? []
      : [union(shown('updated', limit, 'before', become), shown('updated', limit, 'after', become))]),
    shown('deleted', 2 * limit, 'before', go),
  ];
}

/** The number of a sample among those of all result sets: each result set counts on from its offset. */
export function numberOf(offset: number): Expression {
  const number = column('c', numberName, types.count);
  return offset === 0 ? number : arithmetic(number, '+', literal(offset));
}
