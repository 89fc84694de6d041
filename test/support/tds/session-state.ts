import type { Login } from './login.ts';

/** What the server knows of one connection; a test may read it at any time. */
export class SessionState {
  /** Counts the connections of a server from 1. */
  readonly id: number;
  login: Login | undefined;
  database = '';
  /** Everything after PRELOGIN went through TLS. */
  encrypted = false;
  open = true;
  /** @@TRANCOUNT. */
  transactionCount = 0;
  /** Outermost transactions that were committed. */
  commits = 0;
  /** Transactions that were rolled back, by the client or because it was gone. */
  rollbacks = 0;
  /** Number of the open transaction, or of the last one. */
  transaction = 0;

  constructor(id: number) {
    this.id = id;
  }

  get inTransaction(): boolean {
    return this.transactionCount > 0;
  }

  begin(): boolean {
    this.transactionCount += 1;
    if (this.transactionCount > 1) return false;
    this.transaction += 1;
    return true;
  }

  /** Whether the outermost transaction was committed. */
  commit(): boolean {
    if (!this.inTransaction) return false;
    this.transactionCount -= 1;
    if (this.inTransaction) return false;
    this.commits += 1;
    return true;
  }

  rollback(): boolean {
    if (!this.inTransaction) return false;
    this.transactionCount = 0;
    this.rollbacks += 1;
    return true;
  }

  /** The eight bytes that name the transaction on the wire. */
  get descriptor(): Uint8Array {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setUint32(0, this.id, true);
    new DataView(bytes.buffer).setUint32(4, this.transaction, true);
    return bytes;
  }
}
