import type { PlatformName } from '../../../../protocol/platform.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import { parse } from '../../syntax/parse.ts';
import type { Literal, Script } from '../../syntax/tree.ts';
import { memo } from '../analysis/memo.ts';
import type { Step } from '../analysis/steps.ts';
import { ownProblems } from './syntax-problems.ts';

/** A whole script inside one string literal, as dynamic SQL has it. */
export interface EmbeddedScript {
  readonly literal: Literal;
  readonly script: Script;
}

const beginning =
  /^\s*;?\s*(?:MERGE|UPDATE|INSERT|DELETE|WITH|SET\s+XACT_ABORT|SET\s+NOCOUNT|BEGIN\s+TRAN|TRUNCATE)\b/i;

/** The scripts in a step's strings; a string that is joined with others is only a part of one. T-SQL only. */
const embeddedIn = memo((step: Step): readonly EmbeddedScript[] =>
  step.find('literal').flatMap(({ node: literal, parent }) => {
    if (literal.type !== 'string' && literal.type !== 'national') return [];
    if (literal.value.length < 30 || !beginning.test(literal.value)) return [];
    if (parent?.node.kind === 'binary' || parent?.node.kind === 'call') return [];
    const script = parse(literal.value, { platform: 'sqlserver' });
    return ownProblems(script).length === 0 ? [{ literal, script }] : [];
  }),
);

/** The scripts in string literals of a step; none outside T-SQL, where nothing runs them. */
export function embeddedScripts(step: Step, platform: PlatformName): readonly EmbeddedScript[] {
  return isTsql(platform) ? embeddedIn(step) : [];
}

/** Offset in a literal's source text of an offset in its value: a quote in the value is doubled in the source. */
export function offsetInLiteral(source: string, offset: number): number {
  let at = source.indexOf("'") + 1;
  for (let left = offset; left > 0; left -= 1) at += source.charAt(at) === "'" ? 2 : 1;
  return at;
}
