/** Hubs, links, non-historised links and reference tables: a key that is not stored yet is inserted as first sighted. */
import { sameIdentifier } from '../../model/names.ts';
import {
  aggregate,
  any,
  arithmetic,
  ascending,
  column,
  compare,
  concat,
  counted,
  countRows,
  differs,
  item,
  join,
  literal,
  named,
  notExists,
  select,
  shown,
  source,
  table,
  window,
} from '../build.ts';
import { columnOf, feedOf, findColumn, freeName, type LoadContext } from '../context.ts';
import { type Expression, type Item, type OrderItem, type Query, type Relation, types } from '../language.ts';
import type { LoadPlan, Step, Warning } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { ghostPart, withGhostRows } from './ghosts.ts';
import { keyName, keyPartsOf, partAs, partItems } from './key-parts.ts';
import {
  firstRows,
  keyCount,
  keyForms,
  keyTextOf,
  missingKeySteps,
  rowCount,
  type StagedColumn,
  sameKey,
  skippedCount,
  skippedWarnings,
  stagedAs,
  stagedRows,
  storedAs,
  type VaultStage,
  vaultParameters,
  vaultStage,
} from './staging.ts';

const contradictedRows = counted('ContradictingRows');
const newKeys = counted('NewKeys');

/** How rows of one key that differ are treated. */
interface Rivals {
  /** Rows of one key that differ in more than their sighting stop the load. */
  readonly refused: boolean;
  /** Identical rows count once; else every second row of a key is refused. */
  readonly collapsed: boolean;
}

