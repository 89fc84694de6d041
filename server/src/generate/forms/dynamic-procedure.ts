/**
 * The metadata-driven procedure: one procedure for all tables of two databases. It takes schema and table name, reads
 * columns and primary key from the catalog, builds the text of the per-table procedure out of pieces and runs it.
 */
import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { countNames } from '../../../../protocol/counts.ts';
import type { LoadSpecification } from '../../../../protocol/specification.ts';
import type { LoadPlan } from '../../load/plan.ts';
import { indent } from '../../sql/text.ts';
import type { TsqlPrinter } from '../../sql/tsql.ts';
import { type ColumnClass, type ColumnRun, columnClasses, markOf, type Piece } from './dynamic-pieces.ts';
import { outputName, parameterBlock } from './tsql.ts';

/** The procedure's text without its header. */
export function dynamicProcedure(
  {
    pieces,
    plan,
    printer,
  }: { readonly pieces: readonly Piece[]; readonly plan: LoadPlan; readonly printer: TsqlPrinter },
  specification: LoadSpecification,
  controls: readonly CatalogColumn[],
  name: string,
): { readonly create: readonly string[]; readonly body: string } {
  const { features } = printer;
  const start = specification.options.valid_from ?? '';
  const inputs = plan.parameters.map(
    ({ name: of, type, value, clock }) =>
      `@${of} ${printer.typeName(type)} = ${clock || value === null ? 'NULL' : printer.literal(value, type)}`,
  );
  const parameters = [
    '@SchemaName sysname',
    '@TableName sysname',
    ...inputs,
    '@Preview bit = 0',
    '@Debug bit = 0',
    ...countNames.map((of) => `@${outputName(of)} bigint = NULL OUTPUT`),
  ];
  const passed = [
    ...plan.parameters.map(({ name: of, type }) => ({ name: of, type: printer.typeName(type), output: false })),
    { name: 'Preview', type: 'bit', output: false },
    ...countNames.map((of) => ({ name: outputName(of), type: 'bigint', output: true })),
  ];
  const declared = passed.map(({ name: of, type, output }) => `@${of} ${type}${output ? ' OUTPUT' : ''}`).join(', ');
  const body = [
    'SET NOCOUNT ON;',
    `DECLARE @Sql nvarchar(max) = N'';
DECLARE @NewLine nchar(1) = NCHAR(10);
DECLARE @Schema nvarchar(260) = REPLACE(@SchemaName, N']', N']]');
DECLARE @Table nvarchar(260) = REPLACE(@TableName, N']', N']]');
DECLARE @Missing nvarchar(2000);`,
    readCatalog(printer, specification, controls, start),
    '-- The statement of the per-table procedure, piece by piece.',
    ...pieces.map((piece) => pieceText(piece, printer)),
    `IF @Debug = 1
BEGIN
    -- PRINT cuts at 4,000 characters, so the text goes out line by line.
    DECLARE @From bigint = 1;
    DECLARE @To bigint;
    WHILE @From <= LEN(@Sql)
    BEGIN
        SET @To = CHARINDEX(@NewLine, @Sql, @From);
        IF @To = 0 SET @To = LEN(@Sql) + 1;
        PRINT SUBSTRING(@Sql, @From, @To - @From);
        SET @From = @To + 1;
    END;
    RETURN;
END;`,
    `EXEC sys.sp_executesql @Sql,\n    ${printer.textLiteral(declared)},\n${indent(passed.map(({ name: of, output }) => `@${of} = @${of}${output ? ' OUTPUT' : ''}`).join(',\n'))};`,
  ].join('\n\n');
  const head = `${features.createOrAlter ? 'CREATE OR ALTER' : 'CREATE'} PROCEDURE ${name}\n${indent(parameters.join(',\n'))}\nAS\nBEGIN\n${indent(body)}\nEND;`;
  const drop = features.dropIfExists
    ? `DROP PROCEDURE IF EXISTS ${name};`
    : `IF OBJECT_ID(${printer.textLiteral(name)}, N'P') IS NOT NULL DROP PROCEDURE ${name};`;
  return { create: features.createOrAlter ? [] : [drop], body: head };
}

