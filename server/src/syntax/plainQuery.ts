import { none } from './none.ts';
import type { Query, QueryBody } from './tree.ts';

/** A query of a body alone: no common tables, no order, no limit. */
export function plainQuery(start: number, end: number, body: QueryBody): Query {
  return { kind: 'query', start, end, with: null, body, orderBy: none, offset: null, limit: null, forClause: null };
}
