import { expect } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import type { Position, Range } from '../../protocol/position.ts';
import type { DocumentView } from '../../server/src/features/view.ts';
import { lineStartsOf, offsetOf, positionOf } from '../../server/src/syntax/inspect.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';

/** Files of a folder by name; the texts may hold one `|`, the cursor, which is taken out. */
export type Files = Readonly<Record<string, string>>;

export interface Opened {
  readonly view: DocumentView;
  readonly position: Position;
  readonly workspace: Workspace;
}

const root = 'file:///house';

/** Opens files as documents of one folder; the view is of the file with the cursor, else of the last one. */
export function openFiles(files: Files, platform?: PlatformName): Opened {
  const workspace = new Workspace({ list: async () => [], read: async () => undefined }, async () => undefined);
  workspace.addFolder(root);
  // Nothing has been read that would have to be read again: it counts at once.
  if (platform !== undefined) void workspace.expectPlatform(root, platform);
  let cursor: { readonly uri: string; readonly offset: number } | null = null;
  let last = '';
  for (const [name, marked] of Object.entries(files)) {
    const offset = marked.indexOf('|');
    const uri = `${root}/${name}`;
    if (offset >= 0) cursor = { uri, offset };
    workspace.open(uri, 'sql', 1, offset < 0 ? marked : marked.slice(0, offset) + marked.slice(offset + 1));
    last = uri;
  }
  workspace.flush();
  const view = workspace.view(cursor?.uri ?? last);
  if (view === undefined) throw new Error('no document');
  return { view, position: positionOf(view.lineStarts, cursor?.offset ?? 0), workspace };
}

/** The text of a range, for comparing places by what stands there. */
export function textAt(view: DocumentView, range: Range): string {
  const { text } = view.script;
  return text.slice(offsetOf(view.lineStarts, text, range.start), offsetOf(view.lineStarts, text, range.end));
}

/** Ranges underlined by `^^^^` in lines below the text they mark; the marker lines are taken out. */
export function underlined(marked: string): { readonly text: string; readonly ranges: readonly Range[] } {
  const lines: string[] = [];
  const ranges: Range[] = [];
  for (const line of marked.split('\n')) {
    if (!/^[ \t]*\^[\^ \t]*$/.test(line)) {
      lines.push(line);
      continue;
    }
    for (const match of line.matchAll(/\^+/g)) {
      const place = (character: number) => ({ line: lines.length - 1, character });
      ranges.push({ start: place(match.index), end: place(match.index + match[0].length) });
    }
  }
  return { text: lines.join('\n'), ranges };
}

/** Compares ranges with the underlined ones; the message shows their texts. */
export function expectRanges(text: string, found: readonly Range[], expected: readonly Range[]): void {
  const starts = lineStartsOf(text);
  const show = (range: Range) =>
    `${range.start.line}:${range.start.character} ${text.slice(offsetOf(starts, text, range.start), offsetOf(starts, text, range.end))}`;
  expect(found.map(show)).toEqual(expected.map(show));
}

/** Tables of both running examples, in short. */
export const warehouse = `CREATE TABLE StageEmedsys.Dev_Patient_ (patient_id decimal(10,0) NULL, address1 varchar(30) NULL, city varchar(30) NULL)
GO
CREATE TABLE raw.SatPatient (PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(255) NOT NULL, HashDiff varchar(64) NOT NULL, Address1 varchar(30) NULL, City varchar(30) NULL)
GO
CREATE TABLE dw.DimItem (ItemKey int IDENTITY(1,1) NOT NULL, ItemNo int NOT NULL UNIQUE, Label varchar(20) NULL, FullLabel AS (Label), ValidFrom datetime2 NOT NULL, ValidTo datetime2 NULL, IsCurrent bit NOT NULL)
`;
