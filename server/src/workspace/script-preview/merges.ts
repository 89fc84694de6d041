import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { lastPart } from '../../syntax/inspect.ts';
import type { Merge, MergeAction, MergeBranch, NodeBase } from '../../syntax/tree.ts';
import { addressOf, numberedTarget } from './changes.ts';
import { type Effect, imageRow, NotFollowed, type Reading, type WriteEffects } from './effect.ts';
import { outputValues } from './outputs.ts';
import {
  assigned,
  columnName,
  demandReads,
  newRow,
  positional,
  stored,
  targetTable,
  updateKind,
  valueText,
  withText,
} from './values.ts';

/** The rows that each branch of a MERGE changes, and those of its target that more than one source row takes. */
export function mergeEffects(merge: Merge, outputs: boolean, reading: Reading): WriteEffects {
  const { source, on, target } = merge;
  if (source === null || on === null) throw new NotFollowed('the MERGE is not complete', merge.start);
  if (merge.schemaEvolution) throw new NotFollowed('WITH SCHEMA EVOLUTION is not followed', merge.start);
  if (target.kind !== 'table') throw new NotFollowed('only writes to tables are followed', target.start);
  demandReads([source, on, merge.with, ...merge.branches.map(({ condition }) => condition)]);
  const table = targetTable(target, merge, reading);
  const identifier = target.alias ?? lastPart(target.name);
  const text = (node: NodeBase) => reading.slice(node.start, node.end);
  const alias = reading.source(identifier.start, identifier.end);
  const written = reading.source(target.name.start, target.name.end);
  const image = reading.imageOf(table);
  const stands = `${image ?? written} AS ${alias}`;
  const key = addressOf({ table, alias }, reading);
  const address = key ?? [`${alias}.${imageRow}`];
  const isMatched = merge.branches.some(({ match }) => match === 'matched');
  const numbered =
    key === null && isMatched ? numberedTarget({ table, alias, reference: null }, merge, reading) : stands;
  const joins: Readonly<Record<MergeBranch['match'], string>> = {
    matched: `FROM ${numbered}\nINNER JOIN ${text(source)}\n  ON ${text(on)}`,
    'not-matched': `FROM ${text(source)}\nWHERE NOT EXISTS (SELECT 1 FROM ${stands} WHERE ${text(on)})`,
    // OUTPUT may name the source, which has nothing for these rows.
    'not-matched-by-source': `FROM ${stands}${outputs ? `\nLEFT JOIN ${text(source)} ON 1 = 0` : ''}\nWHERE NOT EXISTS (SELECT 1 FROM ${text(source)} WHERE ${text(on)})`,
  };
  const before = stored(table, alias, reading);
  const effects = merge.branches.flatMap((branch, index): Effect[] => {
    const { action, match, condition } = branch;
    if (action === null) throw new NotFollowed('the MERGE is not complete', branch.start);
    if (action.kind === 'merge-nothing') return [];
    const earlier = merge.branches.slice(0, index).filter((each) => each.match === match);
    const from = [
      `${joins[match]}${match === 'matched' ? '\nWHERE 1 = 1' : ''}`,
      ...(condition === null ? [] : [`  AND (${text(condition)})`]),
      // A row that an earlier branch took does not come to this one; an unknown condition takes no row.
      ...earlier.map((each) =>
        each.condition === null ? '  AND 1 = 0' : `  AND CASE WHEN ${text(each.condition)} THEN 1 ELSE 0 END = 0`,
      ),
    ].join('\n');
    const row = changedRow(action, table, alias, image ?? written, outputs || image !== null, merge, reading);
    const isInsert = action.kind === 'merge-insert';
    const side = {
      table,
      before: isInsert ? null : before,
      after: action.kind === 'merge-delete' ? null : isInsert ? row.after : new Map([...before, ...row.after]),
    };
    const name = isInsert ? 'insert' : action.kind === 'merge-update' ? 'update' : 'delete';
    const isAddressed = match === 'matched' || (image !== null && !isInsert);
    return [
      {
        table,
        place: image ?? written,
        with: withText(merge, reading),
        from,
        address: isAddressed ? address : [],
        mayRepeat: match === 'matched',
        before: isInsert ? new Map() : before,
        ...row,
        outputs: outputs ? outputValues(merge.output, side, name, reading) : [],
        gates: [],
      },
    ];
  });
  const taken = merge.branches.filter(({ match }) => match === 'matched');
  const takes = taken.map(({ condition }) => (condition === null ? '1 = 1' : `(${text(condition)})`));
  const meeting = {
    table,
    with: withText(merge, reading),
    from: `${joins.matched}\nWHERE ${takes.join(' OR ')}`,
    address,
    stored: before,
  };
  return { effects, meeting: taken.length === 0 ? null : meeting };
}

function changedRow(
  action: Exclude<MergeAction, { kind: 'merge-nothing' }>,
  table: CatalogTable,
  alias: string,
  place: string,
  isReadLater: boolean,
  merge: Merge,
  reading: Reading,
): Pick<Effect, 'kind' | 'after' | 'numbered'> {
  if (action.kind === 'merge-delete') return { kind: 'deleted', after: new Map(), numbered: new Set() };
  if (action.star) {
    throw new NotFollowed(`${reading.source(action.start, action.end)} is not followed`, action.start);
  }
  if (action.kind === 'merge-update') {
    demandReads(action.assignments.map(({ value }) => value));
    const kind = updateKind(action.assignments, table, merge);
    return { kind, after: assigned(action.assignments, table, alias, reading), numbered: new Set() };
  }
  demandReads(action.values);
  const names = action.columns.length > 0 ? action.columns.map(({ name }) => name) : positional(table, reading);
  const values = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const value = action.values[at];
    // What DEFAULT gives is what the row gets without a value.
    if (value !== undefined && value.kind !== 'default')
      values.set(columnName(table, name, action), valueText(value, reading));
  }
  return { kind: 'inserted', ...newRow(table, values, place, isReadLater, reading) };
}
