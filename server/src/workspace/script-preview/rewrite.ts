import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, tableNameOf } from '../../syntax/inspect.ts';
import type { Node, NodeBase, TableReference } from '../../syntax/tree.ts';
import { targetReference } from './changes.ts';
import type { NumberedEffect } from './effect.ts';
import { imageRows } from './images.ts';
import { effectTable } from './print.ts';

/** A piece of a statement's text that something else takes the place of. Offsets as in `NodeBase`. */
export interface Edit extends NodeBase {
  readonly text: string;
}

/** What stands where in a preview. */
export interface Stand {
  readonly platform: PlatformName;
  tableOf(name: TableName): CatalogTable | undefined;
  /** The image of a table that the script wrote to before; null where the table itself is read. */
  imageOf(table: CatalogTable): string | null;
  /** A temporary table or table variable of the script. */
  isOwnName(name: TableName): boolean;
  /** The effects that @@ROWCOUNT counts; null where the engine knows it, or no one. */
  readonly counted: readonly NumberedEffect[] | null;
  source(start: number, end: number): string;
}

/** What a statement's text says otherwise in the preview: images for tables, counts for @@ROWCOUNT. */
export function editsOf(node: Node, stand: Stand): readonly Edit[] {
  return [...namedTables(node).flatMap((reference) => imageEdits(reference, node, stand)), ...countEdits(node, stand)];
}

/** The tables that a statement names, without its common tables. */
export function namedTables(node: Node): readonly TableReference[] {
  const common = findAll(node, 'common-table').map(({ name }) => name.name);
  return findAll(node, 'table').filter((reference) => {
    const { schema, table } = tableNameOf(reference.name);
    return schema !== null || !common.some((each) => sameIdentifier(each, table));
  });
}

/** The text between two offsets of a statement, with the edits that lie inside. */
export function edited(text: string, offset: number, start: number, end: number, edits: readonly Edit[]): string {
  const inside = edits.filter((edit) => edit.start >= start && edit.end <= end);
  let result = '';
  let at = start;
  for (const edit of [...inside].sort((left, right) => left.start - right.start)) {
    if (edit.start < at) continue;
    result += text.slice(offset + at, offset + edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(offset + at, offset + end);
}

function imageEdits(reference: TableReference, node: Node, stand: Stand): readonly Edit[] {
  const name = tableNameOf(reference.name);
  const table = stand.isOwnName(name) ? undefined : stand.tableOf(name);
  const image = table === undefined ? null : stand.imageOf(table);
  if (table === undefined || image === null) return [];
  const last = reference.alias ?? reference.name.parts.at(-1);
  const alias = last === undefined || last === null ? '' : stand.source(last.start, last.end);
  const columns = reference.columns.map(({ start, end }) => stand.source(start, end)).join(', ');
  const writes = [...findAll(node, 'update'), ...findAll(node, 'delete')];
  const isTarget = writes.some((write) => targetReference(write, stand) === reference);
  const rows = isTarget ? image : imageRows(image, table, stand.platform);
  const text = `${rows} AS ${alias}${columns === '' ? '' : ` (${columns})`}`;
  return [{ start: reference.start, end: reference.end, text }, ...shortened(reference, node)];
}

/** `dw.customer.city` becomes `customer.city`, since what stands for the table has no schema. */
function shortened({ name }: TableReference, node: Node): readonly Edit[] {
  const own = name.parts.map((part) => part?.name ?? '').join('.');
  return findAll(node, 'column').flatMap(({ start, parts }) => {
    const qualifier = parts.slice(0, -1).map((part) => part?.name ?? '');
    const from = parts.at(-2)?.start;
    const isMeant = qualifier.length > 1 && from !== undefined && sameIdentifier(qualifier.join('.'), own);
    return isMeant ? [{ start, end: from, text: '' }] : [];
  });
}

function countEdits(node: Node, { counted, platform }: Stand): readonly Edit[] {
  if (counted === null) return [];
  const counts = counted.map(([number]) => `(SELECT COUNT(*) FROM ${effectTable(number, platform)})`);
  const text = counts.length === 0 ? '0' : `(${counts.join(' + ')})`;
  return findAll(node, 'variable')
    .filter(({ name }) => /^@@rowcount$/i.test(name))
    .map(({ start, end }) => ({ start, end, text }));
}
