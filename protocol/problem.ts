import type { Range } from './position.ts';

export type Severity = 'error' | 'warning' | 'info' | 'hint';

/** A replacement of a stretch of one file. */
export interface TextEdit {
  /** Relative to the working folder with `/`, or a document URI inside the language server. */
  readonly file: string;
  readonly range: Range;
  readonly newText: string;
}

export interface Fix {
  readonly title: string;
  /** Only safe fixes are in "fix all": they never change what a correct script does. */
  readonly safe: boolean;
  readonly edits: readonly TextEdit[];
}

/**
 * One finding, the JSON shape of `mergewright lint --json` and of every `problems` list.
 * `message` says what is wrong, `why` what happens to the rows, `help` what to do.
 */
export interface Diagnostic {
  readonly file: string;
  readonly range: Range;
  /** Rule name in kebab-case, `syntax` for a parse problem, or a code such as `narrowed-type` for generation. */
  readonly rule: string;
  /** Hazard ids that the rule covers; empty for plain syntax problems. */
  readonly hazards: readonly string[];
  readonly severity: Severity;
  readonly message: string;
  readonly why: string;
  readonly help: string;
  readonly url: string;
  readonly fixes: readonly Fix[];
}

/** What a core function found besides its value. Core functions return this and never throw on any text. */
export interface Problem {
  /** Kebab-case code, stable for tests and documentation. */
  readonly code: string;
  readonly severity: Severity;
  /** One sentence: what is wrong, at which table or column, and what to do. */
  readonly message: string;
  readonly file?: string;
  readonly range?: Range;
}

/** The result of every core function: what could be made, and everything that stands against it. */
export interface Outcome<T> {
  readonly value: T;
  readonly problems: readonly Problem[];
}
