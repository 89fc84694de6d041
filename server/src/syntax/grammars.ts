import type { Dialect } from './dialect.ts';
import type { Grammar } from './grammar.ts';
import { tsqlGrammar } from './statements.ts';

/** The grammar of a dialect. */
export function grammarOf(_dialect: Dialect): Grammar {
  return tsqlGrammar;
}
