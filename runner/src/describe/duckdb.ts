import type { TableName } from '../../../protocol/catalog.ts';
import type { DescribedTable, ListedTable } from '../../../protocol/runner-process.ts';
import { queryRows } from '../queries.ts';
import type { Session } from '../session.ts';
import { oneOf, sameName } from './choose.ts';

/** Catalog queries of the embedded engine, which only read. */
const duckdbCatalog = {
  tables: `SELECT database_name, schema_name, table_name, 'table' FROM duckdb_tables() WHERE NOT internal AND NOT temporary
UNION ALL
SELECT database_name, schema_name, view_name, 'view' FROM duckdb_views() WHERE NOT internal AND NOT temporary
ORDER BY 1, 2, 3`,
  columns: `SELECT database_name, schema_name, table_name, column_name, data_type, is_nullable, column_default
FROM duckdb_columns() WHERE NOT internal ORDER BY database_name, schema_name, table_name, column_index`,
  constraints: `SELECT database_name, schema_name, table_name, constraint_text
FROM duckdb_constraints() WHERE constraint_type <> 'NOT NULL' ORDER BY database_name, schema_name, table_name, constraint_index`,
  views: `SELECT database_name, schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal`,
} as const;

/** @param main name of the database that the file itself holds; names in it have two parts */
export async function listDuckdb(session: Session, main: string): Promise<readonly ListedTable[]> {
  const rows = await queryRows(session, duckdbCatalog.tables);
  return rows.map(([database, schema, name, kind]) => ({
    database: database === main ? null : String(database),
    schema: String(schema),
    name: String(name),
    kind: kind === 'view' ? 'view' : 'table',
  }));
}

export async function describeDuckdb(
  session: Session,
  main: string,
  wanted: readonly TableName[],
): Promise<readonly DescribedTable[]> {
  const listed = await listDuckdb(session, main);
  const chosen = wanted.length === 0 ? listed : wanted.map((name) => oneOf(listed, name));
  const [columns, constraints, views] = await inTurn(session, [
    duckdbCatalog.columns,
    duckdbCatalog.constraints,
    duckdbCatalog.views,
  ]);
  return chosen.map((table): DescribedTable => {
    const name = { database: table.database, schema: table.schema, table: table.name };
    const own = (rows: readonly (readonly unknown[])[] = []) =>
      rows.filter(([database, schema, found]) =>
        sameName(
          { database: database === main ? null : String(database), schema: String(schema), table: String(found) },
          name,
        ),
      );
    if (table.kind === 'view') {
      const [[, , , text] = []] = own(views);
      return { name, platform: 'duckdb', text: `${String(text ?? '').trimEnd()}\n`, notes: [] };
    }
    const lines = [
      ...own(columns).map(([, , , column, type, nullable, value]) =>
        [
          nameOf(String(column)),
          String(type),
          nullable === false ? 'NOT NULL' : '',
          value === null ? '' : `DEFAULT ${String(value)}`,
        ]
          .filter((part) => part !== '')
          .join(' '),
      ),
      ...own(constraints).map(([, , , text]) => String(text)),
    ];
    const sequences = own(columns).flatMap(
      ([, , , , , , value]) => /nextval\('([^']+)'\)/.exec(String(value))?.[1] ?? [],
    );
    return {
      name,
      platform: 'duckdb',
      text: `CREATE TABLE ${dotted(name)} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n);\n`,
      notes: sequences.map((sequence) => `The sequence ${sequence} has to exist first.`),
    };
  });
}

async function inTurn(session: Session, texts: readonly string[]): Promise<(readonly (readonly unknown[])[])[]> {
  const results: (readonly (readonly unknown[])[])[] = [];
  for (const text of texts) results.push(await queryRows(session, text));
  return results;
}

function dotted(name: TableName): string {
  return [name.database, name.schema, name.table]
    .filter((part) => part !== null)
    .map(nameOf)
    .join('.');
}

/** Every name that is no plain lower-case word is quoted, and so are the few plain words that the engine reserves. */
function nameOf(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Reserved words of DuckDB 1.5 (`duckdb_keywords()`). */
const reserved = new Set(
  (
    'all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default ' +
    'deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect ' +
    'into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing primary ' +
    'qualify references returning select show some summarize symmetric table then to trailing true union unique unpivot ' +
    'using variadic when where window with'
  ).split(' '),
);
