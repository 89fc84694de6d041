import type { Log } from './ports.ts';

/** Values that must never be written; the texts grow while the extension runs. */
export class RedactingLog implements Log {
  readonly #sink: Log;
  readonly #secrets = new Set<string>();

  constructor(sink: Log) {
    this.#sink = sink;
  }

  /** From now on this text is replaced wherever it would be written. */
  addSecret(secret: string): void {
    if (secret.length > 0) this.#secrets.add(secret);
  }

  info(message: string): void {
    this.#sink.info(this.redact(message));
  }

  warn(message: string): void {
    this.#sink.warn(this.redact(message));
  }

  error(message: string): void {
    this.#sink.error(this.redact(message));
  }

  /** The message without known secrets, passwords of connection strings, and literals of SQL. */
  redact(message: string): string {
    let text = message;
    // The longest first: a secret may be part of another one.
    for (const secret of [...this.#secrets].sort((a, b) => b.length - a.length)) text = text.replaceAll(secret, '***');
    return text
      .replace(/\b(password|pwd|accesstoken|token|secret)\b(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s;,}]+)/gi, '$1$2***')
      .replace(/(\w+:\/\/[^/\s:@]+):[^@\s/]+@/g, '$1:***@')
      .replace(/N?'(?:[^']|'')*'/g, "'…'");
  }
}
