/** CREATE, ALTER and DROP of tables, views and procedures. */
import type {
  AlterTable,
  ColumnDefinition,
  CreateProcedure,
  CreateTable,
  CreateView,
  Drop,
  Name,
} from '../../../server/src/syntax/tree.ts';
import { namedCollation } from './collations.ts';
import type { Table, TableColumn, UniqueKey } from './database.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Relation } from './scope.ts';
import { checkNames } from './sources.ts';
import { readType } from './types.ts';
import { asColumn, missing, objectName, type SessionWorld } from './world.ts';

/** Synapse and Fabric take no definitions in a transaction. */
function mustDefine(world: SessionWorld): void {
  const { session } = world;
  const { product } = session.database.facts;
  session.mustWrite();
  if (session.transactionCount > 0 && (product === 'synapse' || product === 'fabric')) {
    throw new SqlError(111_212, 'Operation cannot be performed within a transaction.');
  }
}

function mustBeFree(name: Name, world: SessionWorld): void {
  if (world.object(name) !== undefined) {
    throw new SqlError(2714, `There is already an object named '${objectName(name).name}' in the database.`, 16, 6);
  }
}

export function createTable(statement: CreateTable, world: SessionWorld): void {
  if (statement.cloneOf !== null || statement.external || statement.orReplace || statement.ifNotExists)
    throw new BeyondEngine('a clause of CREATE TABLE');
  mustDefine(world);
  mustBeFree(statement.name, world);
  const { schema, name } = objectName(statement.name);
  const columns = statement.elements.filter((element) => element.kind === 'column-definition');
  const constraints = statement.elements.filter((element) => element.kind !== 'column-definition');
  checkNames(
    columns.map((column) => column.name.name),
    name,
  );
  const keys = constraints.map((constraint): UniqueKey => {
    if (constraint.kind !== 'constraint' || !(constraint.type === 'primary-key' || constraint.type === 'unique'))
      throw new BeyondEngine(`a ${constraint.kind} in CREATE TABLE`);
    const places = constraint.columns.map((column) =>
      columns.findIndex((of) => of.name.name.toLowerCase() === column.name.name.toLowerCase()),
    );
    if (places.includes(-1)) throw new SqlError(1911, 'Column name does not exist in the target table or view.');
    return { isPrimary: constraint.type === 'primary-key', columns: places };
  });
  const primary = new Set(keys.filter(({ isPrimary }) => isPrimary).flatMap((key) => key.columns));
  const defined = columns.map((column, place) => {
    const made = columnOf(column, world);
    return primary.has(place) ? { ...made, nullable: false } : made;
  });
  const table: Table = {
    kind: 'table',
    id: world.session.database.nextId(),
    schema,
    name,
    columns: defined,
    keys,
    rows: [],
  };
  world.session.putTable(table, true);
}

function columnOf(column: ColumnDefinition, world: SessionWorld): TableColumn {
  if (column.type === null || column.constraints.length > 0 || column.default !== null || column.identity !== null) {
    throw new BeyondEngine(`the definition of column ${column.name.name}`);
  }
  const { collation } = world;
  const own = column.collation === null ? collation : namedCollation(column.collation.name, collation);
  return {
    name: column.name.name,
    type: asColumn(readType(column.type, 1, own)),
    nullable: column.nullable ?? true,
  };
}

/** SELECT … INTO and CREATE TABLE … AS SELECT; the rows are read once. Returns their number. */
export function createFrom(name: Name, relation: Relation, world: SessionWorld): number {
  mustDefine(world);
  mustBeFree(name, world);
  const of = objectName(name);
  checkNames(
    relation.columns.map((column) => column.name),
    of.name,
  );
  const columns = relation.columns.map(
    ({ name: column, type }): TableColumn => ({ name: column, type: asColumn(type), nullable: true }),
  );
  const conflict = columns.find(({ type }) => type.collation?.label === 'none');
  if (conflict !== undefined)
    throw new SqlError(451, `Cannot resolve collation conflict for column ${conflict.name} in SELECT statement.`);
  const rows = relation.rows(null);
  world.session.putTable({ kind: 'table', id: world.session.database.nextId(), ...of, columns, keys: [], rows }, true);
  return rows.length;
}

export function alterTable(statement: AlterTable, world: SessionWorld): void {
  mustDefine(world);
  let table = world.table(statement.name);
  for (const action of statement.actions) {
    if (action.kind !== 'add-elements') throw new BeyondEngine(`ALTER TABLE … ${action.kind}`);
    for (const element of action.elements) {
      if (element.kind !== 'column-definition') throw new BeyondEngine(`ALTER TABLE … ADD ${element.kind}`);
      const column = columnOf(element, world);
      if (table.columns.some(({ name }) => name.toLowerCase() === column.name.toLowerCase()))
        throw new SqlError(
          2705,
          `Column names in each table must be unique. Column name '${column.name}' is specified more than once.`,
        );
      table = { ...table, columns: [...table.columns, column], rows: table.rows.map((row) => [...row, null]) };
    }
  }
  world.session.putTable(table);
}

export function dropObjects({ objectType, ifExists, names }: Drop, world: SessionWorld): void {
  const { facts } = world.session.database;
  const kinds: Readonly<Record<string, string>> = { TABLE: 'table', VIEW: 'view', PROCEDURE: 'procedure' };
  const kind = kinds[objectType];
  if (kind === undefined) throw new BeyondEngine(`DROP ${objectType}`);
  if (ifExists && facts.version < 2016) throw new SqlError(156, "Incorrect syntax near the keyword 'IF'.", 15);
  for (const name of names) {
    const object = world.object(name);
    if (object === undefined || object.kind !== kind) {
      if (ifExists) continue;
      throw new SqlError(
        3701,
        `Cannot drop the ${kind} '${objectName(name).name}', because it does not exist or you do not have permission.`,
        11,
        5,
      );
    }
    mustDefine(world);
    if (object.kind === 'table' && object.name.startsWith('#')) world.session.removeTemporary(object.name);
    else world.session.database.remove(object);
  }
}

export function createView(statement: CreateView, world: SessionWorld): void {
  mustDefine(world);
  const old = world.object(statement.name);
  if (!statement.alter) mustBeFree(statement.name, world);
  if (old !== undefined && old.kind !== 'view')
    throw new SqlError(2010, `Cannot perform alter because it is an incompatible object type.`);
  if (statement.columns.length > 0 || statement.options.length > 0) throw new BeyondEngine('a clause of CREATE VIEW');
  const of = objectName(statement.name);
  checkNames(
    world.query(statement.query, null).columns.map((column) => column.name),
    of.name,
  );
  world.session.database.put({
    kind: 'view',
    id: world.session.database.nextId(),
    ...of,
    query: statement.query,
    text: world.text,
  });
}

export function createProcedure(statement: CreateProcedure, world: SessionWorld): void {
  mustDefine(world);
  const old = world.object(statement.name);
  if (!statement.alter) mustBeFree(statement.name, world);
  if (old !== undefined && old.kind !== 'procedure')
    throw new SqlError(2010, `Cannot perform alter because it is an incompatible object type.`);
  if (statement.options.length > 0) throw new BeyondEngine('an option of CREATE PROCEDURE');
  world.session.database.put({
    kind: 'procedure',
    id: world.session.database.nextId(),
    ...objectName(statement.name),
    definition: statement,
    text: world.text,
  });
}

export function truncate(name: Name, world: SessionWorld): void {
  const table = world.table(name);
  if (table === undefined) throw missing(name);
  world.session.mustWrite();
  world.session.putTable({ ...table, rows: [] });
}
