/** How many keys of each kind were found, and the counts that follow. */
import { counted, item, literal, named, select, source } from '../build.ts';
import type { Expression } from '../language.ts';
import type { Step } from '../plan.ts';
import { acceptedRows } from '../stage.ts';
import { type ChangeKind, changesName, countKinds, type Versions } from './model.ts';

const foundNew = counted('NewKeys');
const foundChanged = counted('ChangedKeys');
const foundRewritten = counted('RewrittenKeys');
const foundRefreshed = counted('RefreshedKeys');
export const foundAbsent = counted('AbsentKeys');
const foundAbsentToday = counted('AbsentTodayKeys');

export function countStep(versions: Versions): Step {
  const c = (...of: readonly ChangeKind[]): Expression => countKinds(versions, ...of);
  return {
    kind: 'measure',
    says: 'What will change.',
    query: select(
      [
        item(foundNew.name, c('new')),
        item(foundChanged.name, c('changed')),
        item(foundRewritten.name, c('rewritten')),
        item(foundRefreshed.name, c('refreshed')),
        item(foundAbsent.name, c('absent')),
        item(foundAbsentToday.name, c('absent today')),
      ].filter((entry) => entry.value.kind !== 'literal'),
      source(named(changesName), 'c'),
    ),
  };
}

/** A count, or 0 where the load can't find such changes. */
export function found(versions: Versions, kind: ChangeKind): Expression {
  if (!versions.kinds.has(kind)) return literal(0);
  const variables: Readonly<Record<ChangeKind, Expression>> = {
    new: foundNew,
    changed: foundChanged,
    rewritten: foundRewritten,
    refreshed: foundRefreshed,
    absent: foundAbsent,
    'absent today': foundAbsentToday,
  };
  return variables[kind];
}

/** Sum of what was found; literal zeros are left out. */
export function sum(...of: readonly Expression[]): Expression {
  const parts = of.filter((part) => !(part.kind === 'literal' && part.value === 0));
  const [first, ...rest] = parts;
  if (first === undefined) return literal(0);
  return rest.reduce<Expression>((left, right) => ({ kind: 'arithmetic', operator: '+', left, right }), first);
}

function difference(left: Expression, ...minus: readonly Expression[]): Expression {
  return minus
    .filter((part) => !(part.kind === 'literal' && part.value === 0))
    .reduce<Expression>((from, right) => ({ kind: 'arithmetic', operator: '-', left: from, right }), left);
}

/** Staged keys for which nothing is written. */
export function unchangedKeys(versions: Versions): Expression {
  return difference(
    acceptedRows,
    found(versions, 'new'),
    found(versions, 'changed'),
    found(versions, 'rewritten'),
    found(versions, 'refreshed'),
  );
}
