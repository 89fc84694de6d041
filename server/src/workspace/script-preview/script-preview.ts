import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import { lineStartsOf, positionOf, problemsOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { KnownTables } from './draft.ts';
import { NotFollowed } from './effect.ts';
import { ScriptReader } from './reader.ts';

/** A preview, or the sentence that says what of the script is not understood. */
export type ScriptPreview =
  | { readonly plan: PreviewPlan; readonly refusal: null }
  | { readonly plan: null; readonly refusal: string };

/**
 * The preview of a script of which only its text is known. Its reads, variables and temporary tables stay as they are;
 * each write becomes a query of the write's own pieces for the rows that it would change, kept in a temporary table of the
 * session. A table that the script goes on with after it wrote to it stands in an image, a copy that takes the writes. A
 * script that loops, calls what is not known or takes back what it wrote is refused.
 */
export function previewScript(text: string, platform: PlatformName, tables: KnownTables): ScriptPreview {
  if (platform !== 'duckdb' && !isTsql(platform)) {
    return refused(`a script for ${platform} without a specification in its header can't be previewed`);
  }
  const script = parse(text, { platform });
  const lineStarts = lineStartsOf(text);
  const lineOf = (offset: number) => positionOf(lineStarts, offset).line;
  const problem = problemsOf(script)[0];
  if (problem !== undefined) {
    return refused(`line ${lineOf(problem.start) + 1} can't be read: ${problem.message.replace(/\.$/, '')}`);
  }
  // Whether a table needs an image shows only behind its first write, so the script is read until no further one does.
  for (let imaged: ReadonlySet<CatalogTable> = new Set(); ; ) {
    const reader = new ScriptReader(script, platform, tables, imaged);
    try {
      const plan = reader.plan(lineOf);
      if (reader.wanted.size === 0) {
        return plan === null ? { plan, refusal: noWrite } : { plan, refusal: null };
      }
      imaged = new Set([...imaged, ...reader.wanted]);
    } catch (error) {
      if (!(error instanceof NotFollowed)) throw error;
      return refused(`line ${lineOf(reader.offset + error.offset) + 1}: ${error.message}`);
    }
  }
}

const noWrite = 'The script writes to no table, so there are no changes to preview.';

function refused(why: string): ScriptPreview {
  return { plan: null, refusal: `What the script would change is not known before it runs: ${why}.` };
}
