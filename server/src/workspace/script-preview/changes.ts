import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, lastPart, tableNameOf } from '../../syntax/inspect.ts';
import type { Delete, Merge, Node, TableReference, Update } from '../../syntax/tree.ts';
import { type Effect, imageRow, NotFollowed, type Reading, type WriteEffects } from './effect.ts';
import { outputValues } from './outputs.ts';
import { quoted } from './print.ts';
import { type ThroughQuery, throughQuery, throughText } from './through-query.ts';
import { assigned, demandReads, knownTable, stored, targetTable, updateKind, withText } from './values.ts';

interface Target {
  readonly table: CatalogTable;
  /** By what columns of the target are qualified. */
  readonly alias: string;
  /** Where it stands in FROM; null where it is not named there. */
  readonly reference: TableReference | null;
  /** The named query that stands for it. */
  readonly through: ThroughQuery | null;
}

/** The rows that an UPDATE or a DELETE changes. */
export function changeEffect(write: Update | Delete, outputs: boolean, reading: Reading): WriteEffects {
  const clause = write.clauses[0];
  if (clause !== undefined) throw new NotFollowed(`${clause.name} is not followed`, clause.start);
  demandReads([...write.from, write.where, write.with]);
  const target = targetOf(write, reading);
  const isAlone = write.from.length === 0 || (write.from.length === 1 && write.from[0] === target.reference);
  const image = reading.imageOf(target.table);
  const isPlain = isAlone && image === null && target.through === null;
  const address = isPlain ? [] : target.through === null ? addressOf(target, reading) : null;
  const own = ownText(target, write, address === null, reading);
  const sources = [...(target.reference === null ? [own] : []), ...fromText(write, target, own, reading)];
  const where = write.where === null ? '' : `\nWHERE ${reading.slice(write.where.start, write.where.end)}`;
  const assignments = write.kind === 'update' ? write.assignments : [];
  const before = stored(target.table, target.alias, reading);
  const after = assigned(assignments, target.table, target.alias, reading);
  const becomes = write.kind === 'update' ? new Map([...before, ...after]) : null;
  const row = { table: target.table, before, after: becomes };
  const effect: Effect = {
    kind: write.kind === 'update' ? updateKind(assignments, target.table, write) : 'deleted',
    table: target.table,
    place: image ?? targetName(target, write, reading),
    with: withText(write, reading),
    from: `FROM ${sources.join(', ')}${where}`,
    address: address ?? [`${target.alias}.${imageRow}`],
    mayRepeat: !isAlone,
    before,
    after,
    numbered: new Set(),
    outputs: outputs ? outputValues(write.output, row, write.kind, reading) : [],
    gates: [],
  };
  return { effects: [effect], meeting: null };
}

/** Where FROM names the target of an UPDATE or DELETE, by its alias or its name; null where it does not, or not clearly. */
export function targetReference(
  write: Update | Delete,
  reading: Pick<Reading, 'platform' | 'tableOf'>,
): TableReference | null {
  const references = referencesOf(write, reading);
  return references.length === 1 ? (references[0] ?? null) : null;
}

/** What gives the target's rows in FROM. */
function ownText(target: Target, write: Update | Delete, isNumbered: boolean, reading: Reading): string {
  if (target.through !== null) return throughText(target.through, target.table, target.alias, write, reading);
  return isNumbered ? numberedTarget(target, write, reading) : targetText(target, write, reading);
}

function targetOf(write: Update | Delete, reading: Reading): Target {
  const { target } = write;
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  const through = throughQuery(write, reading.platform);
  if (referencesOf(write, reading).length > 1) {
    throw new NotFollowed('FROM names the target more than once', target.start);
  }
  const reference = targetReference(write, reading);
  const table =
    through === null ? targetTable(reference ?? target, write, reading) : knownTable(through.inner.name, reading);
  const alias = (reference ?? target).alias ?? lastPart((reference ?? target).name);
  return { table, alias: reading.source(alias.start, alias.end), reference, through };
}

function referencesOf(
  { target, from, with: clause }: Update | Delete,
  reading: Pick<Reading, 'platform' | 'tableOf'>,
): readonly TableReference[] {
  if (target.kind !== 'table') return [];
  const references = from.flatMap((source) => outerTables(source));
  const name = tableNameOf(target.name);
  const byAlias = references.filter(
    (each) => name.schema === null && each.alias !== null && sameIdentifier(each.alias.name, name.table),
  );
  if (byAlias.length > 0) return byAlias;
  if (!isTsql(reading.platform)) return [];
  const isNamed = clause?.tables.some((common) => sameIdentifier(common.name.name, name.table)) === true;
  return name.schema === null && isNamed
    ? references.filter((each) => each.alias === null && sameIdentifier(tableNameOf(each.name).table, name.table))
    : sameTables(references, name, reading);
}

function sameTables(
  references: readonly TableReference[],
  name: TableName,
  { tableOf }: Pick<Reading, 'tableOf'>,
): readonly TableReference[] {
  const table = tableOf(name);
  return table === undefined ? [] : references.filter((each) => tableOf(tableNameOf(each.name)) === table);
}

/** The tables of a FROM itself, not those of its subqueries. */
export function outerTables(source: Node): readonly TableReference[] {
  if (source.kind === 'table') return [source];
  if (source.kind === 'join') return [...outerTables(source.left), ...outerTables(source.right)];
  return source.kind === 'source-group' ? outerTables(source.source) : [];
}

/** What tells the target's rows apart: a number of its own, the engine's, or a key; null where there is none. */
export function addressOf(
  { table, alias }: Pick<Target, 'table' | 'alias'>,
  { platform, imageOf }: Reading,
): readonly string[] | null {
  if (imageOf(table) !== null) return [`${alias}.${imageRow}`];
  if (platform === 'duckdb') return [`${alias}.rowid`];
  const key = table.keys.find(({ kind }) => kind !== 'inferred');
  return key === undefined ? null : key.columns.map((column) => `${alias}.${quoted(column, platform)}`);
}

function targetText(target: Target, write: Update | Delete, reading: Reading): string {
  return `${reading.imageOf(target.table) ?? targetName(target, write, reading)} AS ${target.alias}`;
}

function targetName({ reference, through }: Target, write: Update | Delete, { source }: Reading): string {
  const named = through?.inner ?? reference ?? write.target;
  return named.kind === 'table' ? source(named.name.start, named.name.end) : '';
}

/** The target with a number for each row, under its own alias. */
export function numberedTarget(
  target: Omit<Target, 'through'>,
  write: Update | Delete | Merge,
  reading: Reading,
): string {
  const long = findAll(write, 'column').find(({ parts }) => parts.length > 2);
  if (long !== undefined) {
    throw new NotFollowed(
      'the target has no key that tells its rows apart, and a column is named with its schema',
      long.start,
    );
  }
  const named = target.reference ?? write.target;
  const name = named.kind === 'table' ? reading.source(named.name.start, named.name.end) : '';
  return `(SELECT ROW_NUMBER() OVER (ORDER BY (SELECT 1)) AS ${imageRow}, * FROM ${name}) AS ${target.alias}`;
}

/** FROM as written, the target's place taken by its own text where that differs. */
function fromText(write: Update | Delete, { reference }: Target, own: string, { slice }: Reading): readonly string[] {
  const first = write.from[0];
  const last = write.from.at(-1);
  if (first === undefined || last === undefined) return [];
  if (reference === null || !own.startsWith('(')) return [slice(first.start, last.end)];
  return [`${slice(first.start, reference.start)}${own}${slice(reference.end, last.end)}`];
}
