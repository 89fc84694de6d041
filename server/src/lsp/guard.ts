/** Runs handlers so that a fault in one of them is written to the log and answered with nothing. */
export class Guard {
  private readonly log: (message: string) => Promise<unknown>;

  constructor(log: (message: string) => Promise<unknown>) {
    this.log = log;
  }

  run<T>(name: string, otherwise: T, work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.report(name, error);
      return otherwise;
    }
  }

  async wait<T>(name: string, otherwise: T, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.report(name, error);
      return otherwise;
    }
  }

  /** Sends something that nobody waits for; an editor that has gone does not hear it. */
  send(message: () => Promise<unknown>): void {
    try {
      message().catch(() => undefined);
    } catch {
      // A closed connection throws at once.
    }
  }

  /** Writes a line to the log. */
  note(message: string): void {
    this.send(() => this.log(message));
  }

  report(name: string, error: unknown): void {
    this.note(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
