/** Scripts, procedures and previews in T-SQL: one batch each, built from the same blocks. */
import type { CatalogTable } from '../../../../protocol/catalog.ts';
import { countNames } from '../../../../protocol/counts.ts';
import type { Shape } from '../../../../protocol/specification.ts';
import { countRows, item, select, source, table } from '../../load/build.ts';
import { columnType } from '../../load/context.ts';
import type { Query, Union } from '../../load/language.ts';
import { guardNumbers, type LoadPlan } from '../../load/plan.ts';
import { formatTableName } from '../../model/names.ts';
import { exactDecimals } from '../../sql/exact-decimals.ts';
import { mergedWrites, storedColumn } from '../../sql/merge.ts';
import { commaList, comment, indent } from '../../sql/text.ts';
import type { TsqlPrinter } from '../../sql/tsql.ts';
import { countsText, warningRow } from '../counts.ts';
import { withNullChecks } from '../null-checks.ts';
import { blockEnd, blockStart } from '../parameters.ts';
import { sampleQueries } from '../samples.ts';
import type { HouseStyle } from '../types.ts';

/** Statements that house style wants around a load, with their placeholders filled. */
export type Hooks = HouseStyle['hooks'];

/** The script as one batch, without its header. */
export function tsqlScript(plan: LoadPlan, printer: TsqlPrinter, shape: Shape, hooks: Hooks): string {
  // A view is defined in a batch of its own; what is left is to say that no row changed.
  if (plan.replaces?.kind === 'view') return paragraphs([settings(printer), ...results(plan, printer)]);
  return paragraphs([
    settings(printer),
    parameterBlock(plan, printer),
    variables(plan, printer, true),
    hooks.before ?? '',
    guarded(loadStatements(plan, printer, shape), results(plan, printer), printer, hooks, survivors(plan, printer)),
  ]);
}

/** What a preview sends: the steps, which write temporary tables only, then samples, warnings and counts. */
export function tsqlPreview(load: LoadPlan, printer: TsqlPrinter, target: CatalogTable): string {
  const plan = withNullChecks(load, target);
  const steps = [
    ...plan.steps.map((step) => printer.step(step)),
    ...sampleQueries(plan, target).map((query) => `${printer.query(exactSamples(query, target))};`),
  ];
  // A table of the load's own may not be there yet; what the preview puts in its place is rolled back.
  const statements =
    plan.keeps.length === 0
      ? steps
      : ['BEGIN TRANSACTION;', ...keptTables(plan, printer), ...steps, 'ROLLBACK TRANSACTION;'];
  return paragraphs([
    settings(printer),
    parameterBlock(plan, printer),
    variables(plan, printer, false),
    guarded(
      [...dropped(plan, printer), ...statements],
      results(plan, printer),
      printer,
      {},
      plan.keeps.length === 0 ? dropped(plan, printer) : survivors(plan, printer),
    ),
  ]);
}

/** Samples hold the target's columns, in which old and new values have one type. */
function exactSamples(query: Query | Union, target: CatalogTable): Query | Union {
  return exactDecimals(query, ({ name }) => {
    const of = target.columns.find((column) => column.name === name);
    return of === undefined ? null : columnType(target, of);
  });
}

/**
 * A procedure: parameters with defaults where the platform has them, `@Preview` to see the counts without a change, the
 * counts as the last result set and as output parameters.
 */
export function tsqlProcedure(
  plan: LoadPlan,
  printer: TsqlPrinter,
  shape: Shape,
  hooks: Hooks,
  name: string,
): { readonly create: readonly string[]; readonly body: string } {
  const { features } = printer;
  const parameters = [
    ...plan.parameters.map(
      ({ name: of, type, value, clock }) =>
        `@${of} ${printer.typeName(type)}${features.parameterDefaults ? ` = ${clock || value === null ? 'NULL' : printer.literal(value, type)}` : ''}`,
    ),
    `@Preview bit${features.parameterDefaults ? ' = 0' : ''}`,
    ...countNames.map((of) => `@${outputName(of)} bigint${features.parameterDefaults ? ' = NULL' : ''} OUTPUT`),
  ];
  const inner = procedureBody(plan, printer, shape, hooks);
  const head = `${features.createOrAlter ? 'CREATE OR ALTER' : 'CREATE'} PROCEDURE ${name}\n${indent(commaList(parameters, printer.style.comma))}\nAS\nBEGIN\n${indent(inner)}\nEND;`;
  const drop = features.dropIfExists
    ? `DROP PROCEDURE IF EXISTS ${name};`
    : `IF OBJECT_ID(${printer.textLiteral(name)}, ${printer.textLiteral('P')}) IS NOT NULL DROP PROCEDURE ${name};`;
  return { create: features.createOrAlter ? [] : [drop], body: head };
}

