import {
  CodeActionKind,
  DocumentDiagnosticReportKind,
  DocumentHighlightKind,
  InlayHintKind,
  LSPErrorCodes,
  type CodeAction as LspCodeAction,
  MarkupKind,
  ResponseError,
  SemanticTokensRequest,
  SymbolKind,
} from 'vscode-languageserver/node';
import type { TableName } from '../../../protocol/catalog.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { Diagnostic, TextEdit } from '../../../protocol/problem.ts';
import { codeLenses, scriptLenses } from '../features/code-lens.ts';
import { complete, completedCall } from '../features/completion.ts';
import { type Entity, entityAt, namedCall } from '../features/entity.ts';
import { hover } from '../features/hover.ts';
import { inlayHints } from '../features/inlay-hints.ts';
import { definition, filesMentioning, procedureOf, referencesIn } from '../features/navigation.ts';
import { type ProcedureSource, proceduresOf } from '../features/procedures.ts';
import { onlyRenamed, renameEdits, renameRange, renameRefusal } from '../features/rename.ts';
import { settingsEdits } from '../features/rename-options.ts';
import { semanticTokens } from '../features/semantic-tokens.ts';
import { calledAt, signatureHelp } from '../features/signature.ts';
import { folds, selectionRanges } from '../features/structure.ts';
import { documentSymbols, folderSymbols } from '../features/symbols.ts';
import type { DocumentView, Location } from '../features/view.ts';
import { disableActions, safeEdits } from '../rules/engine/actions.ts';
import { canPreview } from '../workspace/can-preview.ts';
import { isPython, type OpenDocument } from '../workspace/documents.ts';
import {
  overlaps,
  toCodeAction,
  toCodeLens,
  toCompletionItem,
  toDiagnostic,
  toDocumentSymbol,
  toEdit,
  toFoldingRange,
  toSelectionRange,
  toSemanticTokens,
  toSettingsEdit,
} from './convert.ts';
import { normalUri } from './files.ts';
import type { Host } from './host.ts';

