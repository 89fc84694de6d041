import { counted } from '../../../protocol/counted.ts';
import type { TableRole } from '../../../protocol/roles.ts';
import { fitsPattern, sameIdentifier, words } from './names.ts';
import { includesName, type Structure, type StructuredColumn } from './structure.ts';

/** One observation for or against a role. */
export interface Evidence {
  /** Positive for, negative against; a role's weights add up to 1 at best. */
  readonly weight: number;
  /** A clause that can stand after "because"; null where it would tell a person nothing. */
  readonly reason: string | null;
}

type Observe = (structure: Structure) => readonly Evidence[] | null;

/**
 * What a table's structure says for each role; null where the structure rules the role out. Names of tables and
 * schemas are weighed elsewhere: structure counts more.
 */
export const structuralEvidence: Readonly<Record<Exclude<TableRole, 'unknown'>, Observe>> = {
  staging: stagingEvidence,
  'persistent-staging': persistentStagingEvidence,
  hub: hubEvidence,
  link: (structure) => (structure.payload.length > 0 ? null : linkEvidence(structure)),
  'nh-link': nonHistorisedLinkEvidence,
  satellite: (structure) => (hasDependentKey(structure) ? null : satelliteEvidence(structure)),
  'ma-satellite': multiActiveEvidence,
  'eff-satellite': effectivityEvidence,
  'st-satellite': statusTrackingEvidence,
  'rt-satellite': recordTrackingEvidence,
  xts: extendedTrackingEvidence,
  dimension: dimensionEvidence,
  reference: referenceEvidence,
  pit: pitEvidence,
  bridge: bridgeEvidence,
};

function evidence(weight: number, reason: string | null = null): Evidence {
  return { weight, reason };
}

function nameOf(column: StructuredColumn): string {
  return column.facts.name;
}

function list(columns: readonly StructuredColumn[], limit = 3): string {
  const names = columns.slice(0, limit).map(nameOf);
  return columns.length > limit ? `${names.join(', ')} and ${columns.length - limit} more` : names.join(', ');
}

/** The declared key holds exactly these columns, in any order. */
function keyIs(structure: Structure, columns: readonly string[]): boolean {
  return structure.key.length === columns.length && columns.every((name) => includesName(structure.key, name));
}

function keyHas(structure: Structure, column: StructuredColumn | undefined | null): boolean {
  return column !== null && column !== undefined && includesName(structure.key, nameOf(column));
}

/** Hash key and load date stand at the head of every vault table. */
function vaultHead(structure: Structure): { hashKey: StructuredColumn; loadDate: StructuredColumn } | null {
  const hashKey = structure.hashKeys.find((column) => keyHas(structure, column)) ?? structure.hashKeys[0];
  const loadDate = structure.loadDates.find((column) => keyHas(structure, column)) ?? structure.loadDates[0];
  return hashKey === undefined || loadDate === undefined ? null : { hashKey, loadDate };
}

function satelliteEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  if (head === null || isEffectivity(structure)) return null;
  const { hashKey, loadDate } = head;
  const found = [evidence(0.3, `it has a parent hash key (${nameOf(hashKey)}) and a load date (${nameOf(loadDate)})`)];
  const [hashdiff] = structure.hashdiffs;
  if (hashdiff !== undefined) found.push(evidence(0.25, `a hashdiff (${nameOf(hashdiff)}) tells changed rows`));
  if (structure.recordSource !== null) {
    found.push(evidence(0.1, `${nameOf(structure.recordSource)} names the record source`));
  }
  found.push(
    structure.payload.length > 0
      ? evidence(
          0.1,
          `${counted(structure.payload.length, 'attribute')} ${structure.payload.length === 1 ? 'follows' : 'follow'} (${list(structure.payload)})`,
        )
      : evidence(-0.5),
  );
  if (keyIs(structure, [nameOf(hashKey)])) found.push(evidence(-0.4));
  else if (keyHas(structure, hashKey) && keyHas(structure, loadDate)) {
    found.push(evidence(0.25, `its key is ${structure.key.join(' + ')}`));
  } else if (!hashKey.facts.nullable && !loadDate.facts.nullable) {
    found.push(evidence(0.15, `${nameOf(hashKey)} and ${nameOf(loadDate)} are NOT NULL, the rest describes them`));
  } else if (structure.key.length === 0) found.push(evidence(-0.1));
  if (structure.hashKeys.length > 2) found.push(evidence(-0.3));
  return found;
}

