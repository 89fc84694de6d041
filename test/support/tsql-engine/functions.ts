/** Scalar functions that the generated texts call. */
import { createHash } from 'node:crypto';
import type { Expression } from '../../../server/src/syntax/tree.ts';
import { ticksPerDay, ticksPerMillisecond, ticksPerSecond } from './clock.ts';
import { collationKey, comparableName, encodeText, isBinaryCollation } from './collations.ts';
import { type BindValue, comparable } from './conditions.ts';
import { conversion } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { patternIndex } from './patterns.ts';
import type { Bound, Environment, Scope } from './scope.ts';
import {
  bigint,
  commonType,
  datetime2,
  int,
  isBinary,
  isText,
  isTime,
  isUnicode,
  longest,
  type SqlType,
  textType,
  varbinary,
} from './types.ts';
import type { Value } from './values.ts';

type Known = Exclude<Value, null>;
/** A function over bound arguments: its type, and its result from values that are not NULL. */
type Build = (args: readonly Bound[], scope: Scope) => Omit<Bound, 'canon'>;

export function bindCall(name: string, args: readonly Expression[], scope: Scope, value: BindValue): Bound {
  if (name === 'DATEADD' || name === 'DATEPART') return dateFunction(name, args, scope, value);
  const build = functions[name];
  if (build === undefined) throw new BeyondEngine(`function ${name}`);
  const bound = args.map((arg) => value(arg, scope));
  return { ...build(bound, scope), canon: `${name}(${bound.map(({ canon }) => canon).join(',')})` };
}

/** NULL when an argument is. */
function strict(type: SqlType, args: readonly Bound[], compute: (...values: Known[]) => Value): Omit<Bound, 'canon'> {
  const run = (env: Environment): Value => {
    const values: Known[] = [];
    for (const arg of args) {
      const found = arg.run(env);
      if (found === null) return null;
      values.push(found);
    }
    return compute(...values);
  };
  return { type, run };
}

/** An argument as text: numbers are written out. */
function asText(arg: Bound | undefined, scope: Scope): Bound {
  if (arg === undefined) throw new SqlError(174, 'The function requires more argument(s).', 15);
  if (isText(arg.type)) return arg;
  if (isTime(arg.type) || isBinary(arg.type)) throw new BeyondEngine(`${arg.type.base} as the text of a function`);
  const type = textType('varchar', 40, scope.world.collation);
  const convert = conversion(arg.type, type);
  return { type, canon: arg.canon, run: (env) => convert(arg.run(env)) };
}

function asInt(arg: Bound | undefined): Bound {
  if (arg === undefined) throw new SqlError(174, 'The function requires more argument(s).', 15);
  const convert = conversion(arg.type, bigint);
  return { type: bigint, canon: arg.canon, run: (env) => convert(arg.run(env)) };
}

/** A text function that keeps its argument's type. */
function onText(compute: (text: string) => string): Build {
  return (args, scope) => {
    const text = asText(args[0], scope);
    const base = isUnicode(text.type) ? 'nvarchar' : 'varchar';
    return strict({ ...text.type, base }, [text], (found) => compute(String(found)));
  };
}

/** Upper and lower case letter by letter, as the server's tables do: no letter becomes two. */
function letterByLetter(text: string, change: (letter: string) => string): string {
  return text
    .split('')
    .map((unit) => (change(unit).length === 1 ? change(unit) : unit))
    .join('');
}

function countOf(type: SqlType): SqlType {
  return type.length === 'max' ? bigint : int;
}

