import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { generateLoad } from '../generate/generate.ts';
import { defaultStyle } from '../generate/style.ts';
import type { GeneratedLoad } from '../generate/types.ts';
import { formatTableName } from '../model/names.ts';
import type { Folder } from './folder.ts';
import { parameterValues } from './settings.ts';

/**
 * Generates a load with the folder's tables, style and parameter values; values of `parameters` go before the folder's.
 * Null with an error when a table is unknown, may be two, or its file can't be read to the end.
 */
export function generateInFolder(
  folder: Folder,
  specification: LoadSpecification,
  parameters: Readonly<Record<string, string>> = {},
): Outcome<GeneratedLoad | null> {
  const problems: Problem[] = [];
  const find = (name: CatalogTable['name'], role: string): CatalogTable | undefined => {
    const found = folder.catalog.lookup.find(name);
    const [table] = found;
    if (found.length === 1) return table;
    const why =
      table === undefined
        ? 'is not defined in this folder'
        : `may be ${found.map((each) => formatTableName(each.name)).join(' or ')}`;
    problems.push({
      code: 'unknown-table',
      severity: 'error',
      message: `The ${role} ${formatTableName(name)} ${why}; open the folder with its DDL, or write more of its name.`,
    });
    return undefined;
  };
  const source = find(specification.source, 'source');
  const target = find(specification.target, 'target');
  const extra = Object.entries(specification.extra ?? {}).flatMap(([role, name]) => {
    const table = find(name, `table "${role}"`);
    return table === undefined ? [] : [[role, table] as const];
  });
  if (source === undefined || target === undefined || problems.length > 0) return { value: null, problems };
  const broken = brokenDefinitions(folder, [source, target]);
  if (broken.length > 0) return { value: null, problems: broken };
  const settings = folder.settingsOf(target.file);
  const made = generateLoad({
    specification,
    tables: { source, target, extra: Object.fromEntries(extra) },
    style: { ...defaultStyle, ...settings.style },
    parameters: { ...parameterValues(settings, specification), ...parameters },
  });
  return made.problems.some((problem) => problem.severity === 'error')
    ? { value: null, problems: made.problems }
    : made;
}

/** A table whose file can't be read to its end may lack columns: nothing is generated from it. */
export function brokenDefinitions(folder: Folder, tables: readonly CatalogTable[]): readonly Problem[] {
  const files = new Set(tables.map((table) => table.file));
  return folder.problems.filter(
    (problem) => problem.code === 'syntax' && problem.file !== undefined && files.has(problem.file),
  );
}
