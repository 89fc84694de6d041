import type { BatchState } from './batchStarts.ts';
import type { Dialect } from './dialect.ts';
import { behindName, listEnds } from './followers.ts';
import type { Grammar } from './grammar.ts';
import { nearClause } from './nearMisses.ts';
import { quotes, unquoted } from './quotedNames.ts';
import { startsDefinition } from './recovery.ts';
import { Tokenizer } from './tokenizer.ts';
import { type TokenKind, tokenKind } from './tokens.ts';
import type { Identifier, SqlcmdLine, SyntaxProblem } from './tree.ts';
import type { Word } from './vocabulary.ts';

/** Tokens that are always read ahead of the current one. */
const window = 16;
const chunk = 256;

/** What is expected behind a finished statement. */
export const endOfStatement = 'the end of the statement';

/** Nesting beyond this is skipped as opaque text: the parser recurses, and its stack is finite. */
export const deepestNesting = 180;

/**
 * The parser's view of the text: the current token, a look ahead, and the problems found. Offsets that it hands out
 * count from the start of the current unit.
 */
export class Cursor {
  readonly text: string;
  readonly dialect: Dialect;
  readonly grammar: Grammar;
  /** Offset in the file where the current unit starts. */
  base = 0;
  /** Index of the current token in the buffer. */
  index = 0;
  depth = 0;
  /** How many bodies of SQL scripting stand around the current statement. */
  scriptDepth = 0;
  /** Labels of the blocks and loops around the current statement, in lower case; '' where there is none. */
  labels: string[] = [];
  /** Inside the query of an INSERT, whose FROM may hold a write with OUTPUT. */
  nestedWrites = false;
  problems: SyntaxProblem[] = [];
  /** What stands before the current unit in its batch. */
  batch: BatchState = 'empty';
  readonly sqlcmd: SqlcmdLine[] = [];
  /** True after a problem until the parser has found its way again; nothing is reported meanwhile. */
  recovering = false;
  /** Something unexpected was met in the current unit, reported or not. */
  stumbled = false;

  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  words: string[] = [];
  private count = 0;
  /** The last kind of names in quotes: T-SQL has none in backticks. */
  private readonly lastQuoted: TokenKind;
  private readonly tokenizer: Tokenizer;
  private exhausted = false;
  private previousEnd = 0;
  /** Offset in the file up to which the parser has looked. */
  furthest = 0;
  /** Offset of the first string, name or comment without an end. */
  private openTokens: Set<number> | null = null;

  constructor(text: string, dialect: Dialect, grammar: Grammar, from = 0, limit = text.length) {
    this.text = text;
    this.dialect = dialect;
    this.grammar = grammar;
    this.lastQuoted = dialect.family === 'tsql' ? tokenKind.doubleQuoted : tokenKind.backticked;
    this.tokenizer = new Tokenizer(text, dialect, from, limit);
    this.previousEnd = from;
    // A short text gets short buffers: most texts are single statements.
    const size = Math.min(1024, ((limit - from) >> 2) + 32);
    this.kinds = new Uint8Array(size);
    this.starts = new Int32Array(size);
    this.ends = new Int32Array(size);
    this.fill(window);
  }

  // --- the current token

  get word(): string {
    return this.words[this.index] as string;
  }

  get kind(): TokenKind {
    return this.kinds[this.index] as TokenKind;
  }

  /** Start of the current token. */
  get start(): number {
    return (this.starts[this.index] as number) - this.base;
  }

  /** End of the current token. */
  get currentEnd(): number {
    return (this.ends[this.index] as number) - this.base;
  }

  /** End of the token that was consumed last. */
  get end(): number {
    return this.previousEnd - this.base;
  }

  get absoluteStart(): number {
    return this.starts[this.index] as number;
  }

  get absoluteEnd(): number {
    return this.previousEnd;
  }

  at(word: Word): boolean {
    return this.words[this.index] === word;
  }

  atSequence(first: Word, second: Word): boolean {
    return this.words[this.index] === first && this.peek(1) === second;
  }

  /** Text of a keyword or punctuation `distance` tokens ahead, '' for other tokens. */
  peek(distance: number): string {
    const at = this.index + distance;
    if (at >= this.count) this.fill(distance + window);
    const index = Math.min(at, this.count - 1);
    const end = this.ends[index] as number;
    if (end > this.furthest) this.furthest = end;
    return this.words[index] as string;
  }

  peekKind(distance: number): TokenKind {
    this.peek(distance);
    return this.kinds[Math.min(this.index + distance, this.count - 1)] as TokenKind;
  }

