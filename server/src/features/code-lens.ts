import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import { patternTitle } from '../load/candidates.ts';
import { bindUnit } from '../model/binding.ts';
import { writesRows } from '../model/mentions.ts';
import { formatTableName, tableKey } from '../model/names.ts';
import { spoken } from '../model/roles.ts';
import type { Access } from '../model/scopes.ts';
import { findAll, unitsOf } from '../syntax/inspect.ts';
import { type DocumentView, rangeAt, tableNamed } from './view.ts';

/** One link over a table's definition or a script's write. `command` is null for the text that only says what stands there. */
export interface CodeLens {
  readonly range: Range;
  readonly title: string;
  readonly command: 'mergewright.generateLoad' | 'mergewright.previewLoad' | 'mergewright.runLoad' | null;
  /** Null where the text of the document is meant. */
  readonly load: LoadCandidate | null;
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

/**
 * What a script writes: a line over the first write of each table of the folder, and over each procedure. `preview` stands
 * where the script itself first writes or calls; it is a link if the text as a whole can be previewed.
 */
export function scriptLenses(view: DocumentView): {
  readonly lenses: readonly CodeLens[];
  readonly preview: CodeLens | null;
} {
  const written = new Map<
    string,
    { readonly table: CatalogTable; readonly offset: number; readonly accesses: Set<Access> }
  >();
  let first: number | null = null;
  for (const unit of unitsOf(view.script)) {
    const isRoutine = routineKinds.has(unit.statement.kind);
    for (const mention of bindUnit(unit).mentions) {
      if (mention.kind !== 'table' || !writesRows(mention.access)) continue;
      const table = tableNamed(view, mention.name);
      if (table === undefined) continue;
      if (!isRoutine) first ??= unit.offset;
      const key = `${isRoutine ? unit.offset : ''} ${tableKey(table.name)}`;
      const known = written.get(key) ?? { table, offset: unit.offset, accesses: new Set() };
      known.accesses.add(mention.access);
      written.set(key, known);
    }
    if (!isRoutine && first === null && findAll(unit.statement, 'execute').length > 0) first = unit.offset;
  }
  const place = (offset: number): Range => rangeAt(view, { start: offset, end: offset });
  const lenses = [...written.values()].map(
    ({ table, offset, accesses }): CodeLens => ({
      range: place(offset),
      title: writeTitle(table, accesses),
      command: null,
      load: null,
    }),
  );
  const preview: CodeLens | null =
    first === null ? null : { range: place(first), title: 'Preview', command: 'mergewright.previewLoad', load: null };
  return { lenses, preview };
}

const routineKinds: ReadonlySet<string> = new Set(['create-procedure', 'create-function', 'create-trigger']);

function writeTitle({ name, role }: CatalogTable, accesses: ReadonlySet<Access>): string {
  const what = role === 'unknown' ? '' : `${spoken(role)} `;
  return `Writes ${what}${formatTableName(name)} (${[...accesses].join(', ').toUpperCase()})`;
}
