import { parsePlatform } from '../../protocol/platform.ts';
import type { Diagnostic } from '../../protocol/problem.ts';
import { buildCatalog } from '../../server/src/model/catalog.ts';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { schemaObjectsOf } from '../../server/src/rules/analysis/schema-objects.ts';
import { type LintRequest, lint } from '../../server/src/rules/engine/lint.ts';
import { rules } from '../../server/src/rules/registry.ts';
import { lineStartsOf, offsetOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';

export interface LintInput extends Partial<Pick<LintRequest, 'rules' | 'settings'>> {
  readonly platform?: string | undefined;
  readonly ddl?: string | undefined;
  readonly file?: string;
}

/** Lints a script with the tables of some DDL; a rule that throws fails the test. */
export function lintText(sql: string, input: LintInput = {}): readonly Diagnostic[] {
  const platform = parsePlatform(input.platform ?? 'sqlserver');
  if (platform === undefined) throw new Error(`no platform: ${input.platform}`);
  const ddl = parse(input.ddl ?? '', { platform: platform.name });
  const outcome = lint({
    script: parse(sql, { platform: platform.name }),
    file: input.file ?? 'load.sql',
    platform,
    rules: input.rules ?? rules,
    tables: buildCatalog([readDefinitions(ddl, 'ddl.sql')]).tables,
    objects: schemaObjectsOf([ddl]),
    ...(input.settings === undefined ? {} : { settings: input.settings }),
  });
  if (outcome.problems.length > 0) throw new Error(outcome.problems.map(({ message }) => message).join('\n'));
  return outcome.value;
}

/** The text after the edits of some fixes. Fixes whose edits overlap an earlier one are left out. */
export function applyFixes(sql: string, fixes: readonly Diagnostic['fixes'][number][]): string {
  const lines = lineStartsOf(sql);
  const taken: { start: number; end: number; text: string }[] = [];
  for (const fix of fixes) {
    const edits = fix.edits.map((edit) => ({
      start: offsetOf(lines, sql, edit.range.start),
      end: offsetOf(lines, sql, edit.range.end),
      text: edit.newText,
    }));
    if (edits.some((edit) => taken.some((other) => edit.start < other.end && other.start < edit.end))) continue;
    taken.push(...edits);
  }
  taken.sort((left, right) => right.start - left.start || right.end - left.end);
  return taken.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), sql);
}
