import { carriageReturn, isBlank, isDigit, isHexDigit, isNamePart, isNameStart, newline } from './characters.ts';
import type { Dialect } from './dialect.ts';
import { markAt } from './marks.ts';
import { endOfLine, endOfNumber, endOfPlaceholder, endOfQuoted, endOfSqlcmdVariable } from './tokenEnds.ts';
import { cellBorder, isAtCellStart, isAtLineStart } from './tokenStarts.ts';
import { type Token, type TokenKind, tokenKind } from './tokens.ts';
import { findWord, type WordEntry } from './vocabulary.ts';

const quote = 39;
const doubleQuote = 34;

/**
 * Reads tokens from left to right. A token begins the same way wherever the reading starts, as long as it starts at a
 * token's first character or in the white space before it; so a part of a file can be read alone.
 * The fields describe the token read last.
 */
export class Tokenizer {
  kind: TokenKind = tokenKind.end;
  start = 0;
  end = 0;
  word = '';
  unterminated = false;
  /** First block comment that the text ends in, -1 if there is none. */
  openComment = -1;

  private readonly text: string;
  private readonly dialect: Dialect;
  private readonly limit: number;
  private readonly reservedBit: number;
  private position: number;
  /** Where a notebook's cell border was met, -1 where none was. */
  private cellAt = -1;
  /** Nothing of the current cell was read yet (Spark only). */
  private cellStart: boolean;
  /** Only white space and comments stand between the line's start and the position. */
  private atLineStart: boolean;

  constructor(text: string, dialect: Dialect, from = 0, limit = text.length) {
    this.text = text;
    this.dialect = dialect;
    this.position = from;
    this.limit = limit;
    this.reservedBit = dialect.family === 'tsql' ? 1 : dialect.family === 'spark' ? 2 : 4;
    this.atLineStart = isAtLineStart(text, from);
    this.cellStart = dialect.family === 'spark' && isAtCellStart(text, from);
  }

  /** Moves to the next token. At the end of the text it stays at a token of kind `end`. */
  next(): void {
    this.skipTrivia();
    if (this.cellAt >= 0) {
      this.readCellBorder();
      return;
    }
    if (this.cellStart) this.skipOtherLanguage();
    if (this.cellAt >= 0) {
      this.readCellBorder();
      return;
    }
    this.start = this.position;
    this.word = '';
    this.unterminated = false;
    if (this.position >= this.limit) {
      this.kind = tokenKind.end;
      this.end = this.limit;
      return;
    }
    const lineStart = this.atLineStart;
    this.atLineStart = false;
    const code = this.text.charCodeAt(this.position);
    if (isNameStart(code)) this.readWord(code, lineStart);
    else if (isDigit(code)) this.readNumber(code);
    else this.readOther(code, lineStart);
    this.end = this.position;
  }

  private skipTrivia(): void {
    const { text, limit } = this;
    let position = this.position;
    while (position < limit) {
      const code = text.charCodeAt(position);
      if (code === newline || code === carriageReturn) {
        this.atLineStart = true;
        position += 1;
      } else if (code === 32 || code === 9 || isBlank(code)) {
        position += 1;
      } else if (code === 45 && text.charCodeAt(position + 1) === 45) {
        if (this.dialect.family === 'spark' && text.startsWith(cellBorder, position)) {
          this.cellAt = position;
          break;
        }
        position = endOfLine(text, position, limit);
      } else if (code === 47 && text.charCodeAt(position + 1) === 42) {
        position = this.skipBlockComment(position);
      } else if (code === 123 && text.charCodeAt(position + 1) === 35 && this.dialect.family !== 'tsql') {
        // Jinja's comment, which may hold semicolons.
        const end = text.indexOf('#}', position + 2);
        if (end < 0 || end + 2 > limit) break;
        this.atLineStart ||= text.slice(position, end).includes('\n');
        position = end + 2;
      } else {
        break;
      }
    }
    this.position = position;
  }

