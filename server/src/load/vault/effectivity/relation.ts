/** What an effectivity satellite says of a relation: which key drives it, when it starts and ends, and its stored state. */
import type { CatalogColumn } from '../../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../../model/names.ts';
import { choose, column, compare, isNull, item, latestRows, literal, select, source, table } from '../../build.ts';
import { instant } from '../../clock.ts';
import {
  columnOf,
  columnType,
  converted,
  feedOf,
  findColumn,
  freeName,
  type LoadContext,
  report,
} from '../../context.ts';
import { type Expression, type Item, type Relation, types, type ValueType } from '../../language.ts';
import { type StagedColumn, stagedAs, type VaultStage, vaultStage } from '../staging.ts';

/** A column of the satellite that the load writes. */
export interface WrittenColumn {
  readonly name: string;
  readonly type: ValueType;
  readonly target: CatalogColumn;
}

export interface Relationships {
  readonly stage: VaultStage;
  readonly loadTs: StagedColumn;
  readonly start: WrittenColumn;
  readonly end: WrittenColumn;
  /** Bears the effective time of the last event, where the satellite has such a column. */
  readonly effectiveFrom: WrittenColumn | undefined;
  /** Columns of the driving key. */
  readonly drivers: readonly StagedColumn[];
  /** Everything that the load writes, in the target's order. */
  readonly columns: readonly WrittenColumn[];
  /** Name of the staged item that bears the effective time. */
  readonly effectiveTime: string;
  /** Name of the item that is 1 for a closing row, else 0. */
  readonly isClosed: string;
}

/** Null, with problems, where the specification leaves something open. */
export function makeRelationships(context: LoadContext): Relationships | null {
  const stage = vaultStage(context);
  const { options, target } = context;
  const start = endpoint(context, options.start, 'start');
  const end = endpoint(context, options.end, 'end');
  const { loadTs } = stage;
  if (loadTs === undefined) {
    report(
      context,
      'no-load-date',
      `Say which column of ${target.name.table} is the load date with --set load_ts="…".`,
    );
  }
  const drivers = driverColumns(stage);
  if (start === undefined || end === undefined || loadTs === undefined || drivers === null) return null;
  const own = [start.target, end.target];
  const isWritten = (of: CatalogColumn): boolean =>
    own.includes(of) || stage.columns.some((staged) => staged.target === of);
  return {
    stage,
    loadTs,
    start,
    end,
    effectiveFrom: effectiveColumn(stage),
    drivers,
    columns: target.columns.filter(isWritten).map((of) => written(context, of)),
    effectiveTime: freeName(context, 'effective_time'),
    isClosed: freeName(context, 'is_closed'),
  };
}

function written(context: LoadContext, of: CatalogColumn): WrittenColumn {
  return { name: of.name, type: columnType(context.target, of), target: of };
}

function endpoint(context: LoadContext, name: string | undefined, option: 'start' | 'end'): WrittenColumn | undefined {
  if (name === undefined) {
    report(
      context,
      'no-validity',
      `${context.target.name.table} has no column that says when a relationship ${option}s; name it with --set ${option}="…".`,
    );
    return undefined;
  }
  const found = findColumn(context, context.target, name, option);
  return found === undefined ? undefined : written(context, found);
}

/** `effective_from` names a stage column; the satellite may store it, too. */
function effectiveColumn({ context, columns }: VaultStage): WrittenColumn | undefined {
  const { effective_from: name, load_ts: loadTs } = context.options;
  if (name === undefined) return undefined;
  const fed = feedOf(context, name)?.target;
  const found = columns.find((of) => of.target === fed) ?? columns.find((of) => sameIdentifier(of.target.name, name));
  // The load date is filled on its own, also where it is the effective time.
  if (found === undefined || (loadTs !== undefined && sameIdentifier(found.target.name, loadTs))) return undefined;
  return written(context, found.target);
}

/**
 * The hash columns over the driving key: the one with just its inputs, else those whose inputs together are the driving
 * key; else the columns that store its parts. Null when no such column is there.
 */
function driverColumns(stage: VaultStage): readonly StagedColumn[] | null {
  const { context, columns } = stage;
  const { driving_key: driving = [], hash_key: hashes = {}, auto_end_dating: derives } = context.options;
  if (derives === false) return [];
  const contains = (list: readonly string[], name: string): boolean =>
    list.some((other) => sameIdentifier(other, name));
  const staged = (name: string): readonly StagedColumn[] =>
    columns.filter((of) => sameIdentifier(of.target.name, name));
  const within = Object.entries(hashes).filter(
    ([, inputs]) => inputs.length > 0 && inputs.every((name) => contains(driving, name)),
  );
  const whole = within.find(([, inputs]) => inputs.length === driving.length);
  if (whole !== undefined) return staged(whole[0]);
  if (driving.length > 0 && driving.every((name) => within.some(([, inputs]) => contains(inputs, name)))) {
    return within.flatMap(([name]) => staged(name));
  }
  const stored = driving.flatMap((name) => {
    const fed = feedOf(context, name)?.target;
    return columns.filter((of) => of.target === fed || sameIdentifier(of.target.name, name)).slice(0, 1);
  });
  if (driving.length > 0 && stored.length === driving.length) return stored;
  report(
    context,
    'no-driving-key',
    driving.length === 0
      ? `Say which key of ${context.target.name.table} drives the relationship with --set driving_key=["…"].`
      : `${context.target.name.table} stores no hash key over the driving key ${driving.join(', ')}; add one to hash_key.`,
  );
  return null;
}

/** The effective time of a staged row, as the start column stores it. */
export function stagedEffectiveTime({ stage, start, loadTs }: Relationships): Expression {
  const { context } = stage;
  const name = context.options.effective_from;
  const found = name === undefined ? undefined : findColumn(context, context.source, name, 'effective_from');
  return converted(found === undefined ? loadTs.value : columnOf('s', context.source, found), start.type);
}

/** The value that the end of an open relationship has. */
export function openEnd({ stage, end }: Relationships): Expression {
  const { open_end: open } = stage.context.options;
  return open === undefined || open === null ? literal(null, end.type) : instant(open, end.type);
}

/** 1 for a row that ends its relationship. */
export function closedFlag(relationships: Relationships, end: Expression): Expression {
  const open = openEnd(relationships);
  const isOpen = open.kind === 'literal' && open.value === null ? isNull(end) : compare(end, '=', open);
  return choose([[isOpen, literal(0)]], literal(1));
}

export function sameColumns(of: readonly StagedColumn[], left: string, right: string): readonly Expression[] {
  return of.map((part) => compare(stagedAs(left, part), '=', stagedAs(right, part)));
}

/** The newest stored row of each relationship that `where` (over alias `t`) lets through. A closing row follows the opening one. */
export function newestRows(relationships: Relationships, where: readonly Expression[]): Relation {
  const { stage, columns, end, loadTs, isClosed } = relationships;
  const { context } = stage;
  const items: readonly Item[] = [
    ...columns.map(({ name, target }) => item(name, columnOf('t', context.target, target))),
    item(isClosed, closedFlag(relationships, columnOf('t', context.target, end.target))),
  ];
  return latestRows(
    select(items, source(table(context.target.name), 't'), { where }),
    stage.keys.map((key) => key.target.name),
    [loadTs.target.name, isClosed],
  );
}

/** A written column as a later step reads it. */
export function writtenAs(alias: string, { name, type }: WrittenColumn): Expression {
  return column(alias, name, type);
}

export function flagAs(alias: string, name: string): Expression {
  return column(alias, name, types.flag);
}
