/** Runs statements: control flow, variables, errors and transactions. */
import type { Expression, Select, SelectStatement, Statement } from '../../../server/src/syntax/tree.ts';
import { conversion } from './convert.ts';
import {
  alterTable,
  createFrom,
  createProcedure,
  createTable,
  createView,
  dropObjects,
  truncate,
} from './definitions.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCondition, bindValue } from './expressions.ts';
import { bindMerge } from './merge.ts';
import { bindSelect } from './queries.ts';
import { type Column, Scope, type Variable } from './scope.ts';
import type { Frame, OutputEvent, SessionState } from './session.ts';
import { int, isText, type SqlType, textType } from './types.ts';
import type { Value } from './values.ts';
import { nowhere, type SessionWorld } from './world.ts';
import { bindDelete, bindInsert, bindUpdate } from './writes.ts';

/** How a statement ended. */
export type Flow = 'next' | 'return' | 'break' | 'continue';

/** Runs a procedure or a text in a frame of its own. */
export type Call = (statement: Extract<Statement, { kind: 'execute' }>, interpreter: Interpreter) => void;

export class Interpreter {
  readonly world: SessionWorld;
  readonly session: SessionState;
  readonly frame: Frame;
  readonly emit: (event: OutputEvent) => void;
  readonly #call: Call;
  /** Errors of names and types; a TRY of the same text does not catch them. */
  readonly #uncatchable = new WeakSet<SqlError>();

  constructor(world: SessionWorld, emit: (event: OutputEvent) => void, call: Call) {
    this.world = world;
    this.session = world.session;
    this.frame = world.session.frame;
    this.emit = emit;
    this.#call = call;
  }

  run(statements: readonly Statement[]): Flow {
    for (const statement of statements) {
      const flow = this.#statement(statement);
      if (flow !== 'next') return flow;
    }
    return 'next';
  }

  /** The value of an expression outside of any query. */
  value(e: Expression): { readonly type: SqlType; readonly value: Value } {
    const bound = this.#bound(() => bindValue(e, new Scope(this.world, null)));
    return { type: bound.type, value: bound.run(nowhere) };
  }

  assign(variable: Variable, type: SqlType, value: Value): void {
    variable.value = conversion(type, variable.type, 'assign')(value);
  }

