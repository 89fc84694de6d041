import { caseHashRules } from '../../../cli/src/conformance/hashes.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { ghostDigest, resolvedHashRules } from '../../../server/src/load/digest.ts';
import type { OracleLoad } from './load.ts';

/** The ghost rows that the target lacks: found by their key, all columns but the technical ones NULL. */
export function missingGhosts(load: OracleLoad): readonly TextRow[] {
  const {
    ghost,
    hash_key: keys = {},
    hashdiff: diffs = {},
    load_ts: loadTs = 'load_ts',
    record_source: source,
  } = load.options;
  if (!ghost?.enabled) return [];
  const { algorithm } = resolvedHashRules(caseHashRules(load.options), 'hash_key');
  const kinds = [
    { digest: ghostDigest(algorithm, 'unknown'), time: ghost.load_ts, source: ghost.record_source },
    ...(ghost.style === 'unknown_and_error'
      ? [{ digest: ghostDigest(algorithm, 'error'), time: ghost.error_load_ts, source: ghost.error_record_source }]
      : []),
  ];
  const hashes = [...Object.keys(keys), ...Object.keys(diffs)];
  const [key = ''] = load.options.target_key;
  return kinds
    .filter((kind) => !load.target.some((row) => row[key] === kind.digest))
    .map((kind) =>
      Object.fromEntries(
        Object.keys(load.tables.target).map((column) => {
          if (hashes.includes(column)) return [column, kind.digest];
          if (column === loadTs) return [column, kind.time ?? null];
          return [column, column === source ? (kind.source ?? null) : null];
        }),
      ),
    );
}