/** Registers the requests of the language protocol: each one asks a feature and turns its answer into the protocol's. */
export function registerFeatures(host: Host): void {
  const { connection, workspace, guard, clientUri } = host;
  const answer = <T>(name: string, uri: string, otherwise: T, feature: (view: DocumentView) => T): T =>
    guard.run(name, otherwise, () => {
      const view = workspace.view(normalUri(uri));
      return view === undefined ? otherwise : feature(view);
    });
  /** For what would stand in the way of Python's own features: whole SQL files only. */
  const answerSql = <T>(name: string, uri: string, otherwise: T, feature: (view: DocumentView) => T): T => {
    const document = workspace.documents.get(normalUri(uri));
    return document !== undefined && isPython(document) ? otherwise : answer(name, uri, otherwise, feature);
  };
  const toLocation = (location: Location) => ({ uri: clientUri(location.file), range: location.range });

  connection.onHover(({ textDocument, position }) =>
    guard.wait('hover', null, async () => {
      const view = workspace.view(normalUri(textDocument.uri));
      const found = view === undefined ? undefined : hover(view, position, await namedProcedures(host, view, position));
      return found === undefined
        ? null
        : { range: found.range, contents: { kind: MarkupKind.Markdown, value: found.markdown } };
    }),
  );
  connection.onDefinition(({ textDocument, position }) =>
    guard.wait('definition', [], async () => {
      const view = workspace.view(normalUri(textDocument.uri));
      if (view === undefined) return [];
      return definition(view, position, await namedProcedures(host, view, position)).map(toLocation);
    }),
  );
  connection.onReferences(({ textDocument, position, context }) =>
    guard.wait('references', [], async () => {
      const found = await allReferences(host, textDocument.uri, position);
      return found.filter((reference) => context.includeDeclaration || !reference.declaration).map(toLocation);
    }),
  );
  connection.onDocumentHighlight(({ textDocument, position }) =>
    answer('highlight', textDocument.uri, [], (view) => {
      const entity = entityAt(view, position);
      if (entity === undefined) return [];
      return referencesIn(view, entity).map(({ range, written }) => ({
        range,
        kind: written ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
      }));
    }),
  );
  connection.onDocumentSymbol(({ textDocument }) =>
    answer('symbols', textDocument.uri, [], (view) => documentSymbols(view).map(toDocumentSymbol)),
  );
  connection.onWorkspaceSymbol(({ query }) =>
    guard.run('workspace symbols', [], () =>
      workspace.folderRoots.flatMap((root) =>
        folderSymbols(workspace.folderAt(root), query).map(({ name, detail, kind, location }) => ({
          name,
          kind: kind === 'table' ? SymbolKind.Struct : SymbolKind.Method,
          containerName: detail,
          location: toLocation(location),
        })),
      ),
    ),
  );
  connection.onCompletion(({ textDocument, position }) =>
    guard.wait('completion', [], async () => {
      const view = sqlViewOf(host, textDocument.uri);
      if (view === undefined) return [];
      const called = completedCall(view, position);
      const procedures = called === undefined ? [] : await proceduresNamed(host, view.file, called);
      return complete(view, position, procedures).map(toCompletionItem);
    }),
  );
  connection.onSignatureHelp(({ textDocument, position }) =>
    guard.wait('signature', null, async () => {
      const view = sqlViewOf(host, textDocument.uri);
      const called = view === undefined ? undefined : calledAt(view, position);
      if (view === undefined || called === undefined) return null;
      const found = signatureHelp(view, position, await proceduresNamed(host, view.file, called));
      if (found === undefined) return null;
      const { label, parameters, activeParameter } = found;
      return {
        signatures: [
          {
            label,
            parameters: parameters.map((parameter) => ({
              label: parameter.label,
              documentation: parameter.documentation,
            })),
          },
        ],
        activeSignature: 0,
        activeParameter,
      };
    }),
  );
  connection.onCodeLens(({ textDocument }) =>
    guard.wait('code lens', [], async () => {
      const view = sqlViewOf(host, textDocument.uri);
      if (view === undefined) return [];
      const { lenses, preview } = scriptLenses(view);
      const folder = workspace.folderOf(view.file);
      const links = preview !== null && (await canPreview(folder, view.script)) ? [preview] : [];
      return [...codeLenses(view), ...lenses, ...links].map((lens) => toCodeLens(lens, textDocument.uri));
    }),
  );
  connection.onFoldingRanges(({ textDocument }) =>
    answerSql('folding', textDocument.uri, [], (view) => folds(view).map(toFoldingRange)),
  );
  connection.onSelectionRanges(({ textDocument, positions }) =>
    answerSql('selection', textDocument.uri, null, (view) =>
      positions.map(
        (position) =>
          toSelectionRange(selectionRanges(view, position)) ?? { range: { start: position, end: position } },
      ),
    ),
  );
  // No tokens at all where we have none: empty ones would hide those of the language's own extension.
  connection.onRequest(SemanticTokensRequest.type, ({ textDocument }) =>
    answerSql('semantic tokens', textDocument.uri, null, (view) => toSemanticTokens(semanticTokens(view))),
  );
  connection.languages.inlayHint.on(({ textDocument, range }) =>
    guard.wait('inlay hints', [], async () => {
      const uri = normalUri(textDocument.uri);
      const on: unknown = await connection.workspace.getConfiguration({
        scopeUri: textDocument.uri,
        section: 'mergewright.inlayHints.columnTypes',
      });
      const view = on === true ? workspace.view(uri) : undefined;
      if (view === undefined) return [];
      return inlayHints(view, range).map(({ position, label }) => ({ position, label, kind: InlayHintKind.Type }));
    }),
  );
  connection.languages.diagnostics.on(async ({ textDocument }) => {
    const found = await host.diagnosticsInSlices(normalUri(textDocument.uri));
    return { kind: DocumentDiagnosticReportKind.Full, items: found.map(toDiagnostic) };
  });
  connection.onPrepareRename(({ textDocument, position }) =>
    guard.wait('prepare rename', null, async () => {
      const view = workspace.view(normalUri(textDocument.uri));
      if (view === undefined) return null;
      const found = renameRange(view, position, await namedProcedures(host, view, position));
      return found === undefined ? null : { range: found.range, placeholder: found.name };
    }),
  );
  connection.onRenameRequest(async ({ textDocument, position, newName }) => {
    const uri = normalUri(textDocument.uri);
    const view = workspace.view(uri);
    const procedures = view === undefined ? [] : await namedProcedures(host, view, position);
    const entity = view === undefined ? undefined : entityAt(view, position, procedures);
    const declaring = entity?.kind === 'variable' ? await workspace.viewOfFile(entity.variable.file) : undefined;
    const refusal = entity === undefined ? onlyRenamed : renameRefusal(entity, newName, declaring);
    if (view === undefined || entity === undefined || refusal !== null)
      throw new ResponseError(LSPErrorCodes.RequestFailed, refusal ?? onlyRenamed);
    return guard.wait('rename', null, async () => {
      const edits: TextEdit[] = [];
      for (const file of await filesNaming(host, view, entity)) {
        const other = await workspace.viewOfFile(file);
        if (other !== undefined) edits.push(...renameEdits(other, entity, newName));
      }
      const folder = workspace.folderOf(uri);
      if (entity.kind === 'column') {
        const renamed = { table: entity.table, column: entity.column.name, newName };
        for (const file of folder.settingsFiles)
          edits.push(...settingsEdits(file, (await folder.textOf(file)) ?? '', renamed));
      }
      return toEdit(edits, clientUri);
    });
  });
  connection.onCodeAction(({ textDocument, range, context }) =>
    guard.wait('code action', [], () => codeActions(host, normalUri(textDocument.uri), range, context.only)),
  );
}

