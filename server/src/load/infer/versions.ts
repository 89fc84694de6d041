import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import type { Problem } from '../../../../protocol/problem.ts';
import type { LoadOptions, PatternName } from '../../../../protocol/specification.ts';
import { compactName, fitsPattern, words } from '../../model/names.ts';
import { isComparable, mayHoldDigest, typeFacts } from '../../model/types.ts';
import {
  dateInDefault,
  flagValues,
  type Inferred,
  inferKeys,
  inferMapping,
  inferParameters,
  inferTargetKey,
  matchOf,
  openEndOf,
  type Pair,
  problemAt,
  shownName,
  stageColumn,
  targetColumn,
  targetColumns,
} from './pair.ts';

/** Keys and tracked columns: what every pattern that compares columns needs. */
function inferTracked(pair: Pair): Inferred {
  const { keys, problems } = inferKeys(pair);
  const tracked = pair.match.columns.filter(
    (match) =>
      (match.target.role === 'attribute' || match.target.role === 'business-key') &&
      match.source !== null &&
      !keys.includes(match.source.name),
  );
  const comparable = tracked.filter((match) => isComparable(match.target.type, pair.source.platform));
  const silent = tracked.filter((match) => !comparable.includes(match));
  const names = (matches: readonly (typeof tracked)[number][]) =>
    matches.flatMap((match) => (match.source === null ? [] : [match.source.name]));
  // A person who states the tracked columns leaves the others untracked: said so, a later column can be told from them.
  const chosen = pair.stated.compare;
  const rest =
    chosen === undefined
      ? []
      : names(comparable).filter((name) => !chosen.some((other) => compactName(other) === compactName(name)));
  const untracked = pair.stated.untracked ?? [...names(silent), ...rest];
  const compare = names(comparable).filter(
    (name) => !untracked.some((other) => compactName(other) === compactName(name)),
  );
  const mapping = inferMapping(pair);
  return {
    options: {
      keys,
      target_key: inferTargetKey(pair, keys),
      compare: pair.stated.compare ?? compare,
      untracked,
      ...mapping,
      ...inferParameters(pair, mapping.mapping),
    },
    problems: [
      ...problems,
      ...silent.map((match) => incomparableNote(pair, match.target)),
      ...unstoredNote(pair, keys),
    ],
  };
}

/** Stage columns that the target does not have are left out, and said to be. */
function unstoredNote(pair: Pair, keys: readonly string[]): readonly Problem[] {
  const left = pair.match.unused.filter(
    (column) => column.role === 'attribute' && !keys.includes(column.name) && !column.computed,
  );
  if (left.length === 0) return [];
  const names = left.map((column) => column.name).join(', ');
  return [
    problemAt(
      pair.source,
      'column-not-stored',
      `${shownName(pair, pair.target)} has no column for ${names} of ${shownName(pair, pair.source)}, which the load leaves out.`,
      'info',
    ),
  ];
}

function incomparableNote(pair: Pair, column: CatalogColumn): Problem {
  return problemAt(
    pair.target,
    'not-comparable',
    `${column.name} is ${column.type}, which can't be compared: it is stored, but a change in it alone opens no version.`,
    'info',
  );
}

/** Type 2 in all its forms: validity columns, flag, and the technical columns beside them. */
export function inferVersions(pair: Pair, pattern: PatternName): Inferred {
  const tracked = inferTracked(pair);
  const start = targetColumn(pair, 'effective-start') ?? sequencedEdge(pair, pattern, 'effective-start');
  const end = targetColumn(pair, 'effective-end') ?? sequencedEdge(pair, pattern, 'effective-end');
  if (start === undefined) {
    const stated = pair.stated.valid_from !== undefined;
    const message = `${shownName(pair, pair.target)} has no column that says when a version starts; name it with --set valid_from="…", or choose pattern scd1.`;
    return {
      options: tracked.options,
      problems: [...tracked.problems, ...(stated ? [] : [problemAt(pair.target, 'no-validity', message)])],
    };
  }
  const first = dateInDefault(start);
  const options: LoadOptions = {
    ...tracked.options,
    strategy: 'check',
    valid_from: start.name,
    ...(end === undefined ? {} : { valid_to: end.name, open_end: openEndOf(end) }),
    ...(first === null ? {} : { initial_valid_from: first }),
    ...(typeFacts(start.type, isTsql(pair.target.platform)).family === 'date' ? { time_type: 'date' as const } : {}),
    // Detection alone follows the grain of the load that it stands beside.
    ...(pattern === 'scd2_day' || (pattern === 'inactivation' && pair.target.role === 'persistent-staging')
      ? { grain: 'day' as const }
      : {}),
    target_identity: [...(tracked.options.target_key ?? []), start.name],
    ...bookkeeping(pair),
    ...storedHash(pair, tracked.options),
  };
  return { options, problems: tracked.problems };
}

