import type { Login } from './login.ts';
import type { Request } from './requests.ts';

/** Something a client did, in the order in which the server saw it. */
export type Entry = { readonly session: number } & (
  | { readonly kind: 'connect' }
  | { readonly kind: 'login'; readonly login: Login; readonly accepted: boolean }
  /** The SET lines that the driver sends by itself after each login. */
  | { readonly kind: 'settings'; readonly sql: string }
  | Request
  | { readonly kind: 'attention' }
  /** A message that the client gave up before it was sent entirely. */
  | { readonly kind: 'abandoned' }
  /** Bytes that are no TDS. */
  | { readonly kind: 'nonsense'; readonly reason: string }
  /** The connection is gone; an open transaction is rolled back. */
  | { readonly kind: 'disconnect'; readonly inTransaction: boolean }
);

interface Waiter {
  readonly matches: (entry: Entry) => boolean;
  readonly found: (entry: Entry) => void;
}

/** Keeps everything that was sent to the server. */
export class Recorder {
  readonly #entries: Entry[] = [];
  #waiters: readonly Waiter[] = [];

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    const found = this.#waiters.filter(({ matches }) => matches(entry));
    this.#waiters = this.#waiters.filter((waiter) => !found.includes(waiter));
    for (const waiter of found) waiter.found(entry);
  }

  /** The first entry that matches, from the beginning, or the next one to come. */
  seen(matches: (entry: Entry) => boolean): Promise<Entry> {
    const old = this.#entries.find(matches);
    if (old !== undefined) return Promise.resolve(old);
    return new Promise((found) => {
      this.#waiters = [...this.#waiters, { matches, found }];
    });
  }

  /**
   * SQL texts of batches and of sp_executesql, and the names of procedures that were called, without the driver's own
   * settings; of one session or of all.
   */
  sql(session?: number): readonly string[] {
    return this.#entries
      .filter((entry) => session === undefined || entry.session === session)
      .flatMap((entry) => {
        if (entry.kind === 'batch') return [entry.sql];
        return entry.kind === 'rpc' ? [entry.sql === '' ? entry.procedure : entry.sql] : [];
      });
  }
}
