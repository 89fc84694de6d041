import type { Range } from '../../../protocol/position.ts';

export interface CompletionItem {
  readonly label: string;
  readonly kind: 'column' | 'table' | 'alias' | 'parameter' | 'procedure';
  /** Type and role. */
  readonly detail: string;
  readonly documentation: string;
  readonly insertText: string;
  /** What is replaced: the word at the cursor. */
  readonly range: Range;
  /** Items sort by this. */
  readonly sortText: string;
}
