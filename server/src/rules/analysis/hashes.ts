import { bare } from '../../syntax/inspect.ts';
import type { Call, Cast, Expression } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { callName, columnName, plainColumn, roleByName } from './names.ts';
import type { Entry, Scope, Step } from './steps.ts';

/** One column or value that goes into a hash. */
interface HashPart {
  readonly expression: Expression;
  /** The literal between it and the next part; null when they touch, or for the last part. */
  readonly delimiter: string | null;
}

/** A call that makes a digest of several values. */
export interface HashCall {
  readonly entry: Entry<'call'>;
  readonly call: Call;
  readonly scope: Scope | null;
  /** What is hashed, wrappers included. */
  readonly input: Expression;
  /** Casts and text functions around the joined parts, from the outside in. */
  readonly wrappers: readonly (Cast | Call)[];
  /** How the parts are joined; `single` for one value. */
  readonly joining: 'concat' | 'concat-ws' | 'plus' | 'pipes' | 'single';
  /** The joining call or operator, inside the wrappers. */
  readonly joined: Expression;
  readonly parts: readonly HashPart[];
  readonly separator: string | null;
  /** What the name of its column says. */
  readonly purpose: 'key' | 'diff' | 'unknown';
  readonly name: string | null;
}

const digestCalls = new Set([
  'HASHBYTES',
  'MD5',
  'SHA',
  'SHA1',
  'SHA2',
  'SHA256',
  'SHA512',
  'XXHASH64',
  'HASH',
  'MD5_HEX',
]);
const textWrappers = new Set([
  'UPPER',
  'LOWER',
  'TRIM',
  'LTRIM',
  'RTRIM',
  'ENCODE',
  'ISNULL',
  'COALESCE',
  'NULLIF',
  'TO_UTF8',
]);

/** All digests of a step. */
export const hashesOf = memo((step: Step): readonly HashCall[] => {
  return step.find('call').flatMap((entry) => {
    const name = callName(entry.node);
    if (!digestCalls.has(name) || entry.node.over !== null) return [];
    const input = name === 'HASHBYTES' ? entry.node.arguments[1] : entry.node.arguments[0];
    return input === undefined ? [] : [describe(entry, name, input, step)];
  });
});

function describe(entry: Entry<'call'>, name: string, input: Expression, step: Step): HashCall {
  const wrappers: (Cast | Call)[] = [];
  let joined = bare(input);
  for (;;) {
    if (joined.kind === 'cast') {
      wrappers.push(joined);
      joined = bare(joined.operand);
    } else if (joined.kind === 'call' && textWrappers.has(callName(joined)) && isJoining(joined.arguments[0])) {
      wrappers.push(joined);
      joined = bare(joined.arguments[0] ?? joined);
    } else if (joined.kind === 'collate') joined = bare(joined.operand);
    else break;
  }
  const label = labelOf(entry, step);
  const severalArguments = (name === 'XXHASH64' || name === 'HASH') && entry.node.arguments.length > 1;
  const joining = severalArguments ? null : joiningOf(joined);
  return {
    entry,
    call: entry.node,
    scope: entry.scope,
    input,
    wrappers: joining === null ? [] : wrappers,
    joining: joining ?? 'single',
    joined: joining === null ? bare(input) : joined,
    separator: joining === 'concat-ws' ? separatorOf(joined) : null,
    parts: joining === null ? [{ expression: input, delimiter: null }] : partsOf(joined, joining),
    purpose: purposeOf(label),
    name: label,
  };
}

function purposeOf(label: string | null): HashCall['purpose'] {
  if (label === null) return 'unknown';
  const role = roleByName(label);
  if (role === 'hashdiff' || role === 'checksum') return 'diff';
  // `PatientKey` names no hash, but a hash of that name is a key.
  return role === 'hash-key' || /key$/i.test(label) ? 'key' : 'unknown';
}