const functions: Readonly<Record<string, Build>> = {
  LTRIM: onText((text) => text.replace(/^ +/, '')),
  RTRIM: onText((text) => text.replace(/ +$/, '')),
  UPPER: onText((text) => letterByLetter(text, (letter) => letter.toUpperCase())),
  LOWER: onText((text) => letterByLetter(text, (letter) => letter.toLowerCase())),
  LEFT: (args, scope) => {
    const [text, count] = [asText(args[0], scope), asInt(args[1])];
    const type = { ...text.type, base: isUnicode(text.type) ? 'nvarchar' : 'varchar' } as const;
    return strict(type, [text, count], (found, length) => String(found).slice(0, Number(length)));
  },
  LEN: (args, scope) => {
    const text = asText(args[0], scope);
    return strict(countOf(text.type), [text], (found) => BigInt(String(found).replace(/ +$/, '').length));
  },
  DATALENGTH: ([arg]) => {
    if (arg === undefined) throw new SqlError(174, 'The datalength function requires 1 argument(s).', 15);
    const { type } = arg;
    if (!isText(type) && !isBinary(type)) throw new BeyondEngine(`DATALENGTH of ${type.base}`);
    return strict(countOf(type), [arg], (found) => BigInt(bytesOf(found, type).length));
  },
  SUBSTRING: (args, scope) => {
    const text = asText(args[0], scope);
    const [from, count] = [asInt(args[1]), asInt(args[2])];
    return strict(text.type, [text, from, count], (found, start, length) => {
      if (BigInt(String(length)) < 0n)
        throw new SqlError(537, 'Invalid length parameter passed to the LEFT or SUBSTRING function.');
      const first = Number(start) - 1;
      return String(found).slice(Math.max(0, first), Math.max(0, first + Number(length)));
    });
  },
  STUFF: (args, scope) => {
    const [text, by] = [asText(args[0], scope), asText(args[3], scope)];
    const type = { ...commonType([text.type, by.type]), length: 'max' } as const;
    return strict(type, [text, asInt(args[1]), asInt(args[2]), by], (found, start, length, put) => {
      const [whole, from, count] = [String(found), Number(start) - 1, Number(length)];
      if (from < 0 || count < 0 || from >= whole.length) return null;
      return whole.slice(0, from) + String(put) + whole.slice(from + count);
    });
  },
  REPLACE: (args, scope) => {
    const texts = [0, 1, 2].map((index) => asText(args[index], scope));
    const type = commonType(texts.map((text) => text.type));
    const first = texts[0]?.type.length;
    const result = {
      ...type,
      base: isUnicode(type) ? 'nvarchar' : 'varchar',
      length: first === 'max' ? 'max' : longest(type.base),
    } as const;
    const fitted = conversion({ ...result, length: 'max' }, result);
    const name = comparableName(type.collation);
    return strict(result, texts, (found, what, by) =>
      fitted(replaceAll(String(found), String(what), String(by), name)),
    );
  },
  CHARINDEX: (args, scope) => {
    const texts = [asText(args[0], scope), asText(args[1], scope)];
    const name = comparableName(commonType(texts.map(({ type }) => type)).collation);
    const rest = args[2] === undefined ? [] : [asInt(args[2])];
    return strict(countOf(texts[1]?.type ?? int), [...texts, ...rest], (what, text, from = 1n) => {
      const [needle, hay] = [String(what), String(text)].map((part) => comparableUnits(part, name));
      return BigInt((hay ?? '').indexOf(needle ?? '', Math.max(0, Number(from) - 1)) + 1);
    });
  },
  PATINDEX: (args, scope) => {
    const texts = [asText(args[0], scope), asText(args[1], scope)];
    const name = comparableName(commonType(texts.map(({ type }) => type)).collation);
    return strict(countOf(texts[1]?.type ?? int), texts, (form, text) =>
      patternIndex(String(form), String(text), name),
    );
  },
  NCHAR: (args, scope) =>
    strict(textType('nchar', 1, scope.world.collation), [asInt(args[0])], (code) => String.fromCharCode(Number(code))),
  COALESCE: (args) => {
    const type = commonType(args.map((arg) => arg.type));
    if (type.isNull === true)
      throw new SqlError(
        4127,
        'At least one of the arguments to COALESCE must be an expression that is not the NULL constant.',
      );
    const parts = args.map((arg) => ({ arg, convert: conversion(arg.type, type) }));
    const run = (env: Environment): Value => {
      for (const { arg, convert } of parts) {
        const found = arg.run(env);
        if (found !== null) return convert(found);
      }
      return null;
    };
    return { type, run };
  },
  NULLIF: ([first, second]) => {
    if (first === undefined || second === undefined)
      throw new SqlError(174, 'The nullif function requires 2 argument(s).', 15);
    const pair = comparable(first, second);
    const run = (env: Environment): Value =>
      pair.tested(env, (order) => order === 0) === true ? null : first.run(env);
    return { type: first.type, run };
  },
  HASHBYTES: (args, scope) => {
    const [algorithm, data] = [asText(args[0], scope), args[1]];
    if (data === undefined || !(isText(data.type) || isBinary(data.type)))
      throw new SqlError(8116, 'Argument data type is invalid for argument 2 of hashbytes function.');
    const names: Readonly<Record<string, string>> = {
      SHA2_256: 'sha256',
      SHA2_512: 'sha512',
      SHA1: 'sha1',
      MD5: 'md5',
    };
    return strict(varbinary(8000), [algorithm, data], (name, found) => {
      const known = names[String(name).toUpperCase()];
      if (known === undefined) throw new BeyondEngine(`HASHBYTES by ${name}`);
      const bytes = bytesOf(found, data.type);
      // The limit of versions before 2016.
      if (scope.world.version < 2016 && bytes.length > 8000)
        throw new SqlError(8152, 'String or binary data would be truncated.');
      return createHash(known).update(bytes).digest();
    });
  },
  SYSUTCDATETIME: (_args, scope) => ({ type: datetime2(7), run: () => scope.world.now }),
  OBJECT_ID: (args, scope) => {
    const texts = args.map((arg) => asText(arg, scope));
    return strict(int, texts, (name, type) =>
      scope.world.objectId(String(name), type === undefined ? null : String(type)),
    );
  },
  XACT_STATE: (_args, scope) => ({ type: int, run: () => scope.world.transactionState }),
};

