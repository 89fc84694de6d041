/** Patterns of LIKE and PATINDEX as regular expressions. */
import { isBinaryCollation } from './collations.ts';
import { BeyondEngine } from './errors.ts';

/** The whole text matches the pattern. */
export function likePattern(pattern: string, collation: string): RegExp {
  return new RegExp(`^${body(pattern, collation)}$`, flags(collation));
}

/** Where the pattern begins in the text, from 1; 0 when nowhere. Only patterns between two `%` are read. */
export function patternIndex(pattern: string, text: string, collation: string): bigint {
  if (!pattern.startsWith('%') || !pattern.endsWith('%') || pattern.length < 3)
    throw new BeyondEngine(`PATINDEX of ${pattern}`);
  return BigInt(text.search(new RegExp(body(pattern.slice(1, -1), collation), flags(collation))) + 1);
}

function flags(collation: string): string {
  return isBinaryCollation(collation) ? 's' : 'si';
}

function body(pattern: string, collation: string): string {
  let written = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const unit = pattern.charAt(at);
    if (unit === '%') written += '.*';
    else if (unit === '_') written += '.';
    else if (unit === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end < 0) throw new BeyondEngine(`pattern ${pattern}`);
      written += set(pattern.slice(at + 1, end), collation);
      at = end;
    } else written += literal(unit);
  }
  return written;
}

/** Ranges are of code points in a binary collation; elsewhere they follow the language, which is not known here. */
function set(inside: string, collation: string): string {
  const isNegated = inside.startsWith('^');
  const members = isNegated ? inside.slice(1) : inside;
  if (/.-./s.test(members) && !isBinaryCollation(collation))
    throw new BeyondEngine(`range [${inside}] in ${collation}`);
  const parts: string[] = [];
  for (let at = 0; at < members.length; at += 1) {
    if (members.charAt(at + 1) === '-' && at + 2 < members.length) {
      parts.push(`${literal(members.charAt(at))}-${literal(members.charAt(at + 2))}`);
      at += 2;
    } else parts.push(literal(members.charAt(at)));
  }
  return `[${isNegated ? '^' : ''}${parts.join('')}]`;
}

function literal(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
