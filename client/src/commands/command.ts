/** One command of the palette. Its file is named like it; what it does stands in the services that it calls. */
export interface Command {
  /** Without the prefix `mergewright.`. */
  readonly id: string;
  run(argument: unknown): Promise<void>;
}
