import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { tokenize } from '../syntax/tokenizer.ts';
import { type Token, tokenKind } from '../syntax/tokens.ts';
import type { ScriptBatch, Unit } from '../syntax/tree.ts';
import { type Call, callAround } from './call-place.ts';
import { isNameToken, nameFrom, qualifiersOf, unquoted } from './name-tokens.ts';
import { type DocumentView, rangeAt } from './view.ts';

export type Context =
  | { readonly kind: 'table'; readonly write: boolean; readonly qualifiers: readonly string[] }
  | { readonly kind: 'procedure'; readonly qualifiers: readonly string[] }
  | { readonly kind: 'parameter' }
  /** An argument of EXEC begins. */
  | { readonly kind: 'argument'; readonly call: Call }
  | {
      readonly kind: 'columns';
      readonly clause: Clause;
      readonly qualifier: string | null;
      /** What the list around the cursor names before it. */
      readonly listed: readonly string[];
      /** A list of columns that are there already, such as that of PARTITIONED BY. */
      readonly isKeyList: boolean;
      /** The table that the words before such a list name, where no statement that we read tells it. */
      readonly listedTable: TableName | null;
    };

/** Where columns are completed: it decides which come first and which are left out. */
export type Clause = 'on' | 'set' | 'insert' | 'values' | 'output' | 'other';

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

const tableWords: Readonly<Record<string, boolean>> = {
  JOIN: false,
  USING: false,
  APPLY: false,
  REFERENCES: false,
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
  RETURNING: 'other',
  OUTPUT: 'output',
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
  'TO',
  'DELETE',
]);

function contextOf(before: readonly Token[], typed: Token | undefined, text: string): Context | undefined {
  const word = typed === undefined ? '' : text.slice(typed.start, typed.end);
  const isVariable = word.startsWith('@') || word.startsWith('$');
  const call = callAround(before, text);
  if (call === 'procedure')
    return isVariable ? undefined : { kind: 'procedure', qualifiers: qualifiersOf(before, text) };
  if (call !== null && (isVariable || isOnLineOf(before, text))) return { kind: 'argument', call };
  if (isVariable) return { kind: 'parameter' };
  const last = before.at(-1);
  const columns = { kind: 'columns', qualifier: null, listed: [], isKeyList: false, listedTable: null } as const;
  if (last?.word === '.') {
    const qualifiers = qualifiersOf(before, text);
    const write = namesTable(before.slice(0, before.length - 2 * qualifiers.length));
    if (write !== null) return { kind: 'table', write, qualifiers };
    return { ...columns, clause: clauseOf(before), qualifier: qualifiers.at(-1) ?? '' };
  }
  const write = namesTable(before);
  if (write !== null) return { kind: 'table', write, qualifiers: [] };
  if (last === undefined || silentWords.has(last.word) || !takesOperand(before)) return undefined;
  const list = listAround(before, text);
  if (list === null) return { ...columns, clause: clauseOf(before) };
  const opening = before.slice(0, list.opening);
  if (opensInsertList(opening)) return { ...columns, clause: 'insert', listed: list.names };
  const isKeyList = opening.at(-1)?.word === 'BY';
  return {
    ...columns,
    clause: clauseOf(before),
    listed: list.names,
    isKeyList,
    listedTable: tableOfList(opening, text),
  };
}

/** What is typed follows on the line of the last word: there it is no new statement. */
function isOnLineOf(before: readonly Token[], text: string): boolean {
  const last = before.at(-1);
  return last?.word === ',' || !text.slice(last?.end ?? 0).includes('\n');
}

/** Whether a table is named behind some tokens: one to write (true) or to read (false); null where none is. */
function namesTable(before: readonly Token[]): boolean | null {
  const word = before.at(-1)?.word ?? '';
  const previous = before.at(-2)?.word ?? '';
  const third = before.at(-3)?.word ?? '';
  switch (word) {
    case 'TABLE':
      return previous === 'ALTER' || previous === 'TRUNCATE' || previous === 'DROP' ? true : null;
    case 'EXISTS':
      return previous === 'IF' && third === 'TABLE' && before.at(-4)?.word === 'DROP' ? true : null;
    case 'FROM':
      return previous === 'DELETE';
    case 'DELETE':
      return previous === 'THEN' || previous === 'ON' ? null : true;
    case 'ON':
      return third === 'INDEX' || third === 'STATISTICS' ? true : null;
    case 'STATISTICS':
      return previous === 'UPDATE' ? true : null;
    case 'OPTIMIZE':
      return before.length === 1 ? true : null;
    default:
      return tableWords[word] ?? null;
  }
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
  'COLUMN',
  'COLUMNS',
  'RENAME',
]);

/** `SELECT TOP (10) |`. */
function closesTop(before: readonly Token[]): boolean {
  const open = before.findLastIndex(({ word }) => word === '(');
  return before[open - 1]?.word === 'TOP';
}

/** The list that is still open at the cursor: where its parenthesis stands, and its names; null outside of one. */
function listAround(
  before: readonly Token[],
  text: string,
): { readonly opening: number; readonly names: readonly string[] } | null {
  let depth = 0;
  const names: string[] = [];
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const token = before[index];
    if (token === undefined) break;
    if (token.word === ')') depth += 1;
    else if (token.word === '(') {
      if (depth === 0) return { opening: index, names };
      depth -= 1;
    } else if (depth === 0 && isNameToken(token)) names.push(unquoted(text.slice(token.start, token.end)));
    else if (token.word !== ',' && depth === 0) return null;
  }
  return null;
}

/**
 * The table of a list in a statement that is not read in full: `CREATE STATISTICS s ON t (`, `OPTIMIZE t ZORDER BY (`,
 * `ALTER TABLE t CLUSTER BY (`.
 */
function tableOfList(before: readonly Token[], text: string): TableName | null {
  // Words that are keywords nowhere else are known by their text.
  const words = before.map(({ word, start, end }) => word || text.slice(start, end).toUpperCase());
  const by = words.at(-1) === 'BY' && /^(?:ZORDER|CLUSTER)$/.test(words.at(-2) ?? '');
  if (by && words[0] === 'OPTIMIZE') return nameFrom(before, 1, text);
  if (by && words[0] === 'ALTER' && words[1] === 'TABLE') return nameFrom(before, 2, text);
  const on = words.indexOf('ON');
  const subject = words.slice(0, Math.max(0, on));
  const makes = subject[0] === 'CREATE' && (subject.includes('INDEX') || subject.includes('STATISTICS'));
  const name = makes ? nameFrom(before, on + 1, text) : null;
  // The list stands right behind the name.
  return name !== null && !words.slice(on + 1).some((word) => word === '(') ? name : null;
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
