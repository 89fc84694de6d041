import { type Cursor, deepestNesting } from './cursor.ts';
import type { Family } from './dialect.ts';
import { closeParenthesis, parseName } from './names.ts';
import { listOf, none } from './none.ts';
import { tokenKind } from './tokens.ts';
import type { DataType, Identifier, Name, TypeField } from './tree.ts';

/** A data type with its arguments. Names of types are not checked: any name may be a user's type. */
export function parseDataType(cursor: Cursor): DataType {
  if (cursor.depth >= deepestNesting) return skipType(cursor);
  cursor.depth += 1;
  const type = readType(cursor);
  cursor.depth -= 1;
  return type;
}

/** A type nested too deeply to be read: everything up to the end of the list around it. */
function skipType(cursor: Cursor): DataType {
  const { start } = cursor;
  let open = 0;
  while (!cursor.atEnd && !cursor.at(';') && !cursor.at(')')) {
    if (cursor.at('>>') && open < 2) cursor.splitPunctuation('>', '>');
    if (open === 0 && (cursor.at('>') || cursor.at(','))) break;
    if (cursor.at('<')) open += 1;
    else if (cursor.at('>')) open -= 1;
    else if (cursor.at('>>')) open -= 2;
    if (cursor.at('(')) cursor.skipParentheses();
    else cursor.advance();
  }
  return {
    kind: 'data-type',
    start,
    end: cursor.end,
    name: singleName(start, cursor.end, ''),
    arguments: none,
    elements: none,
    fields: none,
    text: '',
  };
}

function readType(cursor: Cursor): DataType {
  const start = cursor.start;
  let name = typeName(cursor);
  let elements: readonly DataType[] = none;
  let fields: readonly TypeField[] = none;
  let typeArguments: readonly string[] = none;
  const { family } = cursor.dialect;
  if (family === 'tsql' && cursor.at('(')) typeArguments = tsqlArguments(cursor, name);
  if (cursor.at('VARYING') && varyingTypes[family].test(nameText(name))) {
    cursor.advance();
    name = singleName(start, cursor.end, `${nameText(name)} varying`);
    if (family === 'tsql' && cursor.at('(')) typeArguments = tsqlArguments(cursor, name);
  }
  if (family !== 'tsql' && cursor.at('<')) {
    ({ elements, fields } = nestedTypes(cursor));
  } else if (family !== 'tsql' && cursor.at('(')) {
    const type = nameText(name).toLowerCase();
    if (/^(struct|row|union|map)$/.test(type)) ({ elements, fields } = parenthesisedTypes(cursor, type));
    else typeArguments = looseArguments(cursor);
  }
  const whole = nameText(name).toLowerCase();
  const written = standardNames[family][whole] ?? whole;
  const type: DataType = {
    kind: 'data-type',
    start,
    end: cursor.end,
    name,
    arguments: typeArguments,
    elements,
    fields,
    text: typeText(written, typeArguments, elements, fields),
  };
  return family === 'tsql' ? type : typeSuffixes(cursor, type);
}

function typeSuffixes(cursor: Cursor, first: DataType): DataType {
  let type = first;
  if (cursor.at('WITH') || cursor.at('WITHOUT')) {
    if (cursor.peek(1) === 'TIME' || cursor.peek(1) === 'LOCAL') {
      const words: string[] = [];
      while (
        cursor.at('WITH') ||
        cursor.at('WITHOUT') ||
        cursor.at('TIME') ||
        cursor.at('LOCAL') ||
        cursor.at('ZONE')
      ) {
        words.push(cursor.word.toLowerCase());
        cursor.advance();
      }
      type = { ...type, end: cursor.end, text: `${type.text} ${words.join(' ')}` };
    }
  }
  while (cursor.at('[')) {
    cursor.advance();
    let size = '';
    if (cursor.kind === tokenKind.number) {
      size = cursor.tokenText;
      cursor.advance();
    }
    cursor.expect(']');
    const text = `${type.text}[${size}]`;
    type = { ...type, end: cursor.end, arguments: size === '' ? [] : [size], elements: [type], fields: none, text };
  }
  return type;
}

function nameText(name: Name): string {
  if (name.parts.length === 1) return name.parts[0]?.name ?? '';
  return name.parts.map((part) => part?.name ?? '').join('.');
}

