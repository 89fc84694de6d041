import type { Range } from '../../../protocol/position.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import { patternTitle } from '../load/candidates.ts';
import { tableKey } from '../model/names.ts';
import type { DocumentView } from './view.ts';

/** One link over a table's definition. `command` is null for the text that only says what the table is. */
export interface CodeLens {
  readonly range: Range;
  readonly title: string;
  readonly command: 'mergewright.generateLoad' | 'mergewright.previewLoad' | 'mergewright.runLoad' | null;
  readonly load: LoadCandidate;
}

const actions = [
  ['Generate', 'mergewright.generateLoad'],
  ['Preview', 'mergewright.previewLoad'],
  ['Run', 'mergewright.runLoad'],
] as const;

/**
 * Links over every table that a load writes, and over every staging table that loads read: what it is and where it is
 * loaded from, then Generate, Preview and Run. A table with several loads has the links of each.
 */
export function codeLenses(view: DocumentView): readonly CodeLens[] {
  const { definitions, folder } = view;
  if (definitions.tables.length === 0) return [];
  const byTarget = grouped(folder.loads, ({ specification }) => tableKey(specification.target));
  const bySource = grouped(folder.loads, ({ specification }) => tableKey(specification.source));
  return definitions.tables.flatMap((table) => {
    const range = { start: table.range.start, end: table.range.start };
    // Another file may rename it.
    const key = tableKey((folder.catalog.lookup.one(table.name) ?? table).name);
    const written = byTarget.get(key) ?? [];
    const read = bySource.get(key) ?? [];
    return [
      ...written.flatMap((load) => lensesOf(load, load.title, range)),
      ...read.flatMap((load) =>
        lensesOf(load, `${patternTitle(load.specification.pattern)} · loads ${load.specification.target.table}`, range),
      ),
    ];
  });
}

function lensesOf(load: LoadCandidate, title: string, range: Range): readonly CodeLens[] {
  return [
    { range, title, command: null, load },
    ...actions.map(([action, command]) => ({ range, title: action, command, load })),
  ];
}

function grouped(
  loads: readonly LoadCandidate[],
  keyOf: (load: LoadCandidate) => string,
): ReadonlyMap<string, readonly LoadCandidate[]> {
  const groups = new Map<string, LoadCandidate[]>();
  for (const load of loads) {
    const known = groups.get(keyOf(load));
    if (known === undefined) groups.set(keyOf(load), [load]);
    else known.push(load);
  }
  return groups;
}
