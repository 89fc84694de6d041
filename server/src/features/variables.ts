import type { TableName } from '../../../protocol/catalog.ts';
import { isTsql } from '../../../protocol/platform.ts';
import { nameFits, sameIdentifier } from '../model/names.ts';
import type { PlacedUnit } from '../model/places.ts';
import { dialectOf } from '../syntax/dialect.ts';
import { absoluteRange, findAll, type Span, tableNameOf, textOf, walk } from '../syntax/inspect.ts';
import { tokenize } from '../syntax/tokenizer.ts';
import { tokenKind } from '../syntax/tokens.ts';
import type { Node, NodeBase, Parameter, ScriptBatch, Unit } from '../syntax/tree.ts';
import type { ProcedureSource } from './procedures.ts';

/** A variable, table variable or parameter of T-SQL. It is known in its batch, which holds no more than one procedure. */
export interface Variable {
  /** With its `@`. */
  readonly name: string;
  readonly file: string;
  readonly batch: Span;
  /** Null where the batch declares none of this name. */
  readonly declaration: VariableDeclaration | null;
}

export interface VariableDeclaration {
  readonly kind: 'variable' | 'table variable' | 'parameter';
  /** All that is said of it: `@a int = 1`. */
  readonly span: Span;
  /** As written; '' where none is. */
  readonly type: string;
  /** The value that it begins with, as written. */
  readonly value: string | null;
  /** The procedure that callers hand a parameter to. */
  readonly procedure: TableName | null;
}

/** The place of a variable in its batch. */
export interface VariableMention {
  readonly span: Span;
  readonly declaration: boolean;
  readonly written: boolean;
}

type Text = ProcedureSource['view'];

