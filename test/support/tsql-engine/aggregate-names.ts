export const aggregateNames: ReadonlySet<string> = new Set(['COUNT', 'COUNT_BIG', 'SUM', 'MIN', 'MAX', 'STRING_AGG']);
