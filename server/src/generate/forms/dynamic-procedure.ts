/**
 * The metadata-driven procedure: one procedure for all tables of two databases. It takes schema and table name, reads
 * columns and primary key from the catalog, builds the text of the per-table procedure and runs it.
 *
 * The text is not written a second time: the load is printed once for a table whose columns are marks, one for each class
 * of columns, and the lists that these marks stand in become pieces. `assembled` puts the pieces together for given
 * columns as the procedure does at run time.
 */
import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import { countNames } from '../../../../protocol/counts.ts';
import type { Outcome, Problem } from '../../../../protocol/problem.ts';
import type { LoadOptions, LoadSpecification } from '../../../../protocol/specification.ts';
import { makeContext } from '../../load/context.ts';
import { planners } from '../../load/patterns.ts';
import type { LoadPlan } from '../../load/plan.ts';
import { sameIdentifier } from '../../model/names.ts';
import { typeFacts } from '../../model/types.ts';
import { indent } from '../../sql/text.ts';
import type { TsqlPrinter } from '../../sql/tsql.ts';
import { type Hooks, outputName, parameterBlock, procedureBody } from './tsql.ts';

/** Columns whose text differs in some list: keys and attributes, by what their values are. */
const kinds = ['text', 'ansi', 'long_ansi', 'time', 'binary', 'other'] as const;
const classes = [...kinds.map((kind) => `key_${kind}` as const), ...kinds];
export type ColumnClass = (typeof classes)[number];

const sampleTypes: Readonly<Record<ColumnClass, string>> = {
  key_text: 'nvarchar(100)',
  key_ansi: 'varchar(100)',
  key_long_ansi: 'varchar(max)',
  key_time: 'datetime2(7)',
  key_binary: 'varbinary(32)',
  key_other: 'int',
  text: 'nvarchar(100)',
  ansi: 'varchar(100)',
  long_ansi: 'varchar(max)',
  time: 'datetime2(7)',
  binary: 'varbinary(32)',
  other: 'int',
};

/** A run of columns in a list: for each column its template, in the order of the table; control columns by name. */
export interface ColumnRun {
  readonly templates: Readonly<Partial<Record<ColumnClass, string>>>;
  readonly controls: Readonly<Record<string, string>>;
  readonly separator: string;
  /** The run begins its list, so no separator stands before its first column. */
  readonly first: boolean;
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'schema' | 'table'; readonly within: 'brackets' | 'literal' }
  | { readonly kind: 'columns'; readonly run: ColumnRun };

/** A table as the procedure finds it in the catalog. */
export interface FoundTable {
  readonly schema: string;
  readonly table: string;
  /** In column order. `control` is the column's name where the load keeps it up itself. */
  readonly columns: readonly { readonly name: string; readonly class: ColumnClass; readonly isControl: boolean }[];
}

const open = '\uE001';
const between = '\uE002';
const after = '\uE003';
const close = '\uE004';
const markOf = (name: string): string => `\uE005${name}\uE006`;

/** The pieces of the per-table text; null where an option puts column names where no list stands. */
export function dynamicPieces(
  specification: LoadSpecification,
  target: CatalogTable,
  printerWith: (join: (elements: readonly string[], separator: string) => string) => TsqlPrinter,
  hooks: Hooks,
): Outcome<{ readonly pieces: readonly Piece[]; readonly plan: LoadPlan; readonly printer: TsqlPrinter } | null> {
  const controls = controlColumns(specification.options, target);
  const marked = markedTables(specification, target, controls);
  const planner = planners[specification.pattern];
  if (planner === undefined) return { value: null, problems: [] };
  const printer = printerWith((elements, separator) =>
    elements.some((element) => element.includes('\uE005'))
      ? `${open}${elements.join(`${between}${separator}${after}`)}${close}`
      : elements.join(separator),
  );
  const context = makeContext(marked.specification, marked.tables, printer.traits);
  const plan = planner(context);
  const text = procedureBody(plan, printer, specification.shape, hooks);
  const pieces = piecesOf(
    text,
    controls.map((of) => of.name),
  );
  const stray = pieces.some((piece) => piece.kind === 'text' && piece.text.includes('\uE005'));
  const problems: readonly Problem[] = [
    ...context.problems,
    ...(stray
      ? [
          {
            code: 'unsupported',
            severity: 'error',
            message:
              'unsupported: dynamic-procedure with these options: they name single columns; the nearest is form procedure.',
          } as const,
        ]
      : []),
  ];
  if (problems.some(({ severity }) => severity === 'error')) return { value: null, problems };
  return { value: { pieces, plan, printer }, problems };
}

/** The statement that the procedure builds for a table: the text of the per-table procedure. */
export function assembled(pieces: readonly Piece[], table: FoundTable): string {
  const inner = { schema: table.schema, table: table.table };
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind !== 'columns') {
        const name = inner[piece.kind];
        return piece.within === 'brackets' ? name.replaceAll(']', ']]') : name.replaceAll("'", "''");
      }
      const { templates, controls, separator, first } = piece.run;
      const elements = table.columns.flatMap((of) => {
        const template = of.isControl ? controls[of.name] : templates[of.class];
        return template === undefined ? [] : [template.replaceAll(markOf('column'), of.name.replaceAll(']', ']]'))];
      });
      const joined = elements.join(separator);
      return first || elements.length === 0 ? joined : separator + joined;
    })
    .join('');
}

/** The class of a column by its type. */
export function classOf(type: string, isKey: boolean): ColumnClass {
  const { family, unicode, length } = typeFacts(type, true);
  const ansi = length !== null && length <= 4000 ? 'ansi' : 'long_ansi';
  const kind =
    family === 'text'
      ? unicode
        ? 'text'
        : ansi
      : family === 'binary' || family === 'rowversion'
        ? 'binary'
        : family === 'date' || family === 'time' || family === 'timestamp'
          ? 'time'
          : 'other';
  return isKey ? `key_${kind}` : kind;
}

