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

/** The first argument of `spark.sql`, where it is a string. */
function sqlStrings(text: string): readonly EmbeddedScript[] {
  const found: EmbeddedScript[] = [];
  const call = /\bspark\s*\.\s*sql\s*\(\s*([rRbBuUfF]{0,2})("""|'''|"|')/g;
  for (let match = call.exec(text); match !== null; match = call.exec(text)) {
    const [whole, prefix = '', quote = '"'] = match;
    if (isInComment(text, match.index)) continue;
    const start = match.index + whole.length;
    const string = readString(text, start, quote, /f/i.test(prefix), /r/i.test(prefix));
    if (string === null) continue;
    call.lastIndex = string.end;
    if (!string.content.isEmpty) found.push(string.content.finish('databricks'));
  }
  return found;
}

function isInComment(text: string, offset: number): boolean {
  return /^[ \t]*#/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
}

function readString(
  text: string,
  start: number,
  quote: string,
  formatted: boolean,
  raw: boolean,
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
