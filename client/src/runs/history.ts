import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HistoryEntry } from '../../../protocol/panel.ts';

/**
 * The runs of a workspace, one JSON line for each beginning and each end. A run whose end is missing was cut off with
 * the extension or its machine: its `status` stays null, and nobody may say that nothing happened.
 */
export class RunHistory {
  readonly #file: string;
  readonly #limit: () => number;
  #writing: Promise<void> = Promise.resolve();

  /** @param file path of the history's file @param limit entries to keep */
  constructor(file: string, limit: () => number) {
    this.#file = file;
    this.#limit = limit;
  }

  /** Writes the entry down; resolves once it is on disk, which a run waits for before its first batch. */
  async record(entry: HistoryEntry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`;
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        await mkdir(dirname(this.#file), { recursive: true });
        await appendFile(this.#file, line, 'utf8');
      });
    await this.#writing;
  }

  /** Entries in order of their start; the later line of an entry counts. Lines that cannot be read are left out. */
  async entries(): Promise<readonly HistoryEntry[]> {
    await this.#writing.catch(() => undefined);
    const byId = new Map<string, HistoryEntry>();
    const lines = (await readFile(this.#file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    for (const line of lines) {
      const entry = readEntry(line);
      if (entry !== undefined) byId.set(entry.id, entry);
    }
    const kept = [...byId.values()].slice(-this.#limit());
    if (lines.length > this.#limit() * 4) await this.#compact(kept);
    return kept;
  }

  async #compact(entries: readonly HistoryEntry[]): Promise<void> {
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    this.#writing = this.#writing.catch(() => undefined).then(() => writeFile(this.#file, text, 'utf8'));
    await this.#writing;
  }
}

function readEntry(line: string): HistoryEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is HistoryEntry {
  return (
    typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' && 'startedAt' in value
  );
}
