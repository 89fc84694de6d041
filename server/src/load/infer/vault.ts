import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql } from '../../../../protocol/platform.ts';
import type { Problem } from '../../../../protocol/problem.ts';
import type { LoadOptions } from '../../../../protocol/specification.ts';
import { compactName, sameIdentifier, words } from '../../model/names.ts';
import { findStageKey, orderedBusinessKey } from '../../model/stage-keys.ts';
import { typeFacts } from '../../model/types.ts';
import {
  hubsOf,
  type Inferred,
  inferKeys,
  inferMapping,
  inferParameters,
  isStoredElsewhere,
  matchOf,
  openEndOf,
  type Pair,
  problemAt,
  shownName,
  stageColumn,
  stageColumns,
  targetColumn,
  targetColumns,
} from './pair.ts';

/** Satellites of one parent: hash key from the business key, hashdiff over the attributes. */
export function inferSatellite(pair: Pair): Inferred {
  const head = inferHead(pair);
  const isLeftOut = (name: string) => pair.stated.untracked?.some((other) => sameIdentifier(other, name)) === true;
  const inputs = stageColumns(pair, 'attribute', 'child-key').filter((name) => !isLeftOut(name));
  // A person who states the hashdiff's columns leaves the others out: said so, a later column can be told from them.
  const chosen = Object.values(pair.stated.hashdiff ?? {}).flat();
  const rest = chosen.length === 0 ? [] : inputs.filter((name) => !chosen.some((other) => sameIdentifier(other, name)));
  const hashdiff = targetColumn(pair, 'hashdiff');
  const staged = hashdiff !== undefined && matchOf(pair, hashdiff.name)?.source !== null;
  const options: LoadOptions = {
    ...head.options,
    ...(hashdiff === undefined ? { compare: inputs } : staged ? {} : { hashdiff: { [hashdiff.name]: inputs } }),
    ...(rest.length > 0 && pair.stated.untracked === undefined ? { untracked: rest } : {}),
    ...identity(pair, ['load-date']),
  };
  return {
    options,
    problems: [
      ...head.problems,
      ...unstoredColumns(pair, options),
      ...uncomputableHashdiff(pair, hashdiff, staged, inputs),
    ],
  };
}

function uncomputableHashdiff(
  pair: Pair,
  hashdiff: CatalogColumn | undefined,
  staged: boolean,
  inputs: readonly string[],
): readonly Problem[] {
  if (hashdiff === undefined || staged || inputs.length > 0 || pair.stated.hashdiff !== undefined) return [];
  return [
    problemAt(
      pair.target,
      'no-attributes',
      `None of the attributes of ${shownName(pair, pair.target)} stands in ${shownName(pair, pair.source)}; choose another --source or say which column fills which in "mapping".`,
    ),
  ];
}

/** Multi-active: the dependent child key tells the rows of one parent apart. */
export function inferMultiActiveSatellite(pair: Pair): Inferred {
  const satellite = inferSatellite(pair);
  const cdk = pair.stated.cdk ?? stageColumns(pair, 'child-key');
  const problems =
    cdk.length > 0
      ? []
      : [
          problemAt(
            pair.target,
            'no-child-key',
            `The dependent child key of ${shownName(pair, pair.target)} is not clear; name the stage columns that tell the rows of one parent apart with --set cdk=["…"].`,
          ),
        ];
  return {
    options: {
      ...satellite.options,
      cdk,
      not_null: [...(satellite.options.keys ?? []), ...cdk],
      ...identity(pair, ['load-date', 'child-key']),
    },
    problems: [...satellite.problems, ...problems],
  };
}

export function inferHub(pair: Pair): Inferred {
  const head = inferHead(pair);
  return { options: { ...head.options, insert_only: true, ...identity(pair, []) }, problems: head.problems };
}

