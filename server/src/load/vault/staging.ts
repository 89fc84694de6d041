/**
 * The staged rows of a vault load in the shape of the target: hash columns computed, the other columns converted to the
 * target's types, technical columns filled; rows without a key left out, or their keys replaced.
 */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import type { ColumnRole } from '../../../../protocol/roles.ts';
import { fitsPattern, sameIdentifier } from '../../model/names.ts';
import {
  aggregate,
  any,
  ascending,
  choose,
  column,
  compare,
  concat,
  countRows,
  countWhere,
  isNotNull,
  item,
  literal,
  named,
  parameter,
  same,
  select,
  shown,
  source,
  table,
  window,
} from '../build.ts';
import { clock } from '../clock.ts';
import {
  clockParameter,
  columnOf,
  columnType,
  converted,
  type Feed,
  fedValue,
  feedInto,
  feedOf,
  findColumn,
  freeName,
  keyText,
  keyValue,
  type LoadContext,
  refuseNarrowing,
  report,
  textParameters,
} from '../context.ts';
import { type HashRole, resolvedHashRules } from '../digest.ts';
import {
  type Expression,
  type Item,
  isText,
  type OrderItem,
  type Query,
  type Relation,
  type TextRule,
  types,
  type ValueType,
  valueType,
} from '../language.ts';
import type { PlanParameter, Step, Warning } from '../plan.ts';
import { isMissing, requiredColumns, skippedRows } from '../stage.ts';
import { digestOf, keyPartOf } from './hashing.ts';

/** A target column and the value that a staged row (alias `s`) gives it. */
export interface StagedColumn {
  readonly target: CatalogColumn;
  readonly type: ValueType;
  readonly value: Expression;
  /** Set where the column holds a digest. */
  readonly role: HashRole | null;
  /** The stage columns that a hash key is made of; none for other columns. */
  readonly inputs: readonly CatalogColumn[];
}

export interface VaultStage {
  readonly context: LoadContext;
  /** Target columns that the load fills, in the target's order. */
  readonly columns: readonly StagedColumn[];
  /** The columns of `target_key`. */
  readonly keys: readonly StagedColumn[];
  readonly loadTs: StagedColumn | undefined;
  readonly recordSource: StagedColumn | undefined;
  readonly hashdiff: StagedColumn | undefined;
}

export function vaultStage(context: LoadContext): VaultStage {
  const { options, target } = context;
  const columns = stagedColumns(context);
  refuseNarrowing(
    context,
    context.feeds.filter(
      (feed) =>
        entryOf(options.hash_key, feed.target) === undefined && entryOf(options.hashdiff, feed.target) === undefined,
    ),
  );
  const find = (name: string | undefined): StagedColumn | undefined =>
    name === undefined ? undefined : columns.find((candidate) => sameIdentifier(candidate.target.name, name));
  const keys = (options.target_key ?? []).flatMap((name) => {
    const found = find(name);
    if (found !== undefined) return [found];
    if (findColumn(context, target, name, 'target_key') !== undefined) {
      report(
        context,
        'unfilled-column',
        `Nothing fills the key column ${name} of ${target.name.table}: say from which columns it is hashed with --set hash_key={"${name}":["…"]}.`,
      );
    }
    return [];
  });
  if ((options.target_key ?? []).length === 0) {
    report(
      context,
      'no-key',
      `No key is stated for ${target.name.table}: name its key column with --set target_key=["…"].`,
    );
  }
  return {
    context,
    columns,
    keys,
    loadTs: find(options.load_ts) ?? columnLike(columns, 'load-date', loadTimeNames),
    recordSource: find(options.record_source) ?? columnLike(columns, 'record-source', recordSourceNames),
    hashdiff:
      find(Object.keys(options.hashdiff ?? {})[0]) ?? columns.find((candidate) => candidate.target.role === 'hashdiff'),
  };
}

export const loadTimeNames = ['load_ts', 'load_date', 'load_datetime', 'load_dts', 'ldts'];
const recordSourceNames = ['record_source', 'rec_src', 'rsrc'];

