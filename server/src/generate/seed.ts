import type { CatalogColumn, CatalogTable } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { Batch } from '../../../protocol/run.ts';
import { originOf, valueType } from '../load/language.ts';
import { formatTableName } from '../model/names.ts';
import { DuckDbPrinter } from '../sql/duckdb.ts';

const printer = new DuckDbPrinter({ comma: 'trailing', quoteAlways: true });

/** A CSV file whose rows take the place of a table's rows. */
export interface SeedFile {
  readonly table: CatalogTable;
  /** Path in the file system of the engine. */
  readonly path: string;
  /** Names of its first line (`csvHeader`). */
  readonly header: readonly string[];
}

/**
 * Gives the path of the file in which a database other than the main one lives, or null for one in memory: names in three
 * parts need a database attached beside the main one.
 */
export type AttachedPath = (database: string) => string | null;

/**
 * The batches that create a folder's tables on the embedded engine, where they are not there yet, and fill those that a CSV
 * file is given for. Types are those of `sql/types.ts`; lengths become CHECK constraints; IDENTITY becomes a sequence; enforced
 * keys are enforced; a database part becomes an attached database. In CSV files an empty field without quotes is NULL.
 * Sequences go on after the highest value of a file, and those that DuckDB defaults name are created.
 *
 * All files are first read into temporary tables with the constraints of their targets: a fault in one of them leaves
 * everything as it was. Then each database is written in a transaction of its own, since the engine lets one transaction
 * write one database.
 */
export function seedBatches(
  tables: readonly CatalogTable[],
  files: readonly SeedFile[],
  attachedPath: AttachedPath,
): Outcome<readonly Batch[]> {
  const problems: Problem[] = [];
  const stages = stageNames(files);
  const stageOf = (index: number) => stages[index] ?? '';
  const isSeeded = (table: CatalogTable) => files.some((file) => file.table === table);
  const databases = groupByDatabase([
    ...tables,
    ...files.flatMap(({ table }) => (tables.includes(table) ? [] : [table])),
  ]);
  const texts = [
    ...files.map((file, index) => stageText(file, stageOf(index), problems)),
    ...[...databases].flatMap(([database, members]) => [
      ...(database === null ? [] : [attachText(database, attachedPath(database))]),
      inTransaction(
        [
          ...schemasOf([...members.map(({ name }) => name), ...members.flatMap(sequencesNamedBy)]),
          ...members.flatMap((table) => tableTexts(table, problems)),
          ...files.flatMap((file, index) => (members.includes(file.table) ? replaceTexts(file, stageOf(index)) : [])),
        ],
        `-- ${database ?? 'The main database'}: tables${members.some(isSeeded) ? ' and rows' : ''}.`,
      ),
    ]),
    ...stages.map((stage) => `DROP TABLE ${stage};\n`),
  ];
  return { value: texts.map((text) => ({ text, line: 0 })), problems };
}

/** Counts the rows of a table on the embedded engine. */
export function rowCountQuery(table: CatalogTable): string {
  return `SELECT count(*) FROM ${fullName(table)};`;
}

function groupByDatabase(tables: readonly CatalogTable[]): Map<string | null, readonly CatalogTable[]> {
  const groups = new Map<string | null, CatalogTable[]>();
  for (const table of tables) {
    const group = groups.get(table.name.database);
    if (group === undefined) groups.set(table.name.database, [table]);
    else group.push(table);
  }
  return groups;
}

function attachText(database: string, path: string | null): string {
  return `ATTACH IF NOT EXISTS ${literal(path ?? ':memory:')} AS ${quoted(database)};\n`;
}

function inTransaction(statements: readonly string[], heading: string): string {
  return `${heading}\nBEGIN TRANSACTION;\n${statements.join('\n')}\nCOMMIT;\n`;
}

function schemasOf(places: readonly Pick<SequenceName, 'database' | 'schema'>[]): readonly string[] {
  const names = places.flatMap(({ database, schema }) => (schema === null ? [] : [dotted([database, schema])]));
  return [...new Set(names)].map((name) => `CREATE SCHEMA IF NOT EXISTS ${name};`);
}

function tableTexts(table: CatalogTable, problems: Problem[]): readonly string[] {
  const names = [
    ...table.columns.filter(({ identity }) => identity).map((column) => sequenceOf(table, column)),
    ...sequencesNamedBy(table),
  ];
  const sequences = [...new Set(names.map(sequenceText))].map((name) => `CREATE SEQUENCE IF NOT EXISTS ${name};`);
  return [...sequences, `CREATE TABLE IF NOT EXISTS ${fullName(table)} (\n${bodyOf(table, problems)}\n);`];
}

/**
 * Columns, CHECK constraints of lengths and the enforced keys.
 *
 * @param given columns that have values; absent: all. Keys over others, and the values of IDENTITY columns, are left out.
 */