  /** Source text of a token ahead. */
  textAhead(distance: number): string {
    this.peek(distance);
    const index = Math.min(this.index + distance, this.count - 1);
    return this.text.slice(this.starts[index], this.ends[index]);
  }

  /** End of text or a GO line. */
  get atEnd(): boolean {
    return (this.kinds[this.index] as number) <= tokenKind.separator;
  }

  /** Source text of the current token. */
  get tokenText(): string {
    return this.text.slice(this.starts[this.index], this.ends[this.index]);
  }

  slice(start: number, end: number): string {
    return this.text.slice(start + this.base, end + this.base);
  }

  /** Keyword or punctuation before the current token, '' for other tokens and at the start. */
  get previousWord(): string {
    return this.index === 0 ? '' : (this.words[this.index - 1] as string);
  }

  /** A line break stands between the previous token and this one. */
  get onNewLine(): boolean {
    const to = this.starts[this.index] as number;
    for (let position = this.previousEnd; position < to; position += 1) {
      if (this.text.charCodeAt(position) === 10) return true;
    }
    return false;
  }

  /** Something stands between the token `distance` tokens ahead and the one before it. */
  blankAhead(distance: number): boolean {
    this.peek(distance);
    const index = Math.min(this.index + distance, this.count - 1);
    return index > 0 && (this.ends[index - 1] as number) < (this.starts[index] as number);
  }

  /** A line break stands before the token `distance` tokens ahead. */
  lineBreakAhead(distance: number): boolean {
    this.peek(distance);
    const index = Math.min(this.index + distance, this.count - 1);
    const from = index === 0 ? this.previousEnd : (this.ends[index - 1] as number);
    return this.text.slice(from, this.starts[index]).includes('\n');
  }

  /** The current token is the one before it once more, whatever its case. */
  get repeatsWord(): boolean {
    if (this.index === 0) return false;
    const before = this.text.slice(this.starts[this.index - 1], this.ends[this.index - 1]);
    return before.toUpperCase() === this.tokenText.toUpperCase();
  }

  // --- moving

  advance(): void {
    const kind = this.kinds[this.index] as number;
    if (kind <= tokenKind.separator) return;
    this.previousEnd = this.ends[this.index] as number;
    if (this.openTokens?.has(this.starts[this.index] as number) === true) this.reportOpenToken();
    this.index += 1;
    if (this.index + window > this.count) this.fill(window);
  }

  eat(word: Word): boolean {
    if (this.words[this.index] !== word) return false;
    this.advance();
    return word !== ',' || this.dialect.family !== 'duckdb' || !this.atListEnd;
  }

  /** DuckDB takes a comma behind the last item of any list: the list is over where one of these stands. */
  private get atListEnd(): boolean {
    return this.atEnd || listEnds.has(this.words[this.index] as string);
  }

  eatSequence(...words: readonly Word[]): boolean {
    for (let distance = 0; distance < words.length; distance += 1) {
      if (this.peek(distance) !== words[distance]) return false;
    }
    for (let count = 0; count < words.length; count += 1) this.advance();
    return true;
  }

  /** Eats the first of the words that is there. */
  eatAny(...words: readonly Word[]): Word | null {
    for (const word of words) if (this.eat(word)) return word;
    return null;
  }

  expect(word: Word): boolean {
    if (this.eat(word)) return true;
    this.fail(/^\W/.test(word) ? `'${word}'` : word);
    return false;
  }

  /** Makes two tokens of the current punctuation, where `>>` closes two levels. */
  splitPunctuation(first: Word, second: Word): void {
    const at = this.index;
    if (this.count + 1 >= this.kinds.length) this.grow(this.count + 2);
    this.kinds.copyWithin(at + 1, at, this.count);
    this.starts.copyWithin(at + 1, at, this.count);
    this.ends.copyWithin(at + 1, at, this.count);
    this.words.splice(at, 1, first, second);
    this.count += 1;
    const middle = (this.starts[at] as number) + first.length;
    this.ends[at] = middle;
    this.starts[at + 1] = middle;
  }

  /** Moves past a GO line. */
  passSeparator(): void {
    if (this.kind !== tokenKind.separator) return;
    this.previousEnd = this.ends[this.index] as number;
    this.index += 1;
    if (this.index + window > this.count) this.fill(window);
  }

