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
      const literal = literalOf(asked.value, stated, platform);
      if (literal === null) {
        problems.push({
          code: 'bad-parameter',
          severity: 'error',
          message: `${asked.name} is ${stated}, and ${asked.value} is no such value.`,
        });
        return whole;
      }
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
    const plain = /^(?:CAST\()?(?:N?'((?:[^']|'')*)'|([+-]?\d[\d.]*))(?: AS .*\))?$/i.exec(value?.trim() ?? '');
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

function literalOf(value: string | null, type: string, platform: PlatformName): string | null {
  if (value === null) return 'NULL';
  const base = type.toLowerCase().replace(/\(.*/, '');
  if (
    /^(tinyint|smallint|int|integer|bigint|hugeint|utinyint|decimal|numeric|float|real|double|money|smallmoney)$/.test(
      base,
    )
  ) {
    return /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? value.trim() : null;
  }
  if (base === 'bit' || base === 'boolean') {
    if (!/^\s*(0|1|true|false)\s*$/i.test(value)) return null;
    const isOn = /^\s*(1|true)\s*$/i.test(value);
    return base === 'bit' ? (isOn ? '1' : '0') : isOn ? 'TRUE' : 'FALSE';
  }
  const quoted = `'${value.replaceAll("'", "''")}'`;
  if (!isTsql(platform)) return quoted;
  // ISO form with T means the same under every language and DATEFORMAT.
  if (base.startsWith('datetime') || base === 'smalldatetime') {
    return /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?.*)?$/.test(value.trim())
      ? `'${value
          .trim()
          .replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
          .replaceAll("'", "''")}'`
      : null;
  }
  return `N${quoted}`;
}
