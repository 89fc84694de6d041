import { sameIdentifier } from '../../model/names.ts';
import { findAll } from '../../syntax/inspect.ts';
import type { CreateProcedure, Execute, NodeBase, Parameter } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { NotFollowed } from './effect.ts';
import { type Edit, edited } from './rewrite.ts';

/** A procedure with the text that its nodes count in. */
export interface KnownProcedure {
  readonly procedure: CreateProcedure;
  readonly text: string;
  readonly offset: number;
}

/**
 * A procedure's statements with its parameters declared in front, its variables named apart from the caller's by a number.
 * Throws `NotFollowed` where the call leaves a value open.
 */
export function calledText(
  call: Execute,
  known: KnownProcedure,
  number: number,
  source: (node: NodeBase) => string,
): string {
  const { procedure, text, offset } = known;
  const renamed = (name: string) => `${name}_${number}`;
  const declarations = procedure.parameters.map((parameter, index) => {
    const value = argumentOf(call, parameter, index, known, source);
    const type = parameter.type;
    if (type === null) throw new NotFollowed(`${parameter.name} has no type`, call.start);
    const typeText = text.slice(offset + type.start, offset + type.end);
    return `DECLARE ${renamed(parameter.name)} ${typeText} = ${value};`;
  });
  const edits = renames(procedure, renamed);
  const body = procedure.body.map(({ start, end }) => edited(text, offset, start, end, edits));
  return [...declarations, ...body].join('\n');
}

/** The variables of the caller that a call gives values that only the run knows. */
export function givenBack({ result, arguments: list }: Execute): readonly string[] {
  const outputs = list.flatMap(({ output, value }) => (output && value.kind === 'variable' ? [value.name] : []));
  return [...(result === null ? [] : [result.name]), ...outputs];
}

function argumentOf(
  call: Execute,
  parameter: Parameter,
  index: number,
  { text, offset }: KnownProcedure,
  source: (node: NodeBase) => string,
): string {
  const byName = call.arguments.find(({ name }) => name !== null && sameIdentifier(name.name, parameter.name));
  const given = byName ?? call.arguments[index];
  const value = given === undefined || (byName === undefined && given.name !== null) ? undefined : given.value;
  if (value !== undefined && value.kind !== 'default') {
    if (!isHarmless(value)) throw new NotFollowed('a part of it may do more than read', value.start);
    // A bare word is a text.
    return value.kind === 'column' ? `N'${source(value).replaceAll("'", "''")}'` : source(value);
  }
  const stated = parameter.default;
  if (stated === null) throw new NotFollowed(`${parameter.name} gets no value`, call.start);
  const word = text.slice(offset + stated.start, offset + stated.end);
  return stated.kind === 'column' ? `N'${word}'` : word;
}

function renames(procedure: CreateProcedure, renamed: (name: string) => string): readonly Edit[] {
  const edit = (start: number, name: string): Edit => ({ start, end: start + name.length, text: renamed(name) });
  return procedure.body.flatMap((statement) => [
    ...findAll(statement, 'variable').flatMap(({ start, name }) => (/^@[^@]/.test(name) ? [edit(start, name)] : [])),
    ...findAll(statement, 'declared-variable').map(({ start, name }) => edit(start, name)),
    ...findAll(statement, 'table-variable').map(({ start, name }) => edit(start, name)),
  ]);
}