/** A key part besides hash key and load date, or a column named as the dependent child key. */
function dependentKeys(structure: Structure): readonly string[] {
  const head = vaultHead(structure);
  if (head === null || !keyHas(structure, head.hashKey) || !keyHas(structure, head.loadDate)) {
    return structure.childKeys.map(nameOf);
  }
  const technical = [...structure.hashKeys, ...structure.loadDates, ...structure.hashdiffs];
  if (structure.recordSource !== null) technical.push(structure.recordSource);
  return structure.key.filter((name) => !technical.some((column) => sameIdentifier(nameOf(column), name)));
}

function hasDependentKey(structure: Structure): boolean {
  return dependentKeys(structure).length > 0;
}

function multiActiveEvidence(structure: Structure): Evidence[] | null {
  const dependent = dependentKeys(structure);
  if (dependent.length === 0) return null;
  const found = satelliteEvidence(structure);
  return found === null
    ? null
    : [...found, evidence(0.1, `${dependent.join(', ')} tells several rows of one parent apart`)];
}

/** Start and end dates beside a hash key and a load date: a relationship's validity, not a dimension's. */
function isEffectivity(structure: Structure): boolean {
  return structure.start !== null && structure.end !== null && structure.hashdiffs.length === 0;
}

function effectivityEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  if (head === null || structure.start === null || structure.end === null) return null;
  const found = [
    evidence(0.35, `it has a hash key (${nameOf(head.hashKey)}) and a load date (${nameOf(head.loadDate)})`),
    evidence(0.3, `${nameOf(structure.start)} and ${nameOf(structure.end)} say when the relationship held`),
  ];
  if (structure.hashKeys.length > 1) found.push(evidence(0.15, `it refers to ${structure.hashKeys.length} hash keys`));
  if (structure.recordSource !== null) found.push(evidence(0.05));
  const others = structure.payload.filter((column) => column.named !== 'effective-start');
  found.push(others.length > 1 ? evidence(-0.3) : evidence(0.1));
  return found;
}

function statusTrackingEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  if (head === null || structure.start !== null || structure.hashdiffs.length > 0) return null;
  const status = structure.columns.filter((column) => isStatus(column));
  const others = structure.payload.filter((column) => !status.includes(column));
  const [only] = status;
  if (only === undefined || status.length > 1 || others.length > 0 || structure.hashKeys.length > 1) return null;
  return [
    evidence(0.4, `it has a hash key (${nameOf(head.hashKey)}) and a load date (${nameOf(head.loadDate)})`),
    evidence(0.4, `${nameOf(only)} says whether the key was there, and nothing else is stored`),
    evidence(keyHas(structure, head.loadDate) ? 0.1 : 0),
  ];
}

function isStatus(column: StructuredColumn): boolean {
  if (column.named === 'current-flag' || column.named === 'operation') return true;
  return /(^|_)(status|deleted|active|cdc|appearance)(_|$)/.test(words(nameOf(column)).join('_'));
}

function recordTrackingEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  if (head === null || structure.payload.length > 0 || structure.hashKeys.length > 1) return null;
  if (structure.flag !== null || structure.start !== null || structure.hashdiffs.length > 0) return null;
  if (structure.columns.some(isStatus)) return null;
  return [
    evidence(0.7, `it stores only when ${nameOf(head.hashKey)} was seen (${nameOf(head.loadDate)})`),
    evidence(keyHas(structure, head.loadDate) ? 0.15 : 0),
  ];
}

function extendedTrackingEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  const [hashdiff] = structure.hashdiffs;
  const [named, ...others] = structure.payload;
  if (head === null || hashdiff === undefined || named === undefined || others.length > 0) return null;
  if (!fitsPattern(nameOf(named), satelliteNames)) return null;
  return [
    evidence(
      0.85,
      `${nameOf(named)} names the satellite whose ${nameOf(hashdiff)} was seen at ${nameOf(head.loadDate)}`,
    ),
  ];
}

/** What a column is called that names a satellite. */
const satelliteNames = ['*sat*_name', 'sat_name', 'satellite*', 'sat'];

function hubEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  const { payload } = structure;
  if (head === null || structure.hashKeys.length !== 1 || structure.hashdiffs.length > 0 || payload.length === 0)
    return null;
  if (keyHas(structure, head.loadDate) || structure.start !== null || structure.flag !== null) return null;
  const found = [
    evidence(0.35, `it has one hash key (${nameOf(head.hashKey)}), business key ${list(payload)} and a load date`),
  ];
  if (structure.recordSource !== null)
    found.push(evidence(0.1, `${nameOf(structure.recordSource)} names the record source`));
  if (keyIs(structure, [nameOf(head.hashKey)])) found.push(evidence(0.3, `its key is ${nameOf(head.hashKey)} alone`));
  found.push(
    payload.every((column) => !column.facts.nullable) ? evidence(0.15, 'its business key is NOT NULL') : evidence(-0.1),
  );
  if (payload.length > 3) found.push(evidence(-0.25));
  return found;
}

function linkEvidence(structure: Structure): Evidence[] | null {
  const head = vaultHead(structure);
  if (head === null || structure.hashKeys.length < 2 || structure.hashdiffs.length > 0) return null;
  if (structure.start !== null && structure.end !== null) return null;
  const found = [evidence(0.4, `it joins ${structure.hashKeys.length} hash keys (${list(structure.hashKeys, 4)})`)];
  if (structure.hashKeys.length > 2) found.push(evidence(0.15));
  if (structure.recordSource !== null)
    found.push(evidence(0.15, `${nameOf(structure.recordSource)} names the record source`));
  if (keyIs(structure, [nameOf(head.hashKey)])) found.push(evidence(0.2, `its key is ${nameOf(head.hashKey)} alone`));
  if (keyHas(structure, head.loadDate)) found.push(evidence(-0.3));
  return found;
}

function nonHistorisedLinkEvidence(structure: Structure): Evidence[] | null {
  const found = structure.payload.length === 0 ? null : linkEvidence(structure);
  return found === null
    ? null
    : [...found, evidence(0.1, `it carries attributes of the event (${list(structure.payload)})`)];
}

function persistentStagingEvidence(structure: Structure): Evidence[] | null {
  const { start, key } = structure;
  if (!structure.validity || start === null || vaultHead(structure) !== null) return null;
  const found = [validityEvidence(structure, 0.3)];
  if (structure.inactive !== null)
    found.push(evidence(0.15, `${nameOf(structure.inactive)} marks keys that the source dropped`));
  if (structure.insertDate !== null)
    found.push(evidence(0.1, `${nameOf(structure.insertDate)} says when a version was stored`));
  if (structure.checksum !== null) found.push(evidence(0.05, `${nameOf(structure.checksum)} is kept to tell changes`));
  if (key.length > 1 && keyHas(structure, start)) {
    found.push(evidence(0.1, `its key is the natural key with ${nameOf(start)} (${key.join(' + ')})`));
  }
  if (structure.surrogate !== null) found.push(evidence(-0.3));
  return found;
}

function validityEvidence(structure: Structure, weight: number): Evidence {
  const columns = [structure.start, structure.end, structure.flag].filter((column) => column !== null);
  return evidence(weight, `versions are told apart by ${list(columns)}`);
}

function dimensionEvidence(structure: Structure): Evidence[] | null {
  if (structure.hashKeys.length > 0 && structure.loadDates.length > 0) return null;
  if (!structure.validity && structure.surrogate === null && structure.key.length === 0) return null;
  const found = structure.validity ? [validityEvidence(structure, 0.45)] : [];
  if (structure.surrogate !== null) {
    found.push(evidence(0.3, `${nameOf(structure.surrogate)} is a surrogate key`));
    const natural = structure.key.filter(
      (name) => structure.surrogate !== null && !sameIdentifier(name, nameOf(structure.surrogate)),
    );
    if (natural.length > 0) found.push(evidence(0.15, `${natural.join(' + ')} is a key of its own`));
  }
  found.push(structure.payload.length > 0 ? evidence(0.05) : evidence(-0.3));
  return found;
}

