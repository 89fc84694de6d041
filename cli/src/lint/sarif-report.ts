import type { Diagnostic, Severity } from '../../../protocol/problem.ts';
import type { RuleInfo } from '../../../server/src/rules/engine/rule.ts';
import { docsUrl } from '../../../server/src/rules/engine/syntax-problems.ts';
import type { LintedFile } from './lint-files.ts';

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
  hint: 'note',
};

/** SARIF 2.1.0, as code scanning services read it. Lines and columns count from 1, columns in UTF-16 code units. */
export function sarifReport(files: readonly LintedFile[], rules: readonly RuleInfo[]): string {
  const diagnostics = files.flatMap((file) => file.diagnostics);
  const found = new Set(diagnostics.map(({ rule }) => rule));
  const described = rules.filter(({ name }) => found.has(name));
  const index = new Map(described.map(({ name }, position) => [name, position]));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Mergewright',
            rules: described.map(describe),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => result(diagnostic, index)),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function describe(rule: RuleInfo) {
  return {
    id: rule.name,
    shortDescription: { text: rule.summary },
    fullDescription: { text: rule.why },
    help: { text: rule.help },
    helpUri: docsUrl(rule.name),
    defaultConfiguration: { level: levels[rule.severity] },
    properties: { tags: [...rule.hazards] },
  };
}

function result(diagnostic: Diagnostic, index: ReadonlyMap<string, number>) {
  const ruleIndex = index.get(diagnostic.rule);
  return {
    ruleId: diagnostic.rule,
    ...(ruleIndex === undefined ? {} : { ruleIndex }),
    level: levels[diagnostic.severity],
    message: { text: `${diagnostic.message} ${diagnostic.why} ${diagnostic.help}` },
    locations: [
      { physicalLocation: { artifactLocation: { uri: uriOf(diagnostic.file) }, region: region(diagnostic.range) } },
    ],
    ...(diagnostic.fixes.length === 0 ? {} : { fixes: diagnostic.fixes.map(fix) }),
  };
}

function fix({ title, edits }: Diagnostic['fixes'][number]) {
  const files = [...new Set(edits.map((edit) => edit.file))];
  return {
    description: { text: title },
    artifactChanges: files.map((file) => ({
      artifactLocation: { uri: uriOf(file) },
      replacements: edits
        .filter((edit) => edit.file === file)
        .map((edit) => ({ deletedRegion: region(edit.range), insertedContent: { text: edit.newText } })),
    })),
  };
}

function region({ start, end }: Diagnostic['range']) {
  return {
    startLine: start.line + 1,
    startColumn: start.character + 1,
    endLine: end.line + 1,
    endColumn: end.character + 1,
  };
}

/** Relative paths stay relative, with the characters escaped that a URI may not hold. */
function uriOf(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/');
}
