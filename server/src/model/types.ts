import { isTsql, type PlatformName } from '../../../protocol/platform.ts';

/** What kind of values a type holds, as far as loads care. */
type TypeFamily =
  | 'integer'
  | 'decimal'
  | 'float'
  | 'text'
  | 'binary'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'boolean'
  | 'uuid'
  | 'rowversion'
  | 'other';

/** A catalog type (`decimal(10,0)`) taken apart. */
export interface TypeFacts {
  readonly base: string;
  readonly family: TypeFamily;
  /** Characters or bytes; Infinity for `max` and unlimited types; null where the family has no length. */
  readonly length: number | null;
  readonly unicode: boolean;
  readonly precision: number | null;
  readonly scale: number | null;
}

const integers: Readonly<Record<string, number>> = {
  tinyint: 3,
  byte: 3,
  utinyint: 3,
  smallint: 5,
  short: 5,
  usmallint: 5,
  int: 10,
  integer: 10,
  uinteger: 10,
  bigint: 19,
  long: 19,
  ubigint: 20,
  hugeint: 39,
};

const families: Readonly<Record<string, TypeFamily>> = {
  decimal: 'decimal',
  numeric: 'decimal',
  dec: 'decimal',
  money: 'decimal',
  smallmoney: 'decimal',
  float: 'float',
  real: 'float',
  double: 'float',
  'double precision': 'float',
  char: 'text',
  character: 'text',
  varchar: 'text',
  nchar: 'text',
  nvarchar: 'text',
  text: 'text',
  ntext: 'text',
  string: 'text',
  sysname: 'text',
  binary: 'binary',
  varbinary: 'binary',
  image: 'binary',
  blob: 'binary',
  bytea: 'binary',
  date: 'date',
  time: 'time',
  datetime: 'timestamp',
  datetime2: 'timestamp',
  smalldatetime: 'timestamp',
  datetimeoffset: 'timestamp',
  timestamp_ntz: 'timestamp',
  timestamp_ltz: 'timestamp',
  timestamptz: 'timestamp',
  timestamp_s: 'timestamp',
  timestamp_ms: 'timestamp',
  timestamp_ns: 'timestamp',
  bit: 'boolean',
  boolean: 'boolean',
  bool: 'boolean',
  uniqueidentifier: 'uuid',
  uuid: 'uuid',
  rowversion: 'rowversion',
};

/** The standard's names of T-SQL's types. */
const synonyms: Readonly<Record<string, string>> = { character: 'char', dec: 'decimal', integer: 'int' };

/**
 * Takes a catalog type apart. `timestamp` is T-SQL's rowversion there and a point in time elsewhere; so the caller
 * says which family of platforms the type comes from.
 */
export function typeFacts(type: string, tsql: boolean): TypeFacts {
  const known = tsql ? knownTsql : knownOthers;
  const facts = known.get(type) ?? takenApart(type, tsql);
  if (known.size >= mostKnown) known.clear();
  known.set(type, facts);
  return facts;
}

/** Types repeat over a warehouse; each is taken apart once, until there are very many. */
const knownTsql = new Map<string, TypeFacts>();
const knownOthers = new Map<string, TypeFacts>();
const mostKnown = 10_000;

function takenApart(type: string, tsql: boolean): TypeFacts {
  const open = type.indexOf('(');
  const named = (open < 0 ? type : type.slice(0, open)).replace(/^sys\./, '');
  const base = tsql ? (synonyms[named] ?? named) : named;
  const parameters = open < 0 ? [] : type.slice(open + 1, type.indexOf(')', open)).split(',');
  const numbers = parameters.map((text) => (text === 'max' ? Number.POSITIVE_INFINITY : Number(text)));
  const digits = integers[base];
  if (digits !== undefined) {
    return { base, family: 'integer', length: null, unicode: false, precision: digits, scale: 0 };
  }
  const family = base === 'timestamp' ? (tsql ? 'rowversion' : 'timestamp') : (families[base] ?? 'other');
  const [first = null, second = null] = numbers;
  return {
    base,
    family,
    length: family === 'text' || family === 'binary' ? textLength(base, first, tsql) : null,
    unicode: base.startsWith('n') || base === 'string' || base === 'sysname' || !tsql,
    precision: precisionOf(base, family, first),
    scale: scaleOf(base, family, first, second),
  };
}

function textLength(base: string, stated: number | null, tsql: boolean): number {
  if (stated !== null) return stated;
  if (base === 'sysname') return 128;
  // A T-SQL column without a length has one character; elsewhere, and for the old LOB types, it has no limit.
  return tsql && /^n?(var)?char$|^(var)?binary$/.test(base) ? 1 : Number.POSITIVE_INFINITY;
}

