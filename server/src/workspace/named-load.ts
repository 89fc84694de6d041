import { parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome } from '../../../protocol/problem.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { withDistinctFile, withDistinctProcedure } from '../generate/distinct-names.ts';
import type { GeneratedLoad } from '../generate/types.ts';
import type { Folder } from './folder.ts';
import { loadOf } from './load-of.ts';
import { styleOf } from './settings.ts';

/**
 * A load to be written into a folder: its files and its procedure bear names that no other load of the folder has.
 *
 * @param written further loads that stand there already, whether or not the folder's tables suggest them
 */
export function namedLoadOf(
  folder: Folder,
  specification: LoadSpecification,
  written: readonly LoadSpecification[] = [],
): Outcome<GeneratedLoad | null> {
  const { value, problems } = loadOf(folder, withProcedureName(folder, specification, written));
  return {
    value: value === null ? null : withDistinctFile(value, [...specificationsOf(folder), ...written]),
    problems,
  };
}

/** The specification with a name for its procedure, where another load of the folder has the usual one. */
export function withProcedureName(
  folder: Folder,
  specification: LoadSpecification,
  written: readonly LoadSpecification[] = [],
): LoadSpecification {
  const file = folder.catalog.lookup.one(specification.target)?.file;
  if (specification.form !== 'procedure' || file === undefined) return specification;
  const { procedureSchema } = styleOf(folder.settingsOf(file), parsePlatform(specification.platform)?.name);
  return withDistinctProcedure(specification, [...specificationsOf(folder), ...written], procedureSchema);
}

function specificationsOf(folder: Folder): readonly LoadSpecification[] {
  return folder.loads.map(({ specification }) => specification);
}
