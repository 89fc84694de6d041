import * as z from 'zod';
import { checkOptions } from '../../protocol/load-options.ts';
import { formNames, type LoadSpecification, patternNames } from '../../protocol/specification.ts';
import { UsageError } from './command.ts';

const tableName = z.strictObject({
  database: z.string().nullable(),
  schema: z.string().nullable(),
  table: z.string().min(1),
});

const specification = z.strictObject({
  version: z.literal(1),
  pattern: z.enum(patternNames),
  source: tableName,
  target: tableName,
  extra: z.record(z.string(), tableName).optional(),
  platform: z.string(),
  form: z.enum(formNames),
  shape: z.enum(['separate', 'merge']),
  options: z.record(z.string(), z.unknown()),
});

/** Checks a specification that was read from a file, as `generate --json` prints it; `shown` names the file in errors. */
export function specificationFrom(json: unknown, shown: string): LoadSpecification {
  const parsed = specification.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(
      `--spec ${shown} is no load specification, at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? ''}`,
    );
  }
  const { options, complaints } = checkOptions(parsed.data.options);
  if (complaints[0] !== undefined) throw new UsageError(`--spec ${shown}: ${complaints[0]}`);
  const { extra, ...rest } = parsed.data;
  return { ...rest, ...(extra === undefined ? {} : { extra }), options };
}