function precisionOf(base: string, family: TypeFamily, stated: number | null): number | null {
  if (base === 'money') return 19;
  if (base === 'smallmoney') return 10;
  if (family === 'decimal') return stated ?? 18;
  if (family === 'float') return base === 'real' || (stated !== null && stated <= 24) ? 24 : 53;
  return null;
}

function scaleOf(base: string, family: TypeFamily, first: number | null, second: number | null): number | null {
  if (base === 'money' || base === 'smallmoney') return 4;
  if (family === 'decimal') return second ?? 0;
  if (family === 'date') return null;
  if (family !== 'timestamp' && family !== 'time') return null;
  if (base === 'datetime' || base === 'timestamp_ms') return 3;
  if (base === 'smalldatetime' || base === 'timestamp_s') return 0;
  if (base === 'timestamp_ns') return 9;
  if (base === 'datetime2' || base === 'datetimeoffset') return first ?? 7;
  if (base === 'time') return first ?? 7;
  return first ?? 6;
}

/** How values of `from` fit into `to`. */
export type TypeFit = 'same' | 'widening' | 'narrowing' | 'conversion';

/** Compares a staging type with the target's. `conversion` changes the family; `narrowing` may cut or refuse values. */
export function compareTypes(from: TypeFacts, to: TypeFacts): TypeFit {
  if (from.family === 'other' || to.family === 'other') return from.base === to.base ? 'same' : 'conversion';
  if (from.family === to.family) return compareWithin(from, to);
  if (from.family === 'integer' && to.family === 'decimal') {
    return fits(from.precision, (to.precision ?? 0) - (to.scale ?? 0)) ? 'widening' : 'narrowing';
  }
  if (from.family === 'decimal' && to.family === 'integer') {
    return from.scale === 0 && fits(from.precision, (to.precision ?? 0) - 1) ? 'widening' : 'narrowing';
  }
  if (from.family === 'date' && to.family === 'timestamp') return 'widening';
  if (from.family === 'timestamp' && (to.family === 'date' || to.family === 'time')) return 'narrowing';
  return 'conversion';
}

function compareWithin(from: TypeFacts, to: TypeFacts): TypeFit {
  switch (from.family) {
    case 'text':
    case 'binary': {
      if (!fits(from.length, to.length)) return 'narrowing';
      if (from.family === 'text' && from.unicode && !to.unicode) return 'narrowing';
      return from.length === to.length && from.unicode === to.unicode ? 'same' : 'widening';
    }
    case 'integer':
    case 'float':
      return sizeFit(from.precision, to.precision);
    case 'decimal': {
      const whole = sizeFit((from.precision ?? 0) - (from.scale ?? 0), (to.precision ?? 0) - (to.scale ?? 0));
      const fraction = sizeFit(from.scale, to.scale);
      if (whole === 'narrowing' || fraction === 'narrowing') return 'narrowing';
      return whole === 'same' && fraction === 'same' ? 'same' : 'widening';
    }
    case 'timestamp':
    case 'time': {
      const zoned = (facts: TypeFacts) => /offset|tz$/.test(facts.base) && facts.base !== 'timestamp_ntz';
      if (zoned(from) && !zoned(to)) return 'narrowing';
      return sizeFit(from.scale, to.scale);
    }
    default:
      return 'same';
  }
}

function sizeFit(from: number | null, to: number | null): TypeFit {
  if (!fits(from, to)) return 'narrowing';
  return from === to ? 'same' : 'widening';
}

function fits(from: number | null, to: number | null): boolean {
  return (from ?? 0) <= (to ?? 0);
}

/**
 * Digest sizes that a column can hold: 32, 20 or 16 bytes, or twice as many hexadecimal characters. Unlimited text
 * (Spark's string) may hold one, too.
 */
export function mayHoldDigest(facts: TypeFacts): boolean {
  if (facts.family === 'binary') return facts.length !== null && [16, 20, 32, 64].includes(facts.length);
  if (facts.family !== 'text' || facts.length === null) return false;
  return (
    [32, 40, 64, 128].includes(facts.length) || (facts.length === Number.POSITIVE_INFINITY && facts.base !== 'text')
  );
}

/** A type that can bear a point in time or a day. */
export function isTemporal(facts: TypeFacts): boolean {
  return facts.family === 'timestamp' || facts.family === 'date';
}

/** False for types that no change test of the platform can compare; they are stored, but do not open versions. */
export function isComparable(type: string, platform: PlatformName): boolean {
  return !(isTsql(platform) && incomparable.test(type));
}

const incomparable = /^(sys\.)?(xml|geography|geometry|text|ntext|image|json|vector)\b/;
