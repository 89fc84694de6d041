import type { GeneratedFile } from '../../protocol/requests.ts';
import type { LoadSpecification } from '../../protocol/specification.ts';
import { asFileName } from '../../server/src/generate/file-names.ts';
import { addTo } from '../../server/src/model/groups.ts';
import { formatTableName } from '../../server/src/model/names.ts';

interface Load {
  readonly files: readonly GeneratedFile[];
  readonly specification: LoadSpecification | null;
}

/** What tells loads of one pattern into tables of one name apart, the shortest first. */
const marks: readonly ((specification: LoadSpecification) => string)[] = [
  ({ target }) => `_${target.schema ?? ''}`,
  ({ source }) => `_from_${formatTableName(source)}`,
  ({ target, source }) =>
    `_${[target.database, target.schema].filter((part) => part !== null).join('.')}_from_${formatTableName(source)}`,
];

/**
 * Loads with a path for each of their files: those that would share one get schema or source into their names, or a number.
 * Paths that differ in letter case only are one on many systems.
 */
export function withDistinctFiles<L extends Load>(loads: readonly L[]): readonly L[] {
  const groups = new Map<string, L[]>();
  for (const load of loads) addTo(groups, load.files.map(({ path }) => path.toLowerCase()).join('\n'), load);
  const named = new Map<L, string>();
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const names = marks.map((mark) => group.map((load) => nameOf(load, mark)));
    const distinct = names.find((each) => new Set(each.map((name) => name.toLowerCase())).size === group.length);
    group.forEach((load, index) => {
      named.set(load, distinct?.[index] ?? `_${index + 1}`);
    });
  }
  return loads.map((load) => {
    const name = named.get(load);
    if (name === undefined) return load;
    return {
      ...load,
      files: load.files.map((file) => ({ ...file, path: file.path.replace(/(\.\w+)?$/, `${name}$1`) })),
    };
  });
}

function nameOf({ specification }: Load, mark: (specification: LoadSpecification) => string): string {
  return specification === null ? '' : asFileName(mark(specification));
}
