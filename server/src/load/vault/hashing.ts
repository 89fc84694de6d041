/** Hash columns as expressions: the printed twin of `hashText` and `rowDigest` in `digest.ts`, rule for rule. */
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { HashRules } from '../../../../protocol/specification.ts';
import { any, choose, coalesce, concat, isNotNull, literal, nullIf, replace, trim, upper } from '../build.ts';
import { type LoadContext, report } from '../context.ts';
import { type HashRole, type ResolvedHashRules, renderingOf, resolvedHashRules } from '../digest.ts';
import { type Expression, isText, type TypeOrigin, typeOf, types, type ValueType } from '../language.ts';

/** One input of a hash: its name (for alphabetical order) and its value in the type that is rendered. */
export interface HashPart {
  readonly name: string;
  readonly value: Expression;
  /** The rows that are hashed all have it, so that nothing needs to be put for it. */
  readonly isPresent?: boolean;
}

/** The digest over these values, in the form that the column's type holds: bytes or lower-case hex. */
export function digestOf(
  context: LoadContext,
  parts: readonly HashPart[],
  role: HashRole,
  type: ValueType,
): Expression {
  const rules = resolvedHashRules(context.options.hash_rules ?? {}, role);
  const ordered = rules.column_order === 'alphabetical' ? [...parts].sort(byName) : parts;
  const rendered = ordered.map((part) => normalised(context, part, rules, role));
  const digest: Expression = {
    kind: 'digest',
    algorithm: rules.algorithm,
    text: hashText(rendered, rules),
    length: textLength(ordered, rules),
    as: type.facts.family === 'binary' ? 'bytes' : 'hex',
  };
  // A business key that is missing altogether never hashes to a constant.
  const mayBeMissing = role === 'hash_key' && !rendered.some(({ isPresent }) => isPresent);
  const isThere = any(...rendered.map(({ value }) => isNotNull(value)));
  return mayBeMissing ? choose([[isThere, digest]], literal(null, type)) : digest;
}

/** A value as it counts in keys: trimmed, upper-cased and blank-folded as the hash rules say; NULL when missing. */
export function keyPartOf(value: Expression, rules: HashRules, role: HashRole = 'hash_key'): Expression {
  return isText(value) ? shaped(value, resolvedHashRules(rules, role), role) : value;
}

/** A rendered value, and whether trimming, case and escaping mean anything for it. */
interface RenderedPart {
  readonly value: Expression;
  readonly isTextual: boolean;
  readonly isPresent: boolean;
}

function normalised(context: LoadContext, part: HashPart, rules: ResolvedHashRules, role: HashRole): RenderedPart {
  const type = typeOf(part.value) ?? types.text;
  const outcome = renderingOf(type.text, platformOf[type.origin]);
  if (outcome.rendering === null) {
    report(context, 'unhashable-type', `${part.name} can't go into a hash: ${outcome.refusal}.`);
    return { value: literal(null), isTextual: false, isPresent: false };
  }
  const { rendering } = outcome;
  const rendered: Expression = { kind: 'rendered', operand: part.value, rendering };
  const isTextual = rendering.kind === 'text' || rendering.kind === 'padded-text';
  const isPresent = part.isPresent === true;
  // A value that is there is not blank where blanks count as missing.
  const shape = isPresent ? { ...rules, empty_as_null: false } : rules;
  return { value: isTextual ? shaped(rendered, shape, role) : rendered, isTextual, isPresent };
}

/** A platform whose types are named as in this family. */
const platformOf: Readonly<Record<TypeOrigin, PlatformName>> = { tsql: 'sqlserver', duckdb: 'duckdb', spark: 'spark' };

function shaped(value: Expression, rules: ResolvedHashRules, role: HashRole): Expression {
  const trimmed = rules.trim ? trim(value) : value;
  const raised = rules.case === 'upper' || (rules.case === 'upper_keys_only' && role === 'hash_key');
  const cased = raised ? upper(trimmed) : trimmed;
  return rules.empty_as_null ? nullIf(cased, '') : cased;
}

/** Values joined by the delimiter, missing ones as the token; trailing missing ones dropped where the rules say so. */
function hashText(parts: readonly RenderedPart[], rules: ResolvedHashRules): Expression {
  const { delimiter, null_token: token, prefix } = rules;
  const texts = parts.map(({ value, isTextual, isPresent }) => {
    const text = rules.escape && isTextual ? escaped(value) : value;
    return isPresent ? text : coalesce(text, literal(token));
  });
  const joined = texts.flatMap((text, index): readonly Expression[] => {
    const piece = index === 0 || delimiter === '' ? [text] : [literal(delimiter), text];
    if (rules.trailing_nulls !== 'dropped') return piece;
    const isThereMore = any(...parts.slice(index).map(({ value }) => isNotNull(value)));
    return [choose([[isThereMore, concat(...piece)]], literal(''))];
  });
  return concat(...(prefix === '' ? joined : [literal(prefix), ...joined]));
}

/** After this no value holds `||` or `^^`, so different rows have different texts. */
function escaped(value: Expression): Expression {
  return replace(replace(value, '^', '^1'), '|', '^2');
}

/** The most characters that the hash text may have; no limit where an input has none. */
function textLength(parts: readonly HashPart[], rules: ResolvedHashRules): number {
  const between = rules.delimiter.length + rules.null_token.length;
  return parts.reduce((sum, part) => sum + between + renderedLength(part.value, rules), rules.prefix.length);
}

function renderedLength(value: Expression, rules: ResolvedHashRules): number {
  const { family, length } = (typeOf(value) ?? types.text).facts;
  const limit = length ?? Number.POSITIVE_INFINITY;
  if (family === 'text') return rules.escape ? limit * 2 : limit;
  // Two hex digits per byte; no number, date or time is longer than 41 characters.
  return family === 'binary' ? limit * 2 : 41;
}

function byName(left: HashPart, right: HashPart): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
