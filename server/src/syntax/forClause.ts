import type { Cursor } from './cursor.ts';
import { closeParenthesis, parseIdentifierList, parseName } from './names.ts';
import { tokenKind } from './tokens.ts';
import type { OpaqueClause } from './tree.ts';

/** FOR XML, FOR JSON, FOR BROWSE; FOR UPDATE and FOR READ ONLY belong to statements and are left alone. */
export function parseForClause(cursor: Cursor): OpaqueClause | null {
  const kind = cursor.peek(1);
  if (kind !== 'XML' && kind !== 'JSON' && kind !== 'BROWSE') return null;
  const { start } = cursor;
  cursor.advance();
  cursor.advance();
  const end = (): OpaqueClause => ({ kind: 'opaque-clause', start, end: cursor.end, name: `FOR ${kind}` });
  if (kind === 'BROWSE') return end();
  const modes = kind === 'XML' ? ['RAW', 'AUTO', 'EXPLICIT', 'PATH'] : ['AUTO', 'PATH'];
  if (!modes.includes(cursor.word)) {
    cursor.fail(kind === 'XML' ? 'RAW, AUTO, EXPLICIT or PATH' : 'AUTO or PATH');
    return end();
  }
  cursor.advance();
  if (cursor.at('(')) parseForArgument(cursor);
  while (!cursor.recovering && cursor.eat(',')) parseForOption(cursor, kind);
  return end();
}

function parseForArgument(cursor: Cursor): void {
  cursor.advance();
  if (cursor.kind === tokenKind.string || cursor.kind === tokenKind.nationalString) cursor.advance();
  else cursor.fail('a string');
  closeParenthesis(cursor);
}

function parseForOption(cursor: Cursor, kind: string): void {
  const options =
    kind === 'XML'
      ? ['TYPE', 'ROOT', 'ELEMENTS', 'XMLDATA', 'XMLSCHEMA', 'BINARY']
      : ['ROOT', 'INCLUDE_NULL_VALUES', 'WITHOUT_ARRAY_WRAPPER'];
  if (!options.includes(cursor.word)) {
    cursor.fail(`an option of FOR ${kind} (${options.join(', ')})`);
    return;
  }
  const option = cursor.word;
  cursor.advance();
  if (option === 'BINARY') cursor.expect('BASE64');
  if (option === 'ELEMENTS') cursor.eatAny('XSINIL', 'ABSENT');
  if ((option === 'ROOT' || option === 'XMLSCHEMA') && cursor.at('(')) parseForArgument(cursor);
}

/** FOR READ ONLY or FOR UPDATE [OF columns] behind the query of a cursor or of a statement; the current token is FOR. */
export function skipForUpdate(cursor: Cursor): void {
  cursor.advance();
  if (cursor.eat('READ')) {
    cursor.expect('ONLY');
    return;
  }
  if (!cursor.expect('UPDATE') || !cursor.eat('OF')) return;
  if (cursor.at('(')) {
    parseIdentifierList(cursor);
    return;
  }
  do parseName(cursor, 'a column name');
  while (!cursor.recovering && cursor.eat(','));
}