  /** Makes the current token the first of a unit and forgets the tokens before it. */
  beginUnit(): void {
    this.base = this.starts[this.index] as number;
    this.furthest = this.base;
    this.problems = [];
    this.recovering = false;
    this.depth = 0;
    this.scriptDepth = 0;
    this.labels = [];
    this.nestedWrites = false;
    this.stumbled = false;
    if (this.index < 2048) return;
    const rest = this.count - this.index;
    this.kinds.copyWithin(0, this.index, this.count);
    this.starts.copyWithin(0, this.index, this.count);
    this.ends.copyWithin(0, this.index, this.count);
    this.words = this.words.slice(this.index, this.count);
    this.count = rest;
    this.index = 0;
  }

  private fill(ahead: number): void {
    if (this.exhausted) return;
    const wanted = this.index + ahead + chunk;
    const { tokenizer } = this;
    while (this.count < wanted) {
      tokenizer.next();
      if (tokenizer.kind === tokenKind.sqlcmd) {
        this.sqlcmd.push(this.directive(tokenizer.start, tokenizer.end));
        continue;
      }
      const at = this.count;
      if (at === this.kinds.length) this.grow(at + 1);
      this.kinds[at] = tokenizer.kind;
      this.starts[at] = tokenizer.start;
      this.ends[at] = tokenizer.end;
      this.words[at] = tokenizer.word;
      this.count += 1;
      if (tokenizer.unterminated) {
        this.openTokens ??= new Set();
        this.openTokens.add(tokenizer.start);
      }
      if (tokenizer.kind === tokenKind.end) {
        this.exhausted = true;
        return;
      }
    }
  }

  private grow(least: number): void {
    const size = Math.max(least, this.kinds.length * 2);
    const kinds = new Uint8Array(size);
    const starts = new Int32Array(size);
    const ends = new Int32Array(size);
    kinds.set(this.kinds);
    starts.set(this.starts);
    ends.set(this.ends);
    this.kinds = kinds;
    this.starts = starts;
    this.ends = ends;
  }

  private directive(start: number, end: number): SqlcmdLine {
    const line = this.text.slice(start, end);
    const parts = /^(?:(!!)|:(on\s+error|[A-Za-z]+))\s*(.*)$/i.exec(line);
    const command = (parts?.[1] ?? parts?.[2] ?? '').toLowerCase().replace(/\s+/g, ' ');
    return { start, end, command, argument: (parts?.[3] ?? '').trim() };
  }

  // --- problems

  /** Reports that something else was expected at the current token; one problem until the parser has recovered. */
  fail(expected: string): void {
    if (this.recovering) return;
    const kind = this.kind;
    this.stumbled = true;
    if (this.isUncertain(kind, expected)) {
      this.recovering = true;
      return;
    }
    if (kind === tokenKind.end || kind === tokenKind.separator) {
      const place = kind === tokenKind.end ? 'the end of the text' : 'GO';
      this.report(Math.max(0, this.end - 1), this.end, `Expected ${expected} before ${place}.`);
    } else {
      const meant = expected === endOfStatement ? nearClause(this.tokenText.toUpperCase(), this.word) : null;
      this.report(this.start, this.currentEnd, `Expected ${meant ?? expected}, but found ${this.shownToken()}.`);
    }
  }

  /**
   * Spark SQL and DuckDB are not known to the last clause: a word behind a finished statement may begin one that is new.
   * Anywhere else, and with anything but a name, an unexpected token is beyond doubt.
   */
  private isUncertain(kind: TokenKind, expected: string): boolean {
    if (this.dialect.family === 'tsql' || expected !== endOfStatement || kind !== tokenKind.word) return false;
    // No clause begins with the word before it, nor with one behind which its own content can't stand.
    const text = this.tokenText.toUpperCase();
    return !this.repeatsWord && !behindName.has(this.peek(1)) && nearClause(text, this.word) === null;
  }

  /** Reports a mistake of its own kind. */
  report(start: number, end: number, message: string): void {
    if (this.recovering) return;
    this.recovering = true;
    this.stumbled = true;
    // What is missing behind a mistake at the same place follows from it.
    if (this.problems[this.problems.length - 1]?.start === start) return;
    this.problems.push({ start, end, message });
  }

  private reportOpenToken(): void {
    const start = (this.starts[this.index] as number) - this.base;
    const what = this.kind === tokenKind.string || this.kind === tokenKind.nationalString ? 'string' : 'quoted name';
    this.recovering = false;
    this.report(start, start + 1, `This ${what} has no closing quote.`);
  }

