import type { Range } from '../../../protocol/position.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { tokenize } from '../syntax/tokenizer.ts';
import { type Token, tokenKind } from '../syntax/tokens.ts';
import type { ScriptBatch, Unit } from '../syntax/tree.ts';
import { type DocumentView, rangeAt } from './view.ts';

export type Context =
  | { readonly kind: 'table'; readonly write: boolean; readonly qualifiers: readonly string[] }
  | { readonly kind: 'parameter' }
  | {
      readonly kind: 'columns';
      readonly clause: Clause;
      readonly qualifier: string | null;
      readonly listed: readonly string[];
    };

/** Where columns are completed: it decides which come first and which are left out. */
export type Clause = 'on' | 'set' | 'insert' | 'values' | 'other';

export interface Place {
  readonly unit: Unit;
  readonly batch: ScriptBatch;
  readonly offset: number;
  readonly context: Context;
  readonly range: Range;
}

/** Tells what is named at an offset; undefined where nobody wants help. */
export function placeAt(view: DocumentView, offset: number): Place | undefined {
  const batch = view.script.batches.find((candidate) => candidate.start <= offset && offset <= candidate.end);
  const unit = batch?.units.findLast((candidate) => candidate.offset <= offset);
  if (batch === undefined || unit === undefined) return undefined;
  const tokens = tokenize(view.script.text.slice(unit.offset, offset), dialectOf(view.script.platform));
  if (isInsideText(view, unit, tokens, offset)) return undefined;
  const last = tokens.at(-1);
  const typed = last !== undefined && last.end === offset - unit.offset && isNameToken(last) ? last : undefined;
  const before = typed === undefined ? tokens : tokens.slice(0, -1);
  // Behind the end of a finished statement nothing of it is completed.
  if (typed === undefined && last?.word === ';') return undefined;
  const context = contextOf(before, typed, view.script.text.slice(unit.offset, offset));
  if (context === undefined) return undefined;
  const start = typed === undefined ? offset : unit.offset + typed.start;
  return { unit, batch, offset, context, range: rangeAt(view, { start, end: offset }) };
}

/** In a string or a comment, which end behind the cursor. */
function isInsideText(view: DocumentView, unit: Unit, tokens: readonly Token[], offset: number): boolean {
  const last = tokens.at(-1);
  if (last?.unterminated === true && last.kind !== tokenKind.bracketed) return true;
  const line = view.script.text.slice(view.script.text.lastIndexOf('\n', offset - 1) + 1, offset);
  const afterTokens = view.script.text.slice(unit.offset + (last?.end ?? 0), offset);
  return afterTokens.includes('--') || /\/\*(?![\s\S]*\*\/)/.test(afterTokens) || /^\s*--/.test(line);
}

