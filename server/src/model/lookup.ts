import type { TableName } from '../../../protocol/catalog.ts';
import { nameFits, sameIdentifier } from './names.ts';

interface Named {
  readonly name: TableName;
  readonly formerNames?: readonly TableName[];
}

/** Finds named things by perhaps incomplete names, in constant time per asked name. */
export class TableLookup<T extends Named> {
  private readonly byTable = new Map<string, T[]>();
  private readonly byFormerName = new Map<string, T[]>();

  constructor(tables: readonly T[]) {
    for (const table of tables) {
      put(this.byTable, table.name, table);
      for (const name of table.formerNames ?? []) put(this.byFormerName, name, table);
    }
  }

  /**
   * Everything that the name may mean; one that agrees in every part, absent parts included, stands alone. A name that
   * nothing bears any more means what bore it before.
   */
  find(asked: TableName): readonly T[] {
    const found = this.bearing(asked);
    return found.length > 0 ? found : this.formerly(asked);
  }

  /** Everything that bore the name before it was renamed. */
  formerly(asked: TableName): readonly T[] {
    const fitting = (this.byFormerName.get(asked.table.toLowerCase()) ?? []).filter(({ formerNames }) =>
      formerNames?.some((name) => nameFits(asked, name)),
    );
    return [...new Set(fitting)];
  }

  private bearing(asked: TableName): readonly T[] {
    const fitting = (this.byTable.get(asked.table.toLowerCase()) ?? []).filter((table) => nameFits(asked, table.name));
    if (fitting.length < 2) return fitting;
    const exact = fitting.filter(
      ({ name }) => samePart(name.schema, asked.schema) && samePart(name.database, asked.database),
    );
    return exact.length === 1 ? exact : fitting;
  }

  /** The one table, of those that may be meant, that the name means; undefined when there is none or more than one. */
  one(asked: TableName, mayMean: (table: T) => boolean = () => true): T | undefined {
    const found = this.find(asked).filter(mayMean);
    return found.length === 1 ? found[0] : undefined;
  }
}

function put<T>(map: Map<string, T[]>, name: TableName, table: T): void {
  const key = name.table.toLowerCase();
  const known = map.get(key);
  if (known === undefined) map.set(key, [table]);
  else known.push(table);
}

function samePart(left: string | null, right: string | null): boolean {
  return left === right || (left !== null && right !== null && sameIdentifier(left, right));
}