export function controlColumns(options: LoadOptions, target: CatalogTable): readonly CatalogColumn[] {
  const names = [
    options.valid_from,
    options.valid_to,
    options.is_current,
    options.deleted_flag,
    options.deleted_at,
    options.inactive_at,
    options.inserted_at,
  ];
  const checksum = target.columns.filter((of) => of.role === 'checksum' && of.nullable);
  return target.columns.filter(
    (of) => checksum.includes(of) || names.some((name) => name !== undefined && sameIdentifier(name, of.name)),
  );
}

function markedTables(specification: LoadSpecification, target: CatalogTable, controls: readonly CatalogColumn[]) {
  const sample = target.columns[0];
  const range = sample?.range ?? target.range;
  const columns = classes.map(
    (name): CatalogColumn => ({
      name: markOf(name),
      type: sampleTypes[name],
      nullable: true,
      role: 'attribute',
      identity: false,
      computed: false,
      default: null,
      collation: null,
      range,
    }),
  );
  const keys = classes.filter((name) => name.startsWith('key_')).map(markOf);
  const compare = classes.filter((name) => !name.startsWith('key_')).map(markOf);
  const named = (database: string | null) => ({ database, schema: markOf('schema'), table: markOf('table') });
  const options: LoadOptions = {
    ...specification.options,
    keys,
    target_key: keys,
    compare,
    untracked: [],
    mapping: {},
  };
  const marked: LoadSpecification = {
    ...specification,
    source: named(specification.source.database),
    target: named(specification.target.database),
    options,
  };
  const plain = controls.map((of) => ({ ...of, default: null }));
  return {
    specification: marked,
    tables: {
      source: { ...target, name: marked.source, columns },
      target: { ...target, name: marked.target, columns: [...columns, ...plain] },
      extra: {},
    },
  };
}

// --- from marked text to pieces

function piecesOf(text: string, controls: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = text;
  for (;;) {
    const start = rest.indexOf(open);
    if (start < 0) break;
    pieces.push(...plainPieces(rest.slice(0, start)));
    const end = closing(rest, start);
    pieces.push(...listPieces(rest.slice(start + 1, end), controls));
    rest = rest.slice(end + 1);
  }
  pieces.push(...plainPieces(rest));
  return joinedTexts(pieces);
}

function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    if (text[at] === close) depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** Names of the table stand in brackets, or in a text literal. */
function plainPieces(text: string): readonly Piece[] {
  return text.split(/(\uE005(?:schema|table)\uE006)/).map((part, index, all): Piece => {
    if (index % 2 === 0) return { kind: 'text', text: part };
    const within = all[index - 1]?.endsWith('[') === true ? 'brackets' : 'literal';
    return { kind: part.includes('schema') ? 'schema' : 'table', within };
  });
}

interface Element {
  readonly text: string;
  readonly class: ColumnClass | null;
  readonly control: string | null;
}

function listPieces(list: string, controls: readonly string[]): readonly Piece[] {
  const { elements, separator } = splitList(list, controls);
  const pieces: Piece[] = [];
  let run: Element[] = [];
  let started = false;
  const flush = (): void => {
    if (run.length === 0) return;
    const templates = Object.fromEntries(
      run.flatMap((of) => (of.class === null ? [] : [[of.class, unmarked(of.text)]])),
    );
    const named = Object.fromEntries(run.flatMap((of) => (of.control === null ? [] : [[of.control, of.text]])));
    pieces.push({ kind: 'columns', run: { templates, controls: named, separator, first: !started } });
    started = true;
    run = [];
  };
  for (const element of elements) {
    const repeats = run.some((of) => of.class !== null && of.class === element.class);
    const belongs = element.class !== null || (element.control !== null && run.length > 0);
    if (repeats || !belongs) flush();
    if (belongs) {
      run.push(element);
      continue;
    }
    pieces.push(...(started ? [{ kind: 'text', text: separator } as const] : []), ...piecesOf(element.text, controls));
    started = true;
  }
  flush();
  return pieces;
}

function unmarked(text: string): string {
  return text.replaceAll(/\uE005(?!schema|table)\w+\uE006/g, markOf('column'));
}

function splitList(
  list: string,
  controls: readonly string[],
): { readonly elements: readonly Element[]; readonly separator: string } {
  const texts: string[] = [];
  let separator = '';
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at += 1) {
    const letter = list[at];
    if (letter === open) depth += 1;
    if (letter === close) depth -= 1;
    if (depth > 0) continue;
    if (letter === between) {
      texts.push(list.slice(start, at));
      start = at + 1;
    } else if (letter === after) {
      separator = list.slice(start, at);
      start = at + 1;
    }
  }
  texts.push(list.slice(start));
  const isCommaList = separator.startsWith(',') || separator.startsWith('\n,');
  return {
    separator,
    elements: texts.map((text): Element => {
      const marks = new Set([...text.matchAll(/\uE005(\w+)\uE006/g)].map((match) => match[1]));
      const found = classes.find((name) => marks.size === 1 && marks.has(name));
      const last = /\[((?:[^\]]|\]\])*)\]$/.exec(text)?.[1] ?? null;
      const control = isCommaList && marks.size === 0 && last !== null && controls.includes(last) ? last : null;
      return { text, class: text.includes(open) ? null : (found ?? null), control };
    }),
  };
}

function joinedTexts(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + piece.text };
    else if (piece.kind !== 'text' || piece.text !== '') joined.push(piece);
  }
  return joined;
}

// --- the procedure

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
  for (const name of classes) {
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
