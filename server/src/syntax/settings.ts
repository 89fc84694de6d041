import type { Cursor } from './cursor.ts';
import { parseCursorQuery } from './declarations.ts';
import { parseName } from './names.ts';
import { parsePostfix } from './postfix.ts';
import { tokenKind } from './tokens.ts';
import type { Expression, Name, SetOption, Statement, Variable } from './tree.ts';

const operators: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '||=']);

/** SET of a variable or of an option of the session. */
export function parseSet(cursor: Cursor): Statement {
  const { start } = cursor;
  cursor.advance();
  return cursor.kind === tokenKind.variable ? parseSetVariable(cursor, start) : parseSetOption(cursor, start);
}

function parseSetVariable(cursor: Cursor, start: number): Statement {
  const variable: Variable = { kind: 'variable', start: cursor.start, end: cursor.currentEnd, name: cursor.tokenText };
  cursor.advance();
  if (cursor.at('.') || cursor.at('::')) {
    const value = parsePostfix(cursor, variable);
    // `SET @x.property = value` and `SET @x.modify('…')`.
    if (!cursor.eat('=')) {
      if (value.kind === 'member' && value.arguments === null) cursor.fail("'=' or '('");
      return { kind: 'set-variable', start, end: cursor.end, variable, operator: 'call', value };
    }
    const assigned = cursor.grammar.value(cursor);
    return { kind: 'set-variable', start, end: cursor.end, variable, operator: '=', value: assigned };
  }
  const operator = cursor.word;
  if (!operators.has(operator)) {
    cursor.fail("'='");
    const value: Expression = { kind: 'error', start: cursor.end, end: cursor.end };
    return { kind: 'set-variable', start, end: cursor.end, variable, operator: '=', value };
  }
  cursor.advance();
  if (cursor.at('CURSOR')) {
    const from = cursor.start;
    cursor.advance();
    parseCursorQuery(cursor);
    const value: Expression = { kind: 'error', start: from, end: cursor.end };
    return { kind: 'set-variable', start, end: cursor.end, variable, operator, value };
  }
  const value = cursor.grammar.value(cursor);
  return { kind: 'set-variable', start, end: cursor.end, variable, operator, value };
}

/** Options that are ON or OFF. */
const switches: ReadonlySet<string> = new Set([
  'ANSI_DEFAULTS',
  'ANSI_NULL_DFLT_OFF',
  'ANSI_NULL_DFLT_ON',
  'ANSI_NULLS',
  'ANSI_PADDING',
  'ANSI_WARNINGS',
  'ARITHABORT',
  'ARITHIGNORE',
  'CONCAT_NULL_YIELDS_NULL',
  'CURSOR_CLOSE_ON_COMMIT',
  'DISABLE_DEF_CNST_CHK',
  'FMTONLY',
  'FORCEPLAN',
  'IMPLICIT_TRANSACTIONS',
  'NOCOUNT',
  'NOEXEC',
  'NO_BROWSETABLE',
  'NUMERIC_ROUNDABORT',
  'PARSEONLY',
  'QUOTED_IDENTIFIER',
  'REMOTE_PROC_TRANSACTIONS',
  'RESULT_SET_CACHING',
  'SHOWPLAN_ALL',
  'SHOWPLAN_TEXT',
  'SHOWPLAN_XML',
  'XACT_ABORT',
]);
/** Options that take one value, with a name that is no variable. */
const valued: ReadonlySet<string> = new Set([
  'CONTEXT_INFO',
  'DATEFIRST',
  'DATEFORMAT',
  'DEADLOCK_PRIORITY',
  'ERRLVL',
  'FIPS_FLAGGER',
  'LANGUAGE',
  'LOCK_TIMEOUT',
  'QUERY_GOVERNOR_COST_LIMIT',
  'ROWCOUNT',
  'TEXTSIZE',
]);