  /** A border between the cells of a Databricks notebook ends a statement as GO does. */
  private readCellBorder(): void {
    this.kind = tokenKind.separator;
    this.word = '';
    this.unterminated = false;
    this.start = this.cellAt;
    this.position = endOfLine(this.text, this.cellAt, this.limit);
    this.end = this.position;
    this.cellAt = -1;
    this.cellStart = true;
  }

  /** A cell that begins with a magic command is no SQL, except for %sql, whose command is passed over. */
  private skipOtherLanguage(): void {
    this.cellStart = false;
    const { text, limit } = this;
    if (text.charCodeAt(this.position) !== 37 || !isNameStart(text.charCodeAt(this.position + 1))) return;
    if (/^%sql\b/.test(text.slice(this.position, this.position + 5))) this.position += 4;
    else {
      const border = text.indexOf(cellBorder, this.position);
      this.position = border < 0 || border > limit ? limit : border;
    }
    this.skipTrivia();
  }

  /** Block comments nest on all platforms. */
  private skipBlockComment(from: number): number {
    const { text, limit } = this;
    let depth = 1;
    let position = from + 2;
    while (position < limit) {
      const code = text.charCodeAt(position);
      if (code === 42 && text.charCodeAt(position + 1) === 47) {
        depth -= 1;
        position += 2;
        if (depth === 0) return position;
      } else if (code === 47 && text.charCodeAt(position + 1) === 42) {
        depth += 1;
        position += 2;
      } else {
        if (code === newline) this.atLineStart = true;
        position += 1;
      }
    }
    if (this.openComment < 0) this.openComment = from;
    return limit;
  }

  private readWord(first: number, lineStart: boolean): void {
    const { text, limit } = this;
    const next = text.charCodeAt(this.position + 1);
    if (this.readPrefixedString(first, next)) return;
    const from = this.position;
    let position = from;
    let hash = 0;
    while (position < limit) {
      const code = text.charCodeAt(position);
      if (code === 36 && text.charCodeAt(position + 1) === 40) {
        position = endOfSqlcmdVariable(this.text, position, this.limit);
        hash = -1;
        continue;
      }
      if (code === 36 && text.charCodeAt(position + 1) === 123 && this.dialect.family !== 'tsql') {
        position = endOfPlaceholder(this.text, position, this.limit);
        hash = -1;
        continue;
      }
      if (!isNamePart(code)) break;
      // Letters count as upper case; other characters are in no keyword, so mixing them up does no harm.
      hash = (hash * 31 + (code >= 97 && code <= 122 ? code - 32 : code)) | 0;
      position += 1;
    }
    this.position = position;
    this.kind = tokenKind.word;
    if (position - from > 40) return;
    const entry: WordEntry | undefined = findWord(text, from, position, hash);
    if (entry === undefined) return;
    if (lineStart && entry.text === 'GO' && this.dialect.family === 'tsql' && this.readSeparator(position)) return;
    this.word = entry.text;
    if ((entry.reserved & this.reservedBit) !== 0) this.kind = tokenKind.reserved;
  }

  /** `N'…'`, DuckDB's `E'…'`, Spark's `r'…'` and `x'…'`: a letter directly before a quote. */
  private readPrefixedString(first: number, next: number): boolean {
    const { family } = this.dialect;
    if (next !== quote && !(next === doubleQuote && family === 'spark')) return false;
    const letter = String.fromCharCode(first).toUpperCase();
    if (family === 'tsql') {
      if (letter !== 'N') return false;
      this.position += 1;
      this.readString(quote, false);
      this.kind = tokenKind.nationalString;
      return true;
    }
    if (!(family === 'spark' ? 'RXB' : 'EXB').includes(letter)) return false;
    this.position += 1;
    this.readString(next, family === 'duckdb' ? letter === 'E' : letter !== 'R');
    if (letter === 'X') this.kind = tokenKind.binary;
    return true;
  }

