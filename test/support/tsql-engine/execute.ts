/** Batches, procedures and texts of sp_executesql: each runs in a frame of its own. */
import { problemsOf } from '../../../server/src/syntax/inspect.ts';
import { parse } from '../../../server/src/syntax/parse.ts';
import type { Execute, Parameter, Statement, Unit } from '../../../server/src/syntax/tree.ts';
import { compile } from './compile.ts';
import { conversion } from './convert.ts';
import type { Procedure, Product } from './database.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { Interpreter } from './interpreter.ts';
import type { Variable } from './scope.ts';
import type { Frame, OutputEvent, SessionState } from './session.ts';
import { readType, type SqlType } from './types.ts';
import type { Value } from './values.ts';
import { SessionWorld } from './world.ts';

type Emit = (event: OutputEvent) => void;

/** Runs one batch and tells what it answers; an error that nothing catches is the last event. */
export function runBatch(session: SessionState, text: string): readonly OutputEvent[] {
  const events: OutputEvent[] = [];
  const frame: Frame = { procedure: null, variables: new Map(), temporary: session.kept, caught: [] };
  const emit: Emit = (event) => events.push(event);
  session.frames.push(frame);
  try {
    runText(session, text, emit);
    if (session.isDoomed) {
      throw new SqlError(
        3998,
        'Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.',
      );
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const ends = session.transactionCount > 0 && (session.xactAbort || session.isDoomed);
    emit({ kind: 'error', error, procedure: null });
    if (ends) {
      session.rollback();
      emit({ kind: 'rollback' });
    }
  } finally {
    session.kept = frame.temporary;
    session.frames.length = 0;
  }
  return events;
}

function unitsOf(text: string, product: Product): readonly Unit[] {
  const script = parse(text, { platform: product });
  const [problem] = problemsOf(script);
  if (problem !== undefined) throw new SqlError(102, `Incorrect syntax: ${problem.message}`, 15);
  const [batch, ...more] = script.batches;
  if (more.length > 0) throw new SqlError(102, "Incorrect syntax near 'GO'.", 15);
  const units = batch?.units ?? [];
  const alone = units.find(
    ({ statement }) => statement.kind === 'create-view' || statement.kind === 'create-procedure',
  );
  if (alone !== undefined && units.length > 1) {
    throw new SqlError(111, `'CREATE ${alone.statement.kind}' must be the only statement in the batch.`, 15);
  }
  return units;
}

function runText(session: SessionState, text: string, emit: Emit): void {
  const units = unitsOf(text, session.database.facts.product);
  const parts = units.map((unit) => ({
    statement: unit.statement,
    world: new SessionWorld(session, text.slice(unit.offset, unit.offset + unit.length)),
  }));
  const [first] = parts;
  if (first === undefined) return;
  if (first.statement.kind !== 'create-procedure') {
    compileParts(parts);
    for (const { statement, world } of parts) {
      if (new Interpreter(world, emit, call).run([statement]) !== 'next') break;
    }
    return;
  }
  new Interpreter(first.world, emit, call).run([first.statement]);
}

/** The statements of a text are compiled as one, whatever text their offsets count in. */
function compileParts(parts: readonly { readonly statement: Statement; readonly world: SessionWorld }[]): void {
  const made = new Set<string>();
  for (const { statement, world } of parts) compile([statement], world, made);
}

function call(statement: Execute, interpreter: Interpreter): void {
  if (statement.procedure === null || statement.procedure.kind !== 'name' || statement.sql !== null)
    throw new BeyondEngine('EXEC of a text');
  const name = (statement.procedure.parts.at(-1)?.name ?? '').toLowerCase();
  if (name === 'sp_getapplock') appLock(statement, interpreter);
  else if (name === 'sp_executesql') executeText(statement, interpreter);
  else {
    const object = interpreter.world.object(statement.procedure);
    if (object === undefined || object.kind !== 'procedure')
      throw new SqlError(2812, `Could not find stored procedure '${name}'.`, 16, 62);
    if (statement.result !== null) throw new BeyondEngine('the result of a procedure');
    callProcedure(object, statement, interpreter);
  }
}

function appLock(statement: Execute, interpreter: Interpreter): void {
  const { session } = interpreter;
  const { product } = session.database.facts;
  if (product === 'synapse' || product === 'fabric')
    throw new SqlError(2812, "Could not find stored procedure 'sys.sp_getapplock'.", 16, 62);
  const options = new Map(
    statement.arguments.map(({ name, value }) => [name?.name.toLowerCase(), interpreter.value(value).value]),
  );
  const resource = String(options.get('@resource') ?? '');
  if (resource === '' || resource.length > 255)
    throw new SqlError(8144, 'sp_getapplock takes a resource of 1 to 255 characters.');
  if (options.get('@lockowner') === 'Transaction' && session.transactionCount === 0) {
    throw new SqlError(15404, 'sp_getapplock: the lock owner is a transaction, and there is none.');
  }
  if (statement.result !== null) interpreter.assign(interpreter.world.variable(statement.result.name), readInt, 0n);
}

const readInt: SqlType = { base: 'int', length: 0, precision: 0, scale: 0, collation: null };

interface Passed {
  readonly parameters: readonly Parameter[];
  readonly procedure: string | null;
  readonly statements: (
    session: SessionState,
  ) => readonly { readonly statement: Statement; readonly world: SessionWorld }[];
}

function callProcedure({ name, definition, text }: Procedure, statement: Execute, interpreter: Interpreter): void {
  runFrame(
    {
      parameters: definition.parameters,
      procedure: name,
      statements: (session) => definition.body.map((of) => ({ statement: of, world: new SessionWorld(session, text) })),
    },
    statement.arguments,
    interpreter,
  );
}

/** sp_executesql @statement, @parameters, values …: the list of parameters reads like that of a procedure. */
function executeText(statement: Execute, interpreter: Interpreter): void {
  const [text, declared, ...values] = statement.arguments;
  if (text === undefined)
    throw new SqlError(
      201,
      "Procedure or function 'sp_executesql' expects parameter '@statement', which was not supplied.",
    );
  const written = interpreter.value(text.value);
  if (!(written.type.base === 'nvarchar' || written.type.base === 'nchar')) {
    throw new SqlError(214, "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.");
  }
  if (written.value === null) return;
  const sql = String(written.value);
  const list = declared === undefined ? '' : String(interpreter.value(declared.value).value ?? '');
  const head = parse(`CREATE PROCEDURE p ${list} AS SELECT 1;`, { platform: 'sqlserver' }).batches[0]?.units[0]
    ?.statement;
  if (head?.kind !== 'create-procedure')
    throw new SqlError(102, 'Incorrect syntax in the parameters of sp_executesql.', 15);
  const { product } = interpreter.session.database.facts;
  runFrame(
    {
      parameters: head.parameters,
      procedure: null,
      statements: (session) =>
        unitsOf(sql, product).map((unit) => ({
          statement: unit.statement,
          world: new SessionWorld(session, sql.slice(unit.offset, unit.offset + unit.length)),
        })),
    },
    values,
    interpreter,
  );
}

function runFrame(passed: Passed, args: Execute['arguments'], interpreter: Interpreter): void {
  const { session, world, emit } = interpreter;
  const given = bindArguments(passed.parameters, args, interpreter);
  const frame: Frame = { procedure: passed.procedure, variables: new Map(), temporary: new Map(), caught: [] };
  const before = { nocount: session.nocount, xactAbort: session.xactAbort, count: session.transactionCount };
  session.frames.push(frame);
  try {
    for (const { parameter, type, value } of given) {
      if (parameter.type === null) throw new BeyondEngine(`the parameter ${parameter.name} without a type`);
      const own = readType(parameter.type, 1, world.collation);
      const variable: Variable = { name: parameter.name, type: own, value: conversion(type, own, 'assign')(value) };
      frame.variables.set(parameter.name.toLowerCase(), variable);
    }
    const parts = passed.statements(session);
    compileParts(parts);
    for (const { statement, world: of } of parts)
      if (new Interpreter(of, emit, call).run([statement]) !== 'next') break;
  } finally {
    session.frames.pop();
    session.nocount = before.nocount;
    session.xactAbort = before.xactAbort;
  }
  if (session.transactionCount !== before.count) {
    throw new SqlError(
      266,
      `Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = ${before.count}, current count = ${session.transactionCount}.`,
      16,
      2,
    );
  }
  for (const { parameter, into } of given) {
    const result = frame.variables.get(parameter.name.toLowerCase());
    if (into !== null && result !== undefined) interpreter.assign(into, result.type, result.value);
  }
}

interface Given {
  readonly parameter: Parameter;
  readonly type: SqlType;
  readonly value: Value;
  /** The caller's variable behind OUTPUT. */
  readonly into: Variable | null;
}

function bindArguments(
  parameters: readonly Parameter[],
  args: Execute['arguments'],
  interpreter: Interpreter,
): readonly Given[] {
  const nameOf = (argument: Execute['arguments'][number], index: number): string =>
    (argument.name?.name ?? parameters[index]?.name ?? '').toLowerCase();
  const unknown = args.find(
    (argument, index) => !parameters.some(({ name }) => name.toLowerCase() === nameOf(argument, index)),
  );
  if (unknown !== undefined) {
    if (unknown.name === null)
      throw new SqlError(8144, 'Procedure or function has too many arguments specified.', 16, 2);
    throw new SqlError(8145, `${unknown.name.name} is not a parameter for the procedure.`);
  }
  return parameters.map((parameter): Given => {
    const argument = args.find((candidate, index) => nameOf(candidate, index) === parameter.name.toLowerCase());
    if (argument === undefined) {
      if (parameter.default === null)
        throw new SqlError(
          201,
          `Procedure or function expects parameter '${parameter.name}', which was not supplied.`,
          16,
          4,
        );
      return { parameter, ...interpreter.value(parameter.default), into: null };
    }
    if (argument.output && !parameter.output)
      throw new SqlError(
        8162,
        `The formal parameter "${parameter.name}" was not declared as an OUTPUT parameter.`,
        16,
        2,
      );
    // The server takes constants and variables here, no expressions.
    if (!['literal', 'variable', 'unary'].includes(argument.value.kind))
      throw new SqlError(102, 'Incorrect syntax in the arguments of EXEC.', 15);
    const into =
      argument.output && argument.value.kind === 'variable' ? interpreter.world.variable(argument.value.name) : null;
    return { parameter, ...interpreter.value(argument.value), into };
  });
}
