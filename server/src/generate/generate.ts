/**
 * A load from its specification and its tables: plan, printer and form. Pure: the same input gives the same bytes, and no
 * text of a table or an option makes it throw.
 */
import { type CountName, countNames } from '../../../protocol/counts.ts';
import { type Platform, parsePlatform } from '../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../protocol/preview.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { GeneratedFile } from '../../../protocol/requests.ts';
import type { Batch } from '../../../protocol/run.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { makeContext } from '../load/context.ts';
import { planners } from '../load/patterns.ts';
import type { LoadPlan } from '../load/plan.ts';
import { sameIdentifier } from '../model/names.ts';
import { type PlatformPrinter, printerFor } from '../sql/platforms.ts';
import type { Printer } from '../sql/printer.ts';
import { comment } from '../sql/text.ts';
import type { TsqlPrinter } from '../sql/tsql.ts';
import { mixedCollations } from './collations.ts';
import { callFileOf, fileNameOf, procedureName } from './file-names.ts';
import { duckdbPreview, duckdbScript } from './forms/duckdb.ts';
import { controlColumns, dynamicPieces } from './forms/dynamic-pieces.ts';
import { dynamicCall, dynamicProcedure } from './forms/dynamic-procedure.ts';
import { procedureCall, tsqlPreview, tsqlProcedure, tsqlScript, tsqlView } from './forms/tsql.ts';
import { withHashGuards } from './hash-guards.ts';
import { headerLine } from './header.ts';
import { filledHooks, withKeywordCase } from './house-style.ts';
import { departingOptions, resolveOptions } from './options.ts';
import { badValue, isValueOf, loadParameters } from './parameters.ts';
import { platformProblems } from './platform-problems.ts';
import type { GeneratedLoad, GenerateRequest, HouseStyle, LoadTables } from './types.ts';
import { unsupportedTarget } from './unsupported-target.ts';

/** Parameters start with the values that the folder or the person gives them; what is no value of its type is a problem. */
function withStartValues(
  plan: LoadPlan,
  values: Readonly<Record<string, string>>,
  printer: Printer,
): { readonly plan: LoadPlan; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const parameters = plan.parameters.map((parameter) => {
    const { name, type } = parameter;
    const [, value] = Object.entries(values).find(([stated]) => sameIdentifier(stated, name)) ?? [];
    if (value === undefined) return parameter;
    if (!isValueOf(value, printer.typeName(type))) problems.push(badValue(name, printer.typeName(type), value));
    // Printers take bytes as plain hex digits.
    const bare = type.facts.family === 'binary' ? value.trim().replace(/^0x/i, '') : value;
    return { ...parameter, value: bare, clock: false };
  });
  return { plan: { ...plan, parameters }, problems };
}

/** The load's files, batches and preview; null with at least one error when it can't be made. */
export function generateLoad(request: GenerateRequest): Outcome<GeneratedLoad | null> {
  const { tables, style } = request;
  const options = resolveOptions(request.specification);
  const specification: LoadSpecification = { ...request.specification, options };
  const platform = parsePlatform(specification.platform);
  if (platform === undefined)
    return refused([error('unknown-platform', `${specification.platform} names no platform.`)]);
  const unsupported = unsupportedTarget(specification);
  if (unsupported.length > 0) return refused(unsupported);
  const chosen = printerFor(
    platform,
    { comma: style.comma, quoteAlways: style.brackets === 'always', columnNames: columnNames(tables) },
    mixedCollations(tables),
  );
  const planner = planners[specification.pattern];
  if (chosen === null || planner === undefined) {
    const nearest = chosen === null ? 'generate it for sqlserver or duckdb' : 'choose another pattern';
    return refused([
      error('unsupported', `unsupported: pattern ${specification.pattern} on ${specification.platform}; ${nearest}.`),
    ]);
  }
  const context = makeContext(specification, tables, chosen.printer.traits);
  const started = withStartValues(planner(context), request.parameters ?? {}, chosen.printer);
  const plan = withHashGuards(started.plan, platform, tables.source);
  const problems = [
    ...context.problems,
    ...started.problems,
    ...platformProblems(plan, specification, tables, platform),
  ];
  if (problems.some(({ severity }) => severity === 'error')) return refused(problems);
  const form = formOf(plan, specification, request, chosen, platform);
  if (form.problems.some(({ severity }) => severity === 'error')) return refused([...problems, ...form.problems]);
  return {
    value: {
      files: form.files,
      specification,
      parameters: loadParameters(plan.parameters, (type) => chosen.printer.typeName(type)),
      batches: form.batches,
      preview: form.preview === null ? null : planOf(form.preview),
    },
    problems,
  };
}

interface Form {
  readonly files: readonly GeneratedFile[];
  readonly batches: readonly Batch[];
  readonly preview: (() => string) | null;
  readonly problems: readonly Problem[];
}