function stagingEvidence(structure: Structure): Evidence[] | null {
  const { surrogate } = structure;
  if (structure.payload.length === 0) return null;
  // WideWorldImporters numbers its staged rows: `City Staging Key int IDENTITY`.
  if (surrogate !== null) {
    if (!words(nameOf(surrogate)).some((word) => /^(stg|stage|staging|load)$/.test(word))) return null;
    return [evidence(0.75, `${nameOf(surrogate)} numbers staged rows`)];
  }
  const hashed = structure.hashKeys.length + structure.hashdiffs.length > 0;
  const found: Evidence[] = [];
  if (structure.validity) found.push(evidence(-0.2));
  else if (hashed)
    found.push(evidence(0.2, `business columns stand beside hash and load columns (${list(structure.payload)})`));
  else found.push(evidence(0.35, plainColumns(structure)));
  found.push(structure.key.length === 0 ? evidence(0.15, 'it declares no key') : evidence(-0.15));
  if (structure.columns.every((column) => column.facts.nullable))
    found.push(evidence(0.15, 'every column may be NULL'));
  if (looseStorage(structure)) found.push(evidence(0.1, 'its storage is that of a landing table'));
  return found;
}

function plainColumns(structure: Structure): string {
  const load = structure.loadDates.concat(structure.recordSource ?? []);
  return load.length === 0
    ? 'it has business columns only and no validity columns'
    : `it has business columns and load columns (${list(load)}), and no hash or validity columns`;
}

/** HEAP and ROUND_ROBIN are written for tables that are filled quickly and emptied again. */
function looseStorage(structure: Structure): boolean {
  const options = Object.entries(structure.table.options).map(([name, value]) => `${name} ${value}`.toLowerCase());
  return options.some((option) => /\bheap\b|round_robin/.test(option)) || structure.table.origin === 'external';
}

function referenceEvidence(structure: Structure): Evidence[] | null {
  const [only, ...more] = structure.key;
  if (structure.hashKeys.length > 0 || structure.validity || structure.surrogate !== null) return null;
  if (only === undefined || more.length > 0 || structure.columns.length > 6) return null;
  const code = /(^|_)(code|cd|iso|type|ref|kind|category)(_|$)/.test(words(only).join('_'));
  return [
    evidence(0.25, `it has few columns under one key (${only})`),
    evidence(code ? 0.15 : 0, code ? `${only} is a code` : null),
  ];
}

/** Every column is a hash key or a time: pointers into satellites, nothing of its own. */
function onlyPointers(structure: Structure): boolean {
  const digests = structure.columns.filter((column) => isPointer(column, structure));
  return digests.length >= 2 && digests.length + structure.temporals.length === structure.columns.length;
}

function isPointer(column: StructuredColumn, structure: Structure): boolean {
  return structure.hashKeys.includes(column) || column.named === 'hash-key';
}

function pitEvidence(structure: Structure): Evidence[] | null {
  if (!onlyPointers(structure) || structure.temporals.length < 3) return null;
  return [evidence(0.75, `it holds only hash keys and times: pointers into satellites (${list(structure.temporals)})`)];
}

function bridgeEvidence(structure: Structure): Evidence[] | null {
  if (!onlyPointers(structure) || structure.temporals.length !== 1 || structure.recordSource !== null) return null;
  const [only] = structure.temporals;
  const snapshot = only !== undefined && fitsPattern(nameOf(only), snapshotTimes);
  return [evidence(snapshot ? 0.75 : 0.35, `it holds only hash keys (${list(structure.hashKeys)}) as of a date`)];
}

const snapshotTimes = ['as_of*', 'snapshot*', '*_snapshot*', 'sdts'];