/** The column with this role, or with one of the role's usual names. */
function columnLike(
  columns: readonly StagedColumn[],
  role: ColumnRole,
  names: readonly string[],
): StagedColumn | undefined {
  return columns.find((of) => of.target.role === role) ?? columns.find((of) => fitsPattern(of.target.name, names));
}

/** The target columns that something fills, in the target's order. */
export function stagedColumns(context: LoadContext): readonly StagedColumn[] {
  return context.target.columns
    .filter((of) => !of.computed && !of.identity)
    .flatMap((of) => stagedColumn(context, of) ?? []);
}

function stagedColumn(context: LoadContext, of: CatalogColumn): StagedColumn | undefined {
  const { options, target } = context;
  const type = columnType(target, of);
  const hashed = entryOf(options.hash_columns, of);
  const keyInputs = entryOf(options.hash_key, of) ?? (options.hash_role === 'hash_key' ? hashed : undefined);
  if (keyInputs !== undefined) {
    const parts = keyInputs.map((name) => ({
      name,
      value: stagedValue(context, name, 'hash_key'),
      isPresent: isAlwaysThere(context, name),
    }));
    const inputs = keyInputs
      .filter((name) => !name.startsWith('@'))
      .flatMap((name) => findColumn(context, context.source, name, 'hash_key') ?? []);
    return { target: of, type, value: digestOf(context, parts, 'hash_key', type), role: 'hash_key', inputs };
  }
  const diffInputs = entryOf(options.hashdiff, of) ?? hashed;
  if (diffInputs !== undefined)
    return { target: of, type, value: hashdiffOver(context, diffInputs, type), role: 'hashdiff', inputs: [] };
  const feed = feedInto(context, of);
  if (feed !== undefined) return { target: of, type, value: fedWithStandIn(context, feed), role: null, inputs: [] };
  if (options.load_ts === undefined || !sameIdentifier(options.load_ts, of.name)) return undefined;
  return { target: of, type, value: converted(clock, type), role: null, inputs: [] };
}

/** The hashdiff over stage columns, each first converted to the type of the target column that stores it. */
export function hashdiffOver(context: LoadContext, inputs: readonly string[], type: ValueType): Expression {
  const parts = inputs.map((name) => {
    const value = stagedValue(context, name, 'hashdiff');
    const stored = feedOf(context, name)?.type;
    return { name, value: stored === undefined ? value : converted(value, stored) };
  });
  return digestOf(context, parts, 'hashdiff', type);
}

function entryOf(
  lists: Readonly<Record<string, readonly string[]>> | undefined,
  of: CatalogColumn,
): readonly string[] | undefined {
  return Object.entries(lists ?? {}).find(([name]) => sameIdentifier(name, of.name))?.[1];
}

/** A stage column's value, or a load parameter (`@SourceSystem`); a missing key part gives its stand-in. */
function stagedValue(context: LoadContext, name: string, option: string): Expression {
  if (name.startsWith('@')) return parameter(name.slice(1), valueType('varchar(255)'));
  const found = findColumn(context, context.source, name, option);
  return found === undefined ? literal(null) : withStandIn(context, found, columnOf('s', context.source, found));
}

function fedWithStandIn(context: LoadContext, feed: Feed): Expression {
  return feed.source === null || standInOf(context, feed.source) === undefined
    ? fedValue(context, feed)
    : converted(withStandIn(context, feed.source, columnOf('s', context.source, feed.source)), feed.type);
}

function standInOf({ options }: LoadContext, of: CatalogColumn): string | undefined {
  if (options.null_keys !== 'map') return undefined;
  return Object.entries(options.null_key_map ?? {}).find(([name]) => sameIdentifier(name, of.name))?.[1];
}

function withStandIn(context: LoadContext, of: CatalogColumn, value: Expression): Expression {
  const standIn = standInOf(context, of);
  if (standIn === undefined) return value;
  const replaced = literal(standIn, columnType(context.source, of));
  return choose([[isMissing(value, keyRules(context)), replaced]], value);
}

