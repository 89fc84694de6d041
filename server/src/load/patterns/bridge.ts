import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { compactName, sameIdentifier } from '../../model/names.ts';
import {
  any,
  choose,
  column,
  compare,
  isNull,
  item,
  join,
  latestRows,
  literal,
  named,
  select,
  source,
  table,
} from '../build.ts';
import { columnOf, columnType, converted, findColumn, type LoadContext, report } from '../context.ts';
import { type Query, types } from '../language.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { columnIn, type Dates, datesOf, extraTable } from '../vault/extra-tables.ts';
import { rebuildPlan } from '../vault/rebuild.ts';
import { loadTimeNames } from '../vault/staging.ts';

interface Effectivity {
  readonly of: CatalogTable;
  readonly linkKey: CatalogColumn;
  readonly loadTs: CatalogColumn;
  readonly start: CatalogColumn;
  readonly end: CatalogColumn;
}

interface Parts {
  readonly dates: Dates;
  readonly hub: CatalogTable;
  readonly hubKey: CatalogColumn;
  readonly link: CatalogTable;
  readonly linkKey: CatalogColumn;
  /** The hub's key in the link. */
  readonly linkedHub: CatalogColumn;
  readonly effectivity: Effectivity;
  /** Columns of the target with the column of the link that fills each. */
  readonly columns: readonly { readonly target: CatalogColumn; readonly from: CatalogColumn }[];
}

/** Bridge: per hub key and date the links in force then, by the newest effectivity row that was loaded by the date. */
export function planBridge(context: LoadContext): LoadPlan {
  const { target } = context;
  const parts = findParts(context);
  return rebuildPlan(context, {
    says: `Bridge ${target.name.table}: for each key and date the relationships that were in force then.`,
    parameters: [],
    steps: parts === null ? [] : [parts.dates.step, effectiveStep(parts)],
    rows: parts === null ? select([], null) : bridgeRows(context, parts),
    warnings: [],
  });
}

function findParts(context: LoadContext): Parts | null {
  const { options, target } = context;
  const dates = datesOf(context);
  const [hub, link, effSat] = ['hub', 'link', 'eff_sat'].map((role) => extraTable(context, role));
  const [hubName, ...others] = options.target_key ?? [];
  if (hubName === undefined) {
    report(
      context,
      'no-key',
      `Say which columns are the key of ${target.name.table} with --set target_key=["hub key","as_of","link key"].`,
    );
  }
  if (dates === null || hub === undefined || link === undefined || effSat === undefined || hubName === undefined)
    return null;
  const hubKey = columnIn(context, hub, hubName, 'hash-key', ['*_hk', 'hk_*', '*_key']);
  const linkedHub = findColumn(context, link, hubKey?.name ?? hubName, 'target_key');
  const linkName = others.find((name) => !sameIdentifier(name, dates.asOf.name)) ?? sharedKey(link, effSat, hubName);
  const linkKey = linkName === undefined ? undefined : findColumn(context, link, linkName, 'target_key');
  const effectivity = linkKey === undefined ? null : findEffectivity(context, effSat, linkKey.name);
  if (hubKey === undefined || linkedHub === undefined || linkKey === undefined || effectivity === null) return null;
  const columns = target.columns.flatMap((of) => {
    const from = link.columns.find((candidate) => compactName(candidate.name) === compactName(of.name));
    return from === undefined || of.computed || of.identity ? [] : [{ target: of, from }];
  });
  return { dates, hub, hubKey, link, linkKey, linkedHub, effectivity, columns };
}

/** The link's own key is the one that its effectivity satellite has, too. */
function sharedKey(link: CatalogTable, effSat: CatalogTable, hubName: string): string | undefined {
  return link.columns.find(
    (of) =>
      !sameIdentifier(of.name, hubName) &&
      effSat.columns.some((other) => compactName(other.name) === compactName(of.name) && other.role !== 'load-date'),
  )?.name;
}

function findEffectivity(context: LoadContext, of: CatalogTable, linkName: string): Effectivity | null {
  const { load_ts: loadTime, start: startName, end: endName } = context.options;
  const linkKey = columnIn(context, of, linkName, 'hash-key', ['*_hk', 'hk_*', '*_key']);
  const loadTs = columnIn(context, of, loadTime, 'load-date', loadTimeNames);
  const start = columnIn(context, of, startName ?? 'start_ts', 'effective-start', [
    'start_*',
    '*_start',
    'effective_from',
  ]);
  const end = columnIn(context, of, endName ?? 'end_ts', 'effective-end', ['end_*', '*_end', 'effective_to']);
  if (linkKey === undefined || loadTs === undefined || start === undefined || end === undefined) return null;
  return { of, linkKey, loadTs, start, end };
}

/** A closing row follows the opening one of the same load time. */
function effectiveStep({ dates, effectivity }: Parts): Step {
  const { of, linkKey, loadTs, start, end } = effectivity;
  const { asOf } = dates;
  const date = column('d', asOf.name, asOf.type);
  const loaded = select(
    [
      item('link_key', columnOf('t', of, linkKey)),
      item(asOf.name, date),
      item('load_time', columnOf('t', of, loadTs)),
      item('started', columnOf('t', of, start)),
      item('ended', columnOf('t', of, end)),
      item(
        'is_closed',
        choose(
          [[any(isNull(columnOf('t', of, end)), compare(columnOf('t', of, end), '>', date)), literal(0)]],
          literal(1),
        ),
      ),
    ],
    source(table(of.name), 't'),
    { joins: [join('inner', named('dates'), 'd', [compare(columnOf('t', of, loadTs), '<=', date)])] },
  );
  const started = column('e', 'started', columnType(of, start));
  const day = column('e', asOf.name, asOf.type);
  return {
    kind: 'let',
    says: 'Relationships in force at each date, by the newest row loaded by then.',
    name: 'effective',
    query: select(
      [item('link_key', column('e', 'link_key', columnType(of, linkKey))), item(asOf.name, day)],
      source(latestRows(loaded, ['link_key', asOf.name], ['load_time', 'is_closed']), 'e'),
      {
        where: [
          any(isNull(started), compare(started, '<=', day)),
          compare(column('e', 'is_closed', types.flag), '=', literal(0)),
        ],
      },
    ),
  };
}

function bridgeRows(context: LoadContext, parts: Parts): Query {
  const { dates, hub, hubKey, link, linkKey, linkedHub, effectivity, columns } = parts;
  const { asOf } = dates;
  return select(
    [
      ...columns.map(({ target, from }) =>
        item(target.name, converted(columnOf('l', link, from), columnType(context.target, target))),
      ),
      item(asOf.name, column('e', asOf.name, asOf.type)),
    ],
    source(named('effective'), 'e'),
    {
      joins: [
        join('inner', table(link.name), 'l', [
          compare(
            columnOf('l', link, linkKey),
            '=',
            column('e', 'link_key', columnType(effectivity.of, effectivity.linkKey)),
          ),
        ]),
        join('inner', table(hub.name), 'h', [compare(columnOf('h', hub, hubKey), '=', columnOf('l', link, linkedHub))]),
      ],
    },
  );
}
