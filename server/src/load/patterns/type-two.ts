/** What every type 2 load does with its changes: close, open, rewrite within the day, and the delete variants. */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import type { CountName } from '../../../../protocol/counts.ts';
import { literal } from '../build.ts';
import type { Expression } from '../language.ts';
import type { Assignment, Write } from '../plan.ts';
import { skippedRows } from '../stage.ts';
import {
  absenceColumns,
  type ChangeKind,
  changesName,
  closeWrite,
  derivedColumns,
  found,
  insertWrite,
  kindIs,
  overwrite,
  storedRow,
  sum,
  unchangedKeys,
  type Versions,
  writableColumns,
} from '../versions.ts';

/** The writes of a type 2 load. `more` are further assignments for rows that are closed. */
export function typeTwoWrites(
  versions: Versions,
  refreshedColumns: readonly CatalogColumn[],
  more: readonly Assignment[] = [],
): readonly Write[] {
  const { context } = versions;
  const attributes = [...versions.attributes.map((feed) => feed.target), ...derivedColumns(versions)];
  const marks = absenceColumns(versions);
  const rewritten = writableColumns(context).filter((of) => attributes.includes(of) || marks.includes(of));
  const inserted: ChangeKind[] = ['new', 'changed', ...(copiesAbsent(versions) ? (['absent'] as const) : [])];
  return [
    ...closeWrite(versions, more),
    ...overwrite(versions, ['rewritten'], rewritten, 'A version that began today is rewritten in place.'),
    ...overwrite(versions, ['absent today'], marks, 'A version that began today and is gone bears its inactive date.'),
    ...overwrite(versions, ['refreshed'], refreshedColumns, 'Columns without versions are kept up on the current row.'),
    ...absenceWrites(versions),
    ...insertWrite(versions, inserted, insertSays(versions)),
  ];
}

function insertSays(versions: Versions): string {
  if (!versions.kinds.has('new')) return 'Open a marked copy for each key that is gone.';
  return copiesAbsent(versions)
    ? 'Open the next version: new and changed keys, and a marked copy for each key that is gone.'
    : 'Open a version for each new and each changed key.';
}

/** Delete variants that do not close and copy. */
export function absenceWrites(versions: Versions): readonly Write[] {
  const { options } = versions.context;
  if (!versions.kinds.has('absent')) return [];
  if (options.hard_deletes === 'flag') {
    return overwrite(versions, ['absent'], absenceColumns(versions), 'Mark the rows whose key is gone.');
  }
  if (options.hard_deletes !== 'physical') return [];
  return [
    {
      kind: 'delete',
      shows: 'deleted',
      says: 'Remove the rows whose key is gone.',
      from: changesName,
      where: [kindIs(versions, 'absent')],
      match: storedRow(versions),
    },
  ];
}

function copiesAbsent({ context, kinds }: Versions): boolean {
  return kinds.has('absent') && context.options.hard_deletes === 'new_record';
}

/** Counts of a load with validity: what is closed counts as expired. */
export function typeTwoCounts(versions: Versions): Readonly<Record<CountName, Expression>> {
  const { options } = versions.context;
  const absent = found(versions, 'absent');
  const closes = options.hard_deletes === 'invalidate' || options.hard_deletes === 'new_record';
  return {
    inserted: sum(found(versions, 'new'), found(versions, 'changed'), copiesAbsent(versions) ? absent : literal(0)),
    updated: sum(
      found(versions, 'rewritten'),
      found(versions, 'refreshed'),
      found(versions, 'absent today'),
      options.hard_deletes === 'flag' ? absent : literal(0),
    ),
    expired: sum(found(versions, 'changed'), closes ? absent : literal(0)),
    inactivated: sum(absent, found(versions, 'absent today')),
    deleted: options.hard_deletes === 'physical' ? absent : literal(0),
    unchanged: unchangedKeys(versions),
    skipped: skippedRows,
  };
}

/** Counts of a load with one row per key. */
export function oneRowCounts(versions: Versions): Readonly<Record<CountName, Expression>> {
  const counts = typeTwoCounts(versions);
  const flags = versions.context.options.hard_deletes === 'flag';
  return {
    ...counts,
    inserted: found(versions, 'new'),
    updated: sum(
      found(versions, 'changed'),
      found(versions, 'refreshed'),
      flags ? found(versions, 'absent') : literal(0),
    ),
    expired: literal(0),
  };
}
