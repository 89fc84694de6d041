import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { Binding } from '../model/binding.ts';
import type { FileDefinitions } from '../model/definitions.ts';
import { type FileMention, readMentions } from '../model/mentions.ts';
import { noObjects, type SchemaObjects, schemaObjectsOf } from '../rules/analysis/schema-objects.ts';
import { absoluteRange, lineStartsOf, problemsOf, rangeOf, tableNameOf, unitsOf } from '../syntax/inspect.ts';
import type { Script, Unit } from '../syntax/tree.ts';

/** What the folder keeps of one file: everything but its tree. */
export interface IndexedFile {
  readonly definitions: FileDefinitions;
  readonly mentions: readonly FileMention[];
  readonly objects: SchemaObjects;
  /** The procedures that it makes, with where their names stand. */
  readonly procedures: readonly { readonly name: TableName; readonly range: Range }[];
  readonly problems: readonly Problem[];
}

/** What the folder keeps of a parsed file, with its definitions as they were read. */
export function indexScript(
  script: Script,
  file: string,
  definitions: FileDefinitions,
  bind: (unit: Unit) => Binding,
): IndexedFile {
  return {
    definitions,
    mentions: readMentions(script, bind),
    objects: schemaObjectsOf([script]),
    procedures: proceduresOf(script),
    problems: syntaxProblems(script, file),
  };
}

function proceduresOf(script: Script): IndexedFile['procedures'] {
  return unitsOf(script).flatMap((unit) => {
    const { statement } = unit;
    if (statement.kind !== 'create-procedure') return [];
    const range = rangeOf(lineStartsOf(script.text), absoluteRange(unit, statement.name));
    return [{ name: tableNameOf(statement.name), range }];
  });
}

function syntaxProblems(script: Script, file: string): readonly Problem[] {
  const problems = problemsOf(script);
  if (problems.length === 0) return [];
  const lineStarts = lineStartsOf(script.text);
  return problems.map((problem) => ({
    code: 'syntax',
    severity: 'error',
    message: problem.message,
    file,
    range: rangeOf(lineStarts, problem),
  }));
}

/**
 * Gives facts that were just read strings of their own, in place. A name that is a part of a file's text holds the whole
 * text in memory, for each of thousands of files that nobody has open.
 */
export function letGoOfText(indexed: IndexedFile): void {
  ownStrings(indexed);
}

/** Parts of a text up to this length are copies of their own in V8, longer ones point into it. */
const longestCopy = 12;

function ownStrings(facts: object): void {
  const parts = facts as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === 'string') {
      if (part.length > longestCopy) parts[key] = JSON.parse(JSON.stringify(part));
    } else if (typeof part === 'object' && part !== null && key !== 'range') ownStrings(part);
  }
}

/** What most load scripts are to the catalog. */
export function definesNothing({ definitions, objects }: IndexedFile): boolean {
  const { tables, derived, changes } = definitions;
  return tables.length === 0 && derived.length === 0 && changes.length === 0 && isEmpty(objects);
}

function isEmpty(objects: SchemaObjects): boolean {
  return objects === noObjects || Object.values(objects).every((facts) => facts.length === 0);
}

/** Equal but for places in the text. */
export function definesTheSame(left: IndexedFile, right: IndexedFile): boolean {
  const text = ({ definitions, objects }: IndexedFile) => JSON.stringify({ definitions, objects }, withoutRanges);
  return text(left) === text(right);
}

function withoutRanges(key: string, value: unknown): unknown {
  return key === 'range' ? undefined : value;
}
