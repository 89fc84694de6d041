/** What a command may touch; tests hand in their own. */
export interface CommandContext {
  /** Absolute path that relative ones start from. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Data. */
  readonly out: (text: string) => void;
  /** One line per error or warning. */
  readonly err: (text: string) => void;
}

/** One command of the command line; `main.ts` finds it by its name. */
export interface Command {
  readonly name: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** Lines of the usage text. */
  readonly usage: readonly string[];
  /** It answers --help behind further arguments itself. */
  readonly hasOwnHelp?: boolean;
  /** Exit code: 0 nothing found, 1 findings at warning or above or a failed run, 2 wrong usage or unreadable input. */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<number>;
}

/** Wrong usage or unreadable input: one line that says what to do, exit code 2. */
export class UsageError extends Error {}

/** Nothing was wrong with the call, but its run could not begin: one line that says what to do, exit code 1. */
export class FailedRun extends Error {}
