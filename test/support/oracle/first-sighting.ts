/** Hub, link, non-historised link, reference table; record tracking and extended tracking satellites. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { missingGhosts } from './ghosts.ts';
import { type Model, Refusal } from './load.ts';
import { byColumns, digest, distinctRows, groupBy, pick, stagedKey, storedKey, targetRow } from './values.ts';

/** A key that is not stored yet is inserted as first sighted; a stored key is never touched. */
export const firstSighting: Model = (load, staged) => {
  const { options, tables } = load;
  const known = new Set(load.target.map((row) => storedKey(row, load)));
  const added: TextRow[] = [];
  for (const [key, rows] of groupBy(staged, (row) => stagedKey(row, load))) {
    if (known.has(key)) continue;
    const distinct = distinctRows(rows);
    if (options.duplicates !== undefined && options.tie_break === undefined && distinct.length > 1) {
      throw new Refusal('duplicate_key');
    }
    if (options.duplicates === 'fail' && rows.length > 1) throw new Refusal('duplicate_key');
    const [first] = [...distinct].sort(byColumns(options.tie_break ?? [], tables.stage));
    if (first !== undefined) added.push(targetRow(first, load));
  }
  return { target: [...load.target, ...missingGhosts(load), ...added] };
};

/** Every appearance is recorded once per `target_identity`, whatever was stored before. */
export const tracking: Model = (load, staged) => {
  const { satellites, target_identity: identity } = load.options;
  const rows =
    satellites === undefined
      ? staged.map((row) => targetRow(row, load))
      : Object.entries(satellites).flatMap(([name, columns]) =>
          staged.map((row) => ({
            ...targetRow(row, load),
            satellite_name: name,
            hashdiff: digest(columns, row, 'hashdiff', load),
          })),
        );
  const known = new Set(load.target.map((row) => pick(row, identity)));
  const added = [...groupBy(rows, (row) => pick(row, identity))].flatMap(([key, [first]]) =>
    known.has(key) || first === undefined ? [] : [first],
  );
  return { target: [...load.target, ...added] };
};
