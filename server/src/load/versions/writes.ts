/** The writes from the change relation, and the guard over the intervals that they would close. */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { compare, item, named, same, select, source } from '../build.ts';
import { clock } from '../clock.ts';
import { columnType, findColumn, keyLabel, keyText } from '../context.ts';
import { types } from '../language.ts';
import type { Assignment, RowMatch, Step, Write } from '../plan.ts';
import {
  type ChangeKind,
  change,
  changeOf,
  changesName,
  derivedColumns,
  flagValue,
  isOpen,
  kindIs,
  stored,
  type Versions,
  versionColumns,
  writableColumns,
} from './model.ts';

/** Kinds whose current version is closed. */
function closingKinds(versions: Versions): readonly ChangeKind[] {
  const { options } = versions.context;
  const closes = options.hard_deletes === 'invalidate' || options.hard_deletes === 'new_record';
  return [
    ...(versions.kinds.has('changed') ? (['changed'] as const) : []),
    ...(closes && versions.kinds.has('absent') ? (['absent'] as const) : []),
  ];
}

export function batchTimeGuard(versions: Versions): Step {
  const { context, keys, names, validFrom } = versions;
  const type = validFrom === undefined ? types.clock : columnType(context.target, validFrom);
  const start = validFrom === undefined ? clock : changeOf(context, validFrom);
  return {
    kind: 'guard-rows',
    says: 'A version that would end at or before its own start stops the load.',
    code: 'batch_time_not_after_current',
    query: select(
      [item('offender', keyLabel(keys.map((part) => changeOf(context, part.target))))],
      source(named(changesName), 'c'),
      {
        where: [kindIs(versions, ...closingKinds(versions)), compare(start, '<=', change(names.storedFrom, type))],
      },
    ),
  };
}

/** How a change finds its stored row. */
export function storedRow(versions: Versions): RowMatch {
  const { context, keys, names, validFrom } = versions;
  return {
    address: context.traits.rowAddresses ? names.address : null,
    on: [
      ...keys.map((part) => {
        const [left, right] = [stored(context, part.target), change(names.storedKey(part), part.type)];
        return context.options.null_keys === 'match'
          ? same(left, right, keyText(context))
          : compare(left, '=', right, keyText(context));
      }),
      ...(validFrom === undefined
        ? []
        : [compare(stored(context, validFrom), '=', change(names.storedFrom, columnType(context.target, validFrom)))]),
    ],
    where: isOpen(versions, 't'),
  };
}

/** Closes the versions that have an end now. */
export function closeWrite(versions: Versions, more: readonly Assignment[] = []): readonly Write[] {
  const { context, names, validTo } = versions;
  const kinds = closingKinds(versions);
  if (validTo === undefined || kinds.length === 0) return [];
  const { is_current: current, current_values: values } = context.options;
  const flag = current === undefined ? undefined : findColumn(context, context.target, current, 'is_current');
  return [
    {
      kind: 'update',
      shows: 'expired',
      says: 'Close the current version of each key that has a next one or is gone.',
      from: changesName,
      where: [kindIs(versions, ...kinds)],
      match: storedRow(versions),
      set: [
        { column: validTo.name, value: change(names.closedTo, columnType(context.target, validTo)) },
        ...(flag === undefined ? [] : [{ column: flag.name, value: flagValue(context, flag, values?.[1] ?? false) }]),
        ...more,
      ],
    },
  ];
}

/** Inserts the next version of every kind given. */
export function insertWrite(versions: Versions, kinds: readonly ChangeKind[], says: string): readonly Write[] {
  const { context, keys, attributes } = versions;
  const possible = kinds.filter((kind) => versions.kinds.has(kind));
  if (possible.length === 0) return [];
  const filled = new Set([
    ...keys.map((part) => part.target),
    ...attributes.map((feed) => feed.target),
    ...derivedColumns(versions),
  ]);
  const { options } = context;
  const control = [...versionColumns(options), ...Object.values(options.current_columns ?? {})];
  const isControl = (of: CatalogColumn): boolean => control.some((name) => sameIdentifier(name, of.name));
  const columns = writableColumns(context).filter(
    (of) => filled.has(of) || isControl(of) || possible.includes('absent'),
  );
  return [
    {
      kind: 'insert',
      shows: 'inserted',
      says,
      from: changesName,
      where: [kindIs(versions, ...possible)],
      values: columns.map((of) => ({ column: of.name, value: changeOf(context, of) })),
    },
  ];
}

/** Overwrites columns of the stored row with the values of the change. */
export function overwrite(
  versions: Versions,
  kinds: readonly ChangeKind[],
  columns: readonly CatalogColumn[],
  says: string,
): readonly Write[] {
  const possible = kinds.filter((kind) => versions.kinds.has(kind));
  if (possible.length === 0 || columns.length === 0) return [];
  return [
    {
      kind: 'update',
      shows: possible.some((kind) => kind.startsWith('absent')) ? 'inactivated' : 'updated',
      says,
      from: changesName,
      where: [kindIs(versions, ...possible)],
      match: storedRow(versions),
      set: columns.map((of) => ({ column: of.name, value: changeOf(versions.context, of) })),
    },
  ];
}
