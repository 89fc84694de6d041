/** An error as the server raises it: number, class and text as in sys.messages. */
export class SqlError extends Error {
  readonly number: number;
  readonly severity: number;
  readonly state: number;

  constructor(number: number, message: string, severity = 16, state = 1) {
    super(message);
    this.number = number;
    this.severity = severity;
    this.state = state;
  }
}

/**
 * Something that this engine does not know, or a text whose result would depend on chance. It is no verdict on the
 * text, so nothing catches it: the batch ends with error 49999, and whoever reads that extends the engine.
 */
export class BeyondEngine extends Error {}