  /** Reports a comment without an end, once the parser has reached the end of the text, and tells whether there is one. */
  reportOpenComment(): boolean {
    const at = this.tokenizer.openComment;
    if (at < 0 || this.kind !== tokenKind.end) return false;
    this.recovering = false;
    this.report(at - this.base, at - this.base + 2, 'This comment has no closing */.');
    return true;
  }

  get openComment(): number {
    return this.exhausted ? this.tokenizer.openComment : -1;
  }

  private shownToken(): string {
    const text = this.tokenText;
    return `'${text.length > 40 ? `${text.slice(0, 37)}...` : text}'`;
  }

  // --- names

  /** The current token can be a name. */
  get atName(): boolean {
    const kind = this.kinds[this.index] as number;
    return kind === tokenKind.word || (kind >= tokenKind.bracketed && kind <= this.lastQuoted);
  }

  /** `${x}`, which Databricks and its tools replace before anything is parsed. */
  private get atPlaceholder(): boolean {
    return this.kind === tokenKind.variable && this.dialect.family !== 'tsql' && this.tokenText.startsWith('$');
  }

  /** DuckDB takes a string where nothing but a name can stand. */
  private get atNameInQuotes(): boolean {
    return this.kind === tokenKind.string && this.dialect.family === 'duckdb';
  }

  /** Spark takes every keyword for a name: these are, where they do not begin a clause of their own. */
  private get atKeywordName(): boolean {
    if (this.dialect.family !== 'spark' || this.kind !== tokenKind.reserved) return false;
    const next = this.peek(1);
    if (this.at('ORDER') || this.at('GROUP') || this.at('PARTITIONED')) return next !== 'BY';
    return this.at('END') && (next === 'AS' || next === '.' || next === '(');
  }

  /** Spark's `IDENTIFIER (expression)`, which stands for a name. */
  private get atComputedName(): boolean {
    return this.dialect.family === 'spark' && this.at('IDENTIFIER') && this.peek(1) === '(';
  }

  private takeComputedName(): Identifier {
    const { start } = this;
    this.advance();
    this.skipParentheses();
    const { end } = this;
    return { kind: 'identifier', start, end, name: this.slice(start, end), quote: 'none' };
  }

  nameAhead(distance: number): boolean {
    const kind = this.peekKind(distance);
    return kind === tokenKind.word || (kind >= tokenKind.bracketed && kind <= this.lastQuoted);
  }

  /** Takes the current token as an identifier, whatever it is. */
  takeIdentifier(): Identifier {
    if (this.atComputedName) return this.takeComputedName();
    const { start, currentEnd: end, text } = this;
    const quote = quotes[this.kind] ?? 'none';
    const from = this.starts[this.index] as number;
    const to = this.ends[this.index] as number;
    this.advance();
    const name = quote === 'none' ? text.slice(from, to) : unquoted(text, from, to);
    return { kind: 'identifier', start, end, name, quote };
  }

  /** An identifier, or one with an empty name and a problem. */
  identifier(expected = 'a name'): Identifier {
    if (this.atName || this.atPlaceholder || this.atNameInQuotes || this.atKeywordName) return this.takeIdentifier();
    this.fail(expected);
    return this.missingIdentifier();
  }

  missingIdentifier(): Identifier {
    return { kind: 'identifier', start: this.end, end: this.end, name: '', quote: 'none' };
  }

  /**
   * Skips `( … )` with everything in it; the current token is the opening parenthesis. On T-SQL a comma without an
   * item beside it and two constants side by side are mistakes whatever stands around them.
   */
  skipParentheses(): void {
    const open: number[] = [];
    const strict = this.dialect.family === 'tsql';
    while (!this.atEnd) {
      const { word } = this;
      if (word === '(') open.push(this.start);
      else if (word === ')') open.pop();
      else if (strict && this.previousWord !== ',' && startsDefinition(this)) break;
      if (strict && open.length > 0 && this.isMisplaced(word)) this.fail('an item of the list');
      this.advance();
      if (open.length === 0) return;
    }
    const unclosed = open.pop();
    if (strict && unclosed !== undefined) this.report(unclosed, unclosed + 1, "Expected ')' for this parenthesis.");
    else this.fail("')'");
  }

  private isMisplaced(word: string): boolean {
    if (word === ',') {
      const next = this.peek(1);
      return next === ',' || next === ')' || this.previousWord === '(';
    }
    const { kind } = this;
    if (kind < tokenKind.string || kind > tokenKind.variable) return false;
    const next = this.peekKind(1);
    return next >= tokenKind.string && next <= tokenKind.variable;
  }
}
