/** From the rows that a change feed leads to, and the rows that are stored, to the writes between them. */
import type { CatalogColumn } from '../../../protocol/catalog.ts';
import {
  all,
  any,
  arithmetic,
  choose,
  coalesce,
  column,
  compare,
  counted,
  countRows,
  countWhere,
  differs,
  isIn,
  isNotNull,
  isNull,
  item,
  join,
  literal,
  named,
  rowAddress,
  select,
  source,
  table,
} from './build.ts';
import { instant } from './clock.ts';
import { columnOf, columnType, freeName, keyText, keyValue, type LoadContext } from './context.ts';
import { type ChangeFeed, feedParameters, sameKeys } from './feed.ts';
import { isAffected, newEventsStep, replaySteps, stagedKeys } from './feed-replay.ts';
import { type Expression, type Item, type Relation, types } from './language.ts';
import type { LoadPlan, RowMatch, Step, Write } from './plan.ts';
import { skippedRows } from './stage.ts';
import { flagValue } from './versions.ts';

/** The validity columns of a type 2 target; all absent for one row per key. */
export interface Validity {
  readonly validFrom: CatalogColumn | undefined;
  readonly validTo: CatalogColumn | undefined;
  readonly current: CatalogColumn | undefined;
}

type FeedKind = 'new' | 'closed' | 'changed' | 'gone';

const variables: Readonly<Record<FeedKind, ReturnType<typeof counted>>> = {
  new: counted('NewRows'),
  closed: counted('ClosedRows'),
  changed: counted('ChangedRows'),
  gone: counted('GoneRows'),
};
const changedKeys = counted('ChangedKeys');

/** The plan of a change-feed load. `wanted` is the relation of the rows that shall be there. */
export function feedPlan(
  context: LoadContext,
  feed: ChangeFeed | null,
  wanted: { readonly steps: readonly Step[]; readonly name: string } | null,
  validity: Validity,
  says: string,
): LoadPlan {
  const typeTwo = validity.validFrom !== undefined;
  return {
    target: context.target.name,
    source: context.source.name,
    says,
    parameters: feedParameters(context),
    steps:
      feed === null || wanted === null
        ? []
        : [
            ...replaySteps(feed),
            ...wanted.steps,
            changesStep(feed, wanted.name, validity),
            ...countSteps(feed),
            newEventsStep(feed),
          ],
    writes: feed === null ? [] : writesOf(feed, validity),
    warnings: [],
    counts: {
      inserted: variables.new,
      updated: variables.changed,
      expired: typeTwo ? variables.closed : null,
      inactivated: null,
      deleted: variables.gone,
      unchanged: arithmetic(stagedKeys, '-', changedKeys),
      skipped: context.options.null_keys === 'fail' ? literal(0) : skippedRows,
    },
    keeps: feed === null ? [] : [feed.events],
    replaces: null,
  };
}

function kindName(context: LoadContext): string {
  return freeName(context, 'change_kind');
}

function addressName(context: LoadContext): string {
  return freeName(context, 'stored_row');
}

/** Columns of the target that the load writes, with their wanted values (alias `w`). */
function writtenItems(feed: ChangeFeed, { validFrom, validTo, current }: Validity): readonly Item[] {
  const { context } = feed;
  const typed = (name: string, of: CatalogColumn): Expression => column('w', name, columnType(context.target, of));
  const open = context.options.open_end ?? null;
  return context.target.columns
    .filter((of) => !of.computed && !of.identity)
    .flatMap((of): readonly Item[] => {
      if (of === validFrom) return [item(of.name, typed('starts_at_', of))];
      if (of === validTo) {
        const end = typed('ends_at_', of);
        return [item(of.name, open === null ? end : coalesce(end, instant(open, columnType(context.target, of))))];
      }
      if (of === current) {
        const [yes, no] = context.options.current_values ?? [true, false];
        return [
          item(
            of.name,
            choose(
              [[isNull(column('w', 'ends_at_', feed.sequenceType)), flagValue(context, of, yes)]],
              flagValue(context, of, no),
            ),
          ),
        ];
      }
      const isFed = feed.keys.some((part) => part.target === of) || feed.attributes.some((part) => part.target === of);
      return isFed ? [item(of.name, typed(of.name, of))] : [];
    });
}