/** The variable at an offset; undefined elsewhere, at `@@` functions, and where an argument names its parameter. */
export function variableAt(
  view: Text,
  offset: number,
): { readonly variable: Variable; readonly span: Span } | undefined {
  const { script, file } = view;
  const isNear =
    script.text[offset] === '@' || /@[\p{L}\p{N}_@#$]*$/u.test(script.text.slice(Math.max(0, offset - 129), offset));
  if (!isNear || !isTsql(script.platform)) return undefined;
  const batch = script.batches.find(({ start, end }) => start <= offset && offset <= end);
  if (batch === undefined) return undefined;
  const named = argumentNames(batch);
  const span = variablesIn(view, batch).find(({ start, end }) => start <= offset && offset <= end);
  if (span === undefined || named.has(span.start)) return undefined;
  const name = script.text.slice(span.start, span.end);
  const { start, end } = batch;
  return { variable: { name, file, batch: { start, end }, declaration: declarationOf(view, batch, name) }, span };
}

/** Where an argument of a call names a parameter at an offset. */
export function namedArgumentAt(
  { unit, span }: PlacedUnit,
  offset: number,
): { readonly procedure: TableName; readonly name: string; readonly span: Span } | undefined {
  for (const { procedure, arguments: given } of findAll(unit.statement, 'execute')) {
    if (procedure?.kind !== 'name') continue;
    for (const { name } of given) {
      if (name === null || offset < span(name).start || offset > span(name).end) continue;
      return { procedure: tableNameOf(procedure), name: name.name, span: span(name) };
    }
  }
  return undefined;
}

/** Where the arguments of a unit's calls name a parameter. */
export function argumentsNaming({ unit, span }: PlacedUnit, { name, declaration }: Variable): readonly Span[] {
  const made = declaration?.procedure ?? null;
  if (made === null) return [];
  return findAll(unit.statement, 'execute').flatMap(({ procedure, arguments: given }) =>
    procedure?.kind === 'name' && nameFits(tableNameOf(procedure), made)
      ? given.flatMap((each) => (each.name !== null && sameIdentifier(each.name.name, name) ? [span(each.name)] : []))
      : [],
  );
}

/** A parameter of a procedure as the variable that it is inside. */
export function variableOfParameter(source: ProcedureSource, name: string): Variable | undefined {
  const { procedure, unit, view } = source;
  const parameter = procedure.parameters.find((each) => sameIdentifier(each.name, name));
  return parameter === undefined ? undefined : variableAt(view, absoluteRange(unit, parameter).start)?.variable;
}

/** Where a batch names a variable, in the order of the text. */
export function mentionsOfVariable(view: Text, variable: Variable): readonly VariableMention[] {
  const { script } = view;
  const batch = script.batches.find(({ start }) => start === variable.batch.start);
  if (batch === undefined) return [];
  const named = argumentNames(batch);
  const written = writtenVariables(batch);
  return variablesIn(view, batch)
    .filter((span) => !named.has(span.start) && sameIdentifier(script.text.slice(span.start, span.end), variable.name))
    .map((span) => ({
      span,
      declaration: span.start === variable.declaration?.span.start,
      written: written.has(span.start),
    }));
}

/** The variables that a batch declares. */
export function declaredNames(view: Text, { batch }: Variable): readonly string[] {
  const found = view.script.batches.find(({ start }) => start === batch.start);
  return found === undefined ? [] : declarationsIn(found).map(({ node }) => node.name);
}

function variablesIn({ script }: Text, batch: ScriptBatch): readonly Span[] {
  const { start } = batch;
  return tokenize(script.text.slice(start, batch.end), dialectOf(script.platform))
    .filter((token) => token.kind === tokenKind.variable)
    .map((token) => ({ start: start + token.start, end: start + token.end }))
    .filter((span) => /^@[^@]/.test(script.text.slice(span.start, span.end)));
}

type DeclaringNode = Extract<Node, { kind: 'declared-variable' | 'declare-table' | 'parameter' }>;

function declarationsIn(batch: ScriptBatch): readonly { readonly unit: Unit; readonly node: DeclaringNode }[] {
  return nodesOf(batch).filter(
    (found): found is { unit: Unit; node: DeclaringNode } =>
      found.node.kind === 'declared-variable' || found.node.kind === 'declare-table' || found.node.kind === 'parameter',
  );
}

function nodesOf({ units }: ScriptBatch): readonly { readonly unit: Unit; readonly node: Node }[] {
  const found: { readonly unit: Unit; readonly node: Node }[] = [];
  for (const unit of units) {
    walk(unit.statement, (node) => {
      found.push({ unit, node });
    });
  }
  return found;
}

function declarationOf(view: Text, batch: ScriptBatch, name: string): VariableDeclaration | null {
  const { script } = view;
  const found = declarationsIn(batch).find(({ node }) => sameIdentifier(node.name, name));
  if (found === undefined) return null;
  const { unit, node } = found;
  const text = (part: NodeBase | null) => (part === null ? null : textOf(script, unit, part));
  if (node.kind === 'declare-table') {
    const { start } = absoluteRange(unit, node.variable);
    const span = { start, end: absoluteRange(unit, node).end };
    return { kind: 'table variable', span, type: 'TABLE', value: null, procedure: null };
  }
  const span = absoluteRange(unit, node);
  const type = node.type?.text ?? '';
  if (node.kind === 'declared-variable')
    return { kind: 'variable', span, type, value: text(node.value), procedure: null };
  return { kind: 'parameter', span, type, value: text(node.default), procedure: procedureOf(unit, node) };
}

function procedureOf({ statement }: Unit, parameter: Parameter): TableName | null {
  return statement.kind === 'create-procedure' && statement.parameters.includes(parameter)
    ? tableNameOf(statement.name)
    : null;
}

/** Where arguments name parameters of what they call: `EXEC p @a = @b` has its own `@b` and the `@a` of p. */
function argumentNames(batch: ScriptBatch): ReadonlySet<number> {
  return new Set(
    nodesOf(batch).flatMap(({ unit, node }) =>
      node.kind === 'execute-argument' && node.name !== null ? [absoluteRange(unit, node.name).start] : [],
    ),
  );
}

function writtenVariables(batch: ScriptBatch): ReadonlySet<number> {
  return new Set(
    nodesOf(batch).flatMap(({ unit, node }) => writtenBy(node).map((place) => absoluteRange(unit, place).start)),
  );
}

function writtenBy(node: Node): readonly NodeBase[] {
  switch (node.kind) {
    case 'set-variable':
      return [node.variable];
    case 'select-item':
      return node.assigns === null ? [] : [node.assigns];
    case 'assignment':
      return node.variable === null ? [] : [node.variable];
    case 'execute':
      return node.result === null ? [] : [node.result];
    case 'execute-argument':
      return node.output ? [node.value] : [];
    case 'declared-variable':
      return node.value === null ? [] : [node];
    case 'insert':
    case 'update':
    case 'delete':
    case 'merge':
      return node.target.kind === 'table-variable' ? [node.target] : [];
    case 'output':
      return node.into?.kind === 'table-variable' ? [node.into] : [];
    default:
      return [];
  }
}
