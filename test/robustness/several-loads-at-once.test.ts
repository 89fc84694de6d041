import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import { runCase } from '../../cli/src/conformance/run.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import { duckdbSettings, openMemorySession, shapesOf } from '../support/engine.ts';
import { bareCase, type DraftCase, filledCase } from '../support/oracle/draft.ts';
import { memberSetDrafts, singleAttributeDrafts } from './histories.drafts.ts';

/** Patterns whose stage bears its load times, so that several loads may wait in it. */
const patterns = ['satellite', 'ma_satellite', 'eff_satellite', 'status_tracking_satellite'];
const drafts = [...singleAttributeDrafts(), ...memberSetDrafts(), partnerSetDraft()]
  .filter(({ pattern }) => patterns.includes(pattern))
  .flatMap((draft) => [
    inPortions(draft, [draft.steps.length]),
    inPortions(draft, [1, draft.steps.length - 1]),
    inPortions(draft, [2, draft.steps.length - 2]),
    deliveredAgain(draft),
  ]);

/** Effectivity: every history of three deliveries over two partners of a driving key. */
function partnerSetDraft(): DraftCase {
  const sets = [[], ['x'], ['y'], ['x', 'y']];
  const histories = sets.flatMap((one) => sets.flatMap((two) => sets.map((three) => [one, two, three])));
  const times = ['2024-01-01', '2024-01-02', '2024-01-03'].map((day) => `${day} 06:00:00`);
  const time = 'timestamp(6)';
  return {
    id: 'partner sets',
    pattern: 'eff_satellite',
    config: {
      keys: ['order_no', 'clerk'],
      driving_key: ['order_no'],
      secondary_key: ['clerk'],
      target_key: ['link_hk'],
      hash_key: { link_hk: ['order_no', 'clerk'], order_hk: ['order_no'], clerk_hk: ['clerk'] },
      target_identity: ['link_hk', 'load_ts', 'end_ts'],
      auto_end_dating: true,
      effective_from: 'eff_from',
      start: 'start_ts',
      end: 'end_ts',
      open_end: null,
      load_ts: 'load_ts',
      record_source: 'record_source',
      load: 'delta',
      null_keys: 'skip',
      duplicates: 'collapse_identical',
      hash_rules: { escape: true },
    },
    tables: {
      stage: { order_no: 'string', clerk: 'string', eff_from: time, load_ts: time, record_source: 'string' },
      target: {
        link_hk: 'hash',
        order_hk: 'hash',
        clerk_hk: 'hash',
        start_ts: time,
        end_ts: time,
        eff_from: time,
        load_ts: time,
        record_source: 'string',
      },
    },
    steps: times.map((now, load) => ({
      now,
      stage: histories.flatMap((history, i) =>
        (history[load] ?? []).map((clerk) => ({
          order_no: `O${i}`,
          clerk,
          eff_from: now.replace('06:00', '05:00'),
          load_ts: now,
          record_source: `SRC ${load}`,
        })),
      ),
    })),
  };
}

/** The same loads, several of them in one stage. */
function inPortions(draft: DraftCase, sizes: readonly number[]): DraftCase {
  const ends = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((sum, size) => sum + size, 0));
  const steps = ends.flatMap((end, i) => {
    const portion = draft.steps.slice(end - (sizes[i] ?? 0), end);
    const last = portion.at(-1);
    return last === undefined ? [] : [{ ...last, stage: portion.flatMap(({ stage }) => stage) }];
  });
  return { ...draft, id: `${draft.id}, ${sizes.join(' + ')} loads`, steps };
}

/** All loads at once, then the very same stage again: it is known in full. */
function deliveredAgain(draft: DraftCase): DraftCase {
  const whole = inPortions(draft, [draft.steps.length]);
  return { ...whole, id: `${draft.id}, delivered again`, steps: [...whole.steps, ...whole.steps] };
}

let session: CaseSession;
beforeAll(async () => {
  session = await openMemorySession();
});
afterAll(() => session.close());

const runs = await Promise.all(drafts.map(async (draft) => ({ draft, shapes: await shapesOf(bareCase(draft)) })));

describe.each(runs)('several loads in one stage: $draft.id', ({ draft, shapes }) => {
  // What the oracle says takes as long to work out as a run takes, so both shapes are held against it.
  let owner: ConformanceCase | undefined;
  afterAll(() => {
    owner = undefined;
  });

  test.each(shapes)('shape %s', async (shape) => {
    owner ??= draft.id.endsWith('delivered again') ? withoutSecondEffect(filledCase(draft)) : filledCase(draft);
    expect(await runCase(owner, session, duckdbSettings(shape))).toMatchObject({ status: 'passed', difference: null });
  });
});

/** The oracle replays a stage against what is stored; a load knows what it has stored already. */
function withoutSecondEffect(owner: ConformanceCase): ConformanceCase {
  const [first, second] = owner.steps;
  if (first === undefined || second === undefined) return owner;
  const { unchanged: _, ...counts } = second.expected_counts;
  return {
    ...owner,
    steps: [
      first,
      {
        ...second,
        expected_target_rows: first.expected_target_rows,
        expected_counts: { ...counts, inserted: 0, updated: 0, expired: 0, deleted: 0, inactivated: 0 },
      },
    ],
  };
}
