import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { SampleKind } from '../../../../protocol/run.ts';
import type { Delete, Insert, Merge, Update } from '../../syntax/tree.ts';

export type Write = Insert | Update | Delete | Merge;

/** Rows that one write, or one branch of a MERGE, changes in one way: as pieces of a query that finds them. */
export interface Effect {
  readonly kind: SampleKind;
  readonly table: CatalogTable;
  /** The name of the table, or of what stands for it, as FROM takes it. */
  readonly place: string;
  /** WITH clause of the write, '' where it has none. */
  readonly with: string;
  /** From FROM to the end of WHERE. */
  readonly from: string;
  /** Expressions that tell the target's rows apart where the rows are kept apart or written to an image; else []. */
  readonly address: readonly string[];
  /** The query may meet a row of the target more than once. */
  readonly mayRepeat: boolean;
  /** Stored values by column; empty for new rows. */
  readonly before: ReadonlyMap<string, string>;
  /** Values of assigned columns, or of new rows, by column. */
  readonly after: ReadonlyMap<string, string>;
  /** Columns of new rows that the engine numbers: `after` holds what it would give if nothing else wrote; not shown. */
  readonly numbered: ReadonlySet<string>;
  /** Values of OUTPUT, item by item. */
  readonly outputs: readonly string[];
  /** Conditions under which the write happens at all: IF and ELSE around it. */
  readonly gates: readonly string[];
}

/** An effect with the number of the temporary table that keeps its rows. */
export type NumberedEffect = readonly [number: number, effect: Effect];

/** A query for the rows of a target that more than one row of a MERGE's source takes. */
export interface Meeting {
  readonly table: CatalogTable;
  readonly with: string;
  /** From FROM to the end of WHERE. */
  readonly from: string;
  readonly address: readonly string[];
  /** Stored values by column. */
  readonly stored: ReadonlyMap<string, string>;
}

/** All that one write does to its target. */
export interface WriteEffects {
  readonly effects: readonly Effect[];
  readonly meeting: Meeting | null;
}

/** What reading a write needs to know. */
export interface Reading {
  readonly platform: PlatformName;
  /** Text between two offsets of the statement; names of tables that the script has written to are exchanged in it. */
  slice(start: number, end: number): string;
  /** The text as it stands in the file. */
  source(start: number, end: number): string;
  tableOf(name: TableName): CatalogTable | undefined;
  /** The temporary table that holds a table's rows as the script has left them; null where the table itself does. */
  imageOf(table: CatalogTable): string | null;
}

/** Column of an image that tells its rows apart. */
export const imageRow = 'mergewright_row';

/** Why a script has no preview: one sentence, and the piece of text that it is about. */
export class NotFollowed extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
