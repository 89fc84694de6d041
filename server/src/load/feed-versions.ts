/** What the states of a change feed come to: the rows that are there at the end, or the versions along the way. */
import {
  all,
  any,
  ascending,
  choose,
  column,
  compare,
  descending,
  differs,
  isNull,
  item,
  join,
  literal,
  named,
  select,
  source,
  window,
} from './build.ts';
import { comparable, type Feed, keyText } from './context.ts';
import { type ChangeFeed, eventItems, keysOf, kindOn, partitionOf, sameKeys, sequenceOn, upsert } from './feed.ts';
import { type Expression, type Query, types } from './language.ts';
import type { Step } from './plan.ts';

/** The last state of each key that is still there. */
export function lastStates(feed: ChangeFeed): Query {
  const rank = window('row_number', null, partitionOf(feed, 's'), [descending(sequenceOn(feed, 's'))], {
    text: keyText(feed.context),
  });
  const ranked = select([...eventItems(feed, 's'), item('recency_', rank)], source(named('states'), 's'));
  return select(eventItems(feed, 'r'), source(ranked, 'r'), {
    where: [
      compare(column('r', 'recency_', types.count), '=', literal(1)),
      compare(kindOn(feed, 'r'), '=', literal(upsert)),
    ],
  });
}

/**
 * The versions that the states make: each from the sequence of its first state to the next change or delete. Items: keys,
 * attributes, `starts_at`, `ends_at` (NULL while open).
 */
export function versionsOfStates(feed: ChangeFeed): { readonly steps: readonly Step[]; readonly name: string } {
  const { context, tracked, attributes, untracked } = feed;
  const options = { text: keyText(context) };
  const along = (alias: string) => [ascending(sequenceOn(feed, alias))];
  const before = (of: Expression): Expression => window('lag', of, partitionOf(feed, 's'), along('s'), options);
  const placed = select(
    [
      ...eventItems(feed, 's'),
      item('kind_before_', before(kindOn(feed, 's'))),
      ...tracked.map((of, index) => item(`before_${index + 1}_`, before(column('s', of.target.name, of.type)))),
    ],
    source(named('states'), 's'),
  );
  const kindBefore = column('p', 'kind_before_', types.code);
  const changed = tracked.map((of, index) =>
    differs(
      comparable(context, column('p', of.target.name, of.type)),
      comparable(context, column('p', `before_${index + 1}_`, of.type)),
    ),
  );
  const isUpsert = compare(kindOn(feed, 'p'), '=', literal(upsert));
  const starts = all(isUpsert, any(isNull(kindBefore), compare(kindBefore, '<>', literal(upsert)), ...changed));
  const bounded = select(
    [
      ...eventItems(feed, 'p'),
      item(
        'is_bound_',
        choose([[any(starts, compare(kindOn(feed, 'p'), '<>', literal(upsert))), literal(1)]], literal(0)),
      ),
    ],
    source(placed, 'p'),
  );
  const runs = select(
    [
      ...eventItems(feed, 'b'),
      item('is_bound_', column('b', 'is_bound_', types.flag)),
      item('run_no_', window('sum', column('b', 'is_bound_', types.flag), partitionOf(feed, 'b'), along('b'), options)),
    ],
    source(bounded, 'b'),
  );
  const lastInRun = window(
    'row_number',
    null,
    [...partitionOf(feed, 'u'), column('u', 'run_no_', types.count)],
    [descending(sequenceOn(feed, 'u'))],
    options,
  );
  const runStep: Step = {
    kind: 'let',
    says: 'The states in runs of equal tracked values.',
    name: 'runs',
    query: select(
      [
        ...eventItems(feed, 'u'),
        item('is_bound_', column('u', 'is_bound_', types.flag)),
        item('run_no_', column('u', 'run_no_', types.count)),
        item('from_last_', lastInRun),
      ],
      source(runs, 'u'),
    ),
  };
  const nextBound = window('lead', sequenceOn(feed, 'r'), partitionOf(feed, 'r'), along('r'), options);
  const bounds = select(
    [...eventItems(feed, 'r'), item('run_no_', column('r', 'run_no_', types.count)), item('ends_at_', nextBound)],
    source(named('runs'), 'r'),
    { where: [compare(column('r', 'is_bound_', types.flag), '=', literal(1))] },
  );
  const keepsUp = context.options.untracked_mode === 'update_current';
  const versionValue = (of: Feed): Expression =>
    column(keepsUp && untracked.includes(of) ? 'q' : 'v', of.target.name, of.type);
  const versionStep: Step = {
    kind: 'let',
    says: 'The versions that follow from them.',
    name: 'wanted',
    query: select(
      [
        ...keysOf(feed, 'v').map((key, index) => item(feed.keys[index]?.target.name ?? '', key)),
        ...attributes.map((of) => item(of.target.name, versionValue(of))),
        item('starts_at_', sequenceOn(feed, 'v')),
        item('ends_at_', column('v', 'ends_at_', feed.sequenceType)),
      ],
      source(bounds, 'v'),
      {
        joins: keepsUp
          ? [
              join('inner', named('runs'), 'q', [
                ...sameKeys(feed, 'q', 'v'),
                compare(column('q', 'run_no_', types.count), '=', column('v', 'run_no_', types.count)),
                compare(column('q', 'from_last_', types.count), '=', literal(1)),
              ]),
            ]
          : [],
        where: [compare(kindOn(feed, 'v'), '=', literal(upsert))],
      },
    ),
  };
  return { steps: [runStep, versionStep], name: 'wanted' };
}
