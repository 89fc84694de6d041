import type { TableName } from '../../../../protocol/catalog.ts';
import { findAll, tableNameOf } from '../../syntax/inspect.ts';
import type { Node, Statement } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';

/** `IF … THROW`, `IF OBJECT_ID('tempdb..#t') IS NOT NULL DROP TABLE #t`: they stop a preview, or clear its way. */
export function isGuard(statement: Statement): boolean {
  switch (statement.kind) {
    case 'throw':
    case 'raiserror':
    case 'print':
      return isHarmless(statement);
    case 'drop':
      return statement.names.every((name) => isTemporary(tableNameOf(name)));
    case 'block':
      return statement.statements.every(isGuard);
    default:
      return false;
  }
}

/** `@@ERROR <> 0`, `@@TRANCOUNT > 0`, `XACT_STATE() = -1`: nothing fails in a preview, and it has no transaction of its own. */
export function isFailureTest(condition: Node): boolean {
  const variables = findAll(condition, 'variable');
  const calls = findAll(condition, 'call');
  return (
    variables.length + calls.length > 0 &&
    findAll(condition, 'column').length === 0 &&
    variables.every(({ name }) => /^@@(error|trancount)$/i.test(name)) &&
    calls.every(({ name }) => /^xact_state$/i.test(name.parts.at(-1)?.name ?? ''))
  );
}

/** Statements that end a transaction or the script, and write nothing. */
export function isEnding(statement: Statement): boolean {
  if (statement.kind === 'block') return statement.statements.every(isEnding);
  return ['transaction', 'throw', 'raiserror', 'print', 'return'].includes(statement.kind);
}

/** The statement that a branch ends with. */
export function lastOf(statement: Statement): Statement | undefined {
  return statement.kind === 'block' ? statement.statements.at(-1) : statement;
}

/** What a branch does before its last statement. */
export function allButLast(statement: Statement): readonly Statement[] {
  return statement.kind === 'block' ? statement.statements.slice(0, -1) : [];
}

/** A temporary table of the session alone. */
export function isTemporary({ table }: TableName): boolean {
  return table.startsWith('#') && !table.startsWith('##');
}
