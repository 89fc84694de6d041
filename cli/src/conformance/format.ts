/** Load cases of format `dw-load-conformance/1`: their shape, and how files are read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type LoadOptions, patternNames } from '../../../protocol/specification.ts';

const hashToken = z.union([
  z.strictObject({
    $hash: z.record(
      z.string(),
      z.lazy(() => cellSchema),
    ),
  }),
  z.strictObject({ $zero_hash: z.literal(true) }),
  z.strictObject({ $error_hash: z.literal(true) }),
]);
const repeatedText = z.strictObject({
  $repeat: z.tuple([z.string(), z.int().nonnegative()]),
  $suffix: z.string().optional(),
});
type Scalar = string | number | boolean | null;
export type RepeatedText = z.infer<typeof repeatedText>;
export type HashToken = { $hash: Record<string, Cell> } | { $zero_hash: true } | { $error_hash: true };
/** A value as a case writes it. */
export type Cell = Scalar | RepeatedText | HashToken;
const cellSchema: z.ZodType<Cell> = z.union([z.string(), z.number(), z.boolean(), z.null(), repeatedText, hashToken]);

const rowSchema = z.record(z.string(), cellSchema);
const columnsSchema = z.record(
  z.string(),
  z.string().regex(/^(string|text|int|bigint|boolean|date|hash|timestamp\(\d\)|decimal\(\d+,\d+\))$/),
);
const countSchema = z.int().nonnegative();
/** Error codes that a step may expect. */
export const errorCodes = [
  'duplicate_key',
  'null_key',
  'null_sequence',
  'ambiguous_sequence',
  'same_timestamp_conflict',
  'empty_stage',
  'inactivation_threshold',
  'batch_time_not_after_current',
  'late_row',
] as const;

const stepSchema = z.object({
  now: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,7})?$/),
  stage_rows: z.array(rowSchema),
  stage_columns: z.array(z.string()).optional(),
  target_columns: z.array(z.string()).optional(),
  extra_rows: z.record(z.string(), z.array(rowSchema)).optional(),
  scope: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))).optional(),
  expected_target_rows: z.array(rowSchema),
  expected_counts: z.object({
    inserted: countSchema,
    updated: countSchema,
    expired: countSchema,
    deleted: countSchema,
    unchanged: countSchema.nullable().optional(),
    skipped: countSchema.optional(),
    inactivated: countSchema.nullable().optional(),
  }),
  expect_error: z.enum(errorCodes).optional(),
  hash_classes: z.array(z.array(z.string())).optional(),
});

const caseSchema = z.object({
  id: z.string(),
  title: z.string(),
  pattern: z.enum(patternNames),
  config: z.looseObject({
    engines: z.array(z.string()).optional(),
    target_identity: z.array(z.string()),
    target_key: z.array(z.string()),
  }),
  tables: z.strictObject({
    stage: columnsSchema,
    target: columnsSchema,
    extra: z.record(z.string(), columnsSchema).optional(),
  }),
  initial_target_rows: z.array(rowSchema).optional(),
  initial_target_columns: z.array(z.string()).optional(),
  steps: z.array(stepSchema).min(1),
});
const fileSchema = z.object({
  format: z.literal('dw-load-conformance/1'),
  pattern: z.enum(patternNames),
  cases: z.array(caseSchema),
});

export type CaseStep = z.infer<typeof stepSchema>;
/** Column name → neutral type, in table order. */
export type NeutralColumns = Readonly<Record<string, string>>;
export type CaseRow = Readonly<Record<string, Cell>>;
export type CaseOptions = LoadOptions & {
  readonly engines?: readonly string[];
  readonly target_identity: readonly string[];
  readonly target_key: readonly string[];
};
/** A case; its `config` holds load options under their product names. */
export interface ConformanceCase extends Omit<z.infer<typeof caseSchema>, 'config'> {
  readonly config: CaseOptions;
}

export class UnreadableCases extends Error {}

/**
 * Reads the cases of every `*.json` directly in a folder, in the order of file names.
 * Throws `UnreadableCases` with one line that names the file and the place when a folder or file cannot be read.
 */
export function readCases(folder: string): readonly ConformanceCase[] {
  const names = fileNames(folder);
  if (names.length === 0)
    throw new UnreadableCases(`${folder} holds no *.json files; name a folder of cases by --cases`);
  const cases = names.flatMap((name) => readCaseFile(join(folder, name)));
  const seen = new Set<string>();
  for (const { id } of cases) {
    if (seen.has(id)) throw new UnreadableCases(`${folder}: two cases have the id ${id}`);
    seen.add(id);
  }
  return cases;
}

function fileNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch (error) {
    throw new UnreadableCases(`${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readCaseFile(file: string): readonly ConformanceCase[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UnreadableCases(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new UnreadableCases(`${file}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  // The options of `config` are judged by the generator, which refuses what it does not know.
  return parsed.data.cases.map((parsedCase) => ({ ...parsedCase, config: parsedCase.config as CaseOptions }));
}

/** The columns of a step's table: the stated subset in table order, or all of them. */
export function columnsOf(columns: NeutralColumns, subset: readonly string[] | undefined): NeutralColumns {
  if (subset === undefined) return columns;
  return Object.fromEntries(Object.entries(columns).filter(([name]) => subset.includes(name)));
}