/** Runs the procedure for one table, with the values of a parameter block. */
export function dynamicCall(plan: LoadPlan, target: CatalogTable, printer: TsqlPrinter, name: string): string {
  const passed = [
    `@SchemaName = ${printer.textLiteral(target.name.schema ?? 'dbo')}`,
    `@TableName = ${printer.textLiteral(target.name.table)}`,
    ...plan.parameters.map(({ name: of }) => `@${of} = @${of}`),
  ];
  return [parameterBlock(plan, printer), `EXEC ${name}\n${indent(passed.join(',\n'))};`].join('\n\n');
}

/** Columns of the target in their order, each with its class; keys are the primary key without the start column. */
function readCatalog(
  printer: TsqlPrinter,
  { source, target }: LoadSpecification,
  controls: readonly CatalogColumn[],
  start: string,
): string {
  const sys = (database: string | null, view: string): string =>
    `${database === null ? '' : `${printer.quoted(database)}.`}sys.${view}`;
  const t = (view: string): string => sys(target.database, view);
  const s = (view: string): string => sys(source.database, view);
  const names = controls.map((of) => printer.textLiteral(of.name)).join(', ');
  const drop = printer.dropRelation('columns');
  // The names of two databases may have two collations, which a comparison does not settle by itself.
  return `-- Columns and primary key of the table, from the catalog.
${drop}
SELECT
    col.name AS name,
    REPLACE(col.name, N']', N']]') AS escaped,
    col.column_id AS position,
    CASE WHEN col.name IN (${names}) THEN 1 ELSE 0 END AS is_control,
    CASE WHEN pk.column_id IS NOT NULL AND col.name <> ${printer.textLiteral(start)} THEN N'key_' ELSE N'' END
        + CASE
            WHEN typ.name IN (N'nchar', N'nvarchar') THEN N'text'
            WHEN typ.name IN (N'char', N'varchar') AND col.max_length BETWEEN 1 AND 4000 THEN N'ansi'
            WHEN typ.name IN (N'char', N'varchar') THEN N'long_ansi'
            WHEN typ.name IN (N'binary', N'varbinary') THEN N'binary'
            WHEN typ.name IN (N'date', N'time', N'datetime', N'datetime2', N'smalldatetime', N'datetimeoffset') THEN N'time'
            ELSE N'other'
        END AS class
INTO #columns
FROM ${t('tables')} AS tab
INNER JOIN ${t('schemas')} AS sch
    ON sch.schema_id = tab.schema_id
INNER JOIN ${t('columns')} AS col
    ON col.object_id = tab.object_id
INNER JOIN ${t('types')} AS typ
    ON typ.user_type_id = col.system_type_id
LEFT JOIN (
    SELECT
        ixc.object_id,
        ixc.column_id
    FROM ${t('indexes')} AS ix
    INNER JOIN ${t('index_columns')} AS ixc
        ON ixc.object_id = ix.object_id
       AND ixc.index_id = ix.index_id
    WHERE ix.is_primary_key = 1
) AS pk
    ON pk.object_id = col.object_id
   AND pk.column_id = col.column_id
WHERE sch.name = @SchemaName
  AND tab.name = @TableName
  AND col.is_computed = 0
  AND col.is_identity = 0;

IF NOT EXISTS (SELECT 1 FROM #columns WHERE class LIKE N'key[_]%' AND is_control = 0)
BEGIN
    THROW 50022, N'no_key: the table is not there, or its primary key has no column beside the start', 1;
END;

-- Every column but those that the load keeps up itself must be staged.
SELECT @Missing = COALESCE(@Missing + N', ', N'') + c.name
FROM #columns AS c
WHERE c.is_control = 0
  AND NOT EXISTS (
    SELECT 1
    FROM ${s('tables')} AS tab
    INNER JOIN ${s('schemas')} AS sch
        ON sch.schema_id = tab.schema_id
    INNER JOIN ${s('columns')} AS col
        ON col.object_id = tab.object_id
    WHERE sch.name = @SchemaName
      AND tab.name = @TableName
      AND col.name = c.name COLLATE DATABASE_DEFAULT
  );
IF @Missing IS NOT NULL
BEGIN
    SET @Missing = N'missing_column: the stage has no ' + REPLACE(@Missing, N'%', N'%%');
    THROW 50023, @Missing, 1;
END;`;
}

