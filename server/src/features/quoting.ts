import { isSpark, isTsql, type PlatformName } from '../../../protocol/platform.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { tokenize } from '../syntax/tokenizer.ts';
import { tokenKind } from '../syntax/tokens.ts';

/** A name as a platform quotes it, where it needs quotes: for blanks and marks, and where it is a reserved word. */
export function quotedName(name: string, platform: PlatformName): string {
  const [token] = tokenize(name, dialectOf(platform));
  const isPlain = token?.kind === tokenKind.word && token.start === 0 && token.end === name.length;
  if (isPlain || /^[#@][\p{L}\p{N}_@$#]*$/u.test(name)) return name;
  if (isTsql(platform)) return `[${name.replaceAll(']', ']]')}]`;
  return isSpark(platform) ? `\`${name.replaceAll('`', '``')}\`` : `"${name.replaceAll('"', '""')}"`;
}
