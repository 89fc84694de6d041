import type { CatalogTable } from '../../../protocol/catalog.ts';
import { parsePlatform } from '../../../protocol/platform.ts';
import type { Position, Range } from '../../../protocol/position.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { generateLoad } from '../generate/generate.ts';
import type { GeneratedLoad } from '../generate/types.ts';
import { formatTableName, tableKey } from '../model/names.ts';
import type { Folder } from './folder.ts';
import { parameterValues, styleOf } from './settings.ts';

/**
 * Generates the load of a specification from a folder's tables, in the folder's style.
 *
 * @param values start values of parameters, before those of the folder's settings
 */
export function loadOf(
  folder: Folder,
  specification: LoadSpecification,
  values: Readonly<Record<string, string>> = {},
): Outcome<GeneratedLoad | null> {
  const problems: Problem[] = [];
  const find = (role: string, name: LoadSpecification['target']) => {
    const found = folder.catalog.lookup.find(name);
    if (found.length === 1) return found[0];
    const shown = formatTableName(name);
    problems.push({
      code: found.length === 0 ? 'unknown-table' : 'ambiguous-table',
      severity: 'error',
      message:
        found.length === 0
          ? `The ${role} ${shown} is not defined in the DDL that was read; name its files or folder.`
          : `The ${role} ${shown} may be ${found.map((table) => formatTableName(table.name)).join(' or ')}; read fewer files, or name it in full.`,
    });
    return undefined;
  };
  const source = find('source', specification.source);
  const target = find('target', specification.target);
  const extra = Object.entries(specification.extra ?? {}).flatMap(([role, name]) => {
    const table = find(`table for "${role}"`, name);
    return table === undefined ? [] : [[role, table] as const];
  });
  if (source === undefined || target === undefined || problems.length > 0) return { value: null, problems };
  const broken = brokenDefinitions(folder, [source, target]);
  if (broken.length > 0) return { value: null, problems: broken };
  const settings = folder.settingsOf(target.file);
  const made = generateLoad({
    specification,
    tables: { source, target, extra: Object.fromEntries(extra) },
    style: styleOf(settings, parsePlatform(specification.platform)?.name),
    parameters: { ...parameterValues(settings, specification), ...values },
  });
  return made.problems.some(({ severity }) => severity === 'error') ? { value: null, problems: made.problems } : made;
}

/** A table whose definition can't be read to its end may lack columns: nothing is generated from it. */
export function brokenDefinitions(folder: Folder, tables: readonly CatalogTable[]): readonly Problem[] {
  return folder.problems.filter(
    ({ code, file, range }) =>
      code === 'syntax' &&
      range !== undefined &&
      tables.some((table) => table.file === file && contains(rangeNow(folder, table), range.start)),
  );
}

/** The catalog may be kept while text above the table moves it. */
function rangeNow(folder: Folder, table: CatalogTable): Range {
  const now = folder.definitionsOf(table.file)?.tables.find(({ name }) => tableKey(name) === tableKey(table.name));
  return now?.range ?? table.range;
}

/** A mistake at the very end counts: there a text that was cut off breaks. */
function contains({ start, end }: Range, position: Position): boolean {
  const behind = position.line > start.line || (position.line === start.line && position.character >= start.character);
  const before = position.line < end.line || (position.line === end.line && position.character <= end.character);
  return behind && before;
}
