import type { CatalogTable } from '../../../../protocol/catalog.ts';
import type { LoadOptions } from '../../../../protocol/specification.ts';
import { compactName, fitsPattern, words } from '../../model/names.ts';
import { type Inferred, inferKeys, openEndOf, type Pair, targetColumn, targetColumns } from './pair.ts';

/** Point-in-time tables: per satellite the pair of pointer columns, told by their common word. */
export function inferPit(pair: Pair): Inferred {
  const frame = inferFrame(pair);
  const times = pair.target.columns.filter((column) => column.role !== 'hash-key');
  const pointers = targetColumns(pair, 'hash-key').flatMap((hashKey) => {
    const name = pointerWord(hashKey.name);
    const time = times.find((column) => pointerWord(column.name) === name);
    const satellite = pair.tables.find(
      (table) =>
        isSatellite(table) && (pointerWord(table.name.table) === name || words(table.name.table).includes(name)),
    );
    return time === undefined || satellite === undefined ? [] : [{ satellite, columns: [hashKey.name, time.name] }];
  });
  const satellites = Object.fromEntries(pointers.map(({ satellite, columns }) => [satellite.name.table, columns]));
  return {
    ...frame,
    options: { ...frame.options, satellites: pair.stated.satellites ?? satellites },
    extra: {
      ...frame.extra,
      ...Object.fromEntries(pointers.map(({ satellite }) => [satellite.name.table, satellite.name])),
    },
  };
}

function isSatellite({ role }: CatalogTable): boolean {
  return role === 'satellite' || role === 'ma-satellite';
}

/** Bridges: hash keys of hubs and links as of a date; the link by the keys that it shares with the bridge. */
export function inferBridge(pair: Pair): Inferred {
  const frame = inferFrame(pair);
  const hashKeys = targetColumns(pair, 'hash-key').map((column) => column.name);
  const [hubKey = ''] = hashKeys;
  const link = pair.tables.find(
    (table) =>
      (table.role === 'link' || table.role === 'nh-link') &&
      hasColumn(table, hubKey) &&
      hashKeys.some((name) => name !== hubKey && hasColumn(table, name)),
  );
  const linkKeys = hashKeys.filter((name) => name !== hubKey && link !== undefined && hasColumn(link, name));
  const effectivity = pair.tables.find(
    (table) => table.role === 'eff-satellite' && linkKeys.some((name) => hasColumn(table, name)),
  );
  const linkKey = linkKeys.find((name) => effectivity !== undefined && hasColumn(effectivity, name));
  const identity = [...(frame.options.target_key ?? []), ...(linkKey === undefined ? [] : [linkKey])];
  return {
    ...frame,
    options: {
      ...frame.options,
      target_key: identity,
      target_identity: identity,
      open_end: pair.stated.open_end ?? '9999-12-31 00:00:00',
    },
    extra: {
      ...frame.extra,
      ...(link === undefined ? {} : { link: link.name }),
      ...(effectivity === undefined ? {} : { eff_sat: effectivity.name }),
    },
  };
}

function hasColumn(table: CatalogTable, name: string): boolean {
  return table.columns.some((column) => compactName(column.name) === compactName(name));
}

/** What is rebuilt for dates: the hub's key with the date; the keys come from the hub, not from the stage of dates. */
function inferFrame(pair: Pair): Inferred {
  const asOf = pair.target.columns.find((column) =>
    fitsPattern(column.name, ['as_of*', 'snapshot*', '*_snapshot*', 'sdts', 'pit_date']),
  );
  const [hashKey] = targetColumns(pair, 'hash-key');
  const identity = [hashKey, asOf].flatMap((column) => (column === undefined ? [] : [column.name]));
  const hub = pair.tables.find(
    (table) => table.role === 'hub' && hashKey !== undefined && hasColumn(table, hashKey.name),
  );
  return {
    options: {
      kind: 'rebuild',
      target_key: identity,
      target_identity: identity,
      ...(asOf === undefined ? {} : { as_of: asOf.name }),
    },
    problems: [],
    ...(hub === undefined ? {} : { extra: { hub: hub.name } }),
  };
}

function pointerWord(name: string): string {
  return words(name)
    .filter((word) => !['hk', 'hash', 'key', 'pk', 'ldts', 'ts', 'load', 'date', 'dts'].includes(word))
    .join('');
}

/** A view over a satellite that gives each version its virtual end. */
export function inferEndDatingView(pair: Pair): Inferred {
  const hashKey = targetColumn(pair, 'hash-key') ?? pair.source.columns.find((column) => column.role === 'hash-key');
  const loadDate = pair.source.columns.find((column) => column.role === 'load-date');
  const end = targetColumn(pair, 'effective-end');
  const flag = targetColumn(pair, 'current-flag');
  return {
    options: {
      kind: 'view',
      ...(hashKey === undefined ? {} : { keys: [hashKey.name], target_key: [hashKey.name] }),
      ...(loadDate === undefined ? {} : { load_ts: loadDate.name }),
      ...(end === undefined ? {} : { valid_to: end.name, open_end: openEndOf(end) }),
      ...(flag === undefined ? {} : { is_current: flag.name }),
      end_offset: '0',
    },
    problems: [],
  };
}

/** Staging steps: keys replaced or hashes added; the row itself is identified by the stage's key. */
export function inferStaged(pair: Pair, kind: NonNullable<LoadOptions['kind']>): Inferred {
  const { keys, problems } = inferKeys(pair);
  const identity = pair.target.columns.filter((column) =>
    keys.some((name) => compactName(name) === compactName(column.name)),
  );
  const names = identity.map((column) => column.name);
  return { options: { kind, keys, target_key: names, target_identity: names }, problems };
}
