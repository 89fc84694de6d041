import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll } from '../../syntax/inspect.ts';
import type { Node, TableReference } from '../../syntax/tree.ts';
import { NotFollowed } from './effect.ts';

/**
 * A part that only the run can tell: numbers that it gave, and counts of writes.
 *
 * @param isCounted the write just before is counted
 */
export function untold(node: Node, isCounted: boolean): { readonly text: string; readonly start: number } | undefined {
  const pattern = isCounted ? /^@@identity$/i : /^@@(rowcount|identity)$/i;
  const variable = findAll(node, 'variable').find(({ name }) => pattern.test(name));
  if (variable !== undefined) return { text: variable.name, start: variable.start };
  for (const { name, start } of findAll(node, 'call')) {
    const text = name.parts.at(-1)?.name ?? '';
    if (/^(scope_identity|ident_current|rowcount_big)$/i.test(text)) return { text, start };
  }
  return undefined;
}

/** Demands that an image can stand for a table that a statement reads. */
export function demandImage(reference: TableReference, table: CatalogTable, node: Node): void {
  const clause = reference.timeTravel ?? reference.sample;
  if (clause !== null) {
    throw new NotFollowed(`${clause.name} of a table that the script wrote before is not followed`, clause.start);
  }
  const computed = table.columns.find((column) => column.computed && !/^(rowversion|timestamp)$/.test(column.type));
  if (computed !== undefined && mentions(node, computed.name)) {
    throw new NotFollowed(
      `${computed.name} of ${table.name.table} is computed, so its value in rows that the script wrote before is not known`,
      reference.start,
    );
  }
}

function mentions(node: Node, column: string): boolean {
  const names = findAll(node, 'column').map(({ parts }) => parts.at(-1)?.name ?? '');
  return findAll(node, 'star').length > 0 || names.some((name) => sameIdentifier(name, column));
}
