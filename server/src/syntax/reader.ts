import { type BatchState, batchStateBehind, requireOpenBatch } from './batchStarts.ts';
import { Cursor } from './cursor.ts';
import type { Dialect } from './dialect.ts';
import { grammarOf } from './grammars.ts';
import { listOf, none } from './none.ts';
import { nestRanges } from './ranges.ts';
import { separatorCount, tokenKind } from './tokens.ts';
import type { ScriptBatch, SqlcmdLine, SyntaxProblem, Unit } from './tree.ts';

/** Reads a script unit by unit from an offset on and gathers the units into batches. */
export class ScriptReader {
  private readonly cursor: Cursor;
  private readonly batches: ScriptBatch[];
  private units: Unit[];
  private batchStart: number;
  /** What the batch of the next unit holds before it. */
  batchState: BatchState;
  private readonly earlierSqlcmd: SqlcmdLine[];

  /** `from` is the start of a unit or of the text; `before` holds what was read before it, the last batch being open. */
  constructor(text: string, dialect: Dialect, from = 0, before: readonly ScriptBatch[] = []) {
    this.cursor = new Cursor(text, dialect, grammarOf(dialect), from);
    this.batches = before.slice(0, -1);
    const open = before[before.length - 1];
    this.units = open === undefined ? [] : [...open.units];
    this.batchStart = open?.start ?? 0;
    this.batchState = this.units.reduce(batchStateBehind, 'empty');
    this.earlierSqlcmd = open === undefined ? [] : [...open.sqlcmd];
  }

  /** Offset of the token at which the next unit starts, after GO lines; null at the end of the text. */
  nextStart(): number | null {
    const { cursor } = this;
    while (cursor.kind === tokenKind.separator) this.endBatch();
    return cursor.kind === tokenKind.end ? null : cursor.absoluteStart;
  }

  /** Whether the next unit is the first of its batch. */
  get atBatchStart(): boolean {
    return this.units.length === 0;
  }

  /** Reads the next unit; `nextStart` has found one. */
  readUnit(): void {
    const { cursor } = this;
    cursor.beginUnit();
    const offset = cursor.base;
    cursor.batch = this.batchState;
    requireOpenBatch(cursor);
    const statement = cursor.grammar.statement(cursor, this.atBatchStart);
    const commented = cursor.reportOpenComment();
    const length = (commented ? cursor.text.length : cursor.absoluteEnd) - offset;
    if (cursor.stumbled) nestRanges(statement, length);
    const unit: Unit = {
      offset,
      length,
      statement,
      problems: cursor.problems.length === 0 ? none : this.problemsWithin(offset, length),
      lookahead: endOfLine(cursor.text, Math.max(cursor.furthest, cursor.base + cursor.currentEnd)) - (offset + length),
    };
    this.units.push(unit);
    this.batchState = batchStateBehind(this.batchState, unit);
  }

  private problemsWithin(offset: number, length: number): readonly SyntaxProblem[] {
    const { cursor } = this;
    const text = cursor.text.slice(offset, offset + length);
    return mayBeReplaced(text, cursor) ? none : cursor.problems.map((problem) => within(problem, length));
  }

  private endBatch(): void {
    const { cursor, units } = this;
    const start = cursor.absoluteStart;
    const { tokenText } = cursor;
    const end = start + tokenText.length;
    const separator = { start, end, repeat: separatorCount(tokenText) };
    this.batches.push({
      start: this.batchStart,
      end: start,
      separator,
      units: listOf(units),
      sqlcmd: this.takeSqlcmd(start),
    });
    this.units = [];
    this.batchState = 'empty';
    this.batchStart = end;
    cursor.passSeparator();
  }

  /** SQLCMD lines before an offset; the tokenizer may have read further ones already. */
  private takeSqlcmd(before: number): readonly SqlcmdLine[] {
    const { sqlcmd } = this.cursor;
    let count = 0;
    if (sqlcmd.length === 0 && this.earlierSqlcmd.length === 0) return none;
    while (count < sqlcmd.length && (sqlcmd[count]?.start ?? 0) < before) count += 1;
    return [...this.earlierSqlcmd.splice(0), ...sqlcmd.splice(0, count)];
  }

