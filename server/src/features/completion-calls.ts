import { isTsql } from '../../../protocol/platform.ts';
import type { Range } from '../../../protocol/position.ts';
import { bindUnit } from '../model/binding.ts';
import { sameIdentifier } from '../model/names.ts';
import { findAll, textOf, unitsOf } from '../syntax/inspect.ts';
import type { Parameter } from '../syntax/tree.ts';
import type { CompletionItem } from './completion-item.ts';
import type { Context, Place } from './completion-place.ts';
import { partsBehind } from './name-tokens.ts';
import { meaningOf, type ProcedureSource, procedureNamed } from './procedures.ts';
import { quotedName } from './quoting.ts';
import { type DocumentView, tableNamed } from './view.ts';

/** The procedures of the folder behind EXEC. */
export function procedureItems(
  view: DocumentView,
  { range }: Place,
  { qualifiers }: Extract<Context, { kind: 'procedure' }>,
): readonly CompletionItem[] {
  const { platform } = view.script;
  const offered = new Map<string, CompletionItem>();
  for (const { name } of view.folder.procedures()) {
    const all = [name.schema, name.table].filter((part) => part !== null);
    const parts = qualifiers.length === 0 ? all : partsBehind(name, qualifiers);
    if (parts === null) continue;
    const label = parts.join('.');
    offered.set(label.toLowerCase(), {
      label,
      kind: 'procedure',
      detail: 'procedure of this folder',
      documentation: '',
      insertText: parts.map((part) => quotedName(part, platform)).join('.'),
      range,
      sortText: `a${name.table.toLowerCase()}`,
    });
  }
  return [...offered.values()];
}

/** The parameters of a called procedure that have no value yet, in its order, then what may be handed over by place. */
export function argumentItems(
  view: DocumentView,
  place: Place,
  { call }: Extract<Context, { kind: 'argument' }>,
  procedures: readonly ProcedureSource[],
): readonly CompletionItem[] {
  const variables = parameterItems(view, place).map((item) => ({ ...item, sortText: `b${item.sortText}` }));
  const found = procedureNamed(procedures, call.procedure);
  if (found === undefined) return variables;
  const byPlace = call.named.length === 0 ? call.before : 0;
  const isNamed = /^[^\S\n]*=/.test(view.script.text.slice(place.offset));
  const parameters = found.procedure.parameters
    .slice(byPlace)
    .filter(({ name }) => !call.named.some((other) => sameIdentifier(other, name)))
    .map((parameter, at) => ({
      ...parameterItem(parameter.name, describedParameter(found, parameter), place.range),
      documentation: meaningOf(parameter.name),
      insertText: isNamed ? parameter.name : `${parameter.name} = `,
      sortText: `a${String(at).padStart(5, '0')}`,
    }));
  return [...parameters, ...(call.named.length === 0 ? variables : [])];
}

function describedParameter({ unit, view }: ProcedureSource, { type, default: otherwise, output }: Parameter): string {
  const value = otherwise === null ? [] : [`default ${textOf(view.script, unit, otherwise)}`];
  return [type?.text ?? '', ...value, ...(output ? ['OUTPUT'] : []), 'parameter']
    .filter((part) => part !== '')
    .join(' · ');
}

/** Variables of the batch, and the parameters of the loads that write a table named in the statement. */
export function parameterItems(view: DocumentView, place: Place): readonly CompletionItem[] {
  const { range } = place;
  const declared = place.batch.units.flatMap(({ statement }) => [
    ...findAll(statement, 'declared-variable').map((variable) => ({
      name: variable.name,
      type: variable.type?.text ?? '',
    })),
    ...findAll(statement, 'parameter').map((parameter) => ({ name: parameter.name, type: parameter.type?.text ?? '' })),
  ]);
  const items = declared.map(({ name, type }) =>
    parameterItem(name, [type, 'declared in this batch'].filter((part) => part !== '').join(' · '), range),
  );
  if (!isTsql(view.script.platform)) return items;
  const targets = unitsOf(view.script)
    .filter((unit) => place.batch.units.includes(unit))
    .flatMap((unit) =>
      bindUnit(unit).mentions.flatMap((mention) =>
        mention.kind === 'table' && mention.access !== 'read' ? [tableNamed(view, mention.name)] : [],
      ),
    );
  const loads = view.folder.loads.filter(({ specification }) =>
    targets.includes(tableNamed(view, specification.target)),
  );
  const parameters = loads.flatMap(({ specification: { options } }) => [
    ...Object.values(options.parameters ?? {}),
    ...Object.values(options.hash_key ?? {}).flatMap((inputs) =>
      inputs.flatMap((input) => (input.startsWith('@') ? [input.slice(1)] : [])),
    ),
  ]);
  const missing = [...new Set(parameters)]
    .map((name) => `@${name}`)
    .filter((name) => !declared.some((other) => sameIdentifier(other.name, name)));
  return [...items, ...missing.map((name) => parameterItem(name, 'load parameter', range))];
}

function parameterItem(name: string, detail: string, range: Range): CompletionItem {
  return {
    label: name,
    kind: 'parameter',
    detail,
    documentation: '',
    insertText: name,
    range,
    sortText: `a${name.toLowerCase()}`,
  };
}