/** Wanted against stored rows of the affected keys, both ways. */
function changesStep(feed: ChangeFeed, wantedName: string, validity: Validity): Step {
  const { context, keys } = feed;
  const { validFrom, validTo } = validity;
  const written = writtenItems(feed, validity);
  const storedOf = (name: string): Expression => {
    const of = context.target.columns.find((candidate) => candidate.name === name);
    return of === undefined ? literal(null) : column('t', name, columnType(context.target, of));
  };
  const stored = select(
    [
      item('is_stored_', literal(1)),
      ...(context.traits.rowAddresses ? [item(addressName(context), rowAddress('t'))] : []),
      ...written.map(({ name }) => item(name, storedOf(name))),
    ],
    source(table(context.target.name), 't'),
    { where: [isAffected(feed, 't')] },
  );
  const wanted: Relation = select(
    [item('is_wanted_', literal(1)), ...wantedColumns(feed, validity)],
    source(named(wantedName), 'x'),
  );
  const isWanted = column('w', 'is_wanted_', types.flag);
  const isStored = column('t', 'is_stored_', types.flag);
  const changes = written
    .filter(({ name }) => name !== validFrom?.name && !keys.some((part) => part.target.name === name))
    .map(({ name, value }) => differs(value, storedOf(name)));
  const open = context.options.open_end ?? null;
  const wasOpen =
    validTo === undefined
      ? null
      : open === null
        ? isNull(storedOf(validTo.name))
        : compare(storedOf(validTo.name), '=', instant(open, columnType(context.target, validTo)));
  const branches: (readonly [Expression, Expression])[] = [
    [isNull(isStored), literal('new')],
    [isNull(isWanted), literal('gone')],
    ...(wasOpen === null
      ? []
      : [[all(wasOpen, isNotNull(column('w', 'ends_at_', feed.sequenceType))), literal('closed')] as const]),
    ...(changes.length === 0 ? [] : [[any(...changes), literal('changed')] as const]),
  ];
  const match: readonly Item[] = context.traits.rowAddresses
    ? [item(addressName(context), column('t', addressName(context), types.count))]
    : [
        ...keys.map((part) => item(freeName(context, `stored_${part.target.name}`), storedOf(part.target.name))),
        ...(validFrom === undefined ? [] : [item(freeName(context, 'stored_from'), storedOf(validFrom.name))]),
      ];
  const keyItems = keys.map((part) =>
    item(
      freeName(context, `changed_${part.target.name}`),
      coalesce(column('w', part.target.name, part.type), storedOf(part.target.name)),
    ),
  );
  const found = select(
    [item(kindName(context), choose(branches)), ...match, ...keyItems, ...written],
    source(wanted, 'w'),
    {
      joins: [
        join('full', stored, 't', [
          ...sameKeys(feed, 'w', 't'),
          ...(validFrom === undefined
            ? []
            : [compare(column('w', 'starts_at_', feed.sequenceType), '=', storedOf(validFrom.name))]),
        ]),
      ],
    },
  );
  return {
    kind: 'let',
    says: 'The changes: what shall be there against what is stored, for these keys.',
    name: 'changes',
    query: select(
      found.items.map(({ name, value }) =>
        item(name, column('f', name, 'type' in value && value.type !== null ? value.type : types.text)),
      ),
      source(found, 'f'),
      { where: [isNotNull(column('f', kindName(context), types.code))] },
    ),
  };
}

function wantedColumns(feed: ChangeFeed, { validFrom }: Validity): readonly Item[] {
  const { keys, attributes, sequenceType } = feed;
  return [
    ...keys.map((part) => item(part.target.name, column('x', part.target.name, part.type))),
    ...attributes.map((of) => item(of.target.name, column('x', of.target.name, of.type))),
    ...(validFrom === undefined
      ? []
      : ['starts_at_', 'ends_at_'].map((name) => item(name, column('x', name, sequenceType)))),
  ];
}

function kindIs({ context }: ChangeFeed, ...kinds: readonly FeedKind[]): Expression {
  return isIn(column('c', kindName(context), types.code), kinds);
}

function countSteps(feed: ChangeFeed): readonly Step[] {
  const { context, keys } = feed;
  const key = keys.map((part) =>
    keyValue(context, column('c', freeName(context, `changed_${part.target.name}`), part.type)),
  );
  const groups = select([item('rows', countRows())], source(named('changes'), 'c'), {
    groupBy: key,
    text: keyText(context),
  });
  const kinds: readonly FeedKind[] = ['new', 'closed', 'changed', 'gone'];
  return [
    {
      kind: 'measure',
      says: 'What will change.',
      query: select(
        kinds.map((kind) => item(variables[kind].name, countWhere(kindIs(feed, kind)))),
        source(named('changes'), 'c'),
      ),
    },
    {
      kind: 'measure',
      says: 'Keys that change.',
      query: select([item(changedKeys.name, countRows())], source(groups, 'k')),
    },
  ];
}

function writesOf(feed: ChangeFeed, validity: Validity): readonly Write[] {
  const { context, keys } = feed;
  const { validFrom } = validity;
  const written = writtenItems(feed, validity);
  const changeValue = (name: string): Expression => {
    const of = context.target.columns.find((candidate) => candidate.name === name);
    return of === undefined ? literal(null) : columnOf('c', context.target, of);
  };
  const match: RowMatch = {
    address: context.traits.rowAddresses ? addressName(context) : null,
    on: [
      ...keys.map((part) =>
        compare(
          columnOf('t', context.target, part.target),
          '=',
          column('c', freeName(context, `stored_${part.target.name}`), part.type),
          keyText(context),
        ),
      ),
      ...(validFrom === undefined
        ? []
        : [
            compare(
              columnOf('t', context.target, validFrom),
              '=',
              column('c', freeName(context, 'stored_from'), columnType(context.target, validFrom)),
            ),
          ]),
    ],
    where: [],
  };
  const assigned = written
    .filter(({ name }) => name !== validFrom?.name && !keys.some((part) => part.target.name === name))
    .map(({ name }) => ({ column: name, value: changeValue(name) }));
  const updates: readonly Write[] =
    assigned.length === 0
      ? []
      : [
          {
            kind: 'update',
            says: 'Rows whose end or values follow from the events otherwise than they are stored.',
            shows: validFrom === undefined ? 'updated' : 'expired',
            from: 'changes',
            where: [kindIs(feed, 'closed', 'changed')],
            match,
            set: assigned,
          },
        ];
  return [
    ...updates,
    {
      kind: 'delete',
      says: 'Rows that the events do not bear out.',
      shows: 'deleted',
      from: 'changes',
      where: [kindIs(feed, 'gone')],
      match,
    },
    {
      kind: 'insert',
      says: 'Rows that the events add.',
      shows: 'inserted',
      from: 'changes',
      where: [kindIs(feed, 'new')],
      values: written.map(({ name }) => ({ column: name, value: changeValue(name) })),
    },
    {
      kind: 'insert',
      says: 'Remember the events.',
      shows: 'inserted',
      from: 'new_events',
      where: [],
      into: feed.events.name,
      values: feed.events.columns.map(({ name, type }) => ({ column: name, value: column('c', name, type) })),
    },
  ];
}
