/**
 * What the server does before it runs a batch: variables are declared, and statements whose tables are all there are
 * checked for names and types. The others are checked when it is their turn.
 */
import type { Node, Statement } from '../../../server/src/syntax/tree.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCondition, bindValue } from './expressions.ts';
import { intoOf } from './interpreter.ts';
import { bindMerge } from './merge.ts';
import { bindSelect } from './queries.ts';
import { Scope } from './scope.ts';
import { nodesOf } from './shape.ts';
import { readType } from './types.ts';
import type { SessionWorld } from './world.ts';
import { bindDelete, bindInsert, bindUpdate } from './writes.ts';

/** `made` gathers the temporary tables that the statements of one text make. */
export function compile(statements: readonly Statement[], world: SessionWorld, made: Set<string>): void {
  for (const statement of statements) visit(statement, world, made);
}

function visit(statement: Statement, world: SessionWorld, made: Set<string>): void {
  const inner = (of: readonly Statement[]): void => {
    for (const one of of) visit(one, world, made);
  };
  switch (statement.kind) {
    case 'block':
      inner(statement.statements);
      break;
    case 'if':
      check(statement.condition, world, () => bindCondition(statement.condition, new Scope(world, null)));
      inner(statement.otherwise === null ? [statement.then] : [statement.then, statement.otherwise]);
      break;
    case 'while':
      check(statement.condition, world, () => bindCondition(statement.condition, new Scope(world, null)));
      inner([statement.body]);
      break;
    case 'try-catch':
      inner(statement.try);
      inner(statement.catch);
      break;
    case 'declare':
      declare(statement, world);
      break;
    default:
      makesTable(statement, made);
      check(statement, world, () => bindSimple(statement, world));
  }
}

function declare(statement: Extract<Statement, { kind: 'declare' }>, world: SessionWorld): void {
  for (const { name, type, value } of statement.variables) {
    if (type === null) throw new BeyondEngine(`the variable ${name} without a type`);
    // What a DECLARE says of its value is bound before its own name is known.
    if (value !== null) check(value, world, () => bindValue(value, new Scope(world, null)));
    const { variables } = world.session.frame;
    const key = name.toLowerCase();
    if (variables.has(key)) throw new SqlError(134, `The variable name '${name}' has already been declared.`, 15, 2);
    variables.set(key, { name, type: readType(type, 1, world.collation), value: null });
  }
}

/** Two statements of one batch that make the same temporary table are refused, wherever they stand. */
function makesTable(statement: Statement, made: Set<string>): void {
  const name =
    statement.kind === 'create-table'
      ? statement.name
      : statement.kind === 'select-statement'
        ? intoOf(statement.query.body)
        : null;
  const table = name?.parts.at(-1)?.name ?? '';
  if (!table.startsWith('#')) return;
  const key = table.toLowerCase();
  if (made.has(key)) throw new SqlError(2714, `There is already an object named '${table}' in the database.`);
  made.add(key);
}

/** Binds once all tables under the node are there. */
function check(node: Node, world: SessionWorld, bind: () => void): void {
  if (nodesOf(node, 'table').every(({ name }) => world.isThere(name))) bind();
}

function bindSimple(statement: Statement, world: SessionWorld): void {
  switch (statement.kind) {
    case 'select-statement': {
      const { body } = statement.query;
      if (body.kind === 'select' && body.items.some(({ assigns }) => assigns !== null)) {
        bindSelect(body, null, null, world);
        for (const { assigns } of body.items) if (assigns !== null) world.variable(assigns.name);
      } else world.query(statement.query, null);
      break;
    }
    case 'set-variable':
      bindValue(statement.value, new Scope(world, null));
      world.variable(statement.variable.name);
      break;
    case 'print':
      bindValue(statement.value, new Scope(world, null));
      break;
    case 'throw':
      for (const argument of statement.arguments) bindValue(argument, new Scope(world, null));
      break;
    case 'insert':
      bindInsert(statement, world);
      break;
    case 'update':
      bindUpdate(statement, world);
      break;
    case 'delete':
      bindDelete(statement, world);
      break;
    case 'merge':
      bindMerge(statement, world);
      break;
    case 'create-table':
      if (statement.query !== null) world.query(statement.query, null);
      break;
    case 'execute':
      for (const { value } of statement.arguments) if (value.kind === 'variable') world.variable(value.name);
      break;
    default:
      break;
  }
}