function isNameToken(token: Token): boolean {
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

const tableWords: Readonly<Record<string, boolean>> = {
  FROM: false,
  JOIN: false,
  USING: false,
  APPLY: false,
  INTO: true,
  UPDATE: true,
  MERGE: true,
  TRUNCATE: true,
};

const clauses: Readonly<Record<string, Clause>> = {
  ON: 'on',
  SET: 'set',
  VALUES: 'values',
  WHERE: 'other',
  SELECT: 'other',
  HAVING: 'other',
  BY: 'other',
  WHEN: 'other',
  THEN: 'other',
  ELSE: 'other',
  AND: 'other',
  OR: 'other',
  OUTPUT: 'other',
};

/** Words behind which a new thing is named: there nobody wants to be helped. */
const silentWords = new Set([
  'AS',
  'CREATE',
  'PROCEDURE',
  'PROC',
  'FUNCTION',
  'DECLARE',
  'TABLE',
  'VIEW',
  'SCHEMA',
  'DATABASE',
  'USE',
  'GO',
]);

function contextOf(before: readonly Token[], typed: Token | undefined, text: string): Context | undefined {
  const word = typed === undefined ? '' : text.slice(typed.start, typed.end);
  if (word.startsWith('@') || word.startsWith('$')) return { kind: 'parameter' };
  const last = before.at(-1);
  if (last?.word === '.') {
    const qualifiers = qualifiersOf(before, text);
    const write = namesTable(before.slice(0, before.length - 2 * qualifiers.length));
    if (write !== null) return { kind: 'table', write, qualifiers };
    const qualifier = qualifiers.at(-1) ?? '';
    return { kind: 'columns', clause: clauseOf(before), qualifier, listed: [] };
  }
  const write = namesTable(before);
  if (write !== null) return { kind: 'table', write, qualifiers: [] };
  if (last === undefined || silentWords.has(last.word) || !takesOperand(before)) return undefined;
  const insert = insertListOf(before, text);
  if (insert !== null) return { kind: 'columns', clause: 'insert', qualifier: null, listed: insert };
  return { kind: 'columns', clause: clauseOf(before), qualifier: null, listed: [] };
}

/** The parts in front of the name at the cursor, `DWH.dw.|`. */
function qualifiersOf(before: readonly Token[], text: string): readonly string[] {
  const parts: string[] = [];
  for (let index = before.length - 1; before[index]?.word === '.'; index -= 2) {
    const owner = before[index - 1];
    parts.unshift(owner === undefined ? '' : unquoted(text.slice(owner.start, owner.end)));
  }
  return parts;
}

/** Whether a table is named behind some tokens: one to write (true) or to read (false); null where none is. */
function namesTable(before: readonly Token[]): boolean | null {
  const word = before.at(-1)?.word ?? '';
  const previous = before.at(-2)?.word ?? '';
  if (word === 'TABLE') return previous === 'ALTER' || previous === 'TRUNCATE' || previous === 'DROP' ? true : null;
  if (word === 'FROM' && previous === 'DELETE') return true;
  return tableWords[word] ?? null;
}

/** Behind a name, a value or a closing parenthesis an operator or a word of the grammar follows, no column. */
function takesOperand(before: readonly Token[]): boolean {
  const last = before.at(-1);
  if (last === undefined) return false;
  const { kind, word } = last;
  if (word === ')') return closesTop(before);
  if (kind === tokenKind.word) return word in clauses || operandWords.has(word);
  return !(
    (isNameToken(last) && kind !== tokenKind.reserved) ||
    kind === tokenKind.number ||
    kind === tokenKind.string
  );
}

/** Words before an operand that are not reserved everywhere. */
const operandWords = new Set([
  'DISTINCT',
  'ALL',
  'NOT',
  'LIKE',
  'ILIKE',
  'RLIKE',
  'IN',
  'BETWEEN',
  'CASE',
  'QUALIFY',
  'IF',
  'RETURN',
]);

/** `SELECT TOP (10) |`. */
function closesTop(before: readonly Token[]): boolean {
  const open = before.findLastIndex(({ word }) => word === '(');
  return before[open - 1]?.word === 'TOP';
}

/** Names in the column list of an INSERT that is still open at the cursor; null outside of one. */
function insertListOf(before: readonly Token[], text: string): readonly string[] | null {
  let depth = 0;
  const names: string[] = [];
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const token = before[index];
    if (token === undefined) break;
    if (token.word === ')') depth += 1;
    else if (token.word === '(') {
      if (depth > 0) depth -= 1;
      else return opensInsertList(before.slice(0, index)) ? names : null;
    } else if (depth === 0 && isNameToken(token)) names.push(unquoted(text.slice(token.start, token.end)));
    else if (token.word !== ',' && depth === 0) return null;
  }
  return null;
}

/** `INSERT (` of a MERGE, or `INSERT [INTO] name (`. */
function opensInsertList(before: readonly Token[]): boolean {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const token = before[index];
    if (token?.word === 'INSERT') return true;
    if (token === undefined || !(isNameToken(token) || token.word === '.')) return false;
  }
  return false;
}

function clauseOf(before: readonly Token[]): Clause {
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const word = before[index]?.word ?? '';
    const clause = clauses[word];
    if (clause === 'set') return startsAssignment(before) ? 'set' : 'other';
    if (clause === 'on' || clause === 'values') return clause;
    if (clause !== undefined && word !== 'AND' && word !== 'OR' && word !== 'THEN' && word !== 'ELSE') return clause;
  }
  return 'other';
}

/** Left of the equals sign: behind SET or a comma, perhaps with the target's alias. */
function startsAssignment(before: readonly Token[]): boolean {
  const qualified = before.at(-1)?.word === '.';
  const word = before.at(qualified ? -3 : -1)?.word;
  return word === 'SET' || word === ',';
}

function unquoted(text: string): string {
  const inner = /^[["`](.*?)[\]"`]?$/.exec(text);
  return inner?.[1] ?? text;
}