function bytesOf(value: Known, type: SqlType): Buffer {
  if (Buffer.isBuffer(value)) return value;
  return isUnicode(type) ? Buffer.from(String(value), 'utf16le') : encodeText(String(value), type.collation);
}

function comparableUnits(text: string, collation: string): string {
  const key = isBinaryCollation(collation) ? text : letterByLetter(text, (letter) => letter.toLowerCase());
  // Blanks at the end count here, which `collationKey` leaves out; other folding would move the positions.
  if (!isBinaryCollation(collation) && collationKey(`${text}.`, collation).length !== text.length + 1)
    throw new BeyondEngine(`positions in ${JSON.stringify(text)} under ${collation}`);
  return key;
}

function replaceAll(text: string, what: string, by: string, collation: string): string {
  if (what === '') return text;
  const [hay, needle] = [comparableUnits(text, collation), comparableUnits(what, collation)];
  let written = '';
  for (let at = 0; ; ) {
    const hit = hay.indexOf(needle, at);
    if (hit < 0) return written + text.slice(at);
    written += text.slice(at, hit) + by;
    at = hit + what.length;
  }
}

/** Ticks of a part of DATEADD; a nanosecond is a hundredth of a tick. */
const parts: Readonly<Record<string, bigint>> = {
  day: ticksPerDay,
  second: ticksPerSecond,
  millisecond: ticksPerMillisecond,
  microsecond: 10n,
};

function dateFunction(name: string, args: readonly Expression[], scope: Scope, value: BindValue): Bound {
  const [partName, ...rest] = args;
  const part = partName?.kind === 'column' ? (partName.parts.at(-1)?.name.toLowerCase() ?? '') : '';
  const bound = rest.map((arg) => value(arg, scope));
  const moment = bound.at(-1);
  if (moment === undefined || !isTime(moment.type)) throw new BeyondEngine(`${name} of what is no date`);
  const { base } = moment.type;
  if (base === 'date' && part !== 'day')
    throw new SqlError(
      9810,
      `The datepart ${part} is not supported by date function ${name.toLowerCase()} for data type date.`,
    );
  const canon = `${name}(${part},${bound.map((arg) => arg.canon).join(',')})`;
  if (name === 'DATEPART') {
    if (part !== 'nanosecond') throw new BeyondEngine(`DATEPART(${part}, …)`);
    return { ...strict(int, [moment], (ticks) => (BigInt(String(ticks)) % ticksPerSecond) * 100n), canon };
  }
  const fitted = conversion(datetime2(7), moment.type);
  const moved = strict(moment.type, [asInt(bound[0]), moment], (count, ticks) => {
    const [by, from] = [BigInt(String(count)), BigInt(String(ticks))];
    if (by > 2_147_483_647n || by < -2_147_483_648n)
      throw new SqlError(8115, 'Arithmetic overflow error converting expression to data type int.');
    const unit = parts[part];
    if (part === 'nanosecond') return fitted(from + by / 100n);
    if (unit === undefined) throw new BeyondEngine(`DATEADD(${part}, …)`);
    return fitted(from + by * unit);
  });
  return { ...moved, canon };
}
