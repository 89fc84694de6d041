/**
 * Whether stored hashes are what the loads of a table make of its own columns: a row that was changed by hand, or hashed by
 * another rule, has another digest. Where the inputs of a hash are not stored beside it, the check says so.
 */
import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import { mostOffenders } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { resolveOptions } from '../generate/options.ts';
import { all, cast, differs, item, literal, select, source, table } from '../load/build.ts';
import { columnOf, columnType, type Feed, freeName, type LoadContext, makeContext } from '../load/context.ts';
import { type HashRole, type Rendering, renderingOf, resolvedHashRules } from '../load/digest.ts';
import type { Expression } from '../load/language.ts';
import { ghostKey } from '../load/vault/ghosts.ts';
import { digestOf, type HashPart } from '../load/vault/hashing.ts';
import type { TableLookup } from '../model/lookup.ts';
import { fitOf } from '../model/matching.ts';
import { sameIdentifier } from '../model/names.ts';
import type { Check } from './check-query.ts';
import type { VersionedTable } from './version-columns.ts';

/** One check for each hash column of the table. */
export function hashChecks(
  versioned: VersionedTable,
  loads: readonly LoadSpecification[],
  tables: TableLookup<CatalogTable>,
): readonly Check[] {
  const contexts = loads.flatMap((load) => contextOf(load, versioned.table, tables) ?? []);
  return versioned.table.columns.flatMap((of) => {
    const rules = contexts.flatMap((context) => ruleFor(context, of) ?? []);
    const isHash = of.role === 'hash-key' || of.role === 'hashdiff';
    return isHash || rules.length > 0 ? [hashCheck(versioned, of, rules)] : [];
  });
}

/** How one load fills a hash column. */
interface HashRule {
  readonly context: LoadContext;
  readonly role: HashRole;
  /** Stage columns, and parameters marked by `@`. */
  readonly inputs: readonly string[];
}

function contextOf(
  load: LoadSpecification,
  target: CatalogTable,
  tables: TableLookup<CatalogTable>,
): LoadContext | undefined {
  if (tables.one(load.target) !== target) return undefined;
  const stage = tables.one(load.source);
  if (stage === undefined) return undefined;
  const specification = { ...load, options: resolveOptions(load) };
  return makeContext(specification, { source: stage, target, extra: {} }, { rowAddresses: false });
}

function ruleFor(context: LoadContext, of: CatalogColumn): HashRule | undefined {
  const { hash_key: keys, hashdiff, hash_columns: hashed, hash_role: role } = context.options;
  const inputsIn = (lists: Readonly<Record<string, readonly string[]>> | undefined) =>
    Object.entries(lists ?? {}).find(([name]) => sameIdentifier(name, of.name))?.[1];
  const keyInputs = inputsIn(keys) ?? (role === 'hash_key' ? inputsIn(hashed) : undefined);
  if (keyInputs !== undefined) return { context, role: 'hash_key', inputs: keyInputs };
  const inputs = inputsIn(hashdiff) ?? inputsIn(hashed);
  return inputs === undefined ? undefined : { context, role: 'hashdiff', inputs };
}

/** Rows whose stored hash is what none of the loads would make of them. */
function hashCheck(versioned: VersionedTable, of: CatalogColumn, rules: readonly HashRule[]): Check {
  const { table: target, keys, start } = versioned;
  const name = `hash-recomputes:${of.name}`;
  const description = `${of.name} is the hash of the row's own columns; ghost rows are left out.`;
  const refused = (refusal: string): Check => ({ name, description, refusal });
  const [first] = rules;
  if (first === undefined) return refused(`No load of the folder says from which columns ${of.name} is hashed.`);
  const digests: Expression[] = [];
  for (const rule of rules) {
    const digest = recomputed(rule, of);
    if (typeof digest === 'string') return refused(digest);
    digests.push(digest);
  }
  const stored = columnOf('v', target, of);
  const ghosts = (['unknown', 'error'] as const).map((kind) =>
    differs(stored, ghostKey(first.context, { type: columnType(target, of) }, kind), 'column'),
  );
  const shown = [...new Set([...keys, start, of])].map((part) => item(part.name, columnOf('v', target, part)));
  const query = select(
    [...shown, item(freeName(first.context, 'recomputed'), digests[0] ?? literal(null))],
    source(table(target.name), 'v'),
    { where: [all(...digests.map((digest) => differs(stored, digest, 'column')), ...ghosts)], limit: mostOffenders },
  );
  return { name, description, query };
}

/** The hash from stored columns, or why it can't be made, in words. */
function recomputed({ context, role, inputs }: HashRule, of: CatalogColumn): Expression | string {
  const { target } = context;
  const parts: HashPart[] = [];
  for (const name of inputs) {
    const feed = feedOfInput(context, name);
    if (feed === undefined) {
      return `${of.name} is hashed from ${inputs.join(', ')}, and ${target.name.table} does not hold ${name}.`;
    }
    const value = valueAsHashed(context, feed, role);
    if (typeof value === 'string') return value;
    // The load of versions orders a hashdiff's inputs by their names in the target, the others by those in the stage.
    const isOfVersions = /^(scd|persistent|inactivation)/.test(context.specification.pattern);
    parts.push({ name: isOfVersions ? feed.target.name : name, value });
  }
  const digest = digestOf(context, parts, role, columnType(target, of));
  return context.problems.find(({ severity }) => severity === 'error')?.message ?? digest;
}

/** The stored column that a hash input went into. */
function feedOfInput({ feeds }: LoadContext, name: string): Feed | undefined {
  if (name.startsWith('@')) return feeds.find((feed) => feed.parameter === name.slice(1));
  return feeds.find((feed) => feed.source !== null && sameIdentifier(feed.source.name, name));
}

/**
 * A stored value in the form in which it was hashed. A hashdiff takes in what is stored; a hash key takes in what was
 * staged, so the stored value must tell it: in the same rendering, or in one from which it comes back.
 */
function valueAsHashed(context: LoadContext, feed: Feed, role: HashRole): Expression | string {
  const { source: stage, target } = context;
  const stored = columnOf('v', target, feed.target);
  if (role === 'hashdiff' || feed.source === null) return stored;
  const before = renderingOf(feed.source.type, stage.platform).rendering;
  const after = renderingOf(feed.target.type, target.platform).rendering;
  if (before === null || after === null || isSameText(before, after)) return stored;
  const trims = resolvedHashRules(context.options.hash_rules ?? {}, role).trim;
  if (before.kind === 'text' && after.kind === 'padded-text' && trims) return stored;
  const widened = fitOf(feed.source, stage, feed.target, target) !== 'narrowing';
  if (widened && (wider[before.kind] ?? []).includes(after.kind)) return cast(stored, columnType(stage, feed.source));
  return `${feed.target.name} was hashed as ${feed.source.type} and is stored as ${feed.target.type}, which has another text.`;
}

/** Digits are the same text whether they are kept as a number or as letters. */
function isSameText(before: Rendering, after: Rendering): boolean {
  const isWhole = (of: Rendering) => of.kind === 'integer' || (of.kind === 'decimal' && of.scale === 0);
  return (
    JSON.stringify(before) === JSON.stringify(after) || (isWhole(before) && (isWhole(after) || after.kind === 'text'))
  );
}

/** Renderings from which a value comes back by a cast to its staged type. */
const wider: Readonly<Partial<Record<Rendering['kind'], readonly Rendering['kind'][]>>> = {
  'padded-text': ['text'],
  decimal: ['decimal'],
  date: ['timestamp'],
  milliseconds: ['timestamp'],
  minutes: ['timestamp', 'milliseconds'],
};
