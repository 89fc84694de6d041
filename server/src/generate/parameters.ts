/**
 * The one marked parameter block of a generated script: reading it, and replacing its values. Everything outside the
 * block stays as it is, byte by byte.
 */
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { LoadParameter } from '../../../protocol/requests.ts';
import type { PlanParameter } from '../load/plan.ts';

export const blockStart = '-- Parameters';
export const blockEnd = '-- End of parameters';

/** What a run may set: name, type and value as plain text (null for NULL and for "the clock"). */
export function loadParameters(
  parameters: readonly PlanParameter[],
  typeName: (type: PlanParameter['type']) => string,
): readonly LoadParameter[] {
  return parameters.map(({ name, type, value, clock, description, isRequired }) => ({
    name,
    type: typeName(type),
    value: value === null ? null : String(value),
    description,
    isClock: clock,
    ...(isRequired === true ? { isRequired } : {}),
  }));
}

/** The parameters that a script's block leaves at NULL though they fill NOT NULL columns; a text without a block has none. */
export function missingParameters(
  text: string,
  parameters: readonly LoadParameter[],
  platform: PlatformName,
): readonly string[] {
  const start = text.search(new RegExp(`^${blockStart}\\r?$`, 'm'));
  const end = start < 0 ? -1 : text.indexOf(blockEnd, start);
  if (end < 0) return [];
  const empty = [...text.slice(start, end).matchAll(statements(platform))].flatMap(([, , name, , , value]) =>
    name !== undefined && /^(?:CAST\()?NULL(?: AS .*\))?$/i.test(value?.trim() ?? '') ? [name.toLowerCase()] : [],
  );
  return parameters.flatMap(({ name, isRequired }) =>
    isRequired === true && empty.includes(name.toLowerCase()) ? [name] : [],
  );
}

/**
 * Puts values into a script's parameter block (T-SQL DECLARE, DuckDB SET VARIABLE). Names are compared without case; null
 * is SQL NULL. Problems: a script without a block (`no-parameter-block`), a name that the block has not
 * (`unknown-parameter`), a number that is none (`bad-parameter`); then the text is unchanged.
 */
export function bindParameters(
  text: string,
  values: Readonly<Record<string, string | null>>,
  platform: PlatformName,
): Outcome<string> {
  if (Object.keys(values).length === 0) return { value: text, problems: [] };
  const start =
    text.indexOf(`${blockStart}\n`) >= 0 ? text.indexOf(`${blockStart}\n`) : text.indexOf(`${blockStart}\r\n`);
  const end = text.indexOf(blockEnd, start);
  if (start < 0 || end < 0) {
    return failed(text, {
      code: 'no-parameter-block',
      message: `The script has no block from "${blockStart}" to "${blockEnd}", so no value can be put into it.`,
    });
  }
  const block = text.slice(start, end);
  const problems: Problem[] = [];
  const left = new Map(Object.entries(values).map(([name, value]) => [bareName(name), { name, value }]));
  const bound = block.replace(
    statements(platform),
    (whole, head: string, name: string, type: string | undefined, middle: string, old: string) => {
      const asked = left.get(name.toLowerCase());
      if (asked === undefined) return whole;
      left.delete(name.toLowerCase());
      const stated = type ?? castType(old);
      if (asked.value !== null && !isValueOf(asked.value, stated)) {
        problems.push(badValue(asked.name, stated, asked.value));
        return whole;
      }
      const literal = literalOf(asked.value, stated, platform);
      return `${head}${name}${type === undefined ? '' : ` ${type}`}${middle}${isTsql(platform) ? literal : `CAST(${literal} AS ${stated})`};`;
    },
  );
  for (const { name } of left.values()) {
    const known = [...block.matchAll(statements(platform))].map((match) => match[2]).join(', ');
    problems.push({
      code: 'unknown-parameter',
      severity: 'error',
      message: `The script has no parameter ${name}; it has ${known === '' ? 'none' : known}.`,
    });
  }
  return problems.length > 0
    ? { value: text, problems }
    : { value: text.slice(0, start) + bound + text.slice(end), problems };
}

