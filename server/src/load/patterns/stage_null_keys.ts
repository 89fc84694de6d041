import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { choose, compare, concat, countWhere, item, literal, select, shown, source, table } from '../build.ts';
import {
  columnOf,
  columnType,
  converted,
  type Feed,
  fedValue,
  findColumn,
  keyText,
  type LoadContext,
  report,
  textParameters,
} from '../context.ts';
import { resolvedHashRules } from '../digest.ts';
import { type Expression, types } from '../language.ts';
import type { LoadPlan, Step, Warning } from '../plan.ts';
import { isMissing } from '../stage.ts';
import { rebuildPlan } from '../vault/rebuild.ts';

/** A stage column whose missing values are replaced. */
interface Replacement {
  readonly column: CatalogColumn;
  readonly standIn: string;
}

/**
 * Stage with missing keys replaced: a required key gets one stand-in value, an optional one another, so that both point
 * to a row that exists. The delivered values may be kept in columns of their own.
 */
export function planStageNullKeys(context: LoadContext): LoadPlan {
  const { source: from, target } = context;
  const replacements = findReplacements(context);
  return rebuildPlan(context, {
    says: `Rows of ${from.name.table} in ${target.name.table} with stand-in values for missing keys.`,
    parameters: textParameters(context),
    steps: replacements.map((replacement) => clashCount(context, replacement)),
    rows: select(
      target.columns.flatMap((of) => {
        const value = filledBy(context, of, replacements);
        return value === null ? [] : [item(of.name, value)];
      }),
      source(table(from.name), 's'),
    ),
    warnings: replacements.map((replacement) => clashWarning(replacement)),
  });
}

function findReplacements(context: LoadContext): readonly Replacement[] {
  const { required = {}, optional = {} } = context.options;
  if (Object.keys(required).length + Object.keys(optional).length === 0) {
    report(
      context,
      'no-keys',
      `Say which keys get which stand-in value with --set required={"…":"-1"} and --set optional={"…":"-2"}.`,
    );
  }
  const found = (list: Readonly<Record<string, string>>, option: string): readonly Replacement[] =>
    Object.entries(list).flatMap(([name, standIn]) => {
      const column = findColumn(context, context.source, name, option);
      return column === undefined ? [] : [{ column, standIn }];
    });
  return [...found(required, 'required'), ...found(optional, 'optional')];
}

/** The value of a target column; null where nothing fills it. */
function filledBy(context: LoadContext, of: CatalogColumn, replacements: readonly Replacement[]): Expression | null {
  if (of.computed || of.identity) return null;
  const suffix = context.options.keep_original_suffix;
  const original = replacements.find(
    ({ column }) => suffix !== undefined && sameIdentifier(column.name + suffix, of.name),
  );
  const type = columnType(context.target, of);
  if (original !== undefined) return converted(columnOf('s', context.source, original.column), type);
  const feed = context.feeds.find((candidate) => candidate.target === of);
  return feed === undefined ? null : replaced(context, feed, replacements);
}

function replaced(context: LoadContext, feed: Feed, replacements: readonly Replacement[]): Expression {
  const value = fedValue(context, feed);
  const replacement = replacements.find(({ column }) => column === feed.source);
  if (replacement === undefined) return value;
  const delivered = columnOf('s', context.source, replacement.column);
  const rules = resolvedHashRules(context.options.hash_rules ?? {}, 'hash_key');
  return choose([[isMissing(delivered, rules), literal(replacement.standIn, feed.type)]], value);
}

function clashVariable({ column }: Replacement) {
  return { kind: 'variable', name: `Delivered_${column.name.replaceAll(/\W/g, '_')}`, type: types.count } as const;
}

/** A delivered value that looks like the stand-in would point to the row for missing keys. */
function clashCount(context: LoadContext, replacement: Replacement): Step {
  const { column, standIn } = replacement;
  const value = columnOf('s', context.source, column);
  return {
    kind: 'measure',
    says: `Rows that bear the stand-in value of ${column.name} by themselves.`,
    query: select(
      [
        item(
          clashVariable(replacement).name,
          countWhere(compare(value, '=', literal(standIn, columnType(context.source, column)), keyText(context))),
        ),
      ],
      source(table(context.source.name), 's'),
    ),
  };
}

function clashWarning(replacement: Replacement): Warning {
  const variable = clashVariable(replacement);
  return {
    code: 'stand_in_delivered',
    when: compare(variable, '>', literal(0)),
    message: concat(
      shown(variable),
      literal(` staged rows have ${replacement.column.name} ${replacement.standIn}, the stand-in for a missing key`),
    ),
  };
}
