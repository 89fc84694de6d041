import type { TableName } from '../../../protocol/catalog.ts';
import { compactName, nameFits } from '../model/names.ts';
import { tableNameOf, unitsOf } from '../syntax/inspect.ts';
import type { CreateProcedure, Unit } from '../syntax/tree.ts';
import type { DocumentView } from './view.ts';

/** A procedure that a call may mean, from this document or others. */
export interface ProcedureSource {
  readonly unit: Unit;
  readonly procedure: CreateProcedure;
  readonly view: Pick<DocumentView, 'file' | 'script' | 'lineStarts'>;
}

/** The procedures that a document defines. */
export function proceduresOf(view: ProcedureSource['view']): readonly ProcedureSource[] {
  return unitsOf(view.script).flatMap((unit) =>
    unit.statement.kind === 'create-procedure' ? [{ unit, procedure: unit.statement, view }] : [],
  );
}

/** The first of some procedures that a name may mean. */
export function procedureNamed(procedures: readonly ProcedureSource[], name: TableName): ProcedureSource | undefined {
  return procedures.find(({ procedure }) => nameFits(name, tableNameOf(procedure.name)));
}

/** What a parameter of generated procedures means; '' for others. */
export function meaningOf(parameter: string): string {
  return meanings[compactName(parameter)] ?? '';
}

const meanings: Readonly<Record<string, string>> = {
  batchtime: 'The load’s only clock; NULL means now, in UTC.',
  loadprocess: 'Which run stores the rows.',
  recordsource: 'Where the rows come from.',
  sourcesystem: 'Code of the source system that is part of the key’s digest.',
  debug: '1 prints the statement instead of running it.',
  maxinactivationpct: 'Highest share of keys that one run may inactivate, in per cent.',
};
