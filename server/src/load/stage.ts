/**
 * The staged rows of a load whose unit is the key: which rows are taken, what a missing key means, and the guards that
 * look at the stage alone.
 */
import type { CatalogColumn } from '../../../protocol/catalog.ts';
import type { LoadOptions } from '../../../protocol/specification.ts';
import { sameIdentifier } from '../model/names.ts';
import {
  aggregate,
  all,
  any,
  coalesce,
  compare,
  concat,
  counted,
  countRows,
  countWhere,
  isNotNull,
  isNull,
  item,
  literal,
  named,
  nullIf,
  select,
  shown,
  source,
  table,
  trim,
} from './build.ts';
import {
  columnOf,
  converted,
  findColumn,
  type KeyPart,
  keyLabel,
  keyText,
  keyValue,
  type LoadContext,
} from './context.ts';
import { type Expression, type Item, isText, type Relation } from './language.ts';
import type { Step } from './plan.ts';

export const acceptedRows = counted('AcceptedRows');
export const skippedRows = counted('SkippedRows');

/** True when a key part counts as missing: NULL, or blank where the hash rules fold blanks. */
export function isMissing(value: Expression, rules: LoadOptions['hash_rules']): Expression {
  if (!isText(value) || rules?.empty_as_null !== true) return isNull(value);
  return isNull(nullIf(rules.trim === true ? trim(value) : value, ''));
}

function isPresent(value: Expression, rules: LoadOptions['hash_rules']): Expression {
  if (!isText(value) || rules?.empty_as_null !== true) return isNotNull(value);
  return isNotNull(nullIf(rules.trim === true ? trim(value) : value, ''));
}

/** Columns that a staged row must have: `not_null`, else the keys. */
export function requiredColumns(context: LoadContext): readonly CatalogColumn[] {
  const names = context.options.not_null ?? context.options.keys ?? [];
  const found = names.flatMap((name) => findColumn(context, context.source, name, 'not_null') ?? []);
  const place = (of: CatalogColumn): number =>
    context.feeds.findIndex((feed) => feed.source === of || sameIdentifier(feed.target.name, of.name));
  return found.toSorted((left, right) => place(left) - place(right));
}

/** Conditions for a stage row to be taken; none where rows without a key are taken, too. */
function acceptance(context: LoadContext): readonly Expression[] {
  if (takesNullKeys(context)) return [];
  return requiredColumns(context).map((of) => isPresent(columnOf('s', context.source, of), context.options.hash_rules));
}

/** Whether rows with a NULL in their key are loaded, and not skipped or refused. */
export function takesNullKeys(context: LoadContext): boolean {
  const { null_keys: rule } = context.options;
  return rule === 'insert' || rule === 'match' || rule === 'map';
}

/** A staged key part in the target's type; under `null_keys: map` its stand-in where it is NULL. */
export function stagedKey(context: LoadContext, part: KeyPart): Expression {
  const value = converted(columnOf('s', context.source, part.source), part.type);
  const standIn = context.options.null_key_map?.[part.source.name];
  return context.options.null_keys === 'map' && standIn !== undefined
    ? coalesce(value, literal(standIn, part.type))
    : value;
}

export interface StagedRows {
  /** Steps that come first: the materialised rows, where they have to be. */
  readonly steps: readonly Step[];
  /** The rows with `items`; one per key once the guards have passed. */
  readonly relation: Relation;
}

/**
 * The accepted rows with these items. Where identical rows collapse they are materialised; else the stage is read in
 * place, by the guard and by the join.
 */
export function stagedRows(context: LoadContext, items: readonly Item[], name: string): StagedRows {
  const query = select(items, source(table(context.source.name), 's'), { where: acceptance(context) });
  if (context.options.duplicates !== 'collapse_identical') return { steps: [], relation: query };
  const step: Step = {
    kind: 'let',
    says: 'Staged rows with a key; identical ones count once.',
    name,
    query: { ...query, distinct: true, text: 'exact' },
  };
  return { steps: [step], relation: named(name) };
}

/** Measures accepted and skipped rows, and stops the load for missing keys where these are not skipped. */
export function stageMeasures(context: LoadContext, staged: StagedRows): readonly Step[] {
  const required = requiredColumns(context);
  const missing = any(
    ...required.map((of) => isMissing(columnOf('s', context.source, of), context.options.hash_rules)),
  );
  const skipped = takesNullKeys(context) || required.length === 0 ? literal(0) : countWhere(missing);
  const steps: Step[] = [];
  if (staged.relation.kind === 'named') {
    steps.push(
      skipped.kind === 'literal'
        ? {
            kind: 'define',
            says: 'No row is skipped for its key.',
            name: skippedRows.name,
            type: skippedRows.type,
            value: skipped,
          }
        : {
            kind: 'measure',
            says: 'Rows without a key are skipped and counted.',
            query: select([item(skippedRows.name, skipped)], source(table(context.source.name), 's')),
          },
      {
        kind: 'measure',
        says: 'Keys that are left.',
        query: select([item(acceptedRows.name, countRows())], source(staged.relation, 's')),
      },
    );
  } else {
    const accepted = takesNullKeys(context)
      ? countRows()
      : countWhere(
          all(...required.map((of) => isPresent(columnOf('s', context.source, of), context.options.hash_rules))),
        );
    steps.push({
      kind: 'measure',
      says: takesNullKeys(context)
        ? 'Staged rows.'
        : 'Staged rows with a key; rows without one are skipped and counted.',
      query: select(
        [item(acceptedRows.name, accepted), item(skippedRows.name, skipped)],
        source(table(context.source.name), 's'),
      ),
    });
  }
  if (context.options.null_keys === 'fail') steps.push(nullKeyGuard(required));
  return steps;
}

function nullKeyGuard(required: readonly CatalogColumn[]): Step {
  const names = required.map((of) => of.name).join(', ');
  return {
    kind: 'guard',
    says: 'A row without a key stops the load.',
    code: 'null_key',
    when: compare(skippedRows, '>', literal(0)),
    message: concat(shown(skippedRows), literal(` staged rows have no ${names}`)),
  };
}

/** Stops the load when a key is staged more than once. `keys` are the relation's key columns under alias `s`. */
export function duplicateGuard(context: LoadContext, staged: StagedRows, keys: readonly Expression[]): Step {
  const compared = keys.map((key) => keyValue(context, key));
  const text = keyText(context);
  return {
    kind: 'guard-rows',
    says: 'A key that is staged more than once stops the load.',
    code: 'duplicate_key',
    query: select(
      [item('offender', keyLabel(keys.map((key) => aggregate('min', key))))],
      source(staged.relation, 's'),
      {
        // Under plain equality a NULL key equals none, so it is never staged twice.
        where: context.options.null_keys === 'insert' ? keys.map(isNotNull) : [],
        groupBy: compared,
        text,
        having: [compare(countRows(), '>', literal(1))],
      },
    ),
  };
}