  /** The rest of a GO line: nothing, a count, a comment. Anything else makes GO an ordinary word. */
  private readSeparator(after: number): boolean {
    const { text } = this;
    const lineEnd = endOfLine(text, after, this.limit);
    const rest = /^[^\S\r\n]*(\d{1,9})?[^\S\r\n]*;?[^\S\r\n]*(?:--.*|\/\*[^*]*\*\/[^\S\r\n]*)?$/.exec(
      text.slice(after, lineEnd),
    );
    if (rest === null) return false;
    this.kind = tokenKind.separator;
    this.position = lineEnd;
    return true;
  }

  private readNumber(first: number): void {
    const { text } = this;
    let position = this.position;
    if (first === 48 && (text.charCodeAt(position + 1) | 32) === 120) {
      position += 2;
      // A backslash continues a long binary literal on the next line.
      while (position < this.limit) {
        const code = text.charCodeAt(position);
        if (isHexDigit(code)) position += 1;
        else if (code === 92 && /^\\\r?\n/.test(text.slice(position, position + 3))) {
          position += text.charCodeAt(position + 1) === carriageReturn ? 3 : 2;
        } else break;
      }
      this.position = position;
      this.kind = tokenKind.binary;
      return;
    }
    this.position = endOfNumber(this.text, position, this.limit, this.dialect.family);
    this.kind = tokenKind.number;
    if (this.dialect.family === 'spark' && this.position < this.limit) this.extendToName(position);
  }

  /** Spark's names may begin with digits: `2020_sales`. */
  private extendToName(from: number): void {
    const { text, limit } = this;
    let end = this.position;
    if (!isNamePart(text.charCodeAt(end)) || text.slice(from, end).includes('.')) return;
    while (end < limit && isNamePart(text.charCodeAt(end))) end += 1;
    this.position = end;
    this.kind = tokenKind.word;
  }

  private readOther(code: number, lineStart: boolean): void {
    const { text, dialect } = this;
    const next = text.charCodeAt(this.position + 1);
    switch (code) {
      case quote:
        this.readString(quote, dialect.family === 'spark');
        return;
      case doubleQuote:
        if (dialect.doubleQuotedStrings) this.readString(doubleQuote, true);
        else this.readQuoted(doubleQuote, tokenKind.doubleQuoted);
        return;
      case 91: // [
        if (dialect.family === 'tsql') {
          this.readQuoted(93, tokenKind.bracketed);
          return;
        }
        break;
      case 96: // `
        this.readQuoted(96, tokenKind.backticked);
        return;
      case 64: // @
      case 35: // #
        if (this.readMarkedName(code)) return;
        break;
      case 36: // $
        if (this.readDollar(next)) return;
        break;
      case 58: // :
        if (lineStart && dialect.family === 'tsql' && isNameStart(next)) {
          this.readSqlcmdLine();
          return;
        }
        if (dialect.family === 'spark' && isNameStart(next) && this.mayBeginParameter()) {
          this.readVariable(1);
          return;
        }
        break;
      case 33: // !
        if (lineStart && next === 33 && dialect.family === 'tsql') {
          this.readSqlcmdLine();
          return;
        }
        break;
      case 63: // ?
        this.readVariable(1);
        return;
      case 46: // .
        if (isDigit(next)) {
          const end = endOfNumber(this.text, this.position, this.limit, this.dialect.family);
          // Spark: the dot of `db.2020_sales` begins no number.
          if (dialect.family === 'spark' && end < this.limit && isNamePart(text.charCodeAt(end))) break;
          this.position = end;
          this.kind = tokenKind.number;
          return;
        }
        break;
      default:
        if (code === 0xa3 || code === 0xa5 || code === 0x20ac) {
          this.readMoney();
          return;
        }
    }
    this.readPunctuation();
  }

  /** `:name` is a parameter only where a value begins; `a:b` is a path into JSON. */
  private mayBeginParameter(): boolean {
    const before = this.text.charCodeAt(this.position - 1);
    return Number.isNaN(before) || isBlank(before) || before === 40 || before === 44 || before === 61;
  }

  private readString(mark: number, backslashes: boolean): void {
    this.readToClosing(mark, backslashes, tokenKind.string);
  }

  private readQuoted(closing: number, kind: TokenKind): void {
    this.readToClosing(closing, false, kind);
  }

