/**
 * A fitting target for a staging table: the columns, key and storage that a hub, link, satellite, persistent staging or
 * dimension of it has in the naming family of the handbook. Free of any dialect; `generate/create.ts` writes the DDL.
 */
import type { CatalogColumn, CatalogTable, TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { LoadOptions, PatternName } from '../../../protocol/specification.ts';
import { kindWords } from '../model/feeds.ts';
import { compactName, words } from '../model/names.ts';
import { type DigestAlgorithm, resolvedHashRules } from './digest.ts';
import { problemAt, unknownColumn } from './infer/pair.ts';
import { unfitting, unhashable } from './proposal-problems.ts';

export interface ProposedColumn {
  readonly name: string;
  /** A T-SQL type for control columns, the staged type for staged ones. */
  readonly type: string;
  /** Whose type it is: the stage's platform, or T-SQL. */
  readonly staged: boolean;
  readonly nullable: boolean;
  readonly collation: string | null;
  /** A date or text that the column starts with; null for none. */
  readonly start: string | null;
}

export interface ProposedTable {
  readonly name: TableName;
  readonly columns: readonly ProposedColumn[];
  readonly key: readonly string[];
  /** Column that distributed platforms spread rows by. */
  readonly distribution: string;
  /** True for vault tables, whose key is the digest of the stage's key. */
  readonly hashesKeys: boolean;
}

/** Where the table stands and what it is called; absent parts follow from the stage. */
export interface ProposalNames {
  readonly database?: string;
  readonly schema?: string;
  readonly table?: string;
}

type Proposal = (frame: Frame) => ProposedTable;

interface Frame {
  readonly source: CatalogTable;
  readonly entity: string;
  readonly names: ProposalNames;
  readonly keys: readonly string[];
  readonly options: LoadOptions;
}

const proposals: Readonly<Partial<Record<PatternName, Proposal>>> = {
  hub: (frame) => vaultTable(frame, 'Hub', staged(frame, frame.keys, false), { hashdiff: false, keyed: [] }),
  reference_table: (frame) => ({
    ...oneRow(frame, 'Ref'),
    columns: [...staged(frame, frame.keys, false), ...attributes(frame)],
  }),
  satellite: (frame) => vaultTable(frame, 'Sat', attributes(frame), { hashdiff: true, keyed: ['LoadDate'] }),
  ma_satellite: (frame) => {
    const cdk = frame.options.cdk ?? [];
    const rest = attributes(frame).filter((column) => !cdk.includes(column.name));
    return vaultTable(frame, 'Sat', [...staged(frame, cdk, false), ...rest], {
      hashdiff: true,
      keyed: ['LoadDate', ...cdk],
    });
  },
  status_tracking_satellite: (frame) =>
    vaultTable(frame, 'Sts', [control('IsActive', 'bit', false)], { hashdiff: false, keyed: ['LoadDate'] }),
  record_tracking_satellite: (frame) =>
    vaultTable(frame, 'Rts', [], { hashdiff: false, keyed: ['LoadDate', 'RecordSource'] }),
  link: (frame) => linkTable(frame, []),
  nh_link: (frame) => linkTable(frame, attributes(frame)),
  scd0: (frame) => oneRow(frame, 'Dim'),
  scd1: (frame) => oneRow(frame, 'Dim'),
  eff_satellite: (frame) => effectivitySatellite(frame),
  xts: (frame) =>
    vaultTable(frame, 'Xts', [control('SatelliteName', 'varchar(128)', false)], {
      hashdiff: true,
      keyed: ['LoadDate', 'RecordSource', 'SatelliteName', 'HashDiff'],
    }),
  scd2: (frame) => dimension(frame),
  scd2_timestamp: (frame) => dimension(frame),
  scd2_cdc: (frame) => sequencedDimension(frame),
  scd3: (frame) => typeThree(frame),
  scd6: (frame) => typeSix(frame),
  scd2_day: (frame) => persistentStaging(frame),
  inactivation: (frame) => persistentStaging(frame),
  persistent_staging: (frame) => log(frame),
};

/** Patterns that a fitting table can be made for. */
export const proposedPatterns = Object.keys(proposals);

/** Proposes the target of a load; null with one error when the stage's key is not known or a pattern has no own table. */
export function proposeTable(
  pattern: PatternName,
  source: CatalogTable,
  options: LoadOptions,
  names: ProposalNames,
): Outcome<ProposedTable | null> {
  const proposal = proposals[pattern];
  if (proposal === undefined) {
    const message = `No table can be proposed for ${pattern}; choose one of ${proposedPatterns.join(', ')}.`;
    return { value: null, problems: [problemAt(source, 'no-proposal', message)] };
  }
  const keys = options.keys ?? source.keys[0]?.columns ?? [];
  const problems: readonly Problem[] = [...keys, ...(options.cdk ?? [])]
    .filter((name) => !source.columns.some((column) => column.name.toLowerCase() === name.toLowerCase()))
    .map((name) => unknownColumn(source, name, 'keys'));
  if (keys.length === 0) {
    const message = `${source.name.table} declares no key; say which columns identify a row, as in --set keys=["${source.columns[0]?.name ?? '…'}"].`;
    return { value: null, problems: [problemAt(source, 'no-primary-key', message)] };
  }
  if (problems.length > 0) return { value: null, problems };
  const entity = entityOf(source);
  const table = proposal({ source, entity, names, keys, options });
  const misfit = unfitting(pattern, source, table);
  if (misfit !== null) return { value: null, problems: [misfit] };
  return { value: table, problems: unhashable(source, table, keys) };
}

/** `Dev_Patient_` → Patient; the whole name where nothing is left. */
function entityOf(source: CatalogTable): string {
  const parts = words(source.name.table).filter((word) => !kindWords.has(word));
  const kept = parts.length > 0 ? parts : words(source.name.table);
  return inOneWord(kept) || source.name.table;
}

function vaultTable(
  frame: Frame,
  prefix: string,
  rest: readonly ProposedColumn[],
  { hashdiff, keyed }: { readonly hashdiff: boolean; readonly keyed: readonly string[] },
): ProposedTable {
  const hashKey = hashKeyName(frame, frame.entity);
  return {
    name: nameOf(frame, 'rdv', prefix),
    columns: [
      control(hashKey, digestType(frame), false),
      ...vaultColumns(),
      ...(hashdiff ? [control('HashDiff', digestType(frame), false)] : []),
      ...rest,
    ],
    key: [hashKey, ...keyed],
    distribution: hashKey,
    hashesKeys: true,
  };
}

/** A staged `customer_key` would be taken for what fills a `CustomerKey`. */
function hashKeyName({ source }: Frame, of: string): string {
  const name = `${of}Key`;
  return source.columns.some((column) => compactName(column.name) === compactName(name)) ? `${of}HashKey` : name;
}

const digestTypes: Readonly<Record<DigestAlgorithm, string>> = {
  sha256: 'char(64)',
  sha1: 'char(40)',
  md5: 'char(32)',
};

/** Text that the digest's hex fills exactly. */
function digestType({ options }: Frame): string {
  return digestTypes[resolvedHashRules(options.hash_rules ?? {}, 'hash_key').algorithm];
}

function vaultColumns(): readonly ProposedColumn[] {
  return [control('LoadDate', 'datetime2(6)', false), control('RecordSource', 'varchar(255)', false)];
}

/** One hash key per business key column: which hubs they belong to is for a person to say. */
function linkTable(frame: Frame, rest: readonly ProposedColumn[]): ProposedTable {
  const own = hashKeyName(frame, `${frame.entity}Link`);
  const parts = linkedEntities(frame).map((name) => control(hashKeyName(frame, name), digestType(frame), false));
  return {
    name: nameOf(frame, 'rdv', 'Link'),
    columns: [control(own, digestType(frame), false), ...parts, ...vaultColumns(), ...rest],
    key: [own],
    distribution: own,
    hashesKeys: true,
  };
}

/** A link's columns with the time during which a relationship holds; closing it is a row of its own. */
function effectivitySatellite(frame: Frame): ProposedTable {
  const link = linkTable(frame, [
    control('StartDate', 'datetime2(6)', false),
    control('EndDate', 'datetime2(6)', false, '9999-12-31'),
  ]);
  return { ...link, name: nameOf(frame, 'rdv', 'EffSat'), key: [...link.key, 'LoadDate', 'EndDate'] };
}

/** What each key column identifies; by its whole name where two would be one. */
function linkedEntities({ keys }: Frame): readonly string[] {
  const entities = keys.map((name) => inOneWord(entityWords(name)));
  return keys.map((name, index) => {
    const entity = entities[index] ?? '';
    return entities.filter((other) => other === entity).length > 1 ? inOneWord(words(name)) : entity;
  });
}

function entityWords(name: string): readonly string[] {
  const parts = words(name);
  return parts.length > 1 && /^(id|no|nr|key|code|number)$/.test(parts.at(-1) ?? '') ? parts.slice(0, -1) : parts;
}

function inOneWord(parts: readonly string[]): string {
  return parts.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('');
}

function persistentStaging(frame: Frame): ProposedTable {
  const inactive = frame.source.columns.find((column) => column.role === 'inactive-date');
  return {
    name: nameOf(frame, 'psa', ''),
    columns: [
      ...staged(frame, frame.keys, false),
      ...attributes(frame),
      ...(inactive === undefined
        ? [control('SourceInactiveDT', 'datetime2(3)', true)]
        : staged(frame, [inactive.name], true)),
      control('EffectiveStartDT', 'datetime2(3)', false, '1900-01-01'),
      control('EffectiveExpireDT', 'datetime2(3)', false, '4000-01-01'),
      control('CurrentRowYN', 'char(1)', false, 'Y'),
      control('PSInsertDT', 'datetime2(3)', false),
    ],
    key: [...frame.keys, 'EffectiveStartDT'],
    distribution: frame.keys[0] ?? '',
    hashesKeys: false,
  };
}

function dimension(frame: Frame): ProposedTable {
  const one = oneRow(frame, 'Dim');
  return {
    ...one,
    columns: [
      ...one.columns,
      control('ValidFrom', 'datetime2(6)', false),
      control('ValidTo', 'datetime2(6)', true),
      control('IsCurrent', 'bit', false),
    ],
    key: [...frame.keys, 'ValidFrom'],
  };
}

/** From a change feed: versions begin and end at the feed's own sequence, so they have its type. */
function sequencedDimension(frame: Frame): ProposedTable {
  const one = oneRow(frame, 'Dim');
  const named = frame.options.sequence_by?.toLowerCase();
  const sequence = frame.source.columns.find((column) =>
    named === undefined ? column.role === 'sequence' : column.name.toLowerCase() === named,
  );
  if (sequence === undefined) return dimension(frame);
  const helpers = [sequence.name, frame.options.op_column ?? ''].map((name) => name.toLowerCase());
  const edge = (name: string, nullable: boolean): ProposedColumn => ({ ...fromStage(sequence, nullable), name });
  return {
    ...one,
    columns: [
      ...one.columns.filter((column) => !helpers.includes(column.name.toLowerCase())),
      edge('ValidFrom', false),
      edge('ValidTo', true),
    ],
    key: [...frame.keys, 'ValidFrom'],
  };
}

/** Type 3: beside each tracked attribute the value before. */
function typeThree(frame: Frame): ProposedTable {
  const one = oneRow(frame, 'Dim');
  return {
    ...one,
    columns: [
      ...one.columns.flatMap((column) =>
        isTracked(frame, column) ? [column, companion('previous', column)] : [column],
      ),
      control('ChangedAt', 'datetime2(6)', true),
    ],
  };
}

/** Type 6: type 2 with the current value of each tracked attribute on every version. */
function typeSix(frame: Frame): ProposedTable {
  const versions = dimension(frame);
  return {
    ...versions,
    columns: versions.columns.flatMap((column) =>
      isTracked(frame, column) ? [column, companion('current', column)] : [column],
    ),
  };
}

/** Attributes that the options track; all of them where they say nothing. */
function isTracked(frame: Frame, column: ProposedColumn): boolean {
  const isOneOf = (names: readonly string[]) => names.some((name) => name.toLowerCase() === column.name.toLowerCase());
  return column.staged && !isOneOf(frame.keys) && isOneOf(frame.options.compare ?? [column.name]);
}

/** `region` → `previous_region`, `Region` → `PreviousRegion`: the stage's own way to write names. */
function companion(mark: 'previous' | 'current', column: ProposedColumn): ProposedColumn {
  const { name } = column;
  const isLower = name === name.toLowerCase();
  const head = isLower ? `${mark}_` : `${mark[0]?.toUpperCase()}${mark.slice(1)}`;
  return { ...column, name: `${head}${isLower ? name : `${name[0]?.toUpperCase()}${name.slice(1)}`}`, nullable: true };
}

function oneRow(frame: Frame, prefix: string): ProposedTable {
  const columns = [...staged(frame, frame.keys, false), ...attributes(frame)];
  return {
    name: nameOf(frame, prefix === 'Ref' ? 'ref' : 'dw', prefix),
    columns,
    key: frame.keys,
    distribution: frame.keys[0] ?? '',
    hashesKeys: false,
  };
}

function log(frame: Frame): ProposedTable {
  const sequence = frame.source.columns.filter((column) => column.role === 'sequence').map((column) => column.name);
  return {
    name: nameOf(frame, 'psa', ''),
    columns: [
      ...staged(frame, frame.keys, false),
      ...attributes(frame),
      ...staged(frame, sequence, false),
      control('LoadDate', 'datetime2(6)', false),
      control('Operation', 'char(1)', false),
    ],
    key: [...frame.keys, 'LoadDate', ...sequence],
    distribution: frame.keys[0] ?? '',
    hashesKeys: false,
  };
}

function nameOf({ names, entity }: Frame, schema: string, prefix: string): TableName {
  return {
    database: names.database ?? null,
    schema: names.schema ?? schema,
    table: names.table ?? `${prefix}${entity}`,
  };
}

function control(name: string, type: string, nullable: boolean, start: string | null = null): ProposedColumn {
  return { name, type, staged: false, nullable, collation: null, start };
}

/** Staged columns by name, in the order asked for. */
function staged(frame: Frame, names: readonly string[], nullable: boolean): readonly ProposedColumn[] {
  return names.flatMap((name) => {
    const column = frame.source.columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    return column === undefined ? [] : [fromStage(column, nullable)];
  });
}

/** What the stage says of the thing, without keys, hash and load columns. */
function attributes(frame: Frame): readonly ProposedColumn[] {
  const keys = new Set(frame.keys.map((name) => name.toLowerCase()));
  const left = frame.source.columns.filter(
    (column) =>
      !keys.has(column.name.toLowerCase()) && !column.computed && !column.identity && !loadRoles.has(column.role),
  );
  return left.map((column) => fromStage(column, true));
}

const loadRoles: ReadonlySet<string> = new Set([
  'hash-key',
  'hashdiff',
  'load-date',
  'record-source',
  'load-process',
  'inactive-date',
  'sequence',
  'operation',
]);

function fromStage(column: CatalogColumn, nullable: boolean): ProposedColumn {
  return { name: column.name, type: column.type, staged: true, nullable, collation: column.collation, start: null };
}
