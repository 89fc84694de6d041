import type { LoadOptions } from '../../../../protocol/specification.ts';
import { compactName, fitsPattern, words } from '../../model/names.ts';
import { type Inferred, inferKeys, openEndOf, type Pair, targetColumn, targetColumns } from './pair.ts';

/** Point-in-time tables: per satellite the pair of pointer columns, told by their common word. */
export function inferPit(pair: Pair): Inferred {
  const frame = inferFrame(pair, 'rebuild');
  const times = pair.target.columns.filter((column) => column.role !== 'hash-key');
  const pairs = targetColumns(pair, 'hash-key').flatMap((hashKey) => {
    const name = pointerWord(hashKey.name);
    const time = times.find((column) => pointerWord(column.name) === name);
    const satellite = pair.tables.find((table) => table.role === 'satellite' && words(table.name.table).includes(name));
    return time === undefined || satellite === undefined
      ? []
      : [[satellite.name.table, [hashKey.name, time.name]] as const];
  });
  return {
    options: { ...frame.options, satellites: pair.stated.satellites ?? Object.fromEntries(pairs) },
    problems: frame.problems,
  };
}

/** Bridges: hash keys of hubs and links as of a date. */
export function inferBridge(pair: Pair): Inferred {
  const frame = inferFrame(pair, 'rebuild');
  return {
    options: { ...frame.options, open_end: pair.stated.open_end ?? '9999-12-31 00:00:00' },
    problems: frame.problems,
  };
}

function inferFrame(pair: Pair, kind: NonNullable<LoadOptions['kind']>): Inferred {
  const { keys, problems } = inferKeys(pair);
  const asOf = pair.target.columns.find((column) =>
    fitsPattern(column.name, ['as_of*', 'snapshot*', '*_snapshot*', 'sdts', 'pit_date']),
  );
  const [hashKey] = targetColumns(pair, 'hash-key');
  const identity = [hashKey, asOf].flatMap((column) => (column === undefined ? [] : [column.name]));
  return {
    options: {
      kind,
      keys,
      target_key: identity,
      target_identity: identity,
      ...(hashKey === undefined ? {} : { hash_key: { [hashKey.name]: keys } }),
      ...(asOf === undefined ? {} : { as_of: asOf.name }),
    },
    problems,
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
