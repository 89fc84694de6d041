import type { Range } from '../../../protocol/position.ts';
import type { ColumnRole } from '../../../protocol/roles.ts';
import { bindUnit } from '../model/binding.ts';
import { absoluteRange, lastPart, unitsOf } from '../syntax/inspect.ts';
import { columnsNamed } from './entity.ts';
import { type DocumentView, rangeAt, tableNamed } from './view.ts';

/** Token types of the legend; themes know `class` and `property` without any setting. */
export const tokenTypes = ['class', 'property'] as const;
/** Modifiers tell what a table or column is for. */
export const tokenModifiers = ['declaration', 'staging', 'target', 'key', 'hash', 'validity', 'control'] as const;

export interface SemanticToken {
  readonly range: Range;
  readonly type: (typeof tokenTypes)[number];
  readonly modifiers: readonly (typeof tokenModifiers)[number][];
}

/** Tables and columns with the parts they play; plain attributes and unknown names are left to the grammar. */
export function semanticTokens(view: DocumentView): readonly SemanticToken[] {
  const tokens: SemanticToken[] = [];
  for (const unit of unitsOf(view.script)) {
    for (const mention of bindUnit(unit).mentions) {
      if (mention.kind === 'table') {
        const table = tableNamed(view, mention.name);
        if (table === undefined || table.role === 'unknown') continue;
        tokens.push({
          range: rangeAt(view, absoluteRange(unit, lastPart(mention.node))),
          type: 'class',
          modifiers: [
            ...(mention.access === 'define' ? (['declaration'] as const) : []),
            table.role === 'staging' ? 'staging' : 'target',
          ],
        });
        continue;
      }
      const [only, ...more] = columnsNamed(view, mention.tables, mention.column);
      const modifier = only === undefined || more.length > 0 ? undefined : modifierOf[only.column.role];
      if (modifier === undefined || modifier === null) continue;
      tokens.push({ range: rangeAt(view, absoluteRange(unit, mention.node)), type: 'property', modifiers: [modifier] });
    }
  }
  return tokens.sort(
    (left, right) =>
      left.range.start.line - right.range.start.line || left.range.start.character - right.range.start.character,
  );
}

const modifierOf: Readonly<Record<ColumnRole, SemanticToken['modifiers'][number] | null>> = {
  'business-key': 'key',
  'child-key': 'key',
  'hash-key': 'hash',
  hashdiff: 'hash',
  checksum: 'hash',
  'effective-start': 'validity',
  'effective-end': 'validity',
  'current-flag': 'validity',
  'inactive-date': 'validity',
  'load-date': 'control',
  'record-source': 'control',
  'load-process': 'control',
  'insert-date': 'control',
  sequence: 'control',
  operation: 'control',
  attribute: null,
  technical: null,
};
