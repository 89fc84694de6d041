import type { PlatformName } from '../../../protocol/platform.ts';
import { Cursor } from './cursor.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { grammarOf } from './grammars.ts';
import { separatorCount, tokenKind } from './tokens.ts';
import type { Script, ScriptBatch, SqlcmdLine, Unit } from './tree.ts';

export interface ParseOptions {
  /** Absent: sqlserver. `detectPlatform` guesses from a text. */
  readonly platform?: PlatformName;
}

/** Parses a file. Never throws; every mistake is a problem of the unit where it stands (`problemsOf`). */
export function parse(text: string, options: ParseOptions = {}): Script {
  const platform = options.platform ?? 'sqlserver';
  const reader = new ScriptReader(text, dialectOf(platform), 0);
  while (reader.readUnit() !== null);
  return { text, platform, batches: reader.finish() };
}

/** Reads a script unit by unit and gathers the units into batches. */
class ScriptReader {
  private readonly cursor: Cursor;
  private readonly batches: ScriptBatch[] = [];
  private units: Unit[] = [];
  private batchStart: number;

  constructor(text: string, dialect: Dialect, from: number) {
    this.cursor = new Cursor(text, dialect, grammarOf(dialect), from);
    this.batchStart = from;
  }

  /** Reads the next unit, or returns null at the end of the text. */
  readUnit(): Unit | null {
    const { cursor } = this;
    while (cursor.kind === tokenKind.separator) this.endBatch();
    if (cursor.kind === tokenKind.end) return null;
    cursor.beginUnit();
    const offset = cursor.base;
    const first = this.units.length === 0;
    const statement = cursor.grammar.statement(cursor, first);
    cursor.reportOpenComment();
    const unit: Unit = {
      offset,
      length: cursor.absoluteEnd - offset,
      statement,
      problems: cursor.problems,
      lookahead: Math.max(cursor.furthest, cursor.absoluteStart + 1) - cursor.absoluteEnd,
    };
    this.units.push(unit);
    return unit;
  }

  private endBatch(): void {
    const { cursor, units } = this;
    const start = cursor.absoluteStart;
    const end = cursor.absoluteStart + cursor.tokenText.length;
    const separator = { start, end, repeat: separatorCount(cursor.tokenText) };
    this.batches.push({ start: this.batchStart, end: start, separator, units, sqlcmd: this.takeSqlcmd(start) });
    this.units = [];
    this.batchStart = end;
    cursor.passSeparator();
  }

  /** SQLCMD lines before an offset; the tokenizer may have read further ones already. */
  private takeSqlcmd(before: number): readonly SqlcmdLine[] {
    const { sqlcmd } = this.cursor;
    let count = 0;
    while (count < sqlcmd.length && (sqlcmd[count]?.start ?? 0) < before) count += 1;
    return sqlcmd.splice(0, count);
  }

  /** All batches; the last one has no separator and may be empty. */
  finish(): readonly ScriptBatch[] {
    const end = this.cursor.text.length;
    const last = { start: this.batchStart, end, separator: null, units: this.units, sqlcmd: this.takeSqlcmd(end + 1) };
    return [...this.batches, last];
  }
}
