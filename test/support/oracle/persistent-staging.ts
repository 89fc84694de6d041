/** Persistent staging as an append-only log: a row for every real change, in the order of delivery. */
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { type Model, type OracleLoad, Refusal } from './load.ts';
import { byColumns, groupBy, lastOf, sameValue, stagedKey, storedKey, targetRow } from './values.ts';

export const persistentStaging: Model = (load, staged) => {
  const { options, tables } = load;
  const { load_ts: loadTs = 'load_ts', order_within_batch: order = [], op_column: op = '' } = options;
  const newest = new Map<string, TextRow>();
  for (const [key, rows] of groupBy(load.target, (row) => storedKey(row, load))) {
    const last = lastOf([...rows].sort(byColumns([loadTs, ...order], tables.target)));
    if (last !== undefined) newest.set(key, last);
  }
  const stored = new Map(newest);
  const added: TextRow[] = [];
  const stageOrder = [...(loadTs in tables.stage ? [loadTs] : []), ...order];
  for (const [key, rows] of groupBy([...staged].sort(byColumns(stageOrder, tables.stage)), (row) =>
    stagedKey(row, load),
  )) {
    if (options.duplicates === 'fail' && rows.length > 1) throw new Refusal('duplicate_key');
    for (const row of rows) {
      const former = newest.get(key);
      const fresh = { ...targetRow(row, load), ...(loadTs in row ? {} : { [loadTs]: load.now }) };
      if (former !== undefined && !differs(former, fresh, load)) continue;
      const isNew = former === undefined || isDeleted(former, load);
      const written = options.op_derived
        ? { ...fresh, [op]: (isNew ? options.insert_op : options.update_op) ?? null }
        : fresh;
      added.push(written);
      newest.set(key, written);
    }
  }
  const vanished = absentKeys(stored, staged, load);
  const [rowNumber] = order;
  const deletes = vanished.map((row) => ({
    ...row,
    [op]: options.delete_op ?? null,
    [loadTs]: load.now,
    ...(rowNumber === undefined ? {} : { [rowNumber]: '0' }),
  }));
  return { target: [...load.target, ...added, ...deletes], inactivated: vanished.length };
};

function differs(former: TextRow, fresh: TextRow, load: OracleLoad): boolean {
  const { compare = [], op_column: op, op_derived: derived } = load.options;
  if (derived && isDeleted(former, load)) return true;
  return [...compare, ...(op === undefined || derived ? [] : [op])].some(
    (column) => !sameValue(former[column] ?? null, fresh[column] ?? null, load.tables.target[column] ?? 'string', load),
  );
}

function isDeleted(row: TextRow, { options }: OracleLoad): boolean {
  return options.op_derived === true && row[options.op_column ?? ''] === options.delete_op;
}

/** The newest stored rows of keys that a full load no longer has. */
function absentKeys(
  newest: ReadonlyMap<string, TextRow>,
  staged: readonly TextRow[],
  load: OracleLoad,
): readonly TextRow[] {
  const { options } = load;
  if (options.load !== 'full' || !options.op_derived) return [];
  if (staged.length === 0) {
    if (options.on_empty_stage === 'fail') throw new Refusal('empty_stage');
    if (options.on_empty_stage === 'skip') return [];
  }
  const present = new Set(staged.map((row) => stagedKey(row, load)));
  return [...newest].filter(([key, row]) => !present.has(key) && !isDeleted(row, load)).map(([, row]) => row);
}