/** What stands between a procedure's BEGIN and END. */
export function procedureBody(plan: LoadPlan, printer: TsqlPrinter, shape: Shape, hooks: Hooks): string {
  const clocks = plan.parameters
    .filter(({ clock }) => clock)
    .map(({ name: of }) => `IF @${of} IS NULL SET @${of} = SYSUTCDATETIME();`);
  const outputs = countNames.map((of) => {
    const value = plan.counts[of];
    return `@${outputName(of)} = ${value === null ? 'NULL' : printer.expression(value)}`;
  });
  return paragraphs([
    settings(printer),
    clocks.join('\n'),
    variables(plan, printer, true),
    hooks.before ?? '',
    guarded(
      loadStatements(plan, printer, shape, '@Preview = 0'),
      [`SELECT\n${indent(outputs.join(',\n'))};`, ...results(plan, printer)],
      printer,
      hooks,
      survivors(plan, printer),
    ),
  ]);
}

/** Runs a procedure with the values of a parameter block. */
export function procedureCall(plan: LoadPlan, printer: TsqlPrinter, name: string): string {
  const passed = [
    ...plan.parameters.map(({ name: of }) => `@${of} = @${of}`),
    '@Preview = 0',
    ...(printer.features.parameterDefaults
      ? []
      : countNames.map((of) => `@${outputName(of)} = @${outputName(of)} OUTPUT`)),
  ];
  const outputs = printer.features.parameterDefaults
    ? ''
    : countNames.map((of) => `DECLARE @${outputName(of)} bigint;`).join('\n');
  return paragraphs([
    parameterBlock(plan, printer),
    outputs,
    `EXEC ${name}\n${indent(commaList(passed, printer.style.comma))};`,
  ]);
}

/**
 * The OUTPUT parameter of a count: `inserted` is `InsertedRows`. `SkippedRows` is a variable of the load, so that
 * count has another name.
 */
export function outputName(count: string): string {
  return `${count.charAt(0).toUpperCase()}${count.slice(1)}Rows`.replace('SkippedRows', 'SkippedStageRows');
}

/** A view's definition stands alone in its batch. */
export function tsqlView(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  const { replaces, target } = plan;
  if (replaces === null) return [];
  const name = printer.tableName(target);
  const definition = `VIEW ${name}\nAS\n${printer.query(replaces.query)};`;
  if (printer.features.createOrAlter) return [`${comment(replaces.says)}\nCREATE OR ALTER ${definition}`];
  const exists = `OBJECT_ID(${printer.textLiteral(name)}, ${printer.textLiteral('V')})`;
  return [`IF ${exists} IS NOT NULL DROP VIEW ${name};`, `${comment(replaces.says)}\nCREATE ${definition}`];
}

// --- blocks

function settings({ features }: TsqlPrinter): string {
  return ['SET NOCOUNT ON;', ...(features.xactAbort ? ['SET XACT_ABORT ON;'] : [])].join('\n');
}

/** The marked block whose values a run may replace; empty for a load without parameters. */
export function parameterBlock(plan: LoadPlan, printer: TsqlPrinter): string {
  if (plan.parameters.length === 0) return '';
  return [blockStart, ...plan.parameters.map((parameter) => printer.parameter(parameter)), blockEnd].join('\n');
}

/** Variables that the steps set. */
function variables(plan: LoadPlan, printer: TsqlPrinter, locks: boolean): string {
  const named = plan.steps.flatMap((step): readonly string[] => {
    if (step.kind === 'define') return [`DECLARE @${step.name} ${printer.typeName(step.type)};`];
    return step.kind === 'measure' ? step.query.items.map(({ name }) => `DECLARE @${name} bigint;`) : [];
  });
  const text = printer.messageType;
  const guards = plan.steps.some((step) => step.kind.startsWith('guard'));
  const rows = plan.steps.some((step) => step.kind === 'guard-rows');
  const technical = [
    ...(rows ? [`DECLARE @Offenders ${text}(4000);`] : []),
    ...(guards ? [`DECLARE @Message ${text}(2048);`] : []),
    ...(locks && printer.features.appLock && plan.replaces?.kind !== 'view' ? ['DECLARE @Lock int;'] : []),
    ...(locks && countsRows(plan, printer) ? ['DECLARE @RowsBefore bigint;', 'DECLARE @RowsNow bigint;'] : []),
  ];
  const all = [...new Set([...named, ...technical])];
  return all.length === 0 ? '' : `${comment('What the load finds out.')}\n${all.join('\n')}`;
}

function dropped(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  const names = plan.steps.flatMap((step) => (step.kind === 'let' ? [step.name] : []));
  return names.length === 0 ? [] : [names.map((name) => printer.dropRelation(name)).join('\n')];
}

/** Steps and writes in one transaction; where that takes no DDL, the steps come before it. */
function loadStatements(
  plan: LoadPlan,
  printer: TsqlPrinter,
  shape: Shape,
  onlyIf: string | null = null,
): readonly string[] {
  const merged = shape === 'merge' ? mergedWrites(plan.writes, storedColumn) : plan.writes;
  const writes = [
    ...merged.map((write) => printer.write(write, write.kind === 'insert' ? (write.into ?? plan.target) : plan.target)),
    ...replacement(plan, printer),
  ];
  const conditional =
    onlyIf === null || writes.length === 0 ? writes : [`IF ${onlyIf}\nBEGIN\n${indent(writes.join('\n\n'))}\nEND;`];
  const steps = plan.steps.map((step) => printer.step(step));
  const begin = 'BEGIN TRANSACTION;';
  const lock = printer.features.appLock ? [appLock(plan, printer)] : [];
  const early = [...dropped(plan, printer), ...keptTables(plan, printer)];
  return printer.features.ddlInTransaction
    ? [...early, begin, ...lock, ...steps, ...conditional, 'COMMIT TRANSACTION;']
    : [
        ...early,
        ...rowsBefore(plan, printer),
        ...steps,
        begin,
        ...sameRows(plan, printer),
        ...conditional,
        'COMMIT TRANSACTION;',
      ];
}

