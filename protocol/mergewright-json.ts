import * as z from 'zod';
import { loadOptions, type OptionType } from './load-options.ts';
import { platformNames, sqlServerVersions } from './platform.ts';
import { columnRoles, tableRoles } from './roles.ts';
import { formNames, patternNames } from './specification.ts';

const patterns = z.array(z.string().min(1));

const platform = z
  .enum([...platformNames, ...sqlServerVersions.map((version) => `sqlserver:${version}` as const)])
  .describe('Platform by the name that --platform takes; `sqlserver` alone means 2019.');

const options = z
  .strictObject(
    Object.fromEntries(
      Object.entries(loadOptions).map(([name, option]) => [
        name,
        schemaOfOption(option.type).describe(option.description).optional(),
      ]),
    ),
  )
  .describe(
    'Options under the names that --set takes, such as "closing" or "hash_rules"; `mergewright generate PATTERN --help` lists them.',
  );

const tableName = z
  .string()
  .min(1)
  .describe('Name of one to three parts: table, schema.table or database.schema.table.');

const load = z
  .strictObject({
    pattern: z.enum(patternNames).describe('Load pattern.'),
    source: tableName.describe('Staging table that is read.'),
    target: tableName.describe('Table that is written.'),
    extra: z.record(z.string(), tableName).describe('Further tables by role, such as "key_list".').optional(),
    platform: platform.optional(),
    form: z.enum(formNames).describe('Form of the generated text.').optional(),
    shape: z.enum(['separate', 'merge']).describe('UPDATE + INSERT, or one MERGE.').optional(),
    options: options.optional(),
    parameters: z.record(z.string(), z.string()).describe('Values of this load’s parameters.').optional(),
  })
  .describe('A load whose options depart from what is inferred, or which would not be inferred.');

const table = z
  .strictObject({
    table: tableName,
    role: z.enum(tableRoles).describe('What the table is, where the guess is wrong.').optional(),
    key: z.array(z.string().min(1)).min(1).describe('Business key columns that the DDL does not declare.').optional(),
    columns: z
      .record(z.string(), z.enum(columnRoles))
      .describe('Roles of columns, where the guess is wrong.')
      .optional(),
  })
  .describe('A correction of what is inferred about a table.');

const conventions = z
  .strictObject({
    columns: z
      .partialRecord(z.enum(columnRoles), patterns)
      .describe('Names of control columns by role, in snake case with `*`, added to the known families.')
      .optional(),
    tables: z
      .partialRecord(z.enum(tableRoles), patterns)
      .describe('Names of tables by role, added to the known families.')
      .optional(),
    schemas: z
      .partialRecord(z.enum(tableRoles), patterns)
      .describe('Schema and database names by role, added to the known families.')
      .optional(),
    ignoredAffixes: patterns.describe('Words before or behind a column name that matching ignores.').optional(),
    keySuffixes: patterns.describe('What stands behind the entity’s name in a business key column.').optional(),
  })
  .describe('What this house calls its tables and columns.');

const style = z
  .strictObject({
    keywordCase: z.enum(['upper', 'lower']).describe('Case of keywords.').optional(),
    comma: z.enum(['trailing', 'leading']).describe('Where commas of column lists stand.').optional(),
    brackets: z.enum(['always', 'when-needed']).describe('Whether names are quoted where they need not be.').optional(),
    procedureSchema: z.string().nullable().describe('Schema of generated procedures; null: the target’s.').optional(),
    header: z.array(z.string()).describe('Lines at the top of every generated file.').optional(),
    hooks: z
      .strictObject({ before: z.string().optional(), after: z.string().optional(), onError: z.string().optional() })
      .describe('Statements for logging around a load.')
      .optional(),
    runLog: tableName
      .describe(
        'Table in which every load writes a row when it begins, ends or fails, such as etl.RunLog; "mergewright create run-log" writes its DDL. Own hooks go before.',
      )
      .optional(),
  })
  .describe('House style of generated text.');

function schemaOfOption(type: OptionType): z.ZodType {
  switch (type.kind) {
    case 'text':
      return z.string();
    case 'text-or-null':
      return z.string().nullable();
    case 'number':
      return z.number();
    case 'boolean':
      return z.boolean();
    case 'choice':
      return z.literal([...type.values]);
    case 'names':
      return z.array(z.string());
    case 'pair':
      return z.array(z.string()).length(2);
    case 'map-of-text':
      return z.record(z.string(), z.string());
    case 'map-of-names':
      return z.record(z.string(), z.array(z.string()));
    case 'group':
      return z.strictObject(
        Object.fromEntries(
          Object.entries(type.fields).map(([name, field]) => [name, schemaOfOption(field).optional()]),
        ),
      );
  }
}

/** The file that a folder keeps its conventions, corrections and loads in. */
export const mergewrightJsonSchema = z
  .strictObject({
    $schema: z.string().optional(),
    platform: platform.describe('Platform of the folder’s SQL files.').optional(),
    form: z.enum(formNames).describe('Form of generated loads where none is named.').optional(),
    shape: z.enum(['separate', 'merge']).describe('Shape of generated loads where none is named.').optional(),
    out: z
      .string()
      .min(1)
      .describe('Folder for the files that the editor generates, relative to this file; the command line has `--out`.')
      .optional(),
    exclude: z
      .array(z.string().min(1))
      .describe('Folders and files that are not read, relative to this file, with `*` and `**`.')
      .optional(),
    conventions: conventions.optional(),
    tables: z.array(table).describe('Corrections of what is inferred about tables.').optional(),
    options: options.describe('Options for every load of the folder.').optional(),
    patterns: z
      .partialRecord(z.enum(patternNames), options)
      .describe('Options for every load of a pattern.')
      .optional(),
    parameters: z
      .record(z.string(), z.string())
      .describe('Values of load parameters, by name; an empty text is a place for one.')
      .optional(),
    loads: z.array(load).describe('Loads that depart from what is inferred.').optional(),
    style: style.optional(),
    rules: z
      .record(z.string(), z.enum(['off', 'hint', 'info', 'warning', 'error']))
      .describe('Severity of rules by name; `off` turns a rule off in this folder.')
      .optional(),
  })
  .describe('Settings of Mergewright for a folder and everything below it.');

export type MergewrightJson = z.infer<typeof mergewrightJsonSchema>;

/** The JSON schema that editors complete and check `mergewright.json` by. */
export function mergewrightJsonSchemaDocument(): object {
  return { title: 'mergewright.json', ...z.toJSONSchema(mergewrightJsonSchema, { target: 'draft-07', io: 'input' }) };
}
