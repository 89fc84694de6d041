import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { absoluteRange, lineStartsOf, rangeOf, unitsOf } from '../syntax/inspect.ts';
import type { NodeBase, Script, Unit } from '../syntax/tree.ts';
import { type Binding, bindOnce } from './binding.ts';
import { namesTemporary } from './locals.ts';
import { tableKey } from './names.ts';
import { inStrings } from './places.ts';
import type { Access } from './scopes.ts';

/** A mention of a table in a file, kept in the folder's index without the tree. */
export interface FileMention {
  readonly name: TableName;
  readonly access: Access;
  /** The first of its mentions with this access; `referencesIn` finds the others. */
  readonly range: Range;
}

/**
 * The tables that a script mentions outside of its own temporary ones, in executed strings, too, each once per kind of access. `bind` is
 * `bindUnit` for a script that is edited, so that an edit elsewhere costs a statement nothing.
 */
export function readMentions(script: Script, bind: (unit: Unit) => Binding = bindOnce): readonly FileMention[] {
  const lineStarts = lineStartsOf(script.text);
  const found = new Map<string, FileMention>();
  let last: FileMention | undefined;
  const own = unitsOf(script).map((unit) => ({
    mentions: bind(unit).mentions,
    span: (node: NodeBase) => absoluteRange(unit, node),
  }));
  const inside = inStrings(script).map(({ binding, span }) => ({ mentions: binding.mentions, span }));
  for (const { mentions, span } of [...own, ...inside]) {
    for (const mention of mentions) {
      if (mention.kind !== 'table' || namesTemporary(script, mention.name)) continue;
      const { name, access } = mention;
      // Many files are thousands of INSERTs into one table.
      if (last !== undefined && last.access === access && sameSpelling(last.name, name)) continue;
      const key = `${access} ${tableKey(name)}`;
      last = found.get(key) ?? { name, access, range: rangeOf(lineStarts, span(mention.node)) };
      found.set(key, last);
    }
  }
  return [...found.values()];
}

function sameSpelling(left: TableName, right: TableName): boolean {
  return left.table === right.table && left.schema === right.schema && left.database === right.database;
}

/** True for the accesses that change a table's rows. */
export function writesRows(access: Access): boolean {
  return access === 'insert' || access === 'update' || access === 'delete' || access === 'merge';
}