/** Without a lock, another load of the target is told by its rows: they must be as many as when the steps began. */
function countsRows(plan: LoadPlan, printer: TsqlPrinter): boolean {
  return !printer.features.appLock && plan.writes.length > 0;
}

function rowsBefore(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  if (!countsRows(plan, printer)) return [];
  const says = 'There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.';
  return [`${comment(says)}\n${countedRows('RowsBefore', plan, printer)}`];
}

function sameRows(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  if (!countsRows(plan, printer)) return [];
  return [
    [
      countedRows('RowsNow', plan, printer),
      'IF @RowsNow <> @RowsBefore',
      'BEGIN',
      `    THROW ${guardNumbers.concurrent_load}, ${printer.textLiteral('concurrent_load: another load of this table has run meanwhile')}, 1;`,
      'END;',
    ].join('\n'),
  ];
}

function countedRows(variable: string, plan: LoadPlan, printer: TsqlPrinter): string {
  return printer.assignment(select([item(variable, countRows())], source(table(plan.target), 't')));
}

/** Loads of one target wait for each other; after a minute the later one gives up. */
function appLock(plan: LoadPlan, printer: TsqlPrinter): string {
  const resource = printer.textLiteral(`mergewright ${formatTableName(plan.target)}`.slice(0, 255));
  return [
    comment('One load of this table at a time.'),
    'EXEC @Lock = sys.sp_getapplock',
    indent(`@Resource = ${resource},\n@LockMode = 'Exclusive',\n@LockOwner = 'Transaction',\n@LockTimeout = 60000;`),
    'IF @Lock < 0',
    'BEGIN',
    `    THROW ${guardNumbers.concurrent_load}, ${printer.textLiteral('concurrent_load: another load of this table is running')}, 1;`,
    'END;',
  ].join('\n');
}

/**
 * Temporary tables that a rollback leaves behind. They have to go: the next text of the session that makes tables of
 * these names would be compiled against their columns.
 */
function survivors(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  return printer.features.ddlInTransaction ? [] : dropped(plan, printer);
}

function guarded(
  statements: readonly string[],
  after: readonly string[],
  printer: TsqlPrinter,
  hooks: Hooks,
  leftovers: readonly string[],
): string {
  const body = [...statements, ...(hooks.after === undefined ? [] : [hooks.after]), ...after].join('\n\n');
  const rollback =
    printer.features.ddlInTransaction || printer.features.xactAbort ? 'XACT_STATE() <> 0' : '@@TRANCOUNT > 0';
  const onError = [
    `IF ${rollback} ROLLBACK TRANSACTION;`,
    ...leftovers,
    ...(hooks.onError === undefined ? [] : [hooks.onError]),
    'THROW;',
  ];
  return `BEGIN TRY\n${indent(body)}\nEND TRY\nBEGIN CATCH\n${indent(onError.join('\n'))}\nEND CATCH;`;
}

function results(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  const warnings = plan.warnings.map(
    (warning) => `IF ${printer.expression(warning.when)}\n${indent(`${warningRow(warning, printer)};`)}`,
  );
  return [
    ...dropped(plan, printer),
    ...(warnings.length === 0 ? [] : [`${comment('What was left out.')}\n${warnings.join('\n')}`]),
    `${comment('What changed.')}\n${countsText(plan, printer, 'bigint')}`,
  ];
}

function keptTables(plan: LoadPlan, printer: TsqlPrinter): readonly string[] {
  return plan.keeps.map(({ says, name, columns }) => {
    const lines = columns.map(
      (of) => `${printer.name(of.name)} ${printer.typeName(of.type)} ${of.nullable ? 'NULL' : 'NOT NULL'}`,
    );
    const table = printer.tableName(name);
    return `${comment(says)}\nIF OBJECT_ID(${printer.textLiteral(table)}, ${printer.textLiteral('U')}) IS NULL\n    CREATE TABLE ${table} (\n${indent(commaList(lines, printer.style.comma), 2)}\n    );`;
  });
}

function replacement({ replaces, target }: LoadPlan, printer: TsqlPrinter): readonly string[] {
  if (replaces === null || replaces.kind === 'view') return [];
  const name = printer.tableName(target);
  const columns = replaces.query.items.map((item) => printer.name(item.name));
  return [
    `${comment(replaces.says)}\nDELETE FROM ${name};`,
    `INSERT INTO ${name} (\n${indent(commaList(columns, printer.style.comma))}\n)\n${printer.query(replaces.query)};`,
  ];
}

function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
