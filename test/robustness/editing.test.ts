import { describe, expect, test } from 'vitest';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { complete } from '../../server/src/features/completion.ts';
import { hover } from '../../server/src/features/hover.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { definition } from '../../server/src/features/navigation.ts';
import { proceduresOf } from '../../server/src/features/procedures.ts';
import { renameRange } from '../../server/src/features/rename.ts';
import { semanticTokens } from '../../server/src/features/semantic-tokens.ts';
import { signatureHelp } from '../../server/src/features/signature.ts';
import { folds, selectionRanges } from '../../server/src/features/structure.ts';
import { documentSymbols } from '../../server/src/features/symbols.ts';
import type { DocumentView } from '../../server/src/features/view.ts';
import { finish } from '../../server/src/model/in-steps.ts';
import { positionOf } from '../../server/src/syntax/inspect.ts';
import { diagnosticsInSteps } from '../../server/src/workspace/diagnostics.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';
import { warehouse } from '../support/editor.ts';
import { seededRandom } from '../support/random.ts';

const uri = 'file:///house/load.sql';

const script = `${warehouse}GO
CREATE PROCEDURE dbo.load_patient @BatchTime datetime2 = NULL AS
BEGIN
  SET NOCOUNT ON;
  WITH s AS (SELECT patient_id, city FROM StageEmedsys.Dev_Patient_ WHERE city IS NOT NULL)
  MERGE raw.SatPatient WITH (HOLDLOCK) AS t USING s ON t.PatientKey = CONVERT(varchar(64), s.patient_id)
  WHEN MATCHED AND t.City <> s.city THEN UPDATE SET City = s.city -- it's changed
  WHEN NOT MATCHED THEN INSERT (PatientKey, City) VALUES ('it''s [new]', s.city);
  SELECT * INTO #kept FROM raw.SatPatient;
END
GO
EXEC dbo.load_patient @BatchTime = NULL;
UPDATE d SET Label = 'x' FROM dw.DimItem AS d WHERE d.ItemNo IN (SELECT 1 /* one */);
`;

/** Pieces that change how the text around them is read. */
const pieces = [
  '',
  ' ',
  '\n',
  '\nGO\n',
  "'",
  '/*',
  '*/',
  '--',
  '(',
  ')',
  '[',
  ']',
  ';',
  'BEGIN',
  'END',
  'MERGE',
  'x',
  ',',
  '"',
  '😀',
  '\r\n',
];

function open(text: string): Workspace {
  const workspace = new Workspace({ list: async () => [], read: async () => undefined }, async () => undefined);
  workspace.addFolder('file:///house');
  void workspace.expectPlatform('file:///house', 'sqlserver');
  workspace.open(uri, 'sql', 1, text);
  workspace.flush();
  return workspace;
}

function viewOf(workspace: Workspace): DocumentView {
  const view = workspace.view(uri);
  if (view === undefined) throw new Error('no document');
  return view;
}

function observed(workspace: Workspace) {
  const document = workspace.documents.get(uri);
  if (document === undefined) throw new Error('no document');
  workspace.flush();
  const view = viewOf(workspace);
  return {
    diagnostics: finish(diagnosticsInSteps(document, workspace.folderOf(uri))).value.map(
      ({ rule, range, message }) => ({ rule, range, message }),
    ),
    symbols: documentSymbols(view),
    lenses: codeLenses(view).map(({ title, range }) => ({ title, range })),
  };
}

describe('editing', () => {
  test.each([1, 2, 3, 4, 5, 6])('random edits give what a fresh document gives (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const workspace = open(script);
    for (let step = 0; step < 40; step += 1) {
      const document = workspace.documents.get(uri);
      if (document === undefined) throw new Error('no document');
      const start = random.below(document.text.length + 1);
      const end = Math.min(document.text.length, start + (random.chance(0.25) ? random.below(60) : random.below(3)));
      const place = (offset: number) => positionOf(document.lineStarts, offset);
      const text = random.oneOf(pieces);
      workspace.change(uri, step + 2, [{ range: { start: place(start), end: place(end) }, text }]);
      const fresh = open(workspace.documents.get(uri)?.text ?? '');
      // A fresh document may look like another platform; the comparison is about edits.
      if (fresh.documents.get(uri)?.script.platform !== document.script.platform) continue;
      expect(observed(workspace), `seed ${seed}, step ${step}`).toEqual(observed(fresh));
    }
  });

  test('no feature throws at any position of any prefix', () => {
    for (let length = 0; length <= script.length; length += 29) {
      const view = viewOf(open(script.slice(0, length)));
      for (const offset of [0, length >> 1, Math.max(0, length - 1), length]) {
        const position = positionOf(view.lineStarts, offset);
        expect(Array.isArray(complete(view, position))).toBe(true);
        hover(view, position);
        definition(view, position);
        renameRange(view, position);
        signatureHelp(view, position, proceduresOf(view));
        expect(selectionRanges(view, position).length).toBeGreaterThanOrEqual(length === 0 ? 0 : 1);
      }
      semanticTokens(view);
      folds(view);
      inlayHints(view, { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } });
    }
  });
});