function formOf(
  plan: LoadPlan,
  specification: LoadSpecification,
  { tables, style }: GenerateRequest,
  chosen: PlatformPrinter,
  platform: Platform,
): Form {
  const hooks = filledHooks(style.hooks, specification, platform.name, countTexts(plan, chosen.printer));
  const cased = (text: string): string => withKeywordCase(text, style.keywordCase, platform.name);
  const head = [
    ...style.header.map((line) => comment(line)),
    headerLine({ ...specification, options: departingOptions(specification.pattern, specification.options) }),
    comment(plan.says),
  ].join('\n');
  const { shape, target } = specification;
  const path = `${fileNameOf(specification)}.sql`;
  const previewable = plan.replaces?.kind !== 'view';
  if (chosen.family === 'duckdb') {
    const text = `${head}\n\n${cased(duckdbScript(plan, chosen.printer, shape, hooks))}\n`;
    const preview = previewable ? () => `${duckdbPreview(plan, chosen.printer, tables.target)}\n` : null;
    return { files: [{ path, text }], batches: [{ text, line: 0 }], preview, problems: [] };
  }
  const { printer } = chosen;
  // Where a transaction takes no DDL, a preview could not take back a table of the load's own.
  const takesBack = plan.keeps.length === 0 || printer.features.ddlInTransaction;
  const preview = previewable && takesBack ? () => `${tsqlPreview(plan, printer, tables.target)}\n` : null;
  const script = cased(tsqlScript(plan, printer, shape, hooks));
  // A view is a definition already: there is nothing for a procedure to do.
  if (specification.form === 'procedure' && plan.replaces?.kind !== 'view') {
    const schema = style.procedureSchema ?? target.schema;
    const name = printer.tableName({
      database: null,
      schema,
      table: specification.options.procedure ?? procedureName(specification.pattern, target.table),
    });
    const { create, body } = tsqlProcedure(plan, printer, shape, hooks, name);
    const procedure = asFile(path, [...create, body].map(cased), head);
    const call = asFile(callFileOf(specification), [procedureCall(plan, printer, name)], comment(`Runs ${name}.`));
    return {
      files: [procedure.file, call.file],
      batches: [...procedure.batches, ...call.batches],
      preview,
      problems: [],
    };
  }
  if (specification.form === 'dynamic-procedure') {
    return { ...dynamicForm(specification, tables, style, platform, head, plan), preview };
  }
  const { file, batches } = asFile(
    path,
    [...(plan.replaces?.kind === 'view' ? tsqlView(plan, printer) : []), script],
    head,
  );
  return { files: [file], batches, preview, problems: [] };
}

function planOf(preview: () => string): () => PreviewPlan {
  return () => ({ batches: [{ text: preview(), line: 0 }] });
}

function countTexts(plan: LoadPlan, printer: Printer): Readonly<Record<string, string>> {
  const text = (name: CountName): string => {
    const value = plan.counts[name];
    return value === null ? 'NULL' : printer.expression(value);
  };
  return Object.fromEntries(countNames.map((name) => [name, text(name)]));
}

/** One procedure for all tables of the two databases, and a call of it for this one. */
function dynamicForm(
  specification: LoadSpecification,
  { target }: LoadTables,
  style: HouseStyle,
  platform: Platform,
  head: string,
  plan: LoadPlan,
): Omit<Form, 'preview'> {
  const nothing = { files: [], batches: [] };
  const printerWith = (join: (elements: readonly string[], separator: string) => string): TsqlPrinter => {
    const made = printerFor(platform, { comma: 'trailing', quoteAlways: true, join }, true);
    if (made?.family !== 'tsql') throw new RangeError('the form was refused for other families before');
    return made.printer;
  };
  const made = dynamicPieces(specification, target, printerWith, style.hooks);
  if (made.value === null) return { ...nothing, problems: made.problems };
  const { printer } = made.value;
  const name = printer.tableName({
    database: null,
    schema: style.procedureSchema ?? target.name.schema,
    table: specification.options.procedure ?? procedureName(specification.pattern, 'Table'),
  });
  const procedure = dynamicProcedure(made.value, specification, controlColumns(specification.options, target), name);
  const procedurePath = `${specification.pattern}_any_table.sql`;
  const created = asFile(procedurePath, [...procedure.create, procedure.body], head);
  const call = asFile(
    callFileOf(specification),
    [dynamicCall(plan, target, printer, name)],
    comment(`Runs ${name} for one table.`),
  );
  return { files: [created.file, call.file], batches: [...created.batches, ...call.batches], problems: made.problems };
}

/** Batches of one file, with GO between them; each bears the line where it starts. */
function asFile(
  path: string,
  batches: readonly string[],
  head: string,
): { readonly file: GeneratedFile; readonly batches: readonly Batch[] } {
  const texts = batches.map((batch, index) => (index === 0 ? `${head}\n\n${batch}\n` : `${batch}\n`));
  let line = 0;
  const placed = texts.map((text): Batch => {
    const batch = { text, line };
    line += text.split('\n').length;
    return batch;
  });
  return { file: { path, text: texts.join('GO\n') }, batches: placed };
}

function columnNames({ source, target, extra }: LoadTables): ReadonlySet<string> {
  const all = [source, target, ...Object.values(extra)];
  return new Set(all.flatMap((one) => one.columns.map((column) => column.name.toLowerCase())));
}

function error(code: string, message: string): Problem {
  return { code, severity: 'error', message };
}

function refused(problems: readonly Problem[]): Outcome<null> {
  return { value: null, problems };
}
