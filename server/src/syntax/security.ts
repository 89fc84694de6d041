import type { Cursor } from './cursor.ts';
import { parseIdentifierList, parseName } from './names.ts';
import { opaqueStatement } from './opaque.ts';
import { tokenKind } from './tokens.ts';
import type { Statement } from './tree.ts';

/** GRANT, DENY and REVOKE of permissions on the objects of a database. */
export function parsePermission(cursor: Cursor): Statement {
  const { start } = cursor;
  const verb = cursor.word;
  cursor.advance();
  if (verb === 'REVOKE' && cursor.at('GRANT') && cursor.peek(1) === 'OPTION') {
    cursor.advance();
    cursor.advance();
    cursor.expect('FOR');
  }
  do parsePermissionName(cursor);
  while (!cursor.recovering && cursor.eat(','));
  if (cursor.eat('ON')) parseSecurable(cursor);
  const toWord = verb === 'REVOKE' ? cursor.eatAny('FROM', 'TO') : cursor.eatAny('TO');
  if (toWord === null) cursor.fail(verb === 'REVOKE' ? 'FROM or TO' : 'TO');
  do parsePrincipal(cursor);
  while (!cursor.recovering && cursor.eat(','));
  if (cursor.at('WITH') && cursor.peek(1) === 'GRANT') {
    cursor.advance();
    cursor.advance();
    cursor.expect('OPTION');
  }
  if (verb !== 'GRANT') cursor.eat('CASCADE');
  if (cursor.at('AS') && cursor.nameAhead(1)) {
    cursor.advance();
    cursor.advance();
  }
  return opaqueStatement(cursor, start, verb);
}

/** Words such as VIEW DATABASE STATE, with a column list behind them where they have one. */
function parsePermissionName(cursor: Cursor): void {
  let words = 0;
  while (words < 8 && isPermissionWord(cursor, words)) {
    cursor.advance();
    words += 1;
  }
  if (words === 0) cursor.fail('a permission');
  else if (cursor.at('(')) parseIdentifierList(cursor);
}

function isPermissionWord(cursor: Cursor, position: number): boolean {
  if (cursor.kind === tokenKind.word) return true;
  if (cursor.kind !== tokenKind.reserved) return false;
  return !['ON', 'TO', 'FROM', 'WITH', 'AS'].includes(cursor.word) || (position > 0 && cursor.at('AS'));
}

/** `[class ::] name`, with words of the class such as `SEARCH PROPERTY LIST ::`. */
function parseSecurable(cursor: Cursor): void {
  let distance = 0;
  while (
    distance < 4 &&
    cursor.peekKind(distance) <= tokenKind.reserved &&
    cursor.peek(distance) !== '::' &&
    cursor.peekKind(distance) >= tokenKind.word
  ) {
    distance += 1;
  }
  if (distance > 0 && cursor.peek(distance) === '::') {
    const words = Array.from({ length: distance }, (_, ahead) => cursor.textAhead(ahead).toUpperCase());
    if (!securables.has(words.join(' '))) cursor.fail('a class of securables');
    for (let count = 0; count <= distance; count += 1) cursor.advance();
  }
  parseName(cursor, 'a securable');
  if (cursor.at('(')) parseIdentifierList(cursor);
}

const securables: ReadonlySet<string> = new Set([
  'APPLICATION ROLE',
  'ASSEMBLY',
  'ASYMMETRIC KEY',
  'AVAILABILITY GROUP',
  'CERTIFICATE',
  'CONTRACT',
  'DATABASE',
  'DATABASE SCOPED CREDENTIAL',
  'ENDPOINT',
  'EXTERNAL DATA SOURCE',
  'EXTERNAL FILE FORMAT',
  'EXTERNAL LANGUAGE',
  'EXTERNAL LIBRARY',
  'EXTERNAL MODEL',
  'FULLTEXT CATALOG',
  'FULLTEXT STOPLIST',
  'LOGIN',
  'MESSAGE TYPE',
  'OBJECT',
  'REMOTE SERVICE BINDING',
  'ROLE',
  'ROUTE',
  'SCHEMA',
  'SEARCH PROPERTY LIST',
  'SERVER',
  'SERVER ROLE',
  'SERVICE',
  'SYMMETRIC KEY',
  'TYPE',
  'USER',
  'WORKLOAD GROUP',
  'XML SCHEMA COLLECTION',
]);

function parsePrincipal(cursor: Cursor): void {
  if (cursor.at('PUBLIC') || cursor.at('NULL')) cursor.advance();
  else cursor.identifier('a user or role');
}
