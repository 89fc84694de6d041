import type { CellValue, ResultColumn, ResultSet } from '../../protocol/run.ts';

/** Gathers result sets from a driver's events, keeping the first rows of each. */
export class ResultSets {
  readonly #maxRows: number;
  readonly #finished: ResultSet[] = [];
  #columns: readonly ResultColumn[] | null = null;
  #rows: (readonly CellValue[])[] = [];
  #rowCount = 0;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Ends the result set before and begins the next one. */
  begin(columns: readonly ResultColumn[]): void {
    this.#end();
    this.#columns = columns;
  }

  add(rows: readonly (readonly CellValue[])[]): void {
    this.#rowCount += rows.length;
    const room = this.#maxRows - this.#rows.length;
    for (const row of room >= rows.length ? rows : rows.slice(0, Math.max(room, 0))) this.#rows.push(row);
  }

  /** The result sets that have ended since the last call; `all` ends the open one too. */
  take({ all = true }: { readonly all?: boolean } = {}): readonly ResultSet[] {
    if (all) this.#end();
    return this.#finished.splice(0);
  }

  #end(): void {
    if (this.#columns === null) return;
    this.#finished.push({ columns: this.#columns, rows: this.#rows, rowCount: this.#rowCount });
    this.#columns = null;
    this.#rows = [];
    this.#rowCount = 0;
  }
}