function pieceText(piece: Piece, printer: TsqlPrinter): string {
  switch (piece.kind) {
    case 'text':
      return `SET @Sql = @Sql\n${indent(lines(piece.text))};`;
    case 'schema':
    case 'table': {
      const variable = piece.kind === 'schema' ? 'Schema' : 'Table';
      return piece.within === 'brackets'
        ? `SET @Sql = @Sql + @${variable};`
        : `SET @Sql = @Sql + REPLACE(@${variable}Name, N'''', N'''''');`;
    }
    case 'columns':
      return runText(piece.run, printer);
  }
}

/** A text as a chain of literals; the variable that it is added to keeps it from being cut at 4,000 characters. */
function lines(text: string): string {
  const parts = text.split('\n');
  return parts
    .map((line, index) => {
      const literal = `N'${line.replaceAll("'", "''")}'`;
      const ends = index < parts.length - 1 ? ' + @NewLine' : '';
      return `+ ${literal}${ends}`;
    })
    .filter((line) => line !== "+ N''")
    .join('\n');
}

function runText({ templates, controls, separator, first }: ColumnRun, printer: TsqlPrinter): string {
  const byTemplate = new Map<string, ColumnClass[]>();
  for (const name of columnClasses) {
    const template = templates[name];
    if (template !== undefined) byTemplate.set(template, [...(byTemplate.get(template) ?? []), name]);
  }
  const branches = [
    ...[...byTemplate].map(
      ([template, names]) =>
        `WHEN c.is_control = 0 AND c.class IN (${names.map((name) => `N'${name}'`).join(', ')}) THEN ${templateText(template)}`,
    ),
    ...Object.entries(controls).map(
      ([name, template]) =>
        `WHEN c.is_control = 1 AND c.name = ${printer.textLiteral(name)} THEN ${templateText(template)}`,
    ),
  ];
  const value = `CASE\n${indent(branches.join('\n'))}\nEND`;
  const rows = `SELECT\n${indent(`${value} AS text,\nc.position`)}\nFROM #columns AS c`;
  const literal = textOf(separator);
  if (!printer.features.stringAgg) {
    const chain = `SELECT ${literal} + r.text\nFROM (\n${indent(rows)}\n) AS r\nWHERE r.text IS NOT NULL\nORDER BY r.position\nFOR XML PATH(N''), TYPE`;
    const all = `(\n${indent(chain)}\n).value(N'.', N'nvarchar(max)')`;
    // Of no columns, and of an empty text, STUFF makes NULL, which would make the whole statement NULL.
    return `SET @Sql = @Sql + COALESCE(${first ? `STUFF(${all}, 1, ${separator.length}, N'')` : all}, N'');`;
  }
  const chain = `SELECT STRING_AGG(r.text, ${literal}) WITHIN GROUP (ORDER BY r.position)\nFROM (\n${indent(rows)}\n) AS r`;
  return first
    ? `SET @Sql = @Sql + COALESCE((\n${indent(chain)}\n), N'');`
    : `SET @Sql = @Sql + COALESCE(${literal} + (\n${indent(chain)}\n), N'');`;
}

function templateText(template: string): string {
  return `CAST(N'' AS nvarchar(max)) + ${template.split(markOf('column')).map(textOf).join(' + c.escaped + ')}`;
}

/** Literals of the lines of a text. */
function textOf(text: string): string {
  return text
    .split('\n')
    .map((line) => `N'${line.replaceAll("'", "''")}'`)
    .join(' + NCHAR(10) + ');
}