/** Looks through wrappers for something that joins values. */
function isJoining(expression: Expression | undefined): boolean {
  if (expression === undefined) return false;
  const inner = bare(expression);
  if (joiningOf(inner) !== null) return true;
  if (inner.kind === 'cast') return isJoining(inner.operand);
  return inner.kind === 'call' && textWrappers.has(callName(inner)) && isJoining(inner.arguments[0]);
}

function joiningOf(expression: Expression): Exclude<HashCall['joining'], 'single'> | null {
  if (expression.kind === 'call') {
    const name = callName(expression);
    return name === 'CONCAT' ? 'concat' : name === 'CONCAT_WS' ? 'concat-ws' : null;
  }
  if (expression.kind === 'binary') {
    return expression.operator === '+' ? 'plus' : expression.operator === '||' ? 'pipes' : null;
  }
  return null;
}

function separatorOf(expression: Expression): string | null {
  if (expression.kind !== 'call') return null;
  const first = expression.arguments[0];
  const inner = first === undefined ? undefined : bare(first);
  return inner?.kind === 'literal' ? inner.value : null;
}

function partsOf(joined: Expression, joining: Exclude<HashCall['joining'], 'single'>): readonly HashPart[] {
  const pieces = flatten(joined);
  if (joining === 'concat-ws') {
    const separator = separatorOf(joined);
    const values = joined.kind === 'call' ? joined.arguments.slice(1) : [];
    return values.map((expression, index) => ({
      expression,
      delimiter: index < values.length - 1 ? separator : null,
    }));
  }
  const parts: { expression: Expression; delimiter: string | null }[] = [];
  for (const piece of pieces) {
    const text = literalText(piece);
    const last = parts.at(-1);
    if (text === null) parts.push({ expression: piece, delimiter: null });
    else if (last !== undefined) last.delimiter = (last.delimiter ?? '') + text;
  }
  const last = parts.at(-1);
  if (last !== undefined) last.delimiter = null;
  return parts;
}

/** The operands of nested CONCATs, `+` and `||` chains in their order. */
function flatten(expression: Expression): readonly Expression[] {
  const pieces: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = bare(next);
    const joining = joiningOf(inner);
    if (joining === 'concat' && inner.kind === 'call') pending.push(...inner.arguments.toReversed());
    else if ((joining === 'plus' || joining === 'pipes') && inner.kind === 'binary')
      pending.push(inner.right, inner.left);
    else pieces.push(next);
  }
  return pieces;
}

/** The text of a literal, of CHAR(n) or of a variable that serves as a delimiter. */
function literalText(expression: Expression): string | null {
  const inner = bare(expression);
  if (inner.kind === 'literal' && inner.type !== 'null') return inner.value;
  if (inner.kind === 'cast') return literalText(inner.operand);
  if (inner.kind === 'call' && ['CHAR', 'NCHAR', 'CHR'].includes(callName(inner))) return '\u001f';
  if (inner.kind === 'variable' && /delim|sep/i.test(inner.name)) return '\u001f';
  return null;
}

/** The column that a hash becomes: its alias, the column of SET, or the INSERT column at its place. */
export function labelOf(entry: Entry, step: Step): string | null {
  for (let at: Entry | null = entry; at !== null; at = at.parent) {
    const { node } = at;
    if (node.kind === 'select-item') {
      if (node.alias !== null) return node.alias.name;
      return insertColumn(at, step);
    }
    if (node.kind === 'assignment')
      return node.column === null ? (node.variable?.name ?? null) : columnName(node.column);
    if (node.kind === 'set-variable') return node.variable.name;
    if (node.kind === 'binary' && node.operator !== '+' && node.operator !== '||') {
      const other = plainColumn(node.left) ?? plainColumn(node.right);
      if (other !== null) return columnName(other);
    }
    if (node.kind === 'query') return null;
  }
  return null;
}

function insertColumn(item: Entry, step: Step): string | null {
  const select = item.parent;
  const { statement } = step;
  if (select?.node.kind !== 'select' || statement.kind !== 'insert' || statement.source.kind !== 'query') return null;
  if (statement.source.body !== select.node) return null;
  const index = select.node.items.findIndex(({ start }) => start === item.node.start);
  return statement.columns[index]?.name ?? null;
}
