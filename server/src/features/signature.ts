import type { TableName } from '../../../protocol/catalog.ts';
import type { Position } from '../../../protocol/position.ts';
import { compactName, formatTableName, nameFits, sameIdentifier } from '../model/names.ts';
import { absoluteRange, findAll, tableNameOf, textOf, unitAt, unitsOf } from '../syntax/inspect.ts';
import type { CreateProcedure, Execute, Unit } from '../syntax/tree.ts';
import { type DocumentView, offsetAt } from './view.ts';

export interface Signature {
  readonly label: string;
  readonly parameters: readonly { readonly label: string; readonly documentation: string }[];
  readonly activeParameter: number;
}

/** Procedures that a call may mean, from this document or others. */
export interface ProcedureSource {
  readonly unit: Unit;
  readonly view: Pick<DocumentView, 'script'>;
}

/** The procedures that a document defines. */
export function proceduresOf(view: Pick<DocumentView, 'script'>): readonly ProcedureSource[] {
  return unitsOf(view.script)
    .filter((unit) => unit.statement.kind === 'create-procedure')
    .map((unit) => ({ unit, view }));
}

/** The first of some procedures that a name may mean. */
export function procedureNamed(
  procedures: readonly ProcedureSource[],
  name: TableName,
): { readonly procedure: CreateProcedure; readonly source: ProcedureSource } | undefined {
  for (const source of procedures) {
    const { statement } = source.unit;
    if (statement.kind === 'create-procedure' && nameFits(name, tableNameOf(statement.name)))
      return { procedure: statement, source };
  }
  return undefined;
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
  const { procedure, source } = found;
  const parameters = procedure.parameters.map((parameter) => ({
    label: textOf(source.view.script, source.unit, parameter),
    documentation: documentationOf(parameter.name),
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

/** What the parameters of generated procedures mean. */
function documentationOf(name: string): string {
  return meanings[compactName(name)] ?? '';
}

const meanings: Readonly<Record<string, string>> = {
  batchtime: 'The load’s only clock; NULL means now, in UTC.',
  loadprocess: 'Which run stores the rows.',
  recordsource: 'Where the rows come from.',
  sourcesystem: 'Code of the source system that is part of the key’s digest.',
  debug: '1 prints the statement instead of running it.',
  maxinactivationpct: 'Highest share of keys that one run may inactivate, in per cent.',
};
