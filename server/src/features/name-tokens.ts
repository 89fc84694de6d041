import type { TableName } from '../../../protocol/catalog.ts';
import { parseTableName, sameIdentifier } from '../model/names.ts';
import { type Token, tokenKind } from '../syntax/tokens.ts';

/** A name, a variable, or a word that may be the beginning of one. */
export function isNameToken(token: Token): boolean {
  const { kind } = token;
  return (
    kind === tokenKind.word ||
    kind === tokenKind.reserved ||
    kind === tokenKind.bracketed ||
    kind === tokenKind.doubleQuoted ||
    kind === tokenKind.backticked ||
    kind === tokenKind.variable ||
    (kind === tokenKind.unknown && token.end - token.start === 1)
  );
}

/** The parts in front of the name at the cursor, `DWH.dw.|`. */
export function qualifiersOf(before: readonly Token[], text: string): readonly string[] {
  const parts: string[] = [];
  for (let index = before.length - 1; before[index]?.word === '.'; index -= 2) {
    const owner = before[index - 1];
    parts.unshift(owner === undefined ? '' : unquoted(text.slice(owner.start, owner.end)));
  }
  return parts;
}

/** The name of a table that begins at a token. */
export function nameFrom(tokens: readonly Token[], first: number, text: string): TableName | null {
  const start = tokens[first];
  if (start === undefined || !isNameToken(start)) return null;
  let end = first;
  while (tokens[end + 1]?.word === '.' && tokens[end + 2] !== undefined) end += 2;
  return parseTableName(text.slice(start.start, tokens[end]?.end)) ?? null;
}

/** A name as it is meant, without its quotes; the closing one may still be missing. */
export function unquoted(text: string): string {
  const inner = /^[["`](.*?)[\]"`]?$/.exec(text);
  return inner?.[1] ?? text;
}

/** What is left to write of a name behind its schema, its database, or both; null where they are others. */
export function partsBehind(
  { database, schema, table }: TableName,
  qualifiers: readonly string[],
): readonly string[] | null {
  const is = (part: string | null, asked: string | undefined) => part !== null && sameIdentifier(part, asked ?? '');
  const [first, second] = qualifiers;
  if (second !== undefined) return is(schema, second) && (database === null || is(database, first)) ? [table] : null;
  if (is(schema, first)) return [table];
  return is(database, first) && schema !== null ? [schema, table] : null;
}