export function firstSightingPlan(context: LoadContext, says: string, things: string): LoadPlan {
  const stage = vaultStage(context);
  const ghosts = ghostPart(stage);
  const rivals = rivalsOf(stage);
  const ties = tieBreakers(stage);
  const contradictions = contradictingRows(stage, rivals.refused ? 'staged' : 'sighted');
  const steps: readonly Step[] = [
    ...missingKeySteps(stage),
    ...(rivals.refused ? refusingSteps(stage, rivals, ties, things) : choosingSteps(stage, ties, things)),
    rowCount('changes', 'What will be inserted.', newKeys.name),
    ...contradictions.map((query) => contradictionCount(query, things)),
    ...ghosts.steps,
  ];
  return {
    target: context.target.name,
    source: context.source.name,
    says,
    parameters: vaultParameters(stage),
    steps,
    writes: [
      ...ghosts.writes,
      {
        kind: 'insert',
        says: `Insert the ${things} seen for the first time.`,
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: stage.columns.map((of) => ({ column: of.target.name, value: stagedAs('c', of) })),
      },
    ],
    warnings: [...skippedWarnings(stage), ...contradictions.map(() => contradictionWarning(things))],
    counts: {
      inserted: withGhostRows(newKeys, ghosts),
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: arithmetic(acceptedRows, '-', newKeys),
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

/** Whether rows of the pattern say more than that there is a key. */
function saysMore({ context }: VaultStage): boolean {
  const { pattern } = context.specification;
  return pattern === 'nh_link' || pattern === 'reference_table';
}

/** Staged rows that tell something else than the stored row of their key, which stays as it is; at most one query. */
function contradictingRows(stage: VaultStage, rows: string): readonly Query[] {
  const { context, columns, keys, loadTs, recordSource } = stage;
  const told = columns.filter(
    (of) => of !== loadTs && of !== recordSource && of.role === null && !keys.includes(of) && isOrdered(of),
  );
  if (!saysMore(stage) || told.length === 0) return [];
  return [
    select([item(contradictedRows.name, countRows())], source(named(rows), 's'), {
      joins: [join('inner', table(context.target.name), 't', sameKey(stage, 't', 's'))],
      where: [any(...told.map((of) => differs(storedAs('t', context, of), stagedAs('s', of))))],
    }),
  ];
}

function contradictionCount(query: Query, things: string): Step {
  return { kind: 'measure', says: `Staged rows that contradict ${things} that are stored already.`, query };
}

function contradictionWarning(things: string): Warning {
  return {
    code: 'stored_row_kept',
    when: compare(contradictedRows, '>', literal(0)),
    message: concat(shown(contradictedRows), literal(` staged rows contradict stored ${things}, which are kept`)),
  };
}

/**
 * A row of a hub or link holds its keys and the sighting, so the order of sightings decides. Where rows say more, those
 * that are sighted first must agree, unless a stated order decides.
 */
function rivalsOf(stage: VaultStage): Rivals {
  const { duplicates, tie_break: ties } = stage.context.options;
  if (duplicates === 'fail') return { refused: true, collapsed: false };
  return { refused: saysMore(stage) && duplicates !== undefined && ties === undefined, collapsed: true };
}

interface TieBreakers {
  /** Columns that the staged rows carry beside the target's, because the order of sightings needs them. */
  readonly items: readonly Item[];
  readonly order: readonly OrderItem[];
}

/**
 * The order of sightings: `tie_break`, else load time, then record source. The other columns follow, so that two runs
 * over the same rows choose the same one.
 */
function tieBreakers(stage: VaultStage): TieBreakers {
  const { context, loadTs, recordSource } = stage;
  const named = context.options.tie_break;
  const stated: readonly Item[] =
    named === undefined
      ? [loadTs, recordSource].flatMap((of) => (of === undefined ? [] : [item(of.target.name, stagedAs('s', of))]))
      : named.flatMap((name) => tieBreaker(stage, name));
  const isCarried = (entry: Item): boolean => stage.columns.some((of) => sameIdentifier(of.target.name, entry.name));
  const rest = stage.columns.filter(
    (of) => of.role === null && !stated.some((entry) => sameIdentifier(entry.name, of.target.name)) && isOrdered(of),
  );
  const order = [
    ...stated.map((entry) => column('s', entry.name, typeOfItem(stage, entry))),
    ...rest.map((of) => stagedAs('s', of)),
  ];
  return { items: stated.filter((entry) => !isCarried(entry)), order: order.map(ascending) };
}

function tieBreaker({ context }: VaultStage, name: string): readonly Item[] {
  const feed = feedOf(context, name);
  if (feed !== undefined) return [item(feed.target.name, column('s', feed.target.name, feed.type))];
  const found = findColumn(context, context.source, name, 'tie_break');
  return found === undefined ? [] : [item(freeName(context, `sighted_${name}`), columnOf('s', context.source, found))];
}

function typeOfItem(stage: VaultStage, entry: Item) {
  const carried = stage.columns.find((of) => sameIdentifier(of.target.name, entry.name));
  if (carried !== undefined) return carried.type;
  return entry.value.kind === 'column' ? entry.value.type : types.text;
}

function isOrdered(of: StagedColumn): boolean {
  return !['other', 'rowversion'].includes(of.type.facts.family);
}

/** Where the order of sightings decides: one row per key first, then those whose key is not stored. */
function choosingSteps(stage: VaultStage, ties: TieBreakers, things: string): readonly Step[] {
  return [
    {
      kind: 'let',
      says: `One row for each of the staged ${things}: the first sighting.`,
      name: 'sighted',
      query: firstPerKey(stage, stagedRows(stage, ties.items), ties),
    },
    rowCount('sighted', `Distinct ${things} in the stage.`, acceptedRows.name),
    {
      kind: 'let',
      says: `Those of the ${things} that the target does not have.`,
      name: 'changes',
      query: unknownRows(stage, named('sighted'), []),
    },
  ];
}

/** Where rows that differ stop the load: first the rows of unknown keys, then the guard, then one row per key. */
function refusingSteps(stage: VaultStage, rivals: Rivals, ties: TieBreakers, things: string): readonly Step[] {
  const beside = [...ties.items, ...partItems(stage)];
  const staged = stagedRows(stage, beside);
  return [
    { kind: 'let', says: 'Staged rows with a key.', name: 'staged', query: staged },
    keyCount(stage, named('staged'), `Distinct ${things} in the stage.`, acceptedRows.name),
    {
      kind: 'let',
      says: `Rows of the ${things} that the target does not have.`,
      name: 'unknown',
      query: unknownRows(stage, named('staged'), beside),
    },
    rivalGuard(stage, rivals),
    {
      kind: 'let',
      says: 'One row of each: the first sighting.',
      name: 'changes',
      query: firstPerKey(stage, named('unknown'), ties),
    },
  ];
}

/**
 * Rows of one key that tell different things. A later delivery of a key is known as if it came in a later run; so what
 * counts are the rows of its first load time. Load time and record source of a sighting are no content.
 */
function rivalGuard(stage: VaultStage, rivals: Rivals): Step {
  const contents = rivals.collapsed ? firstContents(stage) : named('unknown');
  return {
    kind: 'guard-rows',
    says: rivals.collapsed
      ? 'A key that is staged with different contents stops the load.'
      : 'A key that is staged more than once stops the load.',
    code: 'duplicate_key',
    query: select(
      [
        item(
          'offender',
          keyName(stage, 's', (value) => aggregate('min', value)),
        ),
      ],
      source(contents, 's'),
      {
        groupBy: keyForms(stage, 's'),
        text: keyTextOf(stage),
        having: [compare(countRows(), '>', literal(1))],
      },
    ),
  };
}

/** What the rows of a key's first load time say, each content once. */
function firstContents(stage: VaultStage): Relation {
  const { columns, loadTs, recordSource } = stage;
  const told = columns.filter((of) => of !== loadTs && of !== recordSource);
  if (loadTs === undefined) return eachOnce(stage, told, { from: named('unknown'), where: [] });
  const first = freeName(stage.context, 'first_time');
  const firstTime = window('min', stagedAs('u', loadTs), keyForms(stage, 'u'), [], { text: keyTextOf(stage) });
  const timed = select(
    [
      ...columns.map((of) => item(of.target.name, stagedAs('u', of))),
      ...keyPartsOf(stage).map((part) => item(part.name, partAs('u', part))),
      item(first, firstTime),
    ],
    source(named('unknown'), 'u'),
  );
  return eachOnce(stage, told, {
    from: timed,
    where: [compare(stagedAs('s', loadTs), '=', column('s', first, loadTs.type))],
  });
}

/** Rows that agree in the columns once, with the parts of their keys beside them. */
function eachOnce(
  stage: VaultStage,
  told: readonly StagedColumn[],
  { from, where }: { readonly from: Relation; readonly where: readonly Expression[] },
): Relation {
  const items = told.map((of) => item(of.target.name, stagedAs('s', of)));
  const parts = keyPartsOf(stage);
  if (parts.length === 0) return select(items, source(from, 's'), { distinct: true, text: 'exact', where });
  const columns = [...told.map(({ target, type }) => ({ name: target.name, type })), ...parts];
  return firstRows(
    stage.context,
    select([...items, ...parts.map((part) => item(part.name, partAs('s', part)))], source(from, 's'), { where }),
    columns,
    told.map((of) => stagedAs('s', of)),
    parts.map((part) => ascending(partAs('s', part))),
    'exact',
  );
}

function firstPerKey(stage: VaultStage, rows: Relation, ties: TieBreakers): Query {
  const columns = stage.columns.map(({ target, type }) => ({ name: target.name, type }));
  return firstRows(stage.context, rows, columns, keyForms(stage, 's'), ties.order, keyTextOf(stage));
}

function unknownRows(stage: VaultStage, rows: Relation, further: readonly Item[]): Query {
  const { context, columns } = stage;
  const carried = further.map((entry) => item(entry.name, column('s', entry.name, typeOfItem(stage, entry))));
  return select([...columns.map((of) => item(of.target.name, stagedAs('s', of))), ...carried], source(rows, 's'), {
    where: [
      notExists(
        select([item('one', literal(1))], source(table(context.target.name), 't'), { where: sameKey(stage, 't', 's') }),
      ),
    ],
  });
}