function bodyOf(table: CatalogTable, problems: Problem[], given?: readonly CatalogColumn[]): string {
  const hasValues = (name: string) => given === undefined || given.some((column) => column.name === name);
  const lines = [
    ...table.columns.map((column) => columnText(table, column, problems, given === undefined)),
    ...table.keys
      .filter(({ enforced, kind, columns }) => enforced && kind !== 'inferred' && columns.every(hasValues))
      .map(
        ({ kind, columns }) =>
          `${kind === 'primary-key' ? 'PRIMARY KEY' : 'UNIQUE'} (${columns.map(quoted).join(', ')})`,
      ),
  ];
  return lines.map((line) => `    ${line}`).join(',\n');
}

function columnText(table: CatalogTable, column: CatalogColumn, problems: Problem[], isKept: boolean): string {
  const name = quoted(column.name);
  const { type, length, measure, isKnown } = embeddedType(column, table);
  // Columns that no load writes have no value here either.
  if (column.computed) return `${name} ${type}`;
  if (!isKnown) {
    problems.push({
      code: 'embedded-type',
      severity: 'warning',
      message: `${formatTableName(table.name)}.${column.name}: the embedded engine has no type for ${column.type}, so it is kept as text.`,
      file: table.file,
      range: column.range,
    });
  }
  const parts = [
    name,
    type,
    column.nullable || (column.identity && !isKept) ? '' : 'NOT NULL',
    // A file gives every value that could come from a default, and the sequences of defaults are not there yet.
    isKept ? defaultText(table, column) : '',
    length === null ? '' : `CHECK (${measure}(${name}) <= ${length})`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

interface EmbeddedType {
  readonly type: string;
  /** Highest length, which the engine itself ignores; null for none. */
  readonly length: number | null;
  /** The function that measures it. */
  readonly measure: 'length' | 'octet_length';
  readonly isKnown: boolean;
}

function embeddedType(column: CatalogColumn, table: CatalogTable): EmbeddedType {
  const type = valueType(column.type, originOf(table.platform));
  const { family, length } = type.facts;
  const isChecked = type.origin !== 'duckdb' && length !== null && Number.isFinite(length);
  return {
    type: printer.typeName(type),
    length: isChecked ? length : null,
    measure: family === 'binary' ? 'octet_length' : 'length',
    isKnown: family !== 'other' || type.origin === 'duckdb',
  };
}

/** Literals and clocks carry over; any other default is left out, since loads give every value themselves. */
function defaultText(table: CatalogTable, column: CatalogColumn): string {
  if (column.identity) return `DEFAULT nextval(${literal(sequenceText(sequenceOf(table, column)))})`;
  if (column.default === null) return '';
  if (table.platform === 'duckdb') return `DEFAULT ${column.default}`;
  let text = column.default.trim();
  while (/^\(.*\)$/s.test(text) && isOneGroup(text)) text = text.slice(1, -1).trim();
  if (/^(N?'(?:[^']|'')*'|[-+]?\d+(\.\d+)?|null)$/i.test(text)) return `DEFAULT ${text.replace(/^N'/i, "'")}`;
  if (/^(getdate|getutcdate|sysdatetime|sysutcdatetime|current_timestamp|now)(\s*\(\s*\))?$/i.test(text))
    return 'DEFAULT CAST(current_timestamp AS TIMESTAMP)';
  return /^new(sequential)?id\s*\(\s*\)$/i.test(text) ? 'DEFAULT uuid()' : '';
}

/** True when the first parenthesis closes at the end. */
function isOneGroup(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (text[index] === '(') depth += 1;
    if (text[index] === ')') depth -= 1;
    if (depth === 0) return false;
  }
  return true;
}

/** Reads a file into a temporary table that has the constraints of its target. */
function stageText(file: SeedFile, stage: string, problems: Problem[]): string {
  const { table, path } = file;
  const columns = columnsOf(file, problems);
  const types = file.header.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ');
  const values = columns.map(({ name, column }) =>
    embeddedType(column, table).type === 'BLOB' ? `unhex(regexp_replace(${quoted(name)}, '^0[xX]', ''))` : quoted(name),
  );
  return [
    `-- ${formatTableName(table.name)} from ${path.replace(/[\r\n]/g, ' ')}`,
    `CREATE OR REPLACE TEMP TABLE ${stage} (\n${bodyOf(
      table,
      [],
      columns.map(({ column }) => column),
    )}\n);`,
    `INSERT INTO ${stage} (${columns.map(({ column }) => quoted(column.name)).join(', ')})`,
    `SELECT ${values.join(', ')}`,
    `FROM read_csv(${literal(path)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',`,
    `    nullstr = '', allow_quoted_nulls = false, columns = {${types}});`,
    '',
  ].join('\n');
}

function replaceTexts(file: SeedFile, stage: string): readonly string[] {
  const columns = columnsOf(file, [])
    .map(({ column }) => quoted(column.name))
    .join(', ');
  return [
    `DELETE FROM ${fullName(file.table)};`,
    `INSERT INTO ${fullName(file.table)} (${columns}) SELECT ${columns} FROM ${stage};`,
    ...columnsOf(file, []).flatMap(({ column }) => {
      const sequences = column.identity ? [sequenceOf(file.table, column)] : sequencesOfDefault(file.table, column);
      return sequences.map((sequence) => advanceText(file.table, column, sequence));
    }),
  ];
}

/**
 * Takes values from a sequence until the next one is above all of the column's, so that rows added later get free ones.
 * The engine has no `setval`, and it does not let a sequence that a default uses be replaced.
 * In a database that was opened again `last_value` is the next value, else the one before it: the higher count serves both.
 */
function advanceText(table: CatalogTable, column: CatalogColumn, sequence: SequenceName): string {
  const { database, schema, sequence: name } = sequence;
  const isPart = (part: string, value: string) => `lower(${part}) = lower(${value})`;
  return [
    `SELECT max(nextval(${literal(sequenceText(sequence))})) FROM range(coalesce((`,
    '    SELECT greatest(0, floor((highest - coalesce(last_value, start_value)) / increment_by) + 1)::BIGINT',
    `    FROM duckdb_sequences(), (SELECT max(TRY_CAST(${quoted(column.name)} AS BIGINT)) AS highest FROM ${fullName(table)})`,
    `    WHERE increment_by > 0 AND ${isPart('sequence_name', literal(name))}`,
    `        AND ${isPart('schema_name', schema === null ? 'current_schema()' : literal(schema))}`,
    `        AND ${isPart('database_name', database === null ? 'current_database()' : literal(database))}), 0));`,
  ].join('\n');
}

/** The file's columns that the table has; names that it has not, and columns that may not be left out, are problems. */
function columnsOf(
  { table, header, path }: SeedFile,
  problems: Problem[],
): readonly { readonly name: string; readonly column: CatalogColumn }[] {
  const fault = (message: string) => problems.push({ code: 'csv-columns', severity: 'error', message });
  const named = header.map((name) => ({
    name,
    column: table.columns.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase()),
  }));
  const strange = named.filter(({ column }) => column === undefined || column.computed).map(({ name }) => name);
  const missing = table.columns.filter(
    (column) =>
      !column.computed && !column.identity && !named.some((candidate) => candidate.column?.name === column.name),
  );
  const twice = named.filter(({ column }, index) => named.findIndex((other) => other.column === column) !== index);
  const target = formatTableName(table.name);
  if (strange.length > 0) fault(`${path} has columns that ${target} has not: ${strange.join(', ')}.`);
  if (missing.length > 0)
    fault(`${path} lacks columns of ${target}: ${missing.map((column) => column.name).join(', ')}.`);
  if (strange.length === 0 && twice.length > 0)
    fault(`${path} names columns twice: ${twice.map(({ name }) => name).join(', ')}.`);
  return named.flatMap(({ name, column }) => (column === undefined ? [] : [{ name, column }]));
}