/** A stage column that no loaded row lacks: rows without it are left out, or a stand-in is put for it. */
function isAlwaysThere(context: LoadContext, name: string): boolean {
  const { kind, null_keys: rule } = context.options;
  if (kind !== undefined || rule === 'insert' || rule === 'match') return false;
  // The padding of char(n) is no value to the hash, but the stage's blanks are not judged that way.
  const isPadded = (type: ValueType): boolean => /^(n?char|character)$/.test(type.facts.base);
  return requiredColumns(context).some(
    (of) => sameIdentifier(of.name, name) && !isPadded(columnType(context.source, of)),
  );
}

function keyRules({ options }: LoadContext) {
  return resolvedHashRules(options.hash_rules ?? {}, 'hash_key');
}

/** Stage columns that a row must have to be loaded; none where something is put for them. */
export function neededColumns(context: LoadContext): readonly CatalogColumn[] {
  const { null_keys: rule } = context.options;
  if (rule === 'insert' || rule === 'match') return [];
  return requiredColumns(context).filter((of) => standInOf(context, of) === undefined);
}

function neededValues(context: LoadContext): readonly Expression[] {
  return neededColumns(context).map((of) => columnOf('s', context.source, of));
}

/**
 * The rows that are loaded, in the target's columns, with further items beside them; of these columns or rows some only
 * where `narrowed` says so.
 */
export function stagedRows(
  { context, columns }: VaultStage,
  further: readonly Item[] = [],
  narrowed: { readonly columns?: readonly StagedColumn[]; readonly where?: readonly Expression[] } = {},
): Query {
  const rules = keyRules(context);
  const hasKeys = neededValues(context).map((value) => isNotNull(isText(value) ? blankFolded(value, rules) : value));
  return select(
    [...(narrowed.columns ?? columns).map((staged) => item(staged.target.name, staged.value)), ...further],
    source(table(context.source.name), 's'),
    { where: [...hasKeys, ...(narrowed.where ?? [])] },
  );
}

function blankFolded(value: Expression, rules: ReturnType<typeof keyRules>): Expression {
  return rules.empty_as_null ? keyPartOf(value, { ...rules, case: 'as_is' }) : value;
}

/** Counts the rows that lack a key; stops the load for them where they are not skipped. */
export function missingKeySteps({ context }: VaultStage): readonly Step[] {
  const needed = neededValues(context);
  if (needed.length === 0) return [];
  const rules = keyRules(context);
  const count: Step = {
    kind: 'measure',
    says: 'Rows without a key are left out and counted.',
    query: select(
      [item(skippedRows.name, countWhere(any(...needed.map((value) => isMissing(value, rules)))))],
      source(table(context.source.name), 's'),
    ),
  };
  if (context.options.null_keys !== 'fail') return [count];
  const names = requiredColumns(context)
    .map((of) => of.name)
    .join(', ');
  return [
    { ...count, says: 'Rows without a key.' },
    {
      kind: 'guard',
      says: 'A row without a key stops the load.',
      code: 'null_key',
      when: compare(skippedRows, '>', literal(0)),
      message: concat(shown(skippedRows), literal(` staged rows have no ${names}`)),
    },
  ];
}

/** The count of rows that were left out for a missing key. */
export function skippedCount({ context }: VaultStage): Expression {
  return neededValues(context).length === 0 ? literal(0) : skippedRows;
}

/** A staged column as a later step reads it. */
export function stagedAs(alias: string, staged: StagedColumn): Expression {
  return column(alias, staged.target.name, staged.type);
}

/** The column of a stored row. */
export function storedAs(alias: string, context: LoadContext, staged: StagedColumn): Expression {
  return columnOf(alias, context.target, staged.target);
}

/** A key column's value as keys are compared: digests as they are, texts shaped by the hash rules and `key_compare`. */
export function keyForm(context: LoadContext, of: StagedColumn, value: Expression): Expression {
  const { hash_rules: rules } = context.options;
  if (of.role !== null || of.target.role === 'hash-key' || !isText(value)) return value;
  return keyValue(context, rules === undefined ? value : keyPartOf(value, rules));
}

