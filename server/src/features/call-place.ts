import type { TableName } from '../../../protocol/catalog.ts';
import { type Token, tokenKind } from '../syntax/tokens.ts';
import { isNameToken, nameFrom } from './name-tokens.ts';

/** An EXEC of a procedure, read up to a place where an argument begins. */
export interface Call {
  readonly procedure: TableName;
  /** The parameters that are named before it, with their `@`. */
  readonly named: readonly string[];
  /** How many arguments stand before it, named or not. */
  readonly before: number;
}

/**
 * Tells of some tokens of T-SQL what the last EXEC in them goes on with: the name of its procedure, a new argument, or
 * anything else (null).
 */
export function callAround(before: readonly Token[], text: string): Call | 'procedure' | null {
  const verb = before.findLastIndex(({ word }) => word === 'EXEC' || word === 'EXECUTE');
  if (verb < 0 || before[verb + 1]?.word === '(') return null;
  const returns = before[verb + 1]?.kind === tokenKind.variable && before[verb + 2]?.word === '=';
  const first = returns ? verb + 3 : verb + 1;
  const end = nameEnd(before, first);
  if (end === 'open') return 'procedure';
  const procedure = nameFrom(before, first, text);
  if (end === null || procedure === null) return null;
  const groups = argumentsOf(before.slice(end));
  const last = groups.at(-1) ?? [];
  if (last.length > 0 || groups.slice(0, -1).some((group) => !isArgument(group))) return null;
  const named = groups.flatMap(([name, sign]) =>
    name !== undefined && sign?.word === '=' ? [text.slice(name.start, name.end)] : [],
  );
  return { procedure, named, before: groups.length - 1 };
}

/** Where the name of a procedure is over; 'open' where a part of it is still to come, null for no name. */
function nameEnd(tokens: readonly Token[], first: number): number | 'open' | null {
  for (let at = first; ; at += 2) {
    // The schema may be left out, `DWH..Load`.
    if (tokens[at]?.word === '.' && at > first) at += 1;
    const token = tokens[at];
    if (token === undefined) return 'open';
    const { kind } = token;
    if (!isNameToken(token) || kind === tokenKind.reserved || kind === tokenKind.variable) return null;
    if (tokens[at + 1]?.word !== '.') return at + 1;
  }
}

function argumentsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const groups: Token[][] = [[]];
  for (const token of tokens) {
    if (token.word === ',') groups.push([]);
    else groups.at(-1)?.push(token);
  }
  return groups;
}

/** `[@name =] [-] value [OUTPUT]`. */
function isArgument(tokens: readonly Token[]): boolean {
  const value = tokens[1]?.word === '=' ? tokens.slice(2) : tokens;
  const unsigned = value[0]?.word === '-' || value[0]?.word === '+' ? value.slice(1) : value;
  const [first, output, more] = unsigned;
  if (first === undefined || more !== undefined) return false;
  return output === undefined || output.word === 'OUT' || output.word === 'OUTPUT';
}