  /** All batches; the last one has no separator and may be empty. */
  finish(): readonly ScriptBatch[] {
    const { text, openComment } = this.cursor;
    if (openComment >= 0 && this.units.length === 0) this.units.push(commentUnit(openComment, text.length));
    const last: ScriptBatch = {
      start: this.batchStart,
      end: text.length,
      separator: null,
      units: this.units,
      sqlcmd: this.takeSqlcmd(text.length + 1),
    };
    return [...this.batches, last];
  }

  /** The batches read so far, followed by the rest of an earlier reading from a unit on, moved by `delta`. */
  finishWith(rest: readonly ScriptBatch[], delta: number, from: number): readonly ScriptBatch[] {
    const [first, ...others] = rest;
    if (first === undefined) return this.finish();
    const kept = first.units.filter((unit) => unit.offset >= from);
    const sqlcmd = [
      ...this.takeSqlcmd(from + delta),
      ...first.sqlcmd.filter((line) => line.start >= from).map((line) => movedLine(line, delta)),
    ];
    const joined: ScriptBatch = {
      ...movedBatch({ ...first, units: kept }, delta),
      start: this.batchStart,
      sqlcmd,
    };
    return [
      ...this.batches,
      { ...joined, units: [...this.units, ...joined.units] },
      ...others.map((batch) => movedBatch(batch, delta)),
    ];
  }
}

/** A problem at the token behind the unit is shown at the unit's end, where something is missing. */
function within(problem: SyntaxProblem, length: number): SyntaxProblem {
  return problem.start < length
    ? { ...problem, end: Math.min(problem.end, length) }
    : { ...problem, start: Math.max(0, length - 1), end: length };
}

/** Whether a GO separates batches depends on the rest of its line. */
function endOfLine(text: string, offset: number): number {
  const lineEnd = text.indexOf('\n', offset);
  return lineEnd < 0 ? text.length : lineEnd;
}

/** A comment without an end in a batch that holds nothing else. */
function commentUnit(start: number, end: number): Unit {
  const problem: SyntaxProblem = { start: 0, end: 2, message: 'This comment has no closing */.' };
  const length = end - start;
  return {
    offset: start,
    length,
    statement: { kind: 'empty', start: 0, end: length },
    problems: [problem],
    lookahead: 0,
  };
}

/**
 * Text that a tool replaces before any engine sees it may stand for anything, so nothing is a mistake beside it:
 * `$(Var)` outside of strings, `{{ … }}`, `{% … %}`, `{# … #}`, `#{…}`, `${…}` and, in Spark, `{name}`.
 */
function mayBeReplaced(text: string, cursor: Cursor): boolean {
  return (cursor.dialect.family === 'spark' ? sparkPlaceholder : placeholder).test(text);
}

const placeholder = /\$\(|\{\{|\{%|\{#|#\{|\$\{/;
const sparkPlaceholder = /\{\w+\}|\$\(|\{\{|\{%|\{#|#\{|\$\{/;

/** A batch that stands `delta` characters further on. */
export function movedBatch(batch: ScriptBatch, delta: number): ScriptBatch {
  if (delta === 0) return batch;
  const { separator } = batch;
  return {
    start: batch.start + delta,
    end: batch.end + delta,
    separator: separator === null ? null : { ...separator, start: separator.start + delta, end: separator.end + delta },
    units: batch.units.map((unit) => movedUnit(unit, delta)),
    sqlcmd: batch.sqlcmd.map((line) => movedLine(line, delta)),
  };
}

/** Written out: after a folder of many kinds of statements a spread takes several times as long, for each key. */
function movedUnit({ offset, length, statement, problems, lookahead }: Unit, delta: number): Unit {
  return { offset: offset + delta, length, statement, problems, lookahead };
}

function movedLine(line: SqlcmdLine, delta: number): SqlcmdLine {
  return { ...line, start: line.start + delta, end: line.end + delta };
}
