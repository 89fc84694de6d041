/** Record tracking and extended tracking satellites: every appearance is recorded once, whatever was stored before. */
import type { CatalogColumn } from '../../../../protocol/catalog.ts';
import {
  arithmetic,
  ascending,
  column,
  compare,
  counted,
  item,
  literal,
  named,
  notExists,
  same,
  select,
  source,
  table,
} from '../build.ts';
import { columnOf, columnType, type LoadContext, targetColumns } from '../context.ts';
import { type Expression, isText } from '../language.ts';
import type { LoadPlan, Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import {
  firstRows,
  keyCount,
  missingKeySteps,
  type NamedColumn,
  rowCount,
  skippedCount,
  skippedWarnings,
  type VaultStage,
  vaultParameters,
} from './staging.ts';

const newRows = counted('NewRows');
const recordedKeys = counted('RecordedKeys');

/** The rows to record and how they come about; `appearances` is the name of a relation that `steps` materialise. */
export interface Appearances {
  readonly stage: VaultStage;
  readonly steps: readonly Step[];
  readonly relation: string;
  readonly columns: readonly NamedColumn[];
}

export function trackingPlan({ stage, steps, relation, columns }: Appearances, says: string): LoadPlan {
  const { context } = stage;
  const identity = identityColumns(stage, columns);
  return {
    target: context.target.name,
    source: context.source.name,
    says,
    parameters: vaultParameters(stage),
    steps: [
      ...missingKeySteps(stage),
      ...steps,
      keyCount(stage, named(relation), 'Distinct keys in the stage.', acceptedRows.name),
      {
        kind: 'let',
        says: 'Appearances that are not recorded yet, each once.',
        name: 'changes',
        query: firstRows(
          context,
          unrecorded(context, relation, columns, identity),
          columns,
          identity.map((of) => stagedIdentity(context, of)),
          columns
            .filter(({ name }) => !identity.some((of) => of.name === name))
            .map(({ name, type }) => ascending(column('s', name, type))),
          'exact',
        ),
      },
      rowCount('changes', 'What will be inserted.', newRows.name),
      keyCount(stage, named('changes'), 'Keys among them.', recordedKeys.name),
    ],
    writes: [
      {
        kind: 'insert',
        says: 'Record the new appearances.',
        shows: 'inserted',
        from: 'changes',
        where: [],
        values: columns.map(({ name, type }) => ({ column: name, value: column('c', name, type) })),
      },
    ],
    warnings: skippedWarnings(stage),
    counts: {
      inserted: newRows,
      updated: null,
      expired: null,
      inactivated: null,
      deleted: null,
      unchanged: arithmetic(acceptedRows, '-', recordedKeys),
      skipped: skippedCount(stage),
    },
    keeps: [],
    replaces: null,
  };
}

/** What makes an appearance one: `target_identity`, else key, load time and record source. */
function identityColumns(stage: VaultStage, columns: readonly NamedColumn[]): readonly CatalogColumn[] {
  const { context, keys, loadTs, recordSource } = stage;
  const named = context.options.target_identity;
  const found =
    named === undefined
      ? [...keys, loadTs, recordSource].flatMap((of) => (of === undefined ? [] : [of.target]))
      : targetColumns(context, named, 'target_identity');
  return found.filter((of) => columns.some(({ name }) => name === of.name));
}

function stagedIdentity(context: LoadContext, of: CatalogColumn): Expression {
  return column('s', of.name, columnType(context.target, of));
}

function unrecorded(
  context: LoadContext,
  relation: string,
  columns: readonly NamedColumn[],
  identity: readonly CatalogColumn[],
) {
  const recorded = select([item('one', literal(1))], source(table(context.target.name), 't'), {
    where: identity.map((of) => {
      const [stored, staged] = [columnOf('t', context.target, of), stagedIdentity(context, of)];
      return of.nullable || isText(stored) ? same(stored, staged) : compare(stored, '=', staged);
    }),
  });
  return select(
    columns.map(({ name, type }) => item(name, column('s', name, type))),
    source(named(relation), 's'),
    { where: [notExists(recorded)] },
  );
}
