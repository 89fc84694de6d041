import {
  CodeActionKind,
  CompletionItemKind,
  DiagnosticSeverity,
  type DocumentSymbol,
  type FoldingRange,
  FoldingRangeKind,
  type CodeAction as LspCodeAction,
  type CodeLens as LspCodeLens,
  type CompletionItem as LspCompletionItem,
  type Diagnostic as LspDiagnostic,
  type Range as LspRange,
  type TextEdit as LspTextEdit,
  type SelectionRange,
  SemanticTokensBuilder,
  SymbolKind,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import type { Range } from '../../../protocol/position.ts';
import type { Diagnostic, Fix, Problem, Severity, TextEdit } from '../../../protocol/problem.ts';
import type { CodeLens } from '../features/code-lens.ts';
import type { CompletionItem } from '../features/completion-item.ts';
import { type SemanticToken, tokenModifiers, tokenTypes } from '../features/semantic-tokens.ts';
import type { Fold } from '../features/structure.ts';
import type { OutlineSymbol } from '../features/symbols.ts';
import type { ChangedSettings } from '../workspace/folder.ts';

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
  hint: DiagnosticSeverity.Hint,
};

export function toDiagnostic(diagnostic: Diagnostic): LspDiagnostic {
  const { rule, hazards, fixes, message, why, help, url } = diagnostic;
  return {
    range: diagnostic.range,
    severity: severities[diagnostic.severity],
    code: rule,
    source: 'mergewright',
    message: [message, why, help].filter((part) => part !== '').join('\n'),
    ...(url === '' ? {} : { codeDescription: { href: url } }),
    data: { hazards, fixes },
  };
}

/** A problem of the core without a rule behind it. */
export function toProblem(problem: Problem): LspDiagnostic {
  const start = { line: 0, character: 0 };
  return {
    range: problem.range ?? { start, end: start },
    severity: severities[problem.severity],
    code: problem.code,
    source: 'mergewright',
    message: problem.message,
  };
}

export function toEdit(edits: readonly TextEdit[], uriOf: (file: string) => string): WorkspaceEdit {
  const changes: Record<string, LspTextEdit[]> = {};
  for (const edit of edits) {
    const uri = uriOf(edit.file);
    changes[uri] ??= [];
    changes[uri].push({ range: edit.range, newText: edit.newText });
  }
  return { changes };
}

/** A settings file is replaced as a whole, or made when there is none. */
export function toSettingsEdit(
  { file, before, text }: ChangedSettings,
  uriOf: (file: string) => string,
): WorkspaceEdit {
  const uri = uriOf(file);
  const start = { line: 0, character: 0 };
  const end = before === null ? start : { line: before.split('\n').length, character: 0 };
  const edits = [{ range: { start, end }, newText: text }];
  const create = before === null ? [{ kind: 'create' as const, uri, options: { ignoreIfExists: true } }] : [];
  return { documentChanges: [...create, { textDocument: { uri, version: null }, edits }] };
}

export function toCodeAction(fix: Fix, diagnostic: Diagnostic, uriOf: (file: string) => string): LspCodeAction {
  return {
    title: fix.title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [toDiagnostic(diagnostic)],
    isPreferred: fix.safe && diagnostic.fixes[0] === fix,
    edit: toEdit(fix.edits, uriOf),
  };
}

export function toCodeLens(lens: CodeLens, uri: string): LspCodeLens {
  const { range, title, command, load } = lens;
  return {
    range,
    command:
      command === null
        ? { title, command: '' }
        : { title, command, arguments: [load === null ? { uri } : { uri, specification: load.specification }] },
  };
}

const completionKinds: Readonly<Record<CompletionItem['kind'], CompletionItemKind>> = {
  column: CompletionItemKind.Field,
  table: CompletionItemKind.Class,
  alias: CompletionItemKind.Variable,
  parameter: CompletionItemKind.Constant,
  procedure: CompletionItemKind.Function,
};

export function toCompletionItem(item: CompletionItem): LspCompletionItem {
  return {
    label: item.label,
    kind: completionKinds[item.kind],
    detail: item.detail,
    ...(item.documentation === '' ? {} : { documentation: item.documentation }),
    sortText: item.sortText,
    filterText: item.insertText,
    textEdit: { range: item.range, newText: item.insertText },
  };
}

const symbolKinds: Readonly<Record<OutlineSymbol['kind'], SymbolKind>> = {
  table: SymbolKind.Struct,
  view: SymbolKind.Interface,
  column: SymbolKind.Field,
  procedure: SymbolKind.Method,
  function: SymbolKind.Function,
  load: SymbolKind.Event,
};

export function toDocumentSymbol(symbol: OutlineSymbol): DocumentSymbol {
  return {
    name: symbol.name,
    detail: symbol.detail,
    kind: symbolKinds[symbol.kind],
    range: symbol.range,
    selectionRange: symbol.selection,
    children: symbol.children.map(toDocumentSymbol),
  };
}

export function toFoldingRange(fold: Fold): FoldingRange {
  const kind =
    fold.kind === 'comment' ? FoldingRangeKind.Comment : fold.kind === 'region' ? FoldingRangeKind.Region : undefined;
  return { startLine: fold.start, endLine: fold.end, ...(kind === undefined ? {} : { kind }) };
}

/** Ranges from the inside out become a chain of parents. */
export function toSelectionRange(ranges: readonly Range[]): SelectionRange | undefined {
  let chain: SelectionRange | undefined;
  for (const range of [...ranges].reverse()) chain = chain === undefined ? { range } : { range, parent: chain };
  return chain;
}

export function toSemanticTokens(tokens: readonly SemanticToken[]) {
  const builder = new SemanticTokensBuilder();
  for (const { range, type, modifiers } of tokens) {
    // A token of several lines can't be expressed; quoted names with line breaks are left to the grammar.
    if (range.start.line !== range.end.line) continue;
    const bits = modifiers.reduce((sum, modifier) => sum | (1 << tokenModifiers.indexOf(modifier)), 0);
    builder.push(
      range.start.line,
      range.start.character,
      range.end.character - range.start.character,
      tokenTypes.indexOf(type),
      bits,
    );
  }
  return builder.build();
}

export function overlaps(left: LspRange, right: LspRange): boolean {
  const before = (a: LspRange, b: LspRange) =>
    a.end.line < b.start.line || (a.end.line === b.start.line && a.end.character < b.start.character);
  return !before(left, right) && !before(right, left);
}
