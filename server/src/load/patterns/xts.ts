import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { fitsPattern, sameIdentifier } from '../../model/names.ts';
import { column, item, literal, named, select, source, union } from '../build.ts';
import { columnType, freeName, type LoadContext, report } from '../context.ts';
import { type Query, types } from '../language.ts';
import type { LoadPlan } from '../plan.ts';
import { hashdiffOver, stagedAs, stagedRows, type VaultStage, vaultStage } from '../vault/staging.ts';
import { trackingPlan } from '../vault/tracking.ts';

/** Extended tracking satellite: per satellite that the stage feeds, each hashdiff with the time at which it was seen. */
export function planExtendedTracking(context: LoadContext): LoadPlan {
  const { source: from, target, options } = context;
  const whole = vaultStage(context);
  const nameColumn = findNamed(context, ['satellite_name', '*sat*name*', 'satellite'], 'name of the satellite');
  const hashdiff = findHashdiff(context);
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

function findHashdiff(context: LoadContext): CatalogColumn | undefined {
  return (
    context.target.columns.find((of) => of.role === 'hashdiff') ??
    findNamed(context, ['hashdiff', 'hash_diff', 'hd_*', '*_hashdiff'], 'hashdiff')
  );
}

function findNamed(context: LoadContext, patterns: readonly string[], what: string): CatalogColumn | undefined {
  const { target } = context;
  const found = patterns.flatMap((pattern) => target.columns.find((of) => fitsPattern(of.name, [pattern])) ?? [])[0];
  if (found === undefined) report(context, 'missing-column', `${target.name.table} has no column for the ${what}.`);
  return found;
}
