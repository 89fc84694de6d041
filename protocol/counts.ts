/** The seven change counts every load reports, in the order of its last result set. */
export const countNames = ['inserted', 'updated', 'expired', 'inactivated', 'deleted', 'unchanged', 'skipped'] as const;
export type CountName = (typeof countNames)[number];

/** Rows by kind of change; null where the pattern has no such action or nothing is known. */
export type ChangeCounts = Readonly<Record<CountName, number | null>>;

export const unknownCounts: ChangeCounts = {
  inserted: null,
  updated: null,
  expired: null,
  inactivated: null,
  deleted: null,
  unchanged: null,
  skipped: null,
};