/** Stored and staged row have the same key; under `null_keys: match` two NULLs are one key, too. */
export function sameKey(stage: VaultStage, left: string, right: string): readonly Expression[] {
  return stage.keys.map((key) => sameKeyValue(stage.context, key, stagedAs(left, key), stagedAs(right, key)));
}

/** Two values of one key column are the same key. */
export function sameKeyValue(context: LoadContext, key: StagedColumn, left: Expression, right: Expression): Expression {
  const [first, second] = [keyForm(context, key, left), keyForm(context, key, right)];
  const text = key.role === null ? keyText(context) : 'column';
  return context.options.null_keys === 'match' ? same(first, second, text) : compare(first, '=', second, text);
}

/** The load's parameters: the clock where a column is filled from it, then those that fill columns or go into hashes. */
export function vaultParameters(stage: VaultStage): readonly PlanParameter[] {
  const { context } = stage;
  const isClocked = stage.loadTs !== undefined && !context.feeds.some((feed) => feed.target === stage.loadTs?.target);
  const name = stage.loadTs?.target.name ?? '';
  return [...(isClocked ? [clockParameter(`fills ${name}`)] : []), ...textParameters(context)];
}

/** Digests are compared as they are; business keys as `key_compare` says. */
export function keyTextOf({ context, keys }: VaultStage): TextRule {
  return keys.some((key) => key.role === null && isText(stagedAs('s', key))) ? keyText(context) : 'column';
}

/** The staged keys in the form in which they are compared. */
export function keyForms({ context, keys }: VaultStage, alias: string): readonly Expression[] {
  return keys.map((key) => keyForm(context, key, stagedAs(alias, key)));
}

/** Measures how many different keys the rows of a relation have. */
export function keyCount(stage: VaultStage, rows: Relation, says: string, name: string): Step {
  const [only, ...more] = keyForms(stage, 's');
  if (
    only !== undefined &&
    more.length === 0 &&
    keyTextOf(stage) === 'column' &&
    neededValues(stage.context).length > 0
  ) {
    return { kind: 'measure', says, query: select([item(name, aggregate('count-distinct', only))], source(rows, 's')) };
  }
  const groups = select([item('rows', countRows())], source(rows, 's'), {
    groupBy: keyForms(stage, 's'),
    text: keyTextOf(stage),
  });
  return { kind: 'measure', says, query: select([item(name, countRows())], source(groups, 'k')) };
}

/** Measures how many rows a materialised relation has. */
export function rowCount(rows: string, says: string, name: string): Step {
  return { kind: 'measure', says, query: select([item(name, countRows())], source(named(rows), 'c')) };
}

/** Columns of a relation that has the target's names. */
export interface NamedColumn {
  readonly name: string;
  readonly type: ValueType;
}

/** The first row, in this order, of each group of equal `partition` values (over alias `s`). */
export function firstRows(
  context: LoadContext,
  rows: Relation,
  columns: readonly NamedColumn[],
  partition: readonly Expression[],
  order: readonly OrderItem[],
  text: TextRule,
): Query {
  const rank = freeName(context, 'sighting');
  // A row number needs an order, even among rows that are all alike.
  const sequence = order.length > 0 ? order : partition.map(ascending);
  const ranked = select(
    [
      ...columns.map(({ name, type }) => item(name, column('s', name, type))),
      item(rank, window('row_number', null, partition, sequence, { text })),
    ],
    source(rows, 's'),
  );
  return select(
    columns.map(({ name, type }) => item(name, column('r', name, type))),
    source(ranked, 'r'),
    { where: [compare(column('r', rank, types.count), '=', literal(1))] },
  );
}

/** Tells after the load that rows were left out. */
export function skippedWarnings(stage: VaultStage): readonly Warning[] {
  if (neededValues(stage.context).length === 0 || stage.context.options.null_keys === 'fail') return [];
  return [
    {
      code: 'null_key',
      when: compare(skippedRows, '>', literal(0)),
      message: concat(shown(skippedRows), literal(' staged rows without a key were skipped')),
    },
  ];
}
