import type { TableName } from '../../../../protocol/catalog.ts';
import { sameIdentifier } from '../../model/names.ts';
import { findAll, tableNameOf } from '../../syntax/inspect.ts';
import type { Write } from './effect.ts';

/** Temporary tables and table variables that the script makes for itself: what it does to them, it also does in a preview. */
export class OwnTables {
  private readonly known = new Set<string>();

  add(name: string): void {
    this.known.add(name.toLowerCase());
  }

  delete(name: string): void {
    this.known.delete(name.toLowerCase());
  }

  has({ schema, table }: TableName): boolean {
    return (schema === null || table.startsWith('#')) && this.known.has(table.toLowerCase());
  }

  /** Those that stay in the session behind the batch; variables do not. */
  get names(): readonly string[] {
    return [...this.known].filter((name) => !name.startsWith('@'));
  }

  /** True where a write goes to one of them, also by an alias of FROM. */
  isTarget(write: Write): boolean {
    const { target } = write;
    if (target.kind === 'table-variable') return this.known.has(target.name.toLowerCase());
    if (target.kind !== 'table') return false;
    const { table } = tableNameOf(target.name);
    const sources = [...findAll(write, 'table'), ...findAll(write, 'derived-table'), ...findAll(write, 'common-table')];
    const alias = sources.find((each) => {
      const named = each.kind === 'common-table' ? each.name : each.alias;
      return each !== target && named !== null && sameIdentifier(named.name, table);
    });
    if (alias === undefined) return this.has(tableNameOf(target.name));
    // A named query over such a table hands the write on to it.
    if (alias.kind === 'common-table') {
      const inner = findAll(alias.query, 'table');
      return inner.length > 0 && inner.every(({ name }) => this.has(tableNameOf(name)));
    }
    return alias.kind === 'table' && this.has(tableNameOf(alias.name));
  }
}
