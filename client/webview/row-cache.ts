import type { CellValue } from '../../protocol/run.ts';

type Row = readonly CellValue[];

/** Rows of one result set in blocks, of which only the latest used are kept. */
export class RowCache {
  readonly blockSize = 200;
  readonly #blocks = new Map<number, readonly Row[]>();
  readonly #asked = new Set<number>();
  readonly #ask: (from: number, count: number) => void;
  readonly #maxBlocks: number;

  /** @param ask asks for rows that are not here; they arrive by `store` */
  constructor(ask: (from: number, count: number) => void, maxBlocks = 30) {
    this.#ask = ask;
    this.#maxBlocks = maxBlocks;
  }

  /** The row, or undefined while it is on its way. */
  row(index: number): Row | undefined {
    const block = Math.floor(index / this.blockSize);
    const rows = this.#blocks.get(block);
    if (rows === undefined) {
      if (!this.#asked.has(block)) {
        this.#asked.add(block);
        this.#ask(block * this.blockSize, this.blockSize);
      }
      return undefined;
    }
    // Put at the end again: the first block of the map is the one that was not used for the longest time.
    this.#blocks.delete(block);
    this.#blocks.set(block, rows);
    return rows[index - block * this.blockSize];
  }

  store(from: number, rows: readonly Row[]): void {
    const block = Math.floor(from / this.blockSize);
    this.#asked.delete(block);
    this.#blocks.set(block, rows);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#maxBlocks) break;
      this.#blocks.delete(oldest);
    }
  }
}