/** The view of a whole SQL file; undefined for others, such as Python with SQL in its strings. */
function sqlViewOf({ workspace }: Host, textUri: string): DocumentView | undefined {
  const uri = normalUri(textUri);
  const document = workspace.documents.get(uri);
  return document !== undefined && isPython(document) ? undefined : workspace.view(uri);
}

/** The procedures whose parameter an argument may name at a position; most positions are none. */
async function namedProcedures(
  host: Host,
  view: DocumentView,
  position: Position,
): Promise<readonly ProcedureSource[]> {
  const called = namedCall(view, position);
  return called === undefined ? [] : proceduresNamed(host, view.file, called);
}

/** The procedures that a call may mean: those of open documents, then those of the folder's other files. */
async function proceduresNamed({ workspace }: Host, uri: string, name: TableName): Promise<readonly ProcedureSource[]> {
  const known = [...workspace.documents.values()].flatMap((each) => proceduresOf({ ...each, file: each.uri }));
  for (const file of workspace.folderOf(uri).filesOfProcedure(name)) {
    const other = workspace.documents.has(file) ? undefined : await workspace.viewOfFile(file);
    if (other !== undefined) known.push(...proceduresOf(other));
  }
  return known;
}

const fixAllKind = 'source.fixAll.mergewright';

/** Fixes of the problems in a range, ways to switch their rules off, and all safe fixes of the document. */
async function codeActions(
  host: Host,
  uri: string,
  range: Range,
  only: readonly string[] = [CodeActionKind.QuickFix],
): Promise<LspCodeAction[]> {
  const document = host.workspace.documents.get(uri);
  if (document === undefined) return [];
  const diagnostics = host.diagnosticsOf(uri);
  const actions: LspCodeAction[] = [];
  if (only.some((kind) => CodeActionKind.QuickFix.startsWith(kind))) {
    const here = diagnostics.filter((diagnostic) => overlaps(diagnostic.range, range));
    for (const diagnostic of here)
      actions.push(...diagnostic.fixes.map((fix) => toCodeAction(fix, diagnostic, host.clientUri)));
    for (const diagnostic of here) actions.push(...(await disablingActions(host, diagnostic, document)));
  }
  if (only.some((kind) => fixAllKind === kind || fixAllKind.startsWith(`${kind}.`))) {
    const edits = safeEdits(diagnostics, document.text);
    if (edits.length > 0)
      actions.push({ title: 'Fix all safe problems', kind: fixAllKind, edit: toEdit(edits, host.clientUri) });
  }
  return actions;
}

async function disablingActions(host: Host, diagnostic: Diagnostic, document: OpenDocument): Promise<LspCodeAction[]> {
  const actions: LspCodeAction[] = [];
  for (const action of disableActions(diagnostic, document.text)) {
    // A comment of SQL on a line of its own is no Python.
    if (action.scope !== 'folder' && isPython(document)) continue;
    const { title } = action;
    const common = { title, kind: CodeActionKind.QuickFix, diagnostics: [toDiagnostic(diagnostic)] };
    if (action.scope !== 'folder') {
      actions.push({ ...common, edit: toEdit(action.edits, host.clientUri) });
      continue;
    }
    const changed = await host.workspace.folderOf(diagnostic.file).withRule(diagnostic.file, action.setting);
    if (changed !== null) actions.push({ ...common, edit: toSettingsEdit(changed, host.clientUri) });
  }
  return actions;
}

/** References to the entity at a position in every file that mentions its table. */
async function allReferences(host: Host, textUri: string, position: Position) {
  const view = host.workspace.view(normalUri(textUri));
  if (view === undefined) return [];
  const entity = entityAt(view, position, await namedProcedures(host, view, position));
  if (entity === undefined) return [];
  const files = await filesNaming(host, view, entity);
  const views = await Promise.all(files.map((file) => host.workspace.viewOfFile(file)));
  return views.flatMap((other) => (other === undefined ? [] : referencesIn(other, entity)));
}

/** The files whose text may name an entity; callers of a procedure are found by its name in their text. */
async function filesNaming({ workspace }: Host, view: DocumentView, entity: Entity): Promise<readonly string[]> {
  const known = filesMentioning(view, entity);
  const procedure = procedureOf(entity);
  if (procedure === null) return known;
  const folder = workspace.folderOf(view.file);
  const word = procedure.table.toLowerCase();
  const found = new Set(known);
  for (const file of folder.fileNames) {
    if (!/\.(?:sql|py)$/i.test(file)) continue;
    const text = workspace.documents.get(file)?.text ?? (await folder.textOf(file)) ?? '';
    if (text.toLowerCase().includes(word)) found.add(file);
  }
  return [...found];
}
