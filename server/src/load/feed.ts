/**
 * Change feeds: the state of a key is the replay of all its events so far, in the order of their sequence. The load keeps
 * the events that it has seen in a table of its own, so that late and repeated ones fall into place.
 */
import type { CatalogColumn } from '../../../protocol/catalog.ts';
import { column, item } from './build.ts';
import {
  clockParameter,
  columnType,
  type Feed,
  findColumn,
  freeName,
  type KeyPart,
  keyParts,
  keysEqual,
  keyValue,
  type LoadContext,
  refuseNarrowing,
  report,
  textParameters,
} from './context.ts';
import { type Expression, type Item, types, type ValueType } from './language.ts';
import type { KeptTable, PlanParameter } from './plan.ts';

/** What the replay needs to know of a load. */
export interface ChangeFeed {
  readonly context: LoadContext;
  readonly keys: readonly KeyPart[];
  /** Columns that an event brings, beside its key. */
  readonly attributes: readonly Feed[];
  readonly tracked: readonly Feed[];
  readonly untracked: readonly Feed[];
  readonly sequence: CatalogColumn;
  readonly sequenceType: ValueType;
  readonly operation: CatalogColumn | undefined;
  readonly events: KeptTable;
  readonly names: { readonly sequence: string; readonly kind: string };
}

/** Reads the feed's options; null, with a problem, where the sequence or a key is missing. `control` are no attributes. */
export function makeFeed(
  context: LoadContext,
  control: readonly (CatalogColumn | undefined)[],
  sequenceAs: CatalogColumn | undefined,
): ChangeFeed | null {
  const { options, source: stage, target } = context;
  const keys = keyParts(context);
  const sequence =
    options.sequence_by === undefined ? undefined : findColumn(context, stage, options.sequence_by, 'sequence_by');
  const operation =
    options.op_column === undefined ? undefined : findColumn(context, stage, options.op_column, 'op_column');
  if (sequence === undefined) {
    report(
      context,
      'no-sequence',
      `Say which column of ${stage.name.table} orders its events with --set sequence_by="…".`,
    );
    return null;
  }
  const keyColumns = new Set(keys.map((part) => part.target));
  const attributes = context.feeds.filter(
    (feed) => !keyColumns.has(feed.target) && !control.includes(feed.target) && feed.source !== null,
  );
  refuseNarrowing(context, attributes);
  const isNamed = (feed: Feed, names: readonly string[]): boolean =>
    names.some((name) =>
      [feed.target.name, feed.source?.name].some((own) => own?.toLowerCase() === name.toLowerCase()),
    );
  const untracked = attributes.filter((feed) => isNamed(feed, options.untracked ?? []));
  const tracked = attributes.filter((feed) =>
    options.compare === undefined ? !untracked.includes(feed) : isNamed(feed, options.compare),
  );
  const names = { sequence: freeName(context, 'event_sequence'), kind: freeName(context, 'event_kind') };
  const sequenceType = sequenceAs === undefined ? columnType(stage, sequence) : columnType(target, sequenceAs);
  return {
    context,
    keys,
    attributes,
    tracked,
    untracked,
    sequence,
    sequenceType,
    operation,
    names,
    events: {
      says: 'The events that this load has seen; late and repeated ones are told by it.',
      name: { ...target.name, table: `${target.name.table}_events` },
      columns: [
        ...keys.map((part) => ({ name: part.target.name, type: part.type, nullable: true })),
        ...attributes.map((feed) => ({ name: feed.target.name, type: feed.type, nullable: true })),
        { name: names.sequence, type: sequenceType, nullable: false },
        { name: names.kind, type: types.code, nullable: false },
      ],
    },
  };
}

/** What an event does, as the kept table names it. */
export const upsert = 'upsert';
export const deletion = 'delete';
export const truncation = 'truncate';

/** All columns of the kept table, read from a relation of events. */
export function eventItems(feed: ChangeFeed, alias: string): readonly Item[] {
  return feed.events.columns.map(({ name, type }) => item(name, column(alias, name, type)));
}

/** The key columns of a row of events. */
export function keysOf({ keys }: ChangeFeed, alias: string): readonly Expression[] {
  return keys.map((part) => column(alias, part.target.name, part.type));
}

/** The keys as they are grouped: by the rule that says which of them are the same. */
export function partitionOf(feed: ChangeFeed, alias: string): readonly Expression[] {
  return keysOf(feed, alias).map((key) => keyValue(feed.context, key));
}

/** Whether two rows of events belong to one key. */
export function sameKeys(feed: ChangeFeed, left: string, right: string): readonly Expression[] {
  return feed.keys.map((part) =>
    keysEqual(feed.context, column(left, part.target.name, part.type), column(right, part.target.name, part.type)),
  );
}

/** What orders the events of a key. */
export function sequenceOn(feed: ChangeFeed, alias: string): Expression {
  return column(alias, feed.names.sequence, feed.sequenceType);
}

/** What an event does: `upsert`, `deletion` or `truncation`. */
export function kindOn(feed: ChangeFeed, alias: string): Expression {
  return column(alias, feed.names.kind, types.code);
}

/** The clock, and what the load's texts take. */
export function feedParameters(context: LoadContext): readonly PlanParameter[] {
  return [clockParameter('time of the load (UTC)'), ...textParameters(context)];
}
