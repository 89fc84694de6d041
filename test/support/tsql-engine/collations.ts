/** Collations: what text equals what, what comes first, and in which bytes text that is not Unicode is stored. */
import { BeyondEngine, SqlError } from './errors.ts';

export interface Collation {
  readonly name: string;
  /** How it came to the value: a column's own beats the default one of literals and variables, COLLATE beats both. */
  readonly label: 'default' | 'column' | 'explicit' | 'none';
}

/** Case-insensitive and accent-sensitive, as servers are set up without further thought. */
export const usualCollation: Collation = { name: 'SQL_Latin1_General_CP1_CI_AS', label: 'default' };
/** Fabric's own: a warehouse's varchar is UTF-8. */
export const fabricCollation: Collation = { name: 'Latin1_General_100_BIN2_UTF8', label: 'default' };

const rank = { default: 0, column: 1, none: 2, explicit: 3 } as const;
const known = /^(SQL_Latin1_General_CP1_CI_AS|Latin1_General_100_(BIN2|CI_AS)(_UTF8)?)$/i;

export function namedCollation(name: string, database: Collation): Collation {
  if (/^database_default$/i.test(name)) return { ...database, label: 'explicit' };
  if (!known.test(name)) throw new BeyondEngine(`collation ${name}`);
  return { name, label: 'explicit' };
}

/** The collation of a value made of two; a conflict is an error only where it is compared by. */
export function mergedCollation(a: Collation | null, b: Collation | null): Collation | null {
  if (a === null || b === null) return a ?? b;
  if (rank[a.label] !== rank[b.label]) return rank[a.label] > rank[b.label] ? a : b;
  if (a.name.toLowerCase() === b.name.toLowerCase()) return a;
  if (a.label === 'explicit') throw conflict(a, b);
  return { name: `${a.name}" and "${b.name}`, label: 'none' };
}

function conflict(a: Collation, b: Collation): SqlError {
  return new SqlError(
    468,
    `Cannot resolve the collation conflict between "${a.name}" and "${b.name}" in the equal to operation.`,
  );
}

/** The name of the collation that a comparison goes by. */
export function comparableName(collation: Collation | null): string {
  if (collation === null) throw new BeyondEngine('a comparison of texts without a collation');
  if (collation.label === 'none')
    throw new SqlError(
      468,
      `Cannot resolve the collation conflict between "${collation.name}" in the equal to operation.`,
    );
  return collation.name;
}

export function isBinaryCollation(name: string): boolean {
  return /_BIN2?(_|$)/i.test(name);
}

/**
 * Two texts with the same key are equal. Trailing blanks never count; without a binary collation neither letter case
 * nor width do, and `ß` is `ss`.
 */
export function collationKey(text: string, name: string): string {
  const trimmed = text.replace(/ +$/, '');
  return isBinaryCollation(name) ? trimmed : trimmed.normalize('NFKC').toLowerCase().replaceAll('ß', 'ss');
}

const order = new Intl.Collator('en', { sensitivity: 'accent' });

/** Sorts texts: by code points in a binary collation, by the language's order else. The shorter is padded with blanks. */
export function compareTexts(a: string, b: string, name: string): number {
  const [x, y] = [collationKey(a, name), collationKey(b, name)];
  if (x === y) return 0;
  if (!isBinaryCollation(name)) return order.compare(x, y) || (x < y ? -1 : 1);
  const length = Math.max(x.length, y.length);
  const [left, right] = [x.padEnd(length, ' '), y.padEnd(length, ' ')];
  return left < right ? -1 : 1;
}

/** Characters of code page 1252 above Latin-1's gap, by their byte. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** Bytes of text that is not Unicode: UTF-8 in a `_UTF8` collation, else code page 1252, where what it lacks is `?`. */
export function encodeText(text: string, collation: Collation | null): Buffer {
  if (/_UTF8$/i.test(collation?.name ?? '')) return Buffer.from(text, 'utf8');
  const bytes: number[] = [];
  for (const unit of text.split('')) {
    const code = unit.charCodeAt(0);
    const special = windows1252.indexOf(unit);
    bytes.push(special >= 0 ? 0x80 + special : code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : 0x3f);
  }
  return Buffer.from(bytes);
}

export function decodeText(bytes: Buffer, collation: Collation | null): string {
  if (/_UTF8$/i.test(collation?.name ?? '')) return bytes.toString('utf8');
  return [...bytes]
    .map((byte) => (byte >= 0x80 && byte < 0xa0 ? windows1252.charAt(byte - 0x80) : String.fromCharCode(byte)))
    .join('');
}
