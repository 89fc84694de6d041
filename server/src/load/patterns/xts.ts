import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { column, item, literal, named, select, source, union } from '../build.ts';
import { columnType, freeName, type LoadContext, report } from '../context.ts';
import { type Query, types } from '../language.ts';
import type { LoadPlan } from '../plan.ts';
import { satelliteNameColumn, trackedHashdiffColumn } from '../vault/extended-tracking.ts';
import { hashdiffOver, stagedAs, stagedRows, type VaultStage, vaultStage } from '../vault/staging.ts';
import { trackingPlan } from '../vault/tracking.ts';

/** Extended tracking satellite: per satellite that the stage feeds, each hashdiff with the time at which it was seen. */
export function planExtendedTracking(context: LoadContext): LoadPlan {
  const { source: from, target, options } = context;
  const whole = vaultStage(context);
  const nameColumn = found(context, satelliteNameColumn(target), 'name of the satellite');
  const hashdiff = found(context, trackedHashdiffColumn(target), 'hashdiff');
  const own = [nameColumn, hashdiff].flatMap((of) => (of === undefined ? [] : [of.name]));
  const stage: VaultStage = {
    ...whole,
    columns: whole.columns.filter((of) => !own.some((name) => sameIdentifier(name, of.target.name))),
  };
  const satellites = Object.entries(options.satellites ?? {});
  if (satellites.length === 0) {
    report(
      context,
      'no-satellites',
      `Say which satellites ${target.name.table} tracks and over which stage columns with --set satellites={"…":["…"]}.`,
    );
  }
  const diffType = hashdiff === undefined ? types.text : columnType(target, hashdiff);
  const nameType = nameColumn === undefined ? types.text : columnType(target, nameColumn);
  const diffs = satellites.map(([name, inputs], index) => ({
    name,
    carried: freeName(context, `hashdiff_${index + 1}`),
    value: hashdiffOver(context, inputs, diffType),
  }));
  const rows = diffs.map(
    ({ name, carried }): Query =>
      select(
        [
          ...stage.columns.map((of) => item(of.target.name, stagedAs('s', of))),
          ...(nameColumn === undefined ? [] : [item(nameColumn.name, literal(name, nameType))]),
          ...(hashdiff === undefined ? [] : [item(hashdiff.name, column('s', carried, diffType))]),
        ],
        source(named('staged'), 's'),
      ),
  );
  return trackingPlan(
    {
      stage,
      steps: [
        {
          kind: 'let',
          says: 'Staged rows with a key, with one hashdiff per satellite.',
          name: 'staged',
          query: stagedRows(
            stage,
            diffs.map(({ carried, value }) => item(carried, value)),
          ),
        },
        { kind: 'let', says: 'One appearance per row and satellite.', name: 'appearances', query: union(...rows) },
      ],
      relation: 'appearances',
      columns: [
        ...stage.columns.map((of) => ({ name: of.target.name, type: of.type })),
        ...(nameColumn === undefined ? [] : [{ name: nameColumn.name, type: nameType }]),
        ...(hashdiff === undefined ? [] : [{ name: hashdiff.name, type: diffType }]),
      ],
    },
    `Extended tracking satellite ${target.name.table} from ${from.name.table}: records each state of the tracked satellites once.`,
  );
}

function found(context: LoadContext, column: CatalogColumn | undefined, what: string): CatalogColumn | undefined {
  if (column === undefined)
    report(context, 'missing-column', `${context.target.name.table} has no column for the ${what}.`);
  return column;
}
