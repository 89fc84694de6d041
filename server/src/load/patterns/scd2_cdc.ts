import { findColumn, type LoadContext } from '../context.ts';
import { makeFeed } from '../feed.ts';
import { feedPlan } from '../feed-plan.ts';
import { versionsOfStates } from '../feed-versions.ts';
import type { LoadPlan } from '../plan.ts';

/** Type 2 from a change feed: the versions are the replay of all events so far, late ones included. */
export function planScd2Cdc(context: LoadContext): LoadPlan {
  const { options, target } = context;
  const find = (name: string | undefined, option: string) =>
    name === undefined ? undefined : findColumn(context, target, name, option);
  const validFrom = find(options.valid_from, 'valid_from');
  const validTo = find(options.valid_to, 'valid_to');
  const current = find(options.is_current, 'is_current');
  const feed = makeFeed(context, [validFrom, validTo, current], validFrom);
  const wanted = feed === null ? null : versionsOfStates(feed);
  return feedPlan(
    context,
    feed,
    wanted,
    { validFrom, validTo, current },
    'Type 2 from a change feed: replays all events of the staged keys.',
  );
}
