import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { TextEdit } from '../../../protocol/problem.ts';
import { nameFits, parseTableName, sameIdentifier } from '../model/names.ts';
import { lineStartsOf, rangeOf } from '../syntax/inspect.ts';

/** A column that gets a new name, as far as settings and headers name it. */
export interface ColumnRename {
  readonly table: CatalogTable;
  readonly column: string;
  readonly newName: string;
}

/** The edits of a `mergewright.json`: corrections of the column's table, and the options of loads that read or write it. */
export function settingsEdits(file: string, text: string, rename: ColumnRename): readonly TextEdit[] {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  const json = parsed(text.slice(start));
  return edits(file, text, start, text.length, rename, ({ path, isKey }) => {
    const [section, place, field, ...rest] = path;
    const entry = entryAt(json, section, place);
    if (entry === null) return false;
    if (section === 'tables' && means(entry['table'], rename.table)) {
      return field === 'key' ? !isKey : field === 'columns' && isKey && rest.length === 1;
    }
    return section === 'loads' && field === 'options' && namesColumn(entry, rename.table, rest, isKey);
  });
}

/** The edits of the header of a generated script, from which it is made again. */
export function headerEdits(file: string, text: string, rename: ColumnRename): readonly TextEdit[] {
  const line = /^-- mergewright: (.*)$/m.exec(text);
  if (line === null) return [];
  const start = line.index + line[0].length - (line[1] ?? '').length;
  const specification = parsed(line[1] ?? '');
  if (!isObject(specification)) return [];
  return edits(file, text, start, line.index + line[0].length, rename, ({ path: [section, ...rest], isKey }) => {
    return section === 'options' && namesColumn(specification, rename.table, rest, isKey);
  });
}

/** Options whose values are columns of the stage, of the target, and those whose keys are columns of the target. */
const stageOptions = new Set(
  'keys not_null compare untracked tie_break effective_from valid_from_source mapping hash_key hashdiff hash_columns'.split(
    ' ',
  ),
);
const targetOptions = new Set(
  'target_key target_identity accept_narrowing driving_key secondary_key load_ts record_source start end status_column valid_from valid_to is_current'.split(
    ' ',
  ),
);
const targetKeyed = new Set('mapping parameters hash_key hashdiff hash_columns'.split(' '));

function namesColumn(load: JsonObject, table: CatalogTable, path: readonly JsonKey[], isKey: boolean): boolean {
  const option = String(path[0] ?? '');
  if (isKey) return path.length === 2 && targetKeyed.has(option) && means(load['target'], table);
  return (
    (stageOptions.has(option) && means(load['source'], table)) ||
    (targetOptions.has(option) && means(load['target'], table))
  );
}

function means(name: unknown, table: CatalogTable): boolean {
  const read = typeof name === 'string' ? parseTableName(name) : tableNameIn(name);
  return read !== undefined && nameFits(read, table.name);
}

function tableNameIn(value: unknown) {
  if (!isObject(value) || typeof value['table'] !== 'string') return undefined;
  const part = (name: string) => (typeof value[name] === 'string' ? value[name] : null);
  return { database: part('database'), schema: part('schema'), table: value['table'] };
}

type JsonKey = string | number;
type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function entryAt(json: unknown, section: JsonKey | undefined, place: JsonKey | undefined): JsonObject | null {
  const list = isObject(json) && typeof section === 'string' ? json[section] : null;
  const entry: unknown = Array.isArray(list) && typeof place === 'number' ? list[place] : null;
  return isObject(entry) ? entry : null;
}

interface JsonText {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** Keys and places from the top; that of a key ends in itself. */
  readonly path: readonly JsonKey[];
  readonly isKey: boolean;
}

function edits(
  file: string,
  text: string,
  from: number,
  to: number,
  { column, newName }: ColumnRename,
  isMeant: (found: JsonText) => boolean,
): readonly TextEdit[] {
  const lineStarts = lineStartsOf(text);
  return textsIn(text, from, to)
    .filter((found) => sameIdentifier(found.value, column) && isMeant(found))
    .map(({ start, end }) => ({ file, range: rangeOf(lineStarts, { start, end }), newText: JSON.stringify(newName) }));
}

/** The texts of a valid JSON document with their places. */
function textsIn(text: string, from: number, to: number): readonly JsonText[] {
  const found: JsonText[] = [];
  const path: JsonKey[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
  token.lastIndex = from;
  let awaitsKey: boolean[] = [];
  for (let match = token.exec(text); match !== null && match.index < to; match = token.exec(text)) {
    const [word] = match;
    const isArray = typeof path.at(-1) === 'number';
    if (word === '{' || word === '[') {
      path.push(word === '{' ? '' : 0);
      awaitsKey = [...awaitsKey, word === '{'];
    } else if (word === '}' || word === ']') {
      path.pop();
      awaitsKey = awaitsKey.slice(0, -1);
    } else if (word === ',') {
      if (isArray) path.push(Number(path.pop()) + 1);
      awaitsKey = [...awaitsKey.slice(0, -1), !isArray];
    } else if (word !== ':') {
      const isKey = awaitsKey.at(-1) === true;
      const value = String(parsed(word) ?? '');
      if (isKey) path[path.length - 1] = value;
      awaitsKey = [...awaitsKey.slice(0, -1), false];
      found.push({ value, start: match.index, end: match.index + word.length, path: [...path], isKey });
    }
  }
  return found;
}
