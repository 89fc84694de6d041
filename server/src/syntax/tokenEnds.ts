import { carriageReturn, isDigit, isNamePart, newline } from './characters.ts';
import type { Family } from './dialect.ts';

// Where what begins at an offset ends; `limit` is the end of the part of the text that is read.

/** The end of the line that an offset stands in, before its line break. */
export function endOfLine(text: string, from: number, limit: number): number {
  let position = from;
  while (position < limit) {
    const code = text.charCodeAt(position);
    if (code === newline || code === carriageReturn) break;
    position += 1;
  }
  return position;
}

/**
 * Behind the closing mark of a string or a quoted name, a doubled mark standing for itself; -1 where the text ends first.
 * With `backslashes` one of them takes the next character along.
 */
export function endOfQuoted(text: string, from: number, limit: number, closing: number, backslashes: boolean): number {
  let position = from + 1;
  while (position < limit) {
    const code = text.charCodeAt(position);
    if (code === closing) {
      if (text.charCodeAt(position + 1) !== closing || position + 1 >= limit) return position + 1;
      position += 2;
    } else if (backslashes && code === 92) position += 2;
    else position += 1;
  }
  return -1;
}

/** Behind `$(Name)`, or behind what of it there is. */
export function endOfSqlcmdVariable(text: string, from: number, limit: number): number {
  let position = from + 2;
  while (position < limit && isNamePart(text.charCodeAt(position))) position += 1;
  while (position < limit && text.charCodeAt(position) !== 41 && isVariableFiller(text.charCodeAt(position))) {
    position += 1;
  }
  return text.charCodeAt(position) === 41 && position < limit ? position + 1 : position;
}

/** Blanks and name characters are tolerated inside `$( … )`, nothing else. */
function isVariableFiller(code: number): boolean {
  return code === 32 || isNamePart(code);
}

/** Behind the brace of `${name}`. */
export function endOfPlaceholder(text: string, from: number, limit: number): number {
  const close = text.indexOf('}', from);
  return close < 0 || close >= limit ? limit : close + 1;
}

/** Behind the digits, the fraction, the exponent and, on Spark, the suffix of a number. */
export function endOfNumber(text: string, from: number, limit: number, family: Family): number {
  const underscores = family === 'duckdb';
  let position = endOfDigits(text, from, limit, underscores);
  if (text.charCodeAt(position) === 46 && position < limit) {
    position = endOfDigits(text, position + 1, limit, underscores);
  }
  if ((text.charCodeAt(position) | 32) === 101 && position < limit) {
    const sign = text.charCodeAt(position + 1);
    const exponent = position + (sign === 43 || sign === 45 ? 2 : 1);
    if (isDigit(text.charCodeAt(exponent))) position = endOfDigits(text, exponent, limit, underscores);
    else if (family === 'tsql') position += sign === 43 || sign === 45 ? 2 : 1;
  }
  if (family === 'spark') {
    const suffix = /^(?:bd|[lsydf])(?![\w])/i.exec(text.slice(position, position + 3));
    if (suffix !== null) position += suffix[0].length;
  }
  return position;
}

function endOfDigits(text: string, from: number, limit: number, underscores: boolean): number {
  let position = from;
  while (position < limit) {
    const code = text.charCodeAt(position);
    if (!isDigit(code) && !(underscores && code === 95)) break;
    position += 1;
  }
  return position;
}