function parseSetOption(cursor: Cursor, start: number): Statement {
  const option = (names: readonly string[], value: string, table: Name | null = null): SetOption => ({
    kind: 'set-option',
    start,
    end: cursor.end,
    names,
    value,
    table,
  });
  const name = cursor.tokenText.toUpperCase();
  if (name === 'IDENTITY_INSERT') {
    cursor.advance();
    const table = parseName(cursor, 'a table', 3);
    return option([name], parseSwitch(cursor), table);
  }
  if (name === 'TRANSACTION') return parseIsolation(cursor, option);
  if (name === 'STATISTICS') {
    cursor.advance();
    const names: string[] = [];
    do {
      const part = cursor.eatAny('IO', 'TIME', 'PROFILE', 'XML');
      if (part === null) cursor.fail('IO, TIME, PROFILE or XML');
      else names.push(`STATISTICS ${part}`);
    } while (!cursor.recovering && cursor.eat(','));
    return option(names, parseSwitch(cursor));
  }
  if (name === 'OFFSETS') {
    while (!cursor.atEnd && !cursor.at('ON') && !cursor.at('OFF') && !cursor.at(';')) cursor.advance();
    return option([name], parseSwitch(cursor));
  }
  if (valued.has(name)) return parseValuedOptions(cursor, option);
  const names: string[] = [];
  do {
    const next = cursor.tokenText.toUpperCase();
    if (!switches.has(next)) {
      cursor.fail('a variable or an option of SET');
      return option(names, '');
    }
    names.push(next);
    cursor.advance();
  } while (cursor.eat(','));
  return option(names, parseSwitch(cursor));
}

/** `DATEFIRST 7`; several options may stand in one SET, with commas between them. */
function parseValuedOptions(cursor: Cursor, option: (names: readonly string[], value: string) => SetOption): SetOption {
  const names: string[] = [];
  let from: number;
  do {
    const name = cursor.tokenText.toUpperCase();
    if (!valued.has(name)) {
      cursor.fail('an option that takes a value');
      return option(names, '');
    }
    names.push(name);
    cursor.advance();
    from = cursor.start;
    if (cursor.kind === tokenKind.reserved && !cursor.at('OFF') && !cursor.at('NULL')) cursor.fail('a value');
    else cursor.grammar.settingValue(cursor);
  } while (!cursor.recovering && cursor.eat(','));
  return option(names, cursor.slice(from, cursor.end));
}

/** A word behind SET that names an option of the session. */
export function isSessionOption(word: string): boolean {
  return switches.has(word) || valued.has(word) || otherOptions.has(word);
}

const otherOptions: ReadonlySet<string> = new Set(['IDENTITY_INSERT', 'OFFSETS', 'STATISTICS', 'TRANSACTION']);

function parseSwitch(cursor: Cursor): string {
  const value = cursor.eatAny('ON', 'OFF');
  if (value === null) cursor.fail('ON or OFF');
  return value ?? '';
}

function parseIsolation(cursor: Cursor, option: (names: readonly string[], value: string) => SetOption): SetOption {
  cursor.advance();
  cursor.expect('ISOLATION');
  cursor.expect('LEVEL');
  const from = cursor.start;
  if (cursor.eat('READ')) {
    if (cursor.eatAny('COMMITTED', 'UNCOMMITTED') === null) cursor.fail('COMMITTED or UNCOMMITTED');
  } else if (cursor.eat('REPEATABLE')) cursor.expect('READ');
  else if (cursor.eatAny('SNAPSHOT', 'SERIALIZABLE') === null) {
    cursor.fail('READ COMMITTED, READ UNCOMMITTED, REPEATABLE READ, SNAPSHOT or SERIALIZABLE');
  }
  return option(['TRANSACTION ISOLATION LEVEL'], cursor.slice(from, cursor.end).toUpperCase());
}

/** A constant, a variable or a word. */
export function parseSettingValue(cursor: Cursor): void {
  cursor.eatAny('-', '+');
  if (cursor.at('OFF') || cursor.at('ON') || cursor.at('NULL')) {
    cursor.advance();
    return;
  }
  if (cursor.atName || (cursor.kind >= tokenKind.string && cursor.kind <= tokenKind.variable)) cursor.advance();
  else cursor.fail('a value');
}
