import type { PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import type { Batch } from '../../../../protocol/run.ts';
import { warningsMade, warningsRead, warningsTable } from './checks.ts';
import type { Effect } from './effect.ts';
import { dropped, effectTable, keptResults } from './print.ts';

/** What a preview keeps in the session while it goes on. */
export interface KeptTables {
  readonly effects: readonly Effect[];
  readonly images: readonly string[];
  /** Temporary tables of the script itself that it leaves behind. */
  readonly own: readonly string[];
  /** Checks write to a table of warnings. */
  readonly hasChecks: boolean;
}

/** The batches of a preview with their results behind them; it begins and ends with nothing of its own in the session. */
export function planOf(batches: readonly Batch[], kept: KeptTables, platform: PlatformName): PreviewPlan {
  const { effects, images, own, hasChecks } = kept;
  const temporary = [
    ...effects.map((_, number) => effectTable(number, platform)),
    ...images,
    ...(hasChecks ? [warningsTable(platform)] : []),
  ];
  const drops = (names: readonly string[]) => names.map((name) => dropped(name, platform));
  const made = hasChecks ? [warningsMade(platform)] : [];
  const results = keptResults(effects, hasChecks ? warningsRead(platform) : null, platform);
  const last = batches.at(-1) ?? { text: '', line: 0 };
  const line = batches[0]?.line ?? 0;
  return {
    batches: [
      // A batch is compiled as a whole, so what an earlier preview of the session left must be gone before it is sent.
      { text: `${[...drops(temporary), ...made].join('\n')}\n`, line },
      ...batches.slice(0, -1),
      { text: `${last.text}\n\n${results}\n`.trimStart(), line: last.line },
      { text: `${drops([...temporary, ...own]).join('\n')}\n`, line },
    ],
  };
}
