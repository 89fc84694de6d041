import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import {
  any,
  column,
  compare,
  counted,
  countRows,
  differs,
  isNotNull,
  isNull,
  item,
  join,
  named,
  rowAddress,
  select,
  source,
  table,
} from '../build.ts';
import { instant } from '../clock.ts';
import { columnType, findColumn, keysEqual, type LoadContext } from '../context.ts';
import type { Expression } from '../language.ts';
import type { Assignment, LoadPlan, RowMatch, Step } from '../plan.ts';
import {
  anyDiffers,
  changeOf,
  changesName,
  feedsNamed,
  finishPlan,
  makeVersions,
  stored,
  sum,
  type VersionRules,
  type Versions,
  versionSteps,
} from '../versions.ts';
import { typeTwoCounts, typeTwoWrites } from './type-two.ts';

const foundEarlier = counted('EarlierRows');

/** Type 6: type 2, and every version of a key bears its current values; type 1 columns are overwritten beside them. */
export function planScd6(context: LoadContext): LoadPlan {
  const rules: VersionRules = { versioned: true, loads: true, refreshed: keptUpDiffers };
  const versions = makeVersions(context, rules);
  const base = versionSteps(versions, rules);
  const everywhere = [...currentColumns(versions), ...(onlyCurrent(context) ? [] : typeOneColumns(versions))];
  const assigned = (columns: readonly CatalogColumn[]): readonly Assignment[] =>
    columns.map((of) => ({ column: of.name, value: changeOf(context, of) }));
  const counts = typeTwoCounts(versions);
  const writes = typeTwoWrites(
    versions,
    [...currentColumns(versions), ...typeOneColumns(versions)],
    assigned(everywhere),
  );
  const says = 'Type 6: opens versions, and keeps the current values on all versions of a key.';
  // A table of keys alone has nothing that its versions could bear.
  if (everywhere.length === 0) return finishPlan(base, says, writes, counts);
  return finishPlan(
    { ...base, steps: [...base.steps, ...earlierSteps(versions, everywhere)] },
    says,
    [
      ...writes,
      {
        kind: 'update',
        says: 'Earlier versions take the current values, too.',
        shows: 'updated',
        from: 'earlier_versions',
        where: [],
        match: earlierMatch(versions),
        set: assigned(everywhere),
      },
    ],
    { ...counts, updated: sum(counts.updated, foundEarlier) },
  );
}

function onlyCurrent({ options }: LoadContext): boolean {
  return options.type1_scope === 'current';
}

function typeOneColumns({ context, attributes }: Versions): readonly CatalogColumn[] {
  return feedsNamed(context, attributes, context.options.type1 ?? [], 'type1').map((feed) => feed.target);
}

function currentColumns({ context }: Versions): readonly CatalogColumn[] {
  return Object.values(context.options.current_columns ?? {}).flatMap(
    (name) => findColumn(context, context.target, name, 'current_columns') ?? [],
  );
}

/** The current row's type 1 columns, or its copies of current values, are not what is staged. */
function keptUpDiffers(versions: Versions): Expression | null {
  const { context, attributes } = versions;
  const typeOne = anyDiffers(context, feedsNamed(context, attributes, context.options.type1 ?? [], 'type1'));
  const copies = Object.entries(context.options.current_columns ?? {}).flatMap(([name, copy]) => {
    const [feed] = feedsNamed(context, attributes, [name], 'current_columns');
    const of = findColumn(context, context.target, copy, 'current_columns');
    return feed === undefined || of === undefined
      ? []
      : [differs(column('s', feed.target.name, feed.type), stored(context, of))];
  });
  const reasons = [...(typeOne === null ? [] : [typeOne]), ...copies];
  return reasons.length === 0 ? null : any(...reasons);
}

/** Closed versions of the changed keys whose kept-up columns differ. */
function earlierSteps(versions: Versions, columns: readonly CatalogColumn[]): readonly Step[] {
  const { context, keys, validFrom, names } = versions;
  const value = (of: CatalogColumn): Expression => changeOf(context, of);
  const address = context.traits.rowAddresses
    ? [item(names.address, rowAddress('t'))]
    : [
        ...keys.map((part) => item(names.storedKey(part), stored(context, part.target))),
        ...(validFrom === undefined ? [] : [item(names.storedFrom, stored(context, validFrom))]),
      ];
  return [
    {
      kind: 'let',
      says: 'Earlier versions of these keys that do not bear the current values yet.',
      name: 'earlier_versions',
      query: select(
        [...address, ...columns.map((of) => item(of.name, value(of)))],
        source(table(context.target.name), 't'),
        {
          joins: [
            join(
              'inner',
              named(changesName),
              'c',
              keys.map((part) => keysEqual(context, changeOf(context, part.target), stored(context, part.target))),
            ),
          ],
          where: [...isClosed(versions), any(...columns.map((of) => differs(value(of), stored(context, of))))],
        },
      ),
    },
    {
      kind: 'measure',
      says: 'Earlier versions that will change.',
      query: select([item(foundEarlier.name, countRows())], source(named('earlier_versions'), 'c')),
    },
  ];
}

function isClosed({ context, validTo }: Versions): readonly Expression[] {
  if (validTo === undefined) return [];
  const value = stored(context, validTo);
  const end = context.options.open_end ?? null;
  if (end === null) return [isNotNull(value)];
  return [any(isNull(value), compare(value, '<>', instant(end, columnType(context.target, validTo))))];
}

function earlierMatch(versions: Versions): RowMatch {
  const { context, keys, names, validFrom } = versions;
  return {
    address: context.traits.rowAddresses ? names.address : null,
    on: [
      ...keys.map((part) =>
        keysEqual(context, stored(context, part.target), column('c', names.storedKey(part), part.type)),
      ),
      ...(validFrom === undefined
        ? []
        : [
            compare(
              stored(context, validFrom),
              '=',
              column('c', names.storedFrom, columnType(context.target, validFrom)),
            ),
          ]),
    ],
    where: isClosed(versions),
  };
}
