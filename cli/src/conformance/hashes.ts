/**
 * Logical hash values of a case → the digests that a load must store. `{"$hash": {"member_no": "M1"}}` stands for the
 * digest over these columns under the case's hash rules. Where a case states no rules its hashes are opaque keys; the
 * classic rule then only serves to tell them apart.
 */
import type { HashRules } from '../../../protocol/specification.ts';
import {
  ghostDigest,
  type HashInput,
  type HashRole,
  type Rendering,
  resolvedHashRules,
  rowDigest,
} from '../../../server/src/load/digest.ts';
import type { CaseOptions, CaseRow, Cell, ConformanceCase, HashToken, NeutralColumns } from './format.ts';
import { type TextRow, textOfCell } from './values.ts';

/** What a case means where it leaves a hash rule out: the classic rule, which does not escape. */
const classicHashRules: HashRules = {
  algorithm: 'sha256',
  delimiter: '||',
  null_token: '^^',
  trim: false,
  case: 'as_is',
  empty_as_null: false,
  column_order: 'declared',
  escape: false,
  trailing_nulls: 'kept',
  prefix: '',
};

/** The hash rules of a case in full; a preset states the rest by itself. */
export function caseHashRules(config: CaseOptions): HashRules {
  const stated = config.hash_rules ?? {};
  return stated.preset === undefined ? { ...classicHashRules, ...stated } : stated;
}

/** The row's values as text, hashes as digests, in the order of `columns`. A column that the row lacks holds NULL. */
export function textRow(row: CaseRow, columns: NeutralColumns, owner: ConformanceCase): TextRow {
  return Object.fromEntries(
    Object.entries(columns).map(([name, type]) => [name, textOfColumn(row[name] ?? null, name, type, owner)]),
  );
}

function textOfColumn(cell: Cell, column: string, type: string, owner: ConformanceCase): string | null {
  return isHashToken(cell) ? tokenDigest(cell, column, owner) : textOfCell(cell, type);
}

function isHashToken(cell: Cell): cell is HashToken {
  return (
    typeof cell === 'object' && cell !== null && ('$hash' in cell || '$zero_hash' in cell || '$error_hash' in cell)
  );
}

function tokenDigest(token: HashToken, column: string, owner: ConformanceCase): string | null {
  const { config } = owner;
  const role = roleOf(column, config);
  const rules = resolvedHashRules(caseHashRules(config), role);
  if ('$zero_hash' in token) return ghostDigest(rules.algorithm, 'unknown');
  if ('$error_hash' in token) return ghostDigest(rules.algorithm, 'error');
  const names = inDeclaredOrder(Object.keys(token.$hash), column, config);
  const inputs: readonly HashInput[] = names.map((name) => {
    const type = inputType(name, role, owner);
    return {
      name,
      value: textOfColumn(token.$hash[name] ?? null, name, type, owner),
      rendering: neutralRendering(type),
    };
  });
  return rowDigest(inputs, rules, role);
}

function roleOf(column: string, config: CaseOptions): HashRole {
  if (config.hash_columns !== undefined && column in config.hash_columns) return config.hash_role ?? 'hashdiff';
  // Extended tracking satellites name their one hashdiff column so.
  return column in (config.hashdiff ?? {}) || column === 'hashdiff' ? 'hashdiff' : 'hash_key';
}

/** In the order of the list that defines the hash; a token may lack columns that its load did not have yet. */
function inDeclaredOrder(names: readonly string[], column: string, config: CaseOptions): readonly string[] {
  const lists = [
    config.hash_key?.[column],
    config.hashdiff?.[column],
    config.hash_columns?.[column],
    ...Object.values(config.hash_key ?? {}),
    ...Object.values(config.satellites ?? {}),
  ];
  const list = lists.find((candidate) => candidate !== undefined && names.every((name) => candidate.includes(name)));
  return list === undefined ? names : list.filter((name) => names.includes(name));
}

/** Inputs of hash keys have the staging type, inputs of hashdiffs the target column's. */
function inputType(name: string, role: HashRole, { tables }: ConformanceCase): string {
  const staged = tables.stage[name];
  const stored = tables.target[name];
  return (role === 'hashdiff' ? (stored ?? staged) : (staged ?? stored)) ?? 'string';
}

/** How values of a neutral type are rendered in hash texts. */
export function neutralRendering(type: string): Rendering {
  const decimal = /^decimal\(\d+,(\d+)\)$/.exec(type);
  if (decimal !== null) return { kind: 'decimal', scale: Number(decimal[1]) };
  if (type.startsWith('timestamp')) return { kind: 'timestamp' };
  switch (type) {
    case 'int':
    case 'bigint':
      return { kind: 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'date':
      return { kind: 'date' };
    default:
      return { kind: 'text' };
  }
}