/** Links: an own hash key over all business keys, and one hash key per hub. */
export function inferLink(pair: Pair): Inferred {
  const own = ownHashKey(pair.target);
  const parts = hubParts(pair, own);
  const inputs = parts.parts.flatMap((part) => part.inputs);
  const degenerate = pair.stated.keys ?? declaredStageKey(pair.source, inputs);
  const keys = degenerate ?? inputs;
  const staged = own !== undefined && matchOf(pair, own.name)?.source;
  const mapping = inferMapping(pair);
  return {
    options: {
      keys: staged !== null && typeof staged === 'object' ? [staged.name] : keys,
      not_null: [...new Set([...keys, ...inputs])],
      ...(own === undefined ? {} : { target_key: [own.name] }),
      ...(own === undefined
        ? {}
        : {
            hash_key: Object.fromEntries([
              ...(staged ? [] : [[own.name, keys] as const]),
              ...parts.parts.map((part) => [part.column, part.inputs] as const),
            ]),
          }),
      ...digestRules(pair, own),
      ...technical(pair),
      insert_only: true,
      ...mapping,
      ...inferParameters(pair, mapping.mapping),
      ...identity(pair, []),
    },
    problems: parts.problems,
  };
}

/** Effectivity satellites: the driving key must be known; a link's first hub is no safe guess. */
export function inferEffectivitySatellite(pair: Pair): Inferred {
  const own = ownHashKey(pair.target);
  const parts = hubParts(pair, own);
  const inputs = [...new Set(parts.parts.flatMap((part) => part.inputs))];
  const driving = pair.stated.driving_key;
  const start = targetColumns(pair, 'effective-start').find((column) => !/effective_?from/i.test(column.name));
  const end = targetColumn(pair, 'effective-end');
  const effectiveFrom = stageColumn(pair, 'effective-start') ?? stageColumn(pair, 'load-date');
  const problems: Problem[] =
    driving === undefined
      ? [
          problemAt(
            pair.target,
            'no-driving-key',
            `Say which key of ${shownName(pair, pair.target)} drives the relationship, as in --set driving_key=["${inputs[0] ?? '…'}"].`,
          ),
        ]
      : [];
  const secondary = inputs.filter((name) => driving?.includes(name) !== true);
  const mapping = inferMapping(pair);
  return {
    options: {
      keys: inputs,
      not_null: inputs,
      ...(driving === undefined ? {} : { driving_key: driving }),
      secondary_key: secondary,
      auto_end_dating: true,
      ...(own === undefined ? {} : { target_key: [own.name] }),
      hash_key: Object.fromEntries([
        ...(own === undefined ? [] : [[own.name, inputs] as const]),
        ...parts.parts.map((part) => [part.column, part.inputs] as const),
      ]),
      ...(start === undefined ? {} : { start: start.name }),
      ...(end === undefined ? {} : { end: end.name, open_end: openEndOf(end) }),
      ...(effectiveFrom === undefined ? {} : { effective_from: effectiveFrom.name }),
      ...digestRules(pair, own),
      ...technical(pair),
      insert_only: true,
      ...mapping,
      ...inferParameters(pair, mapping.mapping),
      ...identity(pair, ['load-date', 'effective-end']),
    },
    problems: [...parts.problems, ...problems],
  };
}

/** Status tracking: full loads, one status column. */
export function inferStatusTracking(pair: Pair): Inferred {
  const head = inferHead(pair);
  const status = pair.target.columns.find(
    (column) => column.role === 'current-flag' || column.role === 'attribute' || column.role === 'technical',
  );
  return {
    options: {
      ...head.options,
      load: 'full',
      ...(status === undefined ? {} : { status_column: status.name }),
      ...identity(pair, ['load-date']),
    },
    problems: head.problems,
  };
}

export function inferRecordTracking(pair: Pair): Inferred {
  const head = inferHead(pair);
  return {
    options: { ...head.options, insert_only: true, ...identity(pair, ['load-date', 'record-source']) },
    problems: head.problems,
  };
}

