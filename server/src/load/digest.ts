/**
 * The digest of a row, computed here as every platform computes it (handbook, "Hash rule"): the reference that the
 * printed expressions are tested against, and what a conformance run expects in hash columns.
 */
import type { HashRules } from '../../../protocol/specification.ts';
import { type DigestAlgorithm, digestOfBytes } from './digest/algorithms.ts';
import { type Rendering, renderedValue } from './digest/rendering.ts';

export type { DigestAlgorithm } from './digest/algorithms.ts';
export { type Rendering, renderedValue, renderingOf } from './digest/rendering.ts';

/** A hash key identifies, a hashdiff tells versions apart: NULLs, case, order and prefix may differ between them. */
export type HashRole = 'hash_key' | 'hashdiff';

/** Hash rules with every choice made. */
export type ResolvedHashRules = Readonly<Required<Omit<HashRules, 'preset'>>>;

/** One input column of a digest; `value` is plain text as `renderedValue` takes it. */
export interface HashInput {
  readonly name: string;
  readonly value: string | null;
  readonly rendering: Rendering;
}

const defaultHashRules: ResolvedHashRules = {
  algorithm: 'sha256',
  delimiter: '||',
  null_token: '^^',
  trim: false,
  case: 'as_is',
  empty_as_null: false,
  column_order: 'declared',
  escape: true,
  trailing_nulls: 'kept',
  prefix: '',
};

/** Fills in what `rules` leave open from their preset, for a digest in this role. */
export function resolvedHashRules(rules: HashRules, role: HashRole): ResolvedHashRules {
  const { preset = 'default', ...stated } = rules;
  return { ...presetRules(preset, role), ...stated };
}

/**
 * The text that is hashed: each value rendered, trimmed, upper-cased, blanks folded and escaped as the rules say, joined
 * by the delimiter. Null for a hash key of which every part is missing: a NULL business key never hashes to a constant.
 */
export function hashText(inputs: readonly HashInput[], rules: ResolvedHashRules, role: HashRole): string | null {
  const ordered = rules.column_order === 'alphabetical' ? [...inputs].sort(byName) : inputs;
  const parts = ordered.map((input) => normalisedPart(input.value, input.rendering, rules, role));
  if (role === 'hash_key' && parts.every((part) => part === null)) return null;
  const kept = rules.trailing_nulls === 'dropped' ? withoutTrailingNulls(parts) : parts;
  const texts = kept.map((part) => (part === null ? rules.null_token : rules.escape ? escaped(part) : part));
  return rules.prefix + texts.join(rules.delimiter);
}

/** The digest of a row as lower-case hex, or null (see `hashText`). */
export function rowDigest(inputs: readonly HashInput[], rules: ResolvedHashRules, role: HashRole): string | null {
  const text = hashText(inputs, rules, role);
  return text === null ? null : textDigest(rules.algorithm, text);
}

/** The digest over the UTF-8 bytes of a text, as lower-case hex. */
export function textDigest(algorithm: DigestAlgorithm, text: string): string {
  return digestOfBytes(algorithm, new TextEncoder().encode(text));
}

/** The ghost keys: all 0 for an unknown, all f for an erroneous business key, as long as the digest's hex text. */
export function ghostDigest(algorithm: DigestAlgorithm, kind: 'unknown' | 'error'): string {
  const digits: Readonly<Record<DigestAlgorithm, number>> = { sha256: 64, sha1: 40, md5: 32 };
  return (kind === 'unknown' ? '0' : 'f').repeat(digits[algorithm]);
}

/** One part of a key or hash text before escaping; null when the part is missing under the rules. */
export function normalisedPart(
  value: string | null,
  rendering: Rendering,
  rules: Pick<ResolvedHashRules, 'trim' | 'case' | 'empty_as_null'>,
  role: HashRole,
): string | null {
  if (value === null) return null;
  const rendered = renderedValue(value, rendering);
  const trimmed = rules.trim ? rendered.replace(/^ +| +$/g, '') : rendered;
  const upper = rules.case === 'upper' || (rules.case === 'upper_keys_only' && role === 'hash_key');
  const cased = upper ? upperCased(trimmed) : trimmed;
  return rules.empty_as_null && cased === '' ? null : cased;
}

/** Letter by letter: a letter whose capital is more than one letter (ß) stays, as it does in the engines. */
export function upperCased(text: string): string {
  return Array.from(text, (letter) => {
    const upper = letter.toUpperCase();
    return Array.from(upper).length === 1 ? upper : letter;
  }).join('');
}

function presetRules(preset: NonNullable<HashRules['preset']>, role: HashRole): ResolvedHashRules {
  switch (preset) {
    case 'legacy-concat':
      return {
        ...defaultHashRules,
        delimiter: '',
        null_token: '',
        escape: false,
        prefix: role === 'hashdiff' ? '0' : '',
      };
    case 'automate-dv':
      return {
        ...defaultHashRules,
        algorithm: 'md5',
        trim: true,
        case: 'upper',
        empty_as_null: true,
        escape: false,
        column_order: role === 'hashdiff' ? 'alphabetical' : 'declared',
      };
    case 'datavault4dbt':
      return {
        ...defaultHashRules,
        algorithm: 'md5',
        trim: true,
        case: 'upper_keys_only',
        empty_as_null: true,
        escape: false,
      };
    case 'default':
    // A checksum is no digest: columns that bear one are compared by their values, hash keys follow the default rule.
    case 'binary-checksum':
      return defaultHashRules;
  }
}

/** After this no value holds `||` or `^^`, so different rows have different texts. */
function escaped(part: string): string {
  return part.replaceAll('^', '^1').replaceAll('|', '^2');
}

function withoutTrailingNulls(parts: readonly (string | null)[]): readonly (string | null)[] {
  const last = parts.findLastIndex((part) => part !== null);
  return parts.slice(0, last + 1);
}

function byName(left: HashInput, right: HashInput): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
