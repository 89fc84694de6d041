import type { TableName } from '../../../protocol/catalog.ts';
import { nameFits, sameIdentifier } from './names.ts';

/** Finds named things by perhaps incomplete names, in constant time per asked name. */
export class TableLookup<T extends { readonly name: TableName }> {
  private readonly byTable = new Map<string, T[]>();

  constructor(tables: readonly T[]) {
    for (const table of tables) {
      const key = table.name.table.toLowerCase();
      const known = this.byTable.get(key);
      if (known === undefined) this.byTable.set(key, [table]);
      else known.push(table);
    }
  }

  /** Everything that the name may mean; one that agrees in every part, absent parts included, stands alone. */
  find(asked: TableName): readonly T[] {
    const fitting = (this.byTable.get(asked.table.toLowerCase()) ?? []).filter((table) => nameFits(asked, table.name));
    if (fitting.length < 2) return fitting;
    const exact = fitting.filter(
      ({ name }) => samePart(name.schema, asked.schema) && samePart(name.database, asked.database),
    );
    return exact.length === 1 ? exact : fitting;
  }

  /** The one table that the name means; undefined when there is none or more than one. */
  one(asked: TableName): T | undefined {
    const found = this.find(asked);
    return found.length === 1 ? found[0] : undefined;
  }
}

function samePart(left: string | null, right: string | null): boolean {
  return left === right || (left !== null && right !== null && sameIdentifier(left, right));
}
