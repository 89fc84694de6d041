import { changeEffect } from './changes.ts';
import { NotFollowed, type Reading, type Write, type WriteEffects } from './effect.ts';
import { insertEffect } from './inserts.ts';
import { mergeEffects } from './merges.ts';

/**
 * The rows that a write would change. Throws `NotFollowed` where its rows can't be found by a query of its own pieces.
 *
 * @param outputs the script goes on with the rows of OUTPUT
 */
export function effectsOf(write: Write, outputs: boolean, reading: Reading): WriteEffects {
  if (write.top !== null)
    throw new NotFollowed(
      'TOP leaves open which rows are written; a named query with TOP and ORDER BY over a key says it',
      write.top.start,
    );
  switch (write.kind) {
    case 'insert':
      return insertEffect(write, outputs, reading);
    case 'update':
    case 'delete':
      return changeEffect(write, outputs, reading);
    case 'merge':
      return mergeEffects(write, outputs, reading);
  }
}