  private readToClosing(closing: number, backslashes: boolean, kind: TokenKind): void {
    const end = endOfQuoted(this.text, this.position, this.limit, closing, backslashes);
    this.kind = kind;
    this.unterminated = end < 0;
    this.position = end < 0 ? this.limit : end;
  }

  /** `@x`, `@@x` in T-SQL; `#t`, `##t` are names there. */
  private readMarkedName(code: number): boolean {
    if (this.dialect.family !== 'tsql') return false;
    this.readVariable(1);
    this.kind = code === 64 ? tokenKind.variable : tokenKind.word;
    return true;
  }

  private readVariable(marks: number): void {
    const { text, limit } = this;
    let position = this.position + marks;
    while (position < limit) {
      const code = text.charCodeAt(position);
      if (code === 36 && text.charCodeAt(position + 1) === 40)
        position = endOfSqlcmdVariable(this.text, position, this.limit);
      else if (isNamePart(code)) position += 1;
      else break;
    }
    this.position = position;
    this.kind = tokenKind.variable;
  }

  /** `$(Var)`, `$action`, `$12.50`, `${x}`, DuckDB's `$$…$$` and `$1`. */
  private readDollar(next: number): boolean {
    const { text } = this;
    const { family } = this.dialect;
    if (next === 40 || (isNameStart(next) && family === 'tsql')) {
      let position = next === 40 ? endOfSqlcmdVariable(this.text, this.position, this.limit) : this.position + 1;
      while (position < this.limit) {
        const code = text.charCodeAt(position);
        if (code === 36 && text.charCodeAt(position + 1) === 40)
          position = endOfSqlcmdVariable(this.text, position, this.limit);
        else if (isNamePart(code)) position += 1;
        else break;
      }
      this.position = position;
      this.kind = tokenKind.word;
      return true;
    }
    if (next === 123) {
      let position = endOfPlaceholder(this.text, this.position, this.limit);
      while (position < this.limit && isNamePart(text.charCodeAt(position))) {
        position = text.startsWith('${', position) ? endOfPlaceholder(this.text, position, this.limit) : position + 1;
      }
      this.position = position;
      this.kind = tokenKind.variable;
      return true;
    }
    if (family === 'duckdb' || next === 36) {
      const tag = /^\$\w*\$/.exec(text.slice(this.position, this.position + 64));
      if (tag === null) {
        this.readVariable(1);
        return true;
      }
      const close = text.indexOf(tag[0], this.position + tag[0].length);
      this.unterminated = close < 0 || close >= this.limit;
      this.position = this.unterminated ? this.limit : close + tag[0].length;
      this.kind = tokenKind.string;
      return true;
    }
    this.readMoney();
    return true;
  }

  private readMoney(): void {
    const { text, limit } = this;
    let position = this.position + 1;
    const sign = text.charCodeAt(position);
    if ((sign === 45 || sign === 43) && isDigit(text.charCodeAt(position + 1))) position += 1;
    while (position < limit && (isDigit(text.charCodeAt(position)) || text.charCodeAt(position) === 46)) position += 1;
    this.position = position;
    this.kind = tokenKind.money;
  }

  private readSqlcmdLine(): void {
    this.position = endOfLine(this.text, this.position, this.limit);
    this.kind = tokenKind.sqlcmd;
  }

  private readPunctuation(): void {
    const mark = markAt(this.text, this.position, this.limit, this.dialect.family);
    this.word = mark ?? '';
    this.kind = mark === undefined ? tokenKind.unknown : tokenKind.punctuation;
    this.position += mark?.length ?? 1;
  }
}

/** All tokens of a text, comments and white space left out: the gaps between them. */
export function tokenize(text: string, dialect: Dialect): readonly Token[] {
  const tokens: Token[] = [];
  const tokenizer = new Tokenizer(text, dialect);
  for (;;) {
    tokenizer.next();
    if (tokenizer.kind === tokenKind.end) return tokens;
    const { kind, start, end, word, unterminated } = tokenizer;
    tokens.push({ kind, start, end, word, unterminated });
  }
}