/** Types whose name is several words become one part with one blank between the words. */
function typeName(cursor: Cursor): Name {
  const start = cursor.start;
  const { family } = cursor.dialect;
  if (cursor.at('DOUBLE') || cursor.at('NATIONAL')) {
    const words: string[] = [];
    while (words.length < 3 && isTypeWord(cursor, words.length)) {
      words.push(cursor.tokenText.toLowerCase());
      cursor.advance();
    }
    if (words.length === 1 && family === 'tsql') {
      const rest = words[0] === 'double' ? 'PRECISION' : 'CHAR, CHARACTER or TEXT';
      cursor.report(start, cursor.end, `Expected ${rest} behind ${words[0]?.toUpperCase()}.`);
    }
    return singleName(start, cursor.end, words.join(' '));
  }
  // An interval's fields belong to its name.
  if (family !== 'tsql' && cursor.at('INTERVAL')) {
    const words: string[] = [];
    while (words.length < 4 && (words.length === 0 || isIntervalWord(cursor))) {
      words.push(cursor.tokenText.toLowerCase());
      cursor.advance();
    }
    return singleName(start, cursor.end, words.join(' '));
  }
  if (cursor.at('UNION') && family === 'duckdb') {
    const part = cursor.takeIdentifier();
    return { kind: 'name', start, end: part.end, parts: [part] };
  }
  if (cursor.at('.')) cursor.fail('a data type');
  return parseName(cursor, 'a data type');
}

function isTypeWord(cursor: Cursor, position: number): boolean {
  if (position === 0) return true;
  const text = cursor.tokenText.toLowerCase();
  return position === 1 ? /^(precision|char|character|text)$/.test(text) : text === 'varying';
}

function isIntervalWord(cursor: Cursor): boolean {
  return /^(year|month|day|hour|minute|second|to)$/i.test(cursor.tokenText);
}

function singleName(start: number, end: number, name: string): Name {
  const part: Identifier = { kind: 'identifier', start, end, name, quote: 'none' };
  return { kind: 'name', start, end, parts: [part] };
}

