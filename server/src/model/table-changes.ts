/** What ALTER TABLE and its like change of a table that is defined elsewhere. */
import type { CatalogKey, TableName } from '../../../protocol/catalog.ts';
import { lastPart } from '../syntax/inspect.ts';
import type { AlterColumn, AlterTableAction, Execute } from '../syntax/tree.ts';
import { readElements, type Source } from './elements.ts';
import type { ColumnFacts } from './facts.ts';
import { nameParts, parseTableName, sameIdentifier } from './names.ts';

/** A change that ALTER TABLE, CREATE INDEX or RENAME makes to a table defined elsewhere. */
export interface TableChange {
  readonly table: TableName;
  readonly addColumns: readonly ColumnFacts[];
  readonly addKeys: readonly CatalogKey[];
  readonly dropColumns: readonly string[];
  /** All columns of before are dropped. */
  readonly dropsAll: boolean;
  /** What becomes of a column; everything else of it stays. */
  readonly alterColumns: readonly ColumnAlteration[];
  readonly renameColumns: readonly { readonly from: string; readonly to: string }[];
  readonly defaults: readonly { readonly column: string; readonly expression: string }[];
  /** The table's new name; null where it keeps its own. */
  readonly newName: NewName | null;
  /** Another name that leads to it; null where there is none. */
  readonly synonym: TableName | null;
}

/** What becomes of a table's name; a schema of null stays as it is. */
export interface NewName {
  readonly schema: string | null;
  readonly table: string;
}

export interface ColumnAlteration {
  readonly name: string;
  readonly change: Partial<Pick<ColumnFacts, 'type' | 'nullable' | 'collation' | 'default'>>;
}

/** The change that one action of ALTER TABLE makes. */
export function changeOf(source: Source, action: AlterTableAction): Partial<TableChange> {
  switch (action.kind) {
    case 'add-elements': {
      const { columns, keys } = readElements(source, action.elements);
      const defaults = action.elements.flatMap((element) =>
        element.kind === 'constraint' &&
        element.type === 'default' &&
        element.forColumn !== null &&
        element.expression !== null
          ? [{ column: element.forColumn.name, expression: source.text(element.expression) }]
          : [],
      );
      return { addColumns: columns, addKeys: keys, defaults };
    }
    case 'replace-columns':
      return { dropsAll: true, addColumns: readElements(source, action.elements).columns };
    case 'alter-column':
      return alteredColumn(source, action);
    case 'drop-elements':
      return {
        dropColumns: action.items.flatMap((item) =>
          item.type === 'column' && item.name !== null ? [item.name.name] : [],
        ),
      };
    case 'rename-column':
      return { renameColumns: [{ from: action.from.name, to: action.to.name }] };
    case 'alter-table-other':
      return {};
  }
}

/** T-SQL states type and NULL anew; the other dialects change one thing and leave the rest. */
function alteredColumn(source: Source, { column, definition, change }: AlterColumn): Partial<TableChange> {
  const { name } = column;
  if (definition !== null) {
    const { columns } = readElements(source, [{ ...definition, name: column }]);
    const alterColumns = columns.map(({ type, nullable, collation }) => ({
      name,
      change: { type, nullable, ...(collation === null ? {} : { collation }) },
    }));
    return { alterColumns };
  }
  if (change === null) return {};
  const { type, nullable, default: value, dropsDefault, newName } = change;
  const altered = {
    ...(type === null || type.text === '' ? {} : { type: type.text }),
    ...(nullable === null ? {} : { nullable }),
    ...(value === null ? {} : { default: source.text(value) }),
    ...(dropsDefault ? { default: null } : {}),
  };
  return {
    alterColumns: Object.keys(altered).length === 0 ? [] : [{ name, change: altered }],
    renameColumns: newName === null ? [] : [{ from: name, to: newName.name }],
  };
}

/**
 * `sp_rename 'schema.table.column', 'new name', 'COLUMN'`: the first name is quoted as in other statements, the new one
 * is taken as it is written. Null for other objects, and for names that only the run knows.
 */
export function columnRename(
  statement: Execute,
): { readonly table: TableName; readonly from: string; readonly to: string } | null {
  const to = renamedTo(statement);
  if (to === null || to === '' || !sameIdentifier(argumentOf(statement, '@objtype', 2) ?? '', 'COLUMN')) return null;
  const parts = nameParts(argumentOf(statement, '@objname', 0) ?? '');
  const [column, table, ...before] = [...(parts ?? [])].reverse();
  if (column == null || table == null || before.length > 2) return null;
  return { table: { database: before[1] ?? null, schema: before[0] ?? null, table }, from: column, to };
}

/** The new name that sp_rename gives to whatever it renames; null for other procedures and for names that only the run knows. */
export function renamedTo(statement: Execute): string | null {
  const { procedure } = statement;
  if (procedure?.kind !== 'name' || !sameIdentifier(lastPart(procedure).name, 'sp_rename')) return null;
  return argumentOf(statement, '@newname', 1);
}

/** `CREATE SYNONYM a FOR b`, of which the tree keeps no more than the text; null for names of other servers. */
export function synonymIn(text: string): { readonly synonym: TableName; readonly table: TableName } | null {
  const name = String.raw`((?:\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|[^\s.;[\]"]+|\s*\.\s*)+?)`;
  const found = new RegExp(String.raw`^CREATE\s+SYNONYM\s+${name}\s+FOR\s+${name}\s*;?\s*$`, 'i').exec(text);
  const synonym = parseTableName(found?.[1] ?? '');
  const table = parseTableName(found?.[2] ?? '');
  return synonym === undefined || table === undefined ? null : { synonym, table };
}

/** A literal argument of EXEC, by name or place. */
export function argumentOf(statement: Execute, name: string, place: number): string | null {
  const found =
    statement.arguments.find((one) => one.name !== null && sameIdentifier(one.name.name, name)) ??
    (statement.arguments[place]?.name === null ? statement.arguments[place] : undefined);
  return found?.value.kind === 'literal' ? found.value.value : null;
}