  #bound<T>(bind: () => T): T {
    try {
      return bind();
    } catch (error) {
      if (error instanceof SqlError) this.#uncatchable.add(error);
      throw error;
    }
  }

  #holds(condition: Expression): boolean {
    return this.#bound(() => bindCondition(condition, new Scope(this.world, null))).test(nowhere) === true;
  }

  #statement(statement: Statement): Flow {
    switch (statement.kind) {
      case 'block':
        return this.run(statement.statements);
      case 'if':
        if (this.#holds(statement.condition)) return this.#statement(statement.then);
        return statement.otherwise === null ? 'next' : this.#statement(statement.otherwise);
      case 'while':
        return this.#loop(statement);
      case 'try-catch':
        return this.#tryCatch(statement);
      case 'return':
        if (statement.value !== null) throw new BeyondEngine('RETURN of a value');
        return 'return';
      case 'loop-control':
        return statement.action;
      case 'transaction':
        this.#transaction(statement);
        return 'next';
      case 'throw':
        throw this.#thrown(statement.arguments);
      default:
        this.#simple(statement);
        return 'next';
    }
  }

  #loop(statement: Extract<Statement, { kind: 'while' }>): Flow {
    while (this.#holds(statement.condition)) {
      const flow = this.#statement(statement.body);
      if (flow === 'return') return flow;
      if (flow === 'break') break;
    }
    return 'next';
  }

  #tryCatch(statement: Extract<Statement, { kind: 'try-catch' }>): Flow {
    try {
      return this.run(statement.try);
    } catch (error) {
      if (!(error instanceof SqlError) || this.#uncatchable.has(error)) throw error;
      this.session.doomBy(error);
      this.frame.caught.push(error);
    }
    try {
      return this.run(statement.catch);
    } finally {
      this.frame.caught.pop();
    }
  }

  #thrown(args: readonly Expression[]): SqlError {
    if (args.length === 0) {
      const caught = this.frame.caught.at(-1);
      if (caught === undefined)
        return new SqlError(10704, 'To rethrow an error, a THROW statement must be used inside a CATCH block.', 15);
      return new SqlError(caught.number, caught.message, caught.severity, caught.state);
    }
    const [number, message, state] = args.map((arg) => this.value(arg));
    if (number === undefined || message === undefined || state === undefined)
      throw new BeyondEngine('THROW with other than three arguments');
    const code = Number(number.value);
    if (code < 50_000)
      return new SqlError(35100, `Error number ${code} in the THROW statement is outside the valid range.`);
    const text = String(
      conversion(message.type, textType('nvarchar', 2048, this.world.collation), 'assign')(message.value) ?? '',
    );
    // The message is a format without values: a lone % would start a placeholder.
    if (/%/.test(text.replaceAll('%%', ''))) throw new BeyondEngine(`THROW with a single % in '${text}'`);
    return new SqlError(code, text.replaceAll('%%', '%'), 16, Number(state.value));
  }

  #transaction({ action }: Extract<Statement, { kind: 'transaction' }>): void {
    switch (action) {
      case 'begin':
        this.session.mustWrite();
        this.session.begin();
        this.emit({ kind: 'begin' });
        break;
      case 'commit':
        this.session.commit();
        this.emit({ kind: 'commit' });
        break;
      case 'rollback':
        this.session.rollback();
        this.emit({ kind: 'rollback' });
        break;
      default:
        throw new BeyondEngine(`${action} TRANSACTION`);
    }
  }

  #simple(statement: Statement): void {
    const { world } = this;
    switch (statement.kind) {
      case 'declare':
        this.#declare(statement);
        break;
      case 'set-variable': {
        if (statement.operator !== '=') throw new BeyondEngine(`SET @v ${statement.operator}`);
        const { type, value } = this.value(statement.value);
        this.assign(
          this.#bound(() => world.variable(statement.variable.name)),
          type,
          value,
        );
        break;
      }
      case 'set-option':
        this.#option(statement);
        break;
      case 'print': {
        const { type, value } = this.value(statement.value);
        const text = conversion(type, textType('nvarchar', 4000, world.collation), 'assign')(value);
        this.emit({ kind: 'message', text: text === null ? '' : String(text) });
        break;
      }
      case 'select-statement':
        this.#select(statement);
        break;
      case 'insert':
        this.#write(this.#bound(() => bindInsert(statement, world)));
        break;
      case 'update':
        this.#write(this.#bound(() => bindUpdate(statement, world)));
        break;
      case 'delete':
        this.#write(this.#bound(() => bindDelete(statement, world)));
        break;
      case 'merge':
        this.#write(this.#bound(() => bindMerge(statement, world)));
        break;
      case 'execute':
        this.#call(statement, this);
        break;
      case 'empty':
        break;
      default:
        this.#define(statement);
    }
  }

  #define(statement: Statement): void {
    const { world } = this;
    switch (statement.kind) {
      case 'create-table': {
        const { name, query } = statement;
        if (query === null) createTable(statement, world);
        else
          this.#counted(
            createFrom(
              name,
              this.#bound(() => world.query(query, null)),
              world,
            ),
          );
        break;
      }
      case 'alter-table':
        alterTable(statement, world);
        break;
      case 'drop':
        dropObjects(statement, world);
        break;
      case 'truncate':
        truncate(statement.table, world);
        break;
      case 'create-view':
        createView(statement, world);
        break;
      case 'create-procedure':
        createProcedure(statement, world);
        break;
      default:
        throw new BeyondEngine(`statement ${statement.kind}`);
    }
  }

  #declare(statement: Extract<Statement, { kind: 'declare' }>): void {
    for (const { name, value } of statement.variables) {
      if (value === null) continue;
      const found = this.value(value);
      this.assign(
        this.#bound(() => this.world.variable(name)),
        found.type,
        found.value,
      );
    }
  }

  #option({ names, value }: Extract<Statement, { kind: 'set-option' }>): void {
    const isOn = value.toUpperCase() === 'ON';
    for (const name of names) {
      if (name === 'NOCOUNT') this.session.nocount = isOn;
      else if (name === 'XACT_ABORT') this.session.xactAbort = isOn;
      else throw new BeyondEngine(`SET ${name}`);
    }
  }

  #write(write: () => number): void {
    this.session.mustWrite();
    this.#counted(write());
  }

  #counted(count: number): void {
    this.session.rowCount = BigInt(count);
    this.emit(this.session.nocount ? { kind: 'done' } : { kind: 'count', count });
  }

  #select({ query }: SelectStatement): void {
    const { world } = this;
    const { body } = query;
    if (body.kind === 'select' && body.items.some(({ assigns }) => assigns !== null)) {
      this.#assignFrom(body);
      return;
    }
    const into = intoOf(query.body);
    const relation = this.#bound(() => world.query(query, null));
    if (into !== null) {
      this.#counted(createFrom(into, relation, world));
      return;
    }
    const rows = relation.rows(null);
    this.session.rowCount = BigInt(rows.length);
    this.emit({
      kind: 'rows',
      columns: relation.columns.map(wireColumn),
      rows: rows.map((row) => row.map((value, index) => wireValue(value, relation.columns[index]?.type ?? int))),
      counted: !this.session.nocount,
    });
  }

  /** Row by row and item by item, so that a variable may build on its own value. */
  #assignFrom(body: Select): void {
    const { world } = this;
    const bound = this.#bound(() => bindSelect(body, null, null, world));
    const variables = body.items.map(({ assigns }) => {
      if (assigns === null)
        throw new SqlError(
          141,
          'A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.',
          15,
        );
      return this.#bound(() => world.variable(assigns.name));
    });
    let count = 0;
    for (const env of bound.environments(null)) {
      count += 1;
      bound.items.forEach((item, index) => {
        const variable = variables[index];
        if (variable !== undefined) this.assign(variable, item.type, item.run(env));
      });
    }
    this.session.rowCount = BigInt(count);
  }
}