/** `(10, 2)`, `(max)`, `(DOCUMENT dbo.Schemas)` for xml, `(3, float16)` for vector. */
function tsqlArguments(cursor: Cursor, name: Name): readonly string[] {
  cursor.advance();
  const found: string[] = [];
  const type = nameText(name).toLowerCase();
  if (type === 'xml' || type === 'sys.xml') {
    if (cursor.at('CONTENT') || cursor.at('DOCUMENT')) {
      if (cursor.nameAhead(1)) cursor.advance();
    }
    const collection = parseName(cursor, 'an XML schema collection', 2);
    found.push(nameText(collection));
  } else {
    do {
      if (cursor.kind === tokenKind.number && /^\d+$/.test(cursor.tokenText)) found.push(cursor.tokenText);
      else if (found.length === 0 && cursor.at('MAX')) found.push('max');
      else if (found.length === 1 && type === 'vector' && cursor.atName) found.push(cursor.tokenText);
      else if (/^\$\(/.test(cursor.tokenText)) found.push(cursor.tokenText);
      else {
        cursor.fail(found.length === 0 ? 'a length or MAX' : 'a whole number');
        break;
      }
      cursor.advance();
    } while (found.length < 2 && found[0] !== 'max' && cursor.eat(','));
  }
  closeParenthesis(cursor);
  checkArguments(cursor, name, found);
  return listOf(found);
}

/** How many arguments the types of SQL Server take at most; names that are missing here are types of users. */
const mostArguments: Readonly<Record<string, number>> = {
  bigint: 0,
  int: 0,
  integer: 0,
  smallint: 0,
  tinyint: 0,
  bit: 0,
  money: 0,
  smallmoney: 0,
  real: 0,
  date: 0,
  datetime: 0,
  smalldatetime: 0,
  uniqueidentifier: 0,
  sql_variant: 0,
  rowversion: 0,
  timestamp: 0,
  text: 0,
  ntext: 0,
  image: 0,
  sysname: 0,
  float: 1,
  time: 1,
  datetime2: 1,
  datetimeoffset: 1,
  char: 1,
  varchar: 1,
  nchar: 1,
  nvarchar: 1,
  binary: 1,
  varbinary: 1,
  decimal: 2,
  numeric: 2,
  dec: 2,
};

function checkArguments(cursor: Cursor, name: Name, found: readonly string[]): void {
  const type = name.parts.length === 1 ? nameText(name).toLowerCase() : '';
  const most = mostArguments[type];
  if (most === undefined || found.length <= most) return;
  const allowed = most === 0 ? 'no arguments' : most === 1 ? 'one argument' : 'two arguments';
  cursor.report(name.start, cursor.end, `The type ${type} takes ${allowed}.`);
}

function looseArguments(cursor: Cursor): readonly string[] {
  const found: string[] = [];
  cursor.advance();
  while (!cursor.at(')') && !cursor.atEnd) {
    if (!cursor.at(',')) found.push(cursor.tokenText);
    if (isMisplaced(cursor)) cursor.fail("a number, ',' or ')'");
    cursor.advance();
  }
  closeParenthesis(cursor);
  return listOf(found);
}

/** A comma without an argument before it, and a number behind another one. */
function isMisplaced(cursor: Cursor): boolean {
  if (cursor.at(',') && cursor.dialect.family === 'spark' && cursor.peek(1) === ')') return true;
  if (cursor.at(',')) return cursor.previousWord === '(' || cursor.previousWord === ',';
  return cursor.kind === tokenKind.number && cursor.peekKind(1) === tokenKind.number;
}

type InnerTypes = Pick<DataType, 'elements' | 'fields'>;

/** `ARRAY<T>`, `MAP<K, V>`, `STRUCT<name: T COMMENT 'x', …>`. */
function nestedTypes(cursor: Cursor): InnerTypes {
  const elements: DataType[] = [];
  const fields: TypeField[] = [];
  cursor.advance();
  while (!cursor.at('>') && !cursor.at('>>') && !cursor.atEnd && !cursor.recovering) {
    const start = cursor.start;
    if (isField(cursor)) {
      const name = cursor.takeIdentifier();
      cursor.eat(':');
      const type = parseDataType(cursor);
      while (!cursor.at(',') && !cursor.at('>') && !cursor.at('>>') && !cursor.atEnd) cursor.advance();
      fields.push({ kind: 'type-field', start, end: cursor.end, name, type });
    } else {
      elements.push(parseDataType(cursor));
      if (cursor.eat('COLLATE')) cursor.identifier('a collation');
    }
    if (!cursor.eat(',')) break;
  }
  closeAngle(cursor);
  return { elements: listOf(elements), fields: listOf(fields) };
}

/** `>>` closes two levels: it is split where it stands. */
function closeAngle(cursor: Cursor): void {
  if (cursor.eat('>')) return;
  if (cursor.at('>>')) {
    cursor.splitPunctuation('>', '>');
    cursor.advance();
    return;
  }
  cursor.fail("',' or '>'");
}

function isField(cursor: Cursor): boolean {
  if (cursor.at('IDENTIFIER') && cursor.peek(1) === '(') return true;
  if (!cursor.atName && cursor.kind !== tokenKind.reserved) return false;
  if (cursor.peek(1) === ':') return true;
  // `MAP<STRING COLLATE UNICODE, INT>`
  if (cursor.peek(1) === 'COLLATE') return false;
  const next = cursor.peekKind(1);
  return next === tokenKind.word || next === tokenKind.reserved;
}

/** DuckDB's `STRUCT(a INTEGER, b VARCHAR)`, `MAP(K, V)`, `UNION(a T)`. */
function parenthesisedTypes(cursor: Cursor, type: string): InnerTypes {
  const elements: DataType[] = [];
  const fields: TypeField[] = [];
  cursor.advance();
  do {
    const start = cursor.start;
    if (type === 'map') elements.push(parseDataType(cursor));
    else {
      const name = cursor.atName ? cursor.takeIdentifier() : cursor.identifier('a field name');
      const fieldType = parseDataType(cursor);
      fields.push({ kind: 'type-field', start, end: cursor.end, name, type: fieldType });
    }
  } while (!cursor.recovering && cursor.eat(','));
  closeParenthesis(cursor);
  return { elements: listOf(elements), fields: listOf(fields) };
}

/** Types that the standard's word VARYING makes another of. */
const varyingTypes: Readonly<Record<Family, RegExp>> = {
  tsql: /^(?:char|character|nchar|binary|national char|national character)$/i,
  duckdb: /^(?:char|character|nchar|bit|national char|national character)$/i,
  spark: /^$/,
};

/** What an engine calls the standard's types whose names are several words. */
const standardNames: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
  tsql: {
    'binary varying': 'varbinary',
    'char varying': 'varchar',
    'character varying': 'varchar',
    'double precision': 'float',
    'national char': 'nchar',
    'national char varying': 'nvarchar',
    'national character': 'nchar',
    'national character varying': 'nvarchar',
    'national text': 'ntext',
    'nchar varying': 'nvarchar',
  },
  duckdb: {
    'bit varying': 'varbit',
    'char varying': 'varchar',
    'character varying': 'varchar',
    'national char': 'varchar',
    'national char varying': 'varchar',
    'national character': 'varchar',
    'national character varying': 'varchar',
    'nchar varying': 'varchar',
  },
  spark: {},
};

function typeText(
  whole: string,
  typeArguments: readonly string[],
  elements: readonly DataType[],
  fields: readonly TypeField[],
): string {
  const text = whole.startsWith('sys.') && !whole.includes('.', 4) ? whole.slice(4) : whole;
  if (fields.length > 0) {
    return `${text}<${fields.map((field) => `${field.name.name.toLowerCase()}:${field.type.text}`).join(',')}>`;
  }
  if (elements.length > 0) return `${text}<${elements.map((element) => element.text).join(',')}>`;
  return typeArguments.length === 0 ? text : `${text}(${typeArguments.join(',').toLowerCase()})`;
}
