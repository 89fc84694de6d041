import { type EmbeddedScript, EmbeddedText } from './embedded.ts';

/**
 * The SQL of a Databricks notebook kept as a Python file: cells of `# MAGIC %sql` and the strings of `spark.sql (…)`.
 * Expressions in f-strings become holes.
 */
export function scriptsInPython(text: string): readonly EmbeddedScript[] {
  const found = [...sqlCells(text), ...sqlStrings(text)];
  return found.sort((a, b) => a.hostOffset(0) - b.hostOffset(0));
}

const magic = /^# MAGIC ?/;

/** Cells whose first magic is %sql, line by line without the mark in front. */
function sqlCells(text: string): readonly EmbeddedScript[] {
  const found: EmbeddedScript[] = [];
  let cell: EmbeddedText | null = null;
  let offset = 0;
  const close = (): void => {
    if (cell !== null && !cell.isEmpty) found.push(cell.finish('databricks'));
    cell = null;
  };
  for (const line of text.split('\n')) {
    const mark = magic.exec(line)?.[0];
    if (mark === undefined) close();
    else {
      const rest = line.slice(mark.length);
      const start = /^%sql\b[ \t]*/.exec(rest)?.[0];
      if (start !== undefined) {
        close();
        cell = new EmbeddedText();
        if (rest.length > start.length) addLine(cell, rest.slice(start.length), offset + mark.length + start.length);
      } else if (rest.startsWith('%')) close();
      else if (cell !== null) addLine(cell, rest, offset + mark.length);
    }
    offset += line.length + 1;
  }
  close();
  return found;
}

function addLine(cell: EmbeddedText, line: string, start: number): void {
  cell.addPlain(`${line}\n`, start);
}

/**
 * The first argument of `spark.sql`, where it begins with a string: strings side by side and strings joined by + are one
 * text. What else is done to it (names, `.format`, %) only running it tells.
 */
function sqlStrings(text: string): readonly EmbeddedScript[] {
  const found: EmbeddedScript[] = [];
  const call = /\bspark\s*\.\s*sql\s*\(/g;
  for (let match = call.exec(text); match !== null; match = call.exec(text)) {
    if (isInComment(text, match.index)) continue;
    const content = new EmbeddedText();
    let end = call.lastIndex;
    for (let start = stringAt(text, end); start !== null; start = stringAt(text, end, '+')) {
      const string = readString(text, start);
      if (string === null) break;
      content.append(string.content);
      end = string.end;
    }
    if (content.isEmpty) continue;
    call.lastIndex = end;
    if (!/[,)]/.test(text.charAt(skipBlank(text, end)))) content.complete = false;
    found.push(content.finish('databricks'));
  }
  return found;
}

/** A string's prefix and opening quotes. */
interface StringStart {
  /** Offset of the first character of its content. */
  readonly content: number;
  readonly quote: string;
  readonly formatted: boolean;
  readonly raw: boolean;
}

/** The string that begins at an offset behind blanks and, where there is one, an operator. */
function stringAt(text: string, from: number, operator = ''): StringStart | null {
  let offset = skipBlank(text, from);
  if (operator !== '' && text.startsWith(operator, offset)) offset = skipBlank(text, offset + operator.length);
  const start = /([rRbBuUfF]{0,2})("""|'''|"|')/y;
  start.lastIndex = offset;
  const match = start.exec(text);
  if (match === null) return null;
  const [whole, prefix = '', quote = '"'] = match;
  return { content: offset + whole.length, quote, formatted: /f/i.test(prefix), raw: /r/i.test(prefix) };
}

/** The offset behind blanks, joined lines and comments. */
function skipBlank(text: string, from: number): number {
  const blank = /(?:\s+|\\\r?\n|#[^\n]*)*/y;
  blank.lastIndex = from;
  return from + (blank.exec(text)?.[0].length ?? 0);
}

function isInComment(text: string, offset: number): boolean {
  return /^[ \t]*#/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
}

function readString(
  text: string,
  { content: start, quote, formatted, raw }: StringStart,
): { readonly content: EmbeddedText; readonly end: number } | null {
  const content = new EmbeddedText();
  let offset = start;
  while (offset < text.length) {
    if (text.startsWith(quote, offset)) return { content, end: offset + quote.length };
    const character = text.charAt(offset);
    if (quote.length === 1 && character === '\n') return null;
    if (character === '\\' && !raw) {
      const next = text.charAt(offset + 1);
      if (next !== '\n') content.addCharacter(escapes[next] ?? next, offset, 2);
      offset += 2;
    } else if (formatted && (character === '{' || character === '}') && text.charAt(offset + 1) === character) {
      content.addCharacter(character, offset, 2);
      offset += 2;
    } else if (formatted && character === '{') {
      const close = closingBrace(text, offset);
      content.addHole(offset, close);
      offset = close;
    } else {
      content.addCharacter(character, offset, 1);
      offset += 1;
    }
  }
  return null;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function closingBrace(text: string, from: number): number {
  let open = 0;
  for (let offset = from; offset < text.length; offset += 1) {
    const character = text.charAt(offset);
    if (character === '{') open += 1;
    else if (character === '}') {
      open -= 1;
      if (open === 0) return offset + 1;
    }
  }
  return text.length;
}