/** Versions from a change feed may begin and end at a number, the feed's sequence: then the name alone tells. */
function sequencedEdge(
  pair: Pair,
  pattern: PatternName,
  role: 'effective-start' | 'effective-end',
): CatalogColumn | undefined {
  if (pattern !== 'scd2_cdc') return undefined;
  return pair.target.columns.find((column) => fitsPattern(column.name, pair.conventions.columns[role]));
}

/** Flag, inactive date, insert date: columns that the load keeps up by itself. */
function bookkeeping(pair: Pair): LoadOptions {
  const flag = targetColumn(pair, 'current-flag');
  const inactive = targetColumn(pair, 'inactive-date');
  const inserted = targetColumn(pair, 'insert-date');
  const deleted = targetColumns(pair, 'technical').find((column) =>
    fitsPattern(column.name, ['*deleted*', '*delete_flag*']),
  );
  const values = flag === undefined ? undefined : flagValues(pair, flag);
  return {
    ...(flag === undefined ? {} : { is_current: flag.name }),
    ...(values === undefined ? {} : { current_values: [values[0], values[1]] }),
    ...(inactive === undefined ? {} : { inactive_at: inactive.name }),
    ...(inserted === undefined ? {} : { inserted_at: inserted.name }),
    ...(deleted === undefined ? {} : { deleted_flag: deleted.name }),
  };
}

/** A digest-sized checksum column holds the row's digest; an int CheckSum stays to the preset that it was made by. */
function storedHash(pair: Pair, options: LoadOptions): Pick<LoadOptions, 'hashdiff'> {
  const checksum = targetColumn(pair, 'checksum');
  if (checksum === undefined || matchOf(pair, checksum.name)?.source) return {};
  return mayHoldDigest(typeFacts(checksum.type, isTsql(pair.target.platform)))
    ? { hashdiff: { [checksum.name]: options.compare ?? [] } }
    : {};
}

/** Changes by time stamp: the stage says when a row last changed. */
export function inferTimestampVersions(pair: Pair): Inferred {
  const versions = inferVersions(pair, 'scd2_timestamp');
  const updated =
    pair.stated.updated_at ?? pair.source.columns.find((column) => fitsPattern(column.name, changeTimes))?.name;
  const problems =
    updated === undefined
      ? [
          problemAt(
            pair.source,
            'no-change-time',
            `Say which column of ${shownName(pair, pair.source)} holds the time of its last change with --set updated_at="…".`,
          ),
        ]
      : [];
  return {
    options: {
      ...versions.options,
      strategy: 'timestamp',
      ...(updated === undefined ? {} : { updated_at: updated, valid_from_source: updated }),
    },
    problems: [...versions.problems, ...problems],
  };
}

const changeTimes = [
  'updated_at',
  'update_date',
  'updated_on',
  'last_update*',
  'modified*',
  'last_modified*',
  'change_date',
  'changed_at',
  'update_dt',
  'update_ts',
  'mod_date',
];

/** Replay of a change feed: order and operation of each event must be known. */
export function inferChangeFeed(pair: Pair): Inferred {
  const versions = inferVersions(pair, 'scd2_cdc');
  const sequence = pair.stated.sequence_by ?? stageColumn(pair, 'sequence')?.name;
  const operation = stageColumn(pair, 'operation')?.name;
  const problems =
    sequence === undefined
      ? [
          problemAt(
            pair.source,
            'no-sequence',
            `Say which column of ${shownName(pair, pair.source)} orders its events with --set sequence_by="…".`,
          ),
        ]
      : [];
  const { strategy: _, ...options } = versions.options;
  return {
    options: {
      ...options,
      load: 'cdc',
      ...(sequence === undefined ? {} : { sequence_by: sequence }),
      ...(operation === undefined ? {} : { op_column: operation, delete_values: ['D'] }),
    },
    problems: [...versions.problems, ...problems],
  };
}

