import type { CatalogTable } from '../../../../protocol/catalog.ts';
import type { SampleKind } from '../../../../protocol/run.ts';

/** Rows that one write, or one branch of a MERGE, changes in one way: as pieces of a query that finds them. */
export interface Effect {
  readonly kind: SampleKind;
  readonly table: CatalogTable;
  /** WITH clause of the write, '' where it has none. */
  readonly with: string;
  /** From FROM to the end of WHERE. */
  readonly from: string;
  /** Expressions that tell the target's rows apart where the query may meet a row more than once; else []. */
  readonly address: readonly string[];
  /** Stored values by column; empty for new rows. */
  readonly before: ReadonlyMap<string, string>;
  /** Values of assigned columns, or of new rows, by column. */
  readonly after: ReadonlyMap<string, string>;
}

/** Why a script has no preview: one sentence, and the piece of text that it is about. */
export class NotFollowed extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
