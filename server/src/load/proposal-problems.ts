/** What stands against a table that is proposed for a stage, or against its load. */
import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { PatternName } from '../../../protocol/specification.ts';
import { renderingOf } from './digest.ts';
import { problemAt } from './infer/pair.ts';
import type { ProposedTable } from './propose.ts';

/** A staged column may bear the name of one that the table has for itself; a satellite may have nothing to hold. */
export function unfitting(
  pattern: PatternName,
  source: CatalogTable,
  { name, columns }: ProposedTable,
): Problem | null {
  const seen = new Map<string, number>();
  for (const column of columns) {
    const key = column.name.toLowerCase();
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  const twice = columns.filter((column) => column.staged && (seen.get(column.name.toLowerCase()) ?? 0) > 1);
  if (twice.length > 0) {
    const shown = [...new Set(twice.map((column) => column.name))].join(', ');
    const message = `${name.table} would have ${shown} twice: from ${source.name.table}, and for itself. Give the staged column another name in a view of the stage, or write the table by hand.`;
    return problemAt(source, 'name-is-taken', message);
  }
  const isSatellite = pattern === 'satellite' || pattern === 'ma_satellite';
  if (!isSatellite || columns.some((column) => column.staged)) return null;
  const message = `${source.name.table} has no column that describes its key, so a satellite of it would hold nothing; a hub holds the key.`;
  return problemAt(source, 'no-attributes', message);
}

/** Columns that the load would refuse to hash: the table is made all the same, and the person told at once. */
export function unhashable(source: CatalogTable, table: ProposedTable, keys: readonly string[]): readonly Problem[] {
  const hashed = table.columns.some((column) => column.name === 'HashDiff')
    ? table.columns.filter((column) => column.staged).map((column) => column.name)
    : [];
  const inputs = table.hashesKeys ? [...new Set([...keys, ...hashed])] : hashed;
  return inputs.flatMap((name) => {
    const column = source.columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    const refusal = column === undefined ? null : renderingOf(column.type, source.platform).refusal;
    if (column === undefined || refusal === null) return [];
    const message = `The load will refuse to hash ${column.name}: ${refusal}, or leave it out of the lists in "hash_key" and "hashdiff".`;
    return [{ ...problemAt(source, 'unhashable-type', message, 'warning'), range: column.range }];
  });
}
