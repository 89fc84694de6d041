import type { PlatformName } from '../../../protocol/platform.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { TextEdit } from '../../../protocol/problem.ts';
import { sameIdentifier } from '../model/names.ts';
import { inStrings, placedUnits } from '../model/places.ts';
import { offsetOf } from '../syntax/inspect.ts';
import { type Entity, entityAt } from './entity.ts';
import { referencesIn } from './navigation.ts';
import type { ProcedureSource } from './procedures.ts';
import { quotedName } from './quoting.ts';
import { headerEdits } from './rename-options.ts';
import { declaredNames, type Variable } from './variables.ts';
import { type DocumentView, rangeAt, tableNamed } from './view.ts';

/** The column or variable at a position, which can be renamed; undefined anywhere else. */
export function renameRange(
  view: DocumentView,
  position: Position,
  procedures: readonly ProcedureSource[] = [],
): { readonly range: Range; readonly name: string } | undefined {
  const entity = entityAt(view, position, procedures);
  if (entity?.kind === 'variable' && entity.variable.declaration !== null)
    return { range: rangeAt(view, entity.span), name: entity.variable.name };
  if (entity === undefined || (entity.kind !== 'column' && entity.kind !== 'local-column')) return undefined;
  // What a query gives is named inside the query.
  if (entity.kind === 'local-column' && entity.table.derived) return undefined;
  const range = rangeAt(view, entity.span);
  return { range, name: entity.column.name };
}

export const onlyRenamed = 'Only columns and variables can be renamed here.';

/**
 * Why a column or variable can't take a name; null when it can.
 *
 * @param text the document that declares the variable
 */
export function renameRefusal(
  entity: Entity,
  newName: string,
  text: ProcedureSource['view'] | null = null,
): string | null {
  if (entity.kind === 'variable') return variableRefusal(entity.variable, newName, text);
  if (newName.trim() === '') return 'A column needs a name.';
  if (entity.kind !== 'column' && entity.kind !== 'local-column') return onlyRenamed;
  if (newName.length > 128) return 'A column name has at most 128 characters.';
  const taken = entity.table.columns.some((column) => sameIdentifier(column.name, newName));
  return taken ? `${entity.table.name.table} already has a column ${newName}.` : null;
}

function variableRefusal(variable: Variable, newName: string, text: ProcedureSource['view'] | null): string | null {
  if (variable.declaration === null) return `${variable.name} is not declared in its batch.`;
  const name = variableName(newName);
  if (!/^@[\p{L}\p{N}_#$][\p{L}\p{N}_@#$]*$/u.test(name))
    return 'A variable has letters, digits and _ @ # $ behind its @.';
  if (name.length > 128) return 'The name of a variable has at most 128 characters.';
  const declared = text === null ? [] : declaredNames(text, variable);
  const taken = declared.some((other) => sameIdentifier(other, name) && !sameIdentifier(other, variable.name));
  return taken ? `The batch already declares ${name}.` : null;
}

/** A new name may be written without its `@`. */
function variableName(name: string): string {
  return name.startsWith('@') ? name : `@${name.trim()}`;
}

/**
 * The edits of one document that rename a column or variable: its definition, lists, expressions, and executed strings. Quotes stay
 * as they are. Where a query gives the column to a view, a table or a statement around it, these go on knowing it by the
 * name that they know: `SELECT Town AS City`.
 */
export function renameEdits(view: DocumentView, entity: Entity, newName: string): readonly TextEdit[] {
  if (entity.kind === 'variable') {
    const newText = variableName(newName);
    return referencesIn(view, entity).map(({ range }) => ({ file: view.file, range, newText }));
  }
  const { text, platform } = view.script;
  const given = givenBare(view);
  const strings = inStrings(view.script).map(({ unit, span }) => span(unit.statement));
  const edits = referencesIn(view, entity).map(({ range }): TextEdit => {
    const start = offsetOf(view.lineStarts, text, range.start);
    const end = offsetOf(view.lineStarts, text, range.end);
    const old = text.slice(start, end);
    const renamed = quotedLike(old, newName, platform);
    const newText = given.has(start) ? `${renamed} AS ${old}` : renamed;
    const inString = strings.some((span) => span.start <= start && start < span.end);
    return { file: view.file, range, newText: inString ? newText.replaceAll("'", "''") : newText };
  });
  const headers =
    entity.kind === 'column' ? headerEdits(view.file, text, { ...entity, column: entity.column.name, newName }) : [];
  return [...headers, ...edits, ...newNamesOfOutputs(view, entity, newName)];
}

/** Where columns stand that a query gives under their own names to what is around it. */
function givenBare({ script }: DocumentView): ReadonlySet<number> {
  return new Set(
    placedUnits(script).flatMap(({ binding, span }) => binding.bareOutputs.map(({ node }) => span(node).start)),
  );
}

/** A column of a view or of a table that a query makes: what the query gives gets the new name. */
function newNamesOfOutputs(view: DocumentView, entity: Entity, newName: string): readonly TextEdit[] {
  if (entity.kind !== 'column') return [];
  const { script, file } = view;
  return placedUnits(script).flatMap(({ binding, span }) =>
    binding.bareOutputs.flatMap(({ node, item, owner }) => {
      if (owner === null || !sameIdentifier(node.name, entity.column.name)) return [];
      if (tableNamed(view, owner) !== entity.table) return [];
      const { end } = span(item);
      const old = script.text.slice(span(node).start, span(node).end);
      const newText = ` AS ${quotedLike(old, newName, script.platform)}`;
      return [{ file, range: rangeAt(view, { start: end, end }), newText }];
    }),
  );
}

/** A new name in the quotes of the old one; a name that needs quotes gets those of the platform. */
function quotedLike(old: string, name: string, platform: PlatformName): string {
  const closing: Readonly<Record<string, string>> = { '[': ']', '"': '"', '`': '`' };
  const opening = old[0] ?? '';
  const end = closing[opening];
  if (end !== undefined) return `${opening}${name.replaceAll(end, end + end)}${end}`;
  return quotedName(name, platform);
}
