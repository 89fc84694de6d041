/** Character classes of the tokenizer, over UTF-16 code units. */

export const newline = 10;
export const carriageReturn = 13;

const letter = 1;
const digit = 2;
const blank = 4;
/** May follow inside an identifier, in addition to letters and digits. */
const inner = 8;

const classes = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(character)) classes[code] = letter | inner;
  else if (/[0-9]/.test(character)) classes[code] = digit | inner;
  else if (/[@#$]/.test(character)) classes[code] = inner;
  // NUL and other control characters count as blanks, as in Microsoft's tools.
  else if (code <= 32 || code === 127) classes[code] = blank;
}

/** Blanks beyond ASCII that editors and web pages leave in scripts. */
function isWideBlank(code: number): boolean {
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200b) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff ||
    code === 0x85
  );
}

/** Typographic quotes and dashes, which no engine takes as part of a name. */
function isWideMark(code: number): boolean {
  return code >= 0x2010 && code <= 0x206f;
}

export function isBlank(code: number): boolean {
  return code < 128 ? (classes[code] ?? 0) === blank : isWideBlank(code);
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

/** Letters, the underscore, and every character beyond ASCII that is neither blank nor mark. */
export function isNameStart(code: number): boolean {
  return code < 128 ? ((classes[code] ?? 0) & letter) !== 0 : !isWideBlank(code) && !isWideMark(code);
}

/** Characters after the first of a name: also digits, `@`, `#`, `$`. */
export function isNamePart(code: number): boolean {
  return code < 128 ? ((classes[code] ?? 0) & inner) !== 0 : !isWideBlank(code) && !isWideMark(code);
}