/** The INTO of a query; in a union it stands in the first part. */
export function intoOf(body: SelectStatement['query']['body']): Select['into'] {
  if (body.kind === 'set-operation') return intoOf(body.left);
  return body.kind === 'select' ? body.into : null;
}

/** A column as the test server declares it. Texts go out as Unicode, so that no code page cuts them. */
function wireColumn({ name, type }: Column): string {
  const quoted = `[${name.replaceAll(']', ']]')}]`;
  if (isText(type) || type.base === 'xml') return `${quoted} nvarchar(max)`;
  if (type.base === 'decimal') return `${quoted} decimal(${type.precision},${type.scale})`;
  if (type.base === 'varbinary' || type.base === 'binary') return `${quoted} varbinary(max)`;
  if (type.base === 'datetime2' || type.base === 'time') return `${quoted} ${type.base}(${type.scale})`;
  return `${quoted} ${type.base}`;
}

function wireValue(value: Value, type: SqlType): Value {
  if (value === null || Buffer.isBuffer(value)) return value;
  if (type.base === 'decimal' || ['date', 'time', 'datetime', 'datetime2'].includes(type.base)) {
    const text: SqlType = {
      base: 'nvarchar',
      length: 60,
      precision: 0,
      scale: 0,
      collation: { name: 'Latin1_General_100_BIN2', label: 'default' },
    };
    return conversion(type, text, 'cast', null)(value);
  }
  return value;
}