/** Extended tracking: one entry per satellite of the folder that the stage fills and that has the same parent. */
export function inferExtendedTracking(pair: Pair): Inferred {
  const head = inferHead(pair);
  const hashKey = targetColumn(pair, 'hash-key');
  const siblings = pair.tables.filter(
    (table) =>
      table.role === 'satellite' &&
      table.columns.some((column) => hashKey !== undefined && sameIdentifier(column.name, hashKey.name)),
  );
  const satellites = Object.fromEntries(
    siblings.flatMap((table) => {
      const columns = attributesInStage(pair.source, table);
      return columns.length === 0 ? [] : [[table.name.table, columns] as const];
    }),
  );
  return {
    options: {
      ...head.options,
      satellites: pair.stated.satellites ?? satellites,
      insert_only: true,
      ...identity(pair, ['load-date', 'record-source', 'hashdiff']),
    },
    problems: head.problems,
  };
}

function attributesInStage(source: CatalogTable, satellite: CatalogTable): readonly string[] {
  return satellite.columns.flatMap((column) => {
    const same = source.columns.filter((candidate) => compactName(candidate.name) === compactName(column.name));
    return column.role === 'attribute' && same[0] !== undefined ? [same[0].name] : [];
  });
}

/** Keys, hash key, load date, record source and what fills them: the same for all vault tables with one hash key. */
function inferHead(pair: Pair): Inferred {
  const hashKey = ownHashKey(pair.target);
  if (hashKey === undefined) {
    const message = `${shownName(pair, pair.target)} has no hash key column that could be told by its name or type; say which with "target_key" and "hash_key", or correct its role in mergewright.json.`;
    const stated = pair.stated.hash_key !== undefined || pair.stated.target_key !== undefined;
    return { options: {}, problems: stated ? [] : [problemAt(pair.target, 'no-hash-key', message)] };
  }
  const mapping = inferMapping(pair);
  const common: LoadOptions = {
    target_key: [hashKey.name],
    ...digestRules(pair, hashKey),
    ...technical(pair),
    ...mapping,
    ...inferParameters(pair, mapping.mapping),
  };
  const staged = matchOf(pair, hashKey.name)?.source ?? null;
  if (staged !== null && pair.stated.keys === undefined && pair.stated.hash_key === undefined) {
    return { options: { ...common, keys: [staged.name] }, problems: [] };
  }
  const { keys, problems } = inferKeys(pair);
  return { options: { ...common, keys, hash_key: { [hashKey.name]: withSourceSystem(pair, keys) } }, problems };
}

/** The preset of satellites that already exist appends the source system's code to the key (handbook, example 1). */
function withSourceSystem(pair: Pair, keys: readonly string[]): readonly string[] {
  return pair.stated.hash_rules?.preset === 'legacy-concat' ? [...keys, '@SourceSystem'] : keys;
}

/** A column of 16 or 20 bytes, or of twice as many characters, holds MD5 or SHA-1: SHA-256 would not fit. */
function digestRules(pair: Pair, column: CatalogColumn | undefined): Pick<LoadOptions, 'hash_rules'> {
  if (column === undefined || pair.stated.hash_rules?.algorithm !== undefined) return {};
  const { family, length } = typeFacts(column.type, isTsql(pair.target.platform));
  const bytes = family === 'binary' ? length : family === 'text' && length !== null ? length / 2 : null;
  const algorithm = bytes === 16 ? 'md5' : bytes === 20 ? 'sha1' : null;
  return algorithm === null ? {} : { hash_rules: { algorithm } };
}

function technical(pair: Pair): Pick<LoadOptions, 'load_ts' | 'record_source'> {
  const loadDate = targetColumn(pair, 'load-date');
  const recordSource = targetColumn(pair, 'record-source');
  return {
    ...(loadDate === undefined ? {} : { load_ts: loadDate.name }),
    ...(recordSource === undefined ? {} : { record_source: recordSource.name }),
  };
}