/** Temporary tables bear the names of their files, which then stand in the engine's messages. */
function stageNames(files: readonly SeedFile[]): readonly string[] {
  const names = files.map(({ path }) => path.split(/[\\/]/).at(-1) ?? path);
  return names.map((name, index) => {
    const isFirst = names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) === index;
    return `temp.${quoted(isFirst ? name : `${name} (${index + 1})`)}`;
  });
}

interface SequenceName {
  readonly database: string | null;
  readonly schema: string | null;
  readonly sequence: string;
}

/** The sequence that numbers an IDENTITY column. */
function sequenceOf({ name }: CatalogTable, column: CatalogColumn): SequenceName {
  return { database: name.database, schema: name.schema, sequence: `${name.table}_${column.name}_seq` };
}

function sequencesNamedBy(table: CatalogTable): readonly SequenceName[] {
  return table.columns.flatMap((column) => sequencesOfDefault(table, column));
}

/** The sequences that a DuckDB default takes values from, as it names them; in an attached database, those of the table. */
function sequencesOfDefault({ name, platform }: CatalogTable, column: CatalogColumn): readonly SequenceName[] {
  if (platform !== 'duckdb' || column.identity || column.computed) return [];
  const named = (column.default ?? '').matchAll(/\bnextval\s*\(\s*'((?:[^']|'')+)'\s*\)/gi);
  return [...named].flatMap(([, text = '']) => {
    const parts = [...text.replaceAll("''", "'").matchAll(/"((?:[^"]|"")*)"|[^."]+/g)].map(([part, inner]) =>
      inner === undefined ? part.trim() : inner.replaceAll('""', '"'),
    );
    const [sequence, schema, database = name.database] = parts.reverse();
    if (sequence === undefined) return [];
    return [{ database, schema: schema ?? (database === null ? null : name.schema), sequence }];
  });
}

function sequenceText({ database, schema, sequence }: SequenceName): string {
  return dotted([database, schema, sequence]);
}

function fullName({ name }: CatalogTable): string {
  return dotted([name.database, name.schema, name.table]);
}

function dotted(parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map(quoted)
    .join('.');
}

function quoted(name: string): string {
  return printer.quoted(name);
}

function literal(text: string): string {
  return printer.textLiteral(text);
}
