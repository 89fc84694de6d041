/** The catalog's own views, as far as the generated texts read them. */
import type { Database, DatabaseObject, Table } from './database.ts';
import { BeyondEngine } from './errors.ts';
import type { Column, Relation } from './scope.ts';
import { bit, int, isText, isUnicode, type SqlType, textType } from './types.ts';
import type { Value } from './values.ts';

/** `sys.tables` and its like, of one database; undefined for a name that is none of the catalog's. */
export function catalogView(written: string, name: string, database: Database): Relation | undefined {
  const schema = written.split('.').at(-1) ?? '';
  const other = written.slice(0, -schema.length).toLowerCase();
  const view = views[`${schema}.${name}`.toLowerCase()];
  if (view === undefined) {
    if (/^(sys|information_schema)$/i.test(schema)) throw new BeyondEngine(`${schema}.${name}`);
    return undefined;
  }
  const types: Readonly<Record<string, SqlType>> = { text: textType('nvarchar', 128, database.collation), int, bit };
  const columns = Object.entries(view.columns).map(
    ([column, type]): Column => ({ name: column, type: types[type] ?? int }),
  );
  return { columns, rows: () => view.rows(objectsOf(other, database)) };
}

/** The objects of the database whose schemas begin so; without a name, of the session's own. */
function objectsOf(other: string, { objects }: Database): readonly DatabaseObject[] {
  return [...objects.values()].filter(({ schema }) =>
    other === '' ? !schema.includes('.') : schema.toLowerCase().startsWith(other),
  );
}

interface CatalogView {
  readonly columns: Readonly<Record<string, 'text' | 'int' | 'bit'>>;
  readonly rows: (objects: readonly DatabaseObject[]) => readonly (readonly Value[])[];
}

const userTypes = [
  'bit',
  'tinyint',
  'smallint',
  'int',
  'bigint',
  'decimal',
  'date',
  'time',
  'datetime',
  'datetime2',
  'char',
  'varchar',
  'nchar',
  'nvarchar',
  'binary',
  'varbinary',
  'xml',
];

const views: Readonly<Record<string, CatalogView>> = {
  'information_schema.tables': {
    columns: { TABLE_CATALOG: 'text', TABLE_SCHEMA: 'text', TABLE_NAME: 'text', TABLE_TYPE: 'text' },
    rows: (objects) =>
      objects
        .filter(({ kind }) => kind !== 'procedure')
        .map(({ schema, name, kind }) => ['db', schema, name, kind === 'view' ? 'VIEW' : 'BASE TABLE']),
  },
  'sys.schemas': { columns: { name: 'text', schema_id: 'int' }, rows: () => [['dbo', 1n]] },
  'sys.tables': {
    columns: { name: 'text', object_id: 'int', schema_id: 'int' },
    rows: (objects) => tablesOf(objects).map(({ name, id }) => [name, id, 1n]),
  },
  'sys.types': {
    columns: { name: 'text', system_type_id: 'int', user_type_id: 'int' },
    rows: () => userTypes.map((name, index) => [name, BigInt(index), BigInt(index)]),
  },
  'sys.columns': {
    columns: {
      object_id: 'int',
      column_id: 'int',
      name: 'text',
      system_type_id: 'int',
      user_type_id: 'int',
      max_length: 'int',
      is_computed: 'bit',
      is_identity: 'bit',
    },
    rows: (objects) =>
      tablesOf(objects).flatMap(({ id, columns }) =>
        columns.map(({ name, type }, index) => {
          const kind = BigInt(userTypes.indexOf(type.base));
          return [id, BigInt(index + 1), name, kind, kind, maxLength(type), 0n, 0n];
        }),
      ),
  },
  'sys.indexes': {
    columns: { object_id: 'int', index_id: 'int', is_primary_key: 'bit' },
    rows: (objects) =>
      tablesOf(objects).flatMap(({ id, keys }) =>
        keys.map(({ isPrimary }, index) => [id, BigInt(index + 1), isPrimary ? 1n : 0n]),
      ),
  },
  'sys.index_columns': {
    columns: { object_id: 'int', index_id: 'int', column_id: 'int' },
    rows: (objects) =>
      tablesOf(objects).flatMap(({ id, keys }) =>
        keys.flatMap(({ columns }, index) => columns.map((place) => [id, BigInt(index + 1), BigInt(place + 1)])),
      ),
  },
};

function tablesOf(objects: readonly DatabaseObject[]): readonly Table[] {
  return objects.filter((object) => object.kind === 'table');
}

/** In bytes; -1 for `max`. */
function maxLength(type: SqlType): bigint {
  if (type.length === 'max') return -1n;
  return BigInt(isText(type) && isUnicode(type) ? type.length * 2 : type.length);
}