/** The values in a script's block that are plain literals, by name; clocks, NULL and other expressions are left out. */
export function boundValues(text: string, platform: PlatformName): Readonly<Record<string, string>> {
  const start = text.search(new RegExp(`^${blockStart}\\r?$`, 'm'));
  const end = start < 0 ? -1 : text.indexOf(blockEnd, start);
  if (end < 0) return {};
  const values = [...text.slice(start, end).matchAll(statements(platform))].flatMap(([, , name, , , value]) => {
    const plain =
      /^(?:CAST\()?(?:(?:N|unhex\()?'((?:[^']|'')*)'\)?|(0x[\da-f]*|[+-]?\d[\d.]*|TRUE|FALSE))(?: AS .*\))?$/i.exec(
        value?.trim() ?? '',
      );
    const found = plain?.[1]?.replaceAll("''", "'") ?? plain?.[2];
    return name === undefined || found === undefined ? [] : [[name, found] as const];
  });
  return Object.fromEntries(values);
}

/** A script without the inside of its block: two scripts that differ in values alone are the same. */
export function withoutBlock(text: string): string {
  const start = text.search(new RegExp(`^${blockStart}\\r?$`, 'm'));
  const end = start < 0 ? -1 : text.indexOf(blockEnd, start);
  return end < 0 ? text : text.slice(0, start) + text.slice(end);
}

function failed(text: string, problem: Omit<Problem, 'severity'>): Outcome<string> {
  return { value: text, problems: [{ ...problem, severity: 'error' }] };
}

function bareName(name: string): string {
  return name.replace(/^@/, '').toLowerCase();
}

/** A statement of the block: head, name, type (T-SQL only), what stands before the value, the value. Quoted `;` are no end. */
function statements(platform: PlatformName): RegExp {
  return isTsql(platform)
    ? /(DECLARE @)([A-Za-z_]\w*) ([a-z]\w*(?:\([\w, ]+\))?)( = )((?:N?'(?:[^']|'')*'|[^';])*);/gi
    : /(SET VARIABLE )([A-Za-z_]\w*)(never)?( = )((?:'(?:[^']|'')*'|[^';])*);/gi;
}

/** The type of `CAST(… AS TYPE)`. */
function castType(value: string): string {
  return / AS ([A-Z]\w*(?:\([\w, ]+\))?)\)$/i.exec(value.trim())?.[1] ?? 'VARCHAR';
}

const numbers =
  /^(tinyint|smallint|int|integer|bigint|hugeint|utinyint|decimal|numeric|float|real|double|money|smallmoney)$/;
const bytes = /^(binary|varbinary|blob)$/;

/** What values look like as plain text, by the names of their types; other types take any text. */
const shapes: readonly (readonly [types: RegExp, values: RegExp])[] = [
  [numbers, /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i],
  [/^(bit|boolean)$/, /^(0|1|true|false)$/i],
  [
    /^(date|datetime.*|smalldatetime|timestamp(tz)?)$/,
    /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?$/i,
  ],
  [bytes, /^(0x)?([\da-f]{2})*$/i],
  [/^(uniqueidentifier|uuid)$/, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i],
];

/** Whether a plain text is a value of a type; bytes are written in hexadecimal, with or without `0x`. */
export function isValueOf(value: string, type: string): boolean {
  const base = baseOf(type);
  return shapes.every(([types, values]) => !types.test(base) || values.test(value.trim()));
}

/** The problem of a text that is no value of its parameter. */
export function badValue(name: string, type: string, value: string): Problem {
  const how = bytes.test(baseOf(type)) ? '; write bytes in hexadecimal, as 0x0A1B' : '';
  const message = `${name} is ${type}, and ${value} is no such value${how}.`;
  return { code: 'bad-parameter', severity: 'error', message };
}

function baseOf(type: string): string {
  return type.toLowerCase().replace(/\(.*/, '');
}

/** The literal of a text that `isValueOf` lets pass. */
function literalOf(value: string | null, type: string, platform: PlatformName): string {
  if (value === null) return 'NULL';
  const base = baseOf(type);
  const plain = value.trim();
  if (numbers.test(base)) return plain;
  if (base === 'bit' || base === 'boolean') {
    const isOn = /^(1|true)$/i.test(plain);
    return base === 'bit' ? (isOn ? '1' : '0') : isOn ? 'TRUE' : 'FALSE';
  }
  if (bytes.test(base)) {
    const hex = plain.replace(/^0x/i, '');
    return base === 'blob' ? `unhex('${hex}')` : `0x${hex}`;
  }
  const quoted = `'${value.replaceAll("'", "''")}'`;
  if (!isTsql(platform)) return quoted;
  // ISO form with T means the same under every language and DATEFORMAT.
  if (base.startsWith('datetime') || base === 'smalldatetime')
    return `'${plain.replace(/^(\d{4}-\d\d-\d\d) /, '$1T').replaceAll("'", "''")}'`;
  return `N${quoted}`;
}
