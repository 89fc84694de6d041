/** House style that is put on after a text is printed: the case of keywords, and the hooks of a load. */
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { formatTableName } from '../model/names.ts';
import { reservedWords } from '../sql/names.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { Tokenizer } from '../syntax/tokenizer.ts';
import { tokenKind } from '../syntax/tokens.ts';
import type { HouseStyle } from './types.ts';

/** The text with its keywords in the house's case. Names, literals and comments stay as they are. */
export function withKeywordCase(text: string, keywordCase: HouseStyle['keywordCase'], platform: PlatformName): string {
  if (keywordCase === 'upper') return text;
  const tokenizer = new Tokenizer(text, dialectOf(platform));
  const parts: string[] = [];
  let copied = 0;
  let before = '';
  for (tokenizer.next(); tokenizer.kind !== tokenKind.end; tokenizer.next()) {
    const token = text.slice(tokenizer.start, tokenizer.end);
    if (before !== '.' && /^[A-Z_]+$/.test(token) && reservedWords.has(token)) {
      parts.push(text.slice(copied, tokenizer.start), token.toLowerCase());
      copied = tokenizer.end;
    }
    before = token;
  }
  return parts.join('') + text.slice(copied);
}

/**
 * The hooks with their placeholders filled: `$(load)`, `$(pattern)`, `$(source)`, `$(target)` as text literals. The counts
 * are the load's own variables; `$(inserted)` … stand for them after the load.
 */
export function filledHooks(
  hooks: HouseStyle['hooks'],
  { pattern, source, target }: LoadSpecification,
  platform: PlatformName,
  counts: Readonly<Record<string, string>>,
): HouseStyle['hooks'] {
  const quoted = (text: string): string =>
    `${isTsql(platform) && platform !== 'fabric' ? 'N' : ''}'${text.replaceAll("'", "''")}'`;
  const values: Readonly<Record<string, string>> = {
    load: quoted(`${pattern} ${formatTableName(target)}`),
    pattern: quoted(pattern),
    source: quoted(formatTableName(source)),
    target: quoted(formatTableName(target)),
    ...counts,
  };
  const fill = (text: string): string =>
    text.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => values[name] ?? whole);
  return {
    ...(hooks.before === undefined ? {} : { before: fill(hooks.before) }),
    ...(hooks.after === undefined ? {} : { after: fill(hooks.after) }),
    ...(hooks.onError === undefined ? {} : { onError: fill(hooks.onError) }),
  };
}