/** Detection of keys that a full load no longer brings. */
export function inferInactivation(pair: Pair): Inferred {
  const versions = inferVersions(pair, 'inactivation');
  const { options } = versions;
  const marked = options.inactive_at !== undefined || options.deleted_flag !== undefined;
  return {
    options: { ...options, load: 'full', hard_deletes: marked ? 'new_record' : 'invalidate' },
    problems: versions.problems,
  };
}

/** Type 1, type 0 and reference tables: one row per key. */
export function inferOneRow(pair: Pair, strategy: NonNullable<LoadOptions['strategy']> | null): Inferred {
  const tracked = inferTracked(pair);
  return {
    options: {
      ...tracked.options,
      ...(strategy === null ? { insert_only: true } : { strategy }),
      target_identity: tracked.options.target_key ?? [],
    },
    problems: tracked.problems,
  };
}

/** Type 3: a column beside a tracked one that holds the value before. */
export function inferPrevious(pair: Pair): Inferred {
  const one = inferOneRow(pair, 'type3');
  const previous =
    pair.stated.previous ?? companions(pair, one.options.compare ?? [], ['prev', 'previous', 'old', 'prior', 'last']);
  const changed = targetColumns(pair, 'technical', 'attribute').find((column) =>
    fitsPattern(column.name, ['changed_at', 'change_date', 'changed_on', 'change_ts']),
  );
  return {
    options: {
      ...one.options,
      previous,
      compare: pair.stated.compare ?? Object.keys(previous),
      ...(changed === undefined ? {} : { changed_at: changed.name }),
    },
    problems: one.problems,
  };
}

/** Type 6: type 2 with a column beside a tracked one that holds the current value on every version. */
export function inferCurrentColumns(pair: Pair): Inferred {
  const versions = inferVersions(pair, 'scd6');
  const current =
    pair.stated.current_columns ?? companions(pair, versions.options.compare ?? [], ['cur', 'current', 'curr']);
  return { options: { ...versions.options, strategy: 'type6', current_columns: current }, problems: versions.problems };
}

/** Target columns named after a tracked column with one more word in front or behind. */
function companions(
  pair: Pair,
  tracked: readonly string[],
  marks: readonly string[],
): Readonly<Record<string, string>> {
  const found = tracked.flatMap((name) => {
    const base = words(name).join('');
    const column = pair.target.columns.find((candidate) => {
      const parts = words(candidate.name);
      const [head, tail] = [parts[0] ?? '', parts.at(-1) ?? ''];
      return (
        parts.length > 1 &&
        ((marks.includes(head) && parts.slice(1).join('') === base) ||
          (marks.includes(tail) && parts.slice(0, -1).join('') === base))
      );
    });
    return column === undefined ? [] : [[name, column.name] as const];
  });
  return Object.fromEntries(found);
}

/** The append-only log: one row per change, with the load time and the row's number in its load. */
export function inferLog(pair: Pair): Inferred {
  const tracked = inferTracked(pair);
  const loadDate = targetColumn(pair, 'load-date') ?? targetColumn(pair, 'insert-date');
  const operation = targetColumn(pair, 'operation');
  const sequence = targetColumn(pair, 'sequence');
  const staged = operation !== undefined && matchOf(pair, operation.name)?.source;
  return {
    options: {
      ...tracked.options,
      insert_only: true,
      ...(loadDate === undefined ? {} : { load_ts: loadDate.name }),
      ...(operation === undefined ? {} : { op_column: operation.name }),
      ...(operation !== undefined && !staged
        ? { op_derived: true, insert_op: 'I', update_op: 'U', delete_op: 'D' }
        : {}),
      ...(sequence === undefined ? {} : { order_within_batch: [sequence.name] }),
      target_identity: [
        ...(tracked.options.target_key ?? []),
        ...[loadDate, sequence].flatMap((column) => (column === undefined ? [] : [column.name])),
      ],
    },
    problems: tracked.problems,
  };
}
