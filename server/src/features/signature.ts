import type { TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { absoluteRange, findAll, tableNameOf, textOf, unitAt, unitsOf } from '../syntax/inspect.ts';
import type { CreateProcedure, Execute, Unit } from '../syntax/tree.ts';
import { meaningOf, type ProcedureSource, procedureNamed } from './procedures.ts';
import { type DocumentView, offsetAt } from './view.ts';

export interface Signature {
  readonly label: string;
  readonly parameters: readonly { readonly label: string; readonly documentation: string }[];
  readonly activeParameter: number;
}

/** The procedure whose EXEC surrounds the position. */
export function calledAt(view: DocumentView, position: Position): TableName | undefined {
  const call = callAt(view, offsetAt(view, position))?.call;
  return call?.procedure?.kind === 'name' ? tableNameOf(call.procedure) : undefined;
}

function callAt(view: DocumentView, offset: number): { readonly unit: Unit; readonly call: Execute } | undefined {
  const unit = unitAt(view.script, offset) ?? unitsOf(view.script).findLast((candidate) => candidate.offset <= offset);
  if (unit === undefined) return undefined;
  const call = findAll(unit.statement, 'execute').findLast(
    ({ procedure }) => procedure !== null && unit.offset + procedure.end < offset,
  );
  if (call === undefined) return undefined;
  const behind = view.script.text.slice(unit.offset + call.end, offset);
  const before = view.script.text.slice(unit.offset + call.start, offset - behind.length);
  // Behind its last argument a call goes on with a comma, or on its own line.
  const goesOn = /[,=]\s*$/.test(before) ? /^\s*@?\w*$/ : /^(?:[^\S\r\n]*|\s*[,=]\s*)@?\w*$/;
  return goesOn.test(behind) ? { unit, call } : undefined;
}

/** The parameters of the procedure whose EXEC surrounds the position. */
export function signatureHelp(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[],
): Signature | undefined {
  const offset = offsetAt(view, position);
  const { unit, call } = callAt(view, offset) ?? {};
  if (unit === undefined || call?.procedure?.kind !== 'name') return undefined;
  const name = tableNameOf(call.procedure);
  const found = procedureNamed(procedures, name);
  if (found === undefined) return undefined;
  const { procedure } = found;
  const parameters = procedure.parameters.map((parameter) => ({
    label: textOf(found.view.script, found.unit, parameter),
    documentation: meaningOf(parameter.name),
  }));
  return {
    label: `${formatTableName(tableNameOf(procedure.name))} ${parameters.map((parameter) => parameter.label).join(', ')}`,
    parameters,
    activeParameter: activeParameter(view, unit, call, procedure, offset),
  };
}

function activeParameter(
  view: DocumentView,
  unit: Unit,
  call: Execute,
  procedure: CreateProcedure,
  offset: number,
): number {
  const current = call.arguments.findLast((argument) => absoluteRange(unit, argument).start <= offset);
  const named = current?.name?.name;
  if (named !== undefined) return procedure.parameters.findIndex((parameter) => sameIdentifier(parameter.name, named));
  const before = view.script.text.slice(unit.offset + (call.procedure?.end ?? call.start), offset);
  return [...before.replace(/'(?:[^']|'')*'/g, '').matchAll(/,/g)].length;
}
