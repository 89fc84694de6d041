import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { absoluteRange, lineStartsOf, rangeOf, unitsOf } from '../syntax/inspect.ts';
import type { Script } from '../syntax/tree.ts';
import { type Access, bindUnit } from './binding.ts';
import { isTemporary } from './definitions.ts';

/** A mention of a table in a file, kept in the folder's index without the tree. */
export interface FileMention {
  readonly name: TableName;
  readonly access: Access;
  readonly range: Range;
}

/** The tables that a script mentions outside of its own temporary ones. */
export function readMentions(script: Script): readonly FileMention[] {
  const lineStarts = lineStartsOf(script.text);
  return unitsOf(script).flatMap((unit) =>
    bindUnit(unit).mentions.flatMap((mention): readonly FileMention[] => {
      if (mention.kind !== 'table' || isTemporary(mention.name)) return [];
      return [
        { name: mention.name, access: mention.access, range: rangeOf(lineStarts, absoluteRange(unit, mention.node)) },
      ];
    }),
  );
}

/** True for the accesses that change a table's rows. */
export function writesRows(access: Access): boolean {
  return access === 'insert' || access === 'update' || access === 'delete' || access === 'merge';
}
