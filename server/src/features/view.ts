import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import type { TableCatalog } from '../model/catalog.ts';
import type { FileDefinitions } from '../model/definitions.ts';
import { addTo } from '../model/groups.ts';
import { type LocalTable, localTable, namesTemporary } from '../model/locals.ts';
import type { FileMention } from '../model/mentions.ts';
import { offsetOf, positionOf, rangeOf, type Span } from '../syntax/inspect.ts';
import type { Script } from '../syntax/tree.ts';

/** Everything that a feature may look at: one document and what is known of the folder around it. */
export interface DocumentView {
  /** As the outside world names the document. */
  readonly file: string;
  readonly script: Script;
  readonly lineStarts: readonly number[];
  readonly definitions: FileDefinitions;
  readonly folder: FolderView;
}

/** What features ask of the folder. */
interface FolderView {
  readonly catalog: TableCatalog;
  readonly loads: readonly LoadCandidate[];
  /** Where the folder's files mention a table. */
  mentionsOf(table: CatalogTable): readonly (FileMention & { readonly file: string })[];
  /** The procedures of the folder's files; with a name, those that it may mean. */
  procedures(asked?: TableName): readonly (Location & { readonly name: TableName })[];
  /** A file's definitions as they are now; the catalog may be a moment behind. */
  definitionsOf(file: string): FileDefinitions | undefined;
}

/** A place in a file. */
export interface Location {
  readonly file: string;
  readonly range: Range;
}

export function offsetAt(view: DocumentView, position: Position): number {
  return offsetOf(view.lineStarts, view.script.text, position);
}

export function positionAt(view: DocumentView, offset: number): Position {
  return positionOf(view.lineStarts, offset);
}

export function rangeAt(view: DocumentView, span: Span): Range {
  return rangeOf(view.lineStarts, span);
}

/** The table of the folder that a name in a document means: undefined when it is unknown, may be two, or is a temporary one. */
export function tableNamed(view: DocumentView, name: TableName): CatalogTable | undefined {
  return namesTemporary(view.script, name) ? undefined : view.folder.catalog.lookup.one(name);
}

/**
 * The table of the script's own that a name at an offset means, its columns read from the folder's tables where a query
 * gives them.
 */
export function localNamed(view: DocumentView, name: TableName, at: number): LocalTable | undefined {
  return localTable(view.script, name, at, (asked) => view.folder.catalog.lookup.one(asked)?.columns);
}

/** The loads that write a table. */
export function loadsOf(view: DocumentView, table: CatalogTable): readonly LoadCandidate[] {
  const { catalog, loads } = view.folder;
  const known = byTarget.get(loads);
  if (known !== undefined) return known.get(table) ?? [];
  const grouped = new Map<CatalogTable, LoadCandidate[]>();
  for (const load of loads) {
    const target = catalog.lookup.one(load.specification.target);
    if (target !== undefined) addTo(grouped, target, load);
  }
  byTarget.set(loads, grouped);
  return grouped.get(table) ?? [];
}

/** The loads of a folder are made anew with its catalog, so their tables are the catalog's. */
const byTarget = new WeakMap<readonly LoadCandidate[], ReadonlyMap<CatalogTable, readonly LoadCandidate[]>>();
