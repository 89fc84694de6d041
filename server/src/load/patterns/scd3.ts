import { sameIdentifier } from '../../model/names.ts';
import { choose, column, differs } from '../build.ts';
import { clock } from '../clock.ts';
import { columnType, comparable, converted, findColumn, freeName, type LoadContext } from '../context.ts';
import type { Assignment, LoadPlan } from '../plan.ts';
import {
  change,
  changeOf,
  changesName,
  finishPlan,
  insertWrite,
  kindIs,
  makeVersions,
  storedRow,
  trackedFeeds,
  type VersionRules,
  type Versions,
  versionSteps,
} from '../versions.ts';
import { oneRowCounts } from './type-two.ts';

/** Type 3: the value before stands beside the current one. */
export function planScd3(context: LoadContext): LoadPlan {
  const rules: VersionRules = { versioned: false, loads: true };
  const versions = makeVersions(context, rules);
  return finishPlan(
    versionSteps(versions, rules),
    'Type 3: keeps the value before beside the current one.',
    [
      {
        kind: 'update',
        shows: 'updated',
        says: 'Move the former value aside and take the new one.',
        from: changesName,
        where: [kindIs(versions, 'changed')],
        match: storedRow(versions),
        set: [...shifts(versions), ...overwritten(versions), ...changedAt(versions)],
      },
      ...insertWrite(versions, ['new'], 'Insert the new keys; they have no value before.'),
    ],
    oneRowCounts(versions),
  );
}

/** The former value of each column that differs; the others keep what they had. */
function shifts(versions: Versions): readonly Assignment[] {
  const { context } = versions;
  const tracked = trackedFeeds(versions);
  return Object.entries(context.options.previous ?? {}).flatMap(([name, previous]): readonly Assignment[] => {
    const feed = tracked.find(
      (candidate) => sameIdentifier(candidate.target.name, name) || sameIdentifier(candidate.source?.name ?? '', name),
    );
    const into = findColumn(context, context.target, previous, 'previous');
    if (feed === undefined || into === undefined) return [];
    const former = change(freeName(context, `stored_${feed.target.name}`), feed.type);
    const differing = differs(comparable(context, former), comparable(context, changeOf(context, feed.target)));
    const kept = column('t', into.name, columnType(context.target, into));
    return [
      { column: into.name, value: choose([[differing, converted(former, columnType(context.target, into))]], kept) },
    ];
  });
}

function overwritten(versions: Versions): readonly Assignment[] {
  return versions.attributes.map((feed) => ({
    column: feed.target.name,
    value: changeOf(versions.context, feed.target),
  }));
}

function changedAt({ context }: Versions): readonly Assignment[] {
  const { changed_at: name } = context.options;
  const of = name === undefined ? undefined : findColumn(context, context.target, name, 'changed_at');
  return of === undefined ? [] : [{ column: of.name, value: converted(clock, columnType(context.target, of)) }];
}