/** Columns that tell stored rows apart: the hash key with further columns of these roles. */
function identity(pair: Pair, roles: readonly CatalogColumn['role'][]): Pick<LoadOptions, 'target_identity'> {
  const own = ownHashKey(pair.target);
  if (own === undefined) return {};
  const rest = roles.flatMap((role) => targetColumns(pair, role).slice(0, role === 'child-key' ? undefined : 1));
  return { target_identity: [own.name, ...rest.map((column) => column.name)] };
}

/** The table's own hash key: the one in its key, else the one named after the table, else the first. */
function ownHashKey(target: CatalogTable): CatalogColumn | undefined {
  const hashKeys = target.columns.filter((column) => column.role === 'hash-key');
  const inKey = hashKeys.find((column) =>
    target.keys.some((key) => key.columns.some((name) => sameIdentifier(name, column.name))),
  );
  if (inKey !== undefined) return inKey;
  const table = words(target.name.table);
  const ranked = hashKeys.map((column) => ({
    column,
    shared: words(column.name).filter((word) => table.includes(word)).length,
  }));
  ranked.sort((left, right) => right.shared - left.shared);
  return ranked[0]?.column;
}

/** The hub hash keys of a link with the stage columns that each is made of. */
function hubParts(pair: Pair, own: CatalogColumn | undefined) {
  const problems: Problem[] = [];
  const parts: { readonly column: string; readonly inputs: readonly string[] }[] = [];
  const hubs = hubsOf(pair.tables);
  for (const column of targetColumns(pair, 'hash-key')) {
    if (column === own || matchOf(pair, column.name)?.source) continue;
    const stated = pair.stated.hash_key?.[column.name];
    if (stated !== undefined) {
      parts.push({ column: column.name, inputs: stated });
      continue;
    }
    // Seen from one hub key alone, the link is a table with that single hash key.
    const single: CatalogTable = { ...pair.target, columns: [column] };
    const noKeys: CatalogTable = { ...pair.source, keys: [] };
    const key = findStageKey(noKeys, single, { columns: [], unused: [] }, hubs, pair.conventions);
    if (key.kind === 'known') parts.push({ column: column.name, inputs: key.columns });
    else problems.push(problemAt(pair.target, 'no-hub-key', `${column.name}: ${key.reason}`));
  }
  return { parts, problems };
}

/** A declared stage key that goes beyond the hubs' keys makes a non-historised link's own key. */
function declaredStageKey(source: CatalogTable, inputs: readonly string[]): readonly string[] | null {
  const key = source.keys.find((candidate) => candidate.kind !== 'inferred')?.columns ?? orderedBusinessKey(source);
  return key.length > 0 && !key.every((name) => inputs.includes(name)) ? key : null;
}

/** Stage columns that no table takes would be lost without a word. */
function unstoredColumns(pair: Pair, options: LoadOptions): readonly Problem[] {
  const used = new Set(
    [
      ...(options.keys ?? []),
      ...Object.values(options.hash_key ?? {}).flat(),
      ...(pair.stated.untracked ?? []),
      ...Object.values(pair.stated.hashdiff ?? {}).flat(),
    ].map((name) => name.toLowerCase()),
  );
  const lost = pair.match.unused.filter(
    (column) =>
      (column.role === 'attribute' || column.role === 'business-key') &&
      !column.computed &&
      !used.has(column.name.toLowerCase()) &&
      !isStoredElsewhere(pair, column.name),
  );
  if (lost.length === 0 || pair.stated.hashdiff !== undefined) return [];
  const names = lost.map((column) => column.name).join(', ');
  return [
    problemAt(
      pair.source,
      'column-not-stored',
      `${shownName(pair, pair.target)} has no column for ${names} of ${shownName(pair, pair.source)}: add ${lost.length === 1 ? 'it' : 'them'} to the satellite, or leave ${lost.length === 1 ? 'it' : 'them'} out knowingly with --set untracked=${JSON.stringify(lost.map((column) => column.name))}.`,
    ),
  ];
}
