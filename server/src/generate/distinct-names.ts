/** Names of files and procedures by which the loads of a folder are told apart. */
import type { GeneratedFile } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { addTo } from '../model/groups.ts';
import { formatTableName, sameIdentifier, tableKey } from '../model/names.ts';
import { asFileName, fileNameOf, procedureName } from './file-names.ts';

interface Load {
  readonly files: readonly GeneratedFile[];
  readonly specification: LoadSpecification | null;
}

type Marker = (specification: LoadSpecification) => string;

/** What tells files of one name apart, the shortest first. */
const fileMarks: readonly Marker[] = [
  ({ target }) => asFileName(`_${target.schema ?? ''}`),
  ({ source }) => asFileName(`_from_${formatTableName(source)}`),
  ({ target, source }) => asFileName(`_${placeOf(target)}_from_${formatTableName(source)}`),
];

/** What tells procedures of one name apart; dots would read as parts of the name. */
const procedureMarks: readonly Marker[] = [
  ({ source }) => `_from_${[source.schema, source.table].filter((part) => part !== null).join('_')}`,
  ({ pattern }) => `_${pattern}`,
  ({ target }) => `_${target.schema ?? ''}`,
  ({ pattern, target, source }) => `_${pattern}_${placeOf(target)}_from_${formatTableName(source)}`.replace(/\./g, '_'),
];

/**
 * Loads with a path for each of their files: those that would share one get schema or source into their names, or a number.
 * Paths that differ in letter case only are one on many systems.
 */
export function withDistinctFiles<L extends Load>(loads: readonly L[]): readonly L[] {
  const marks = marksOf(
    loads.flatMap(({ specification }) => specification ?? []),
    fileNameOf,
    fileMarks,
  );
  return loads.map((load) => withMark(load, load.specification === null ? undefined : marks.get(load.specification)));
}

/** One load with the paths that it has among all loads of its folder. */
export function withDistinctFile<L extends Load>(load: L, folder: readonly LoadSpecification[]): L {
  const { specification } = load;
  if (specification === null) return load;
  const name = fileNameOf(specification);
  const others = folder.filter((other) => sameIdentifier(fileNameOf(other), name) && !isSameLoad(other, specification));
  return withMark(load, marksOf([specification, ...others], fileNameOf, fileMarks).get(specification));
}

/**
 * A load whose procedure would have the name of another load's gets its source, or what else tells the two apart, into
 * that name. It becomes an option, so that the script's header keeps it, whatever loads the folder has later on.
 *
 * @param folder all loads of the folder, this one perhaps among them
 * @param schema the schema of procedures; null: that of the target
 */
export function withDistinctProcedure(
  specification: LoadSpecification,
  folder: readonly LoadSpecification[],
  schema: string | null,
): LoadSpecification {
  const { form, options } = specification;
  if (form !== 'procedure' || options.procedure !== undefined) return specification;
  const nameOf = ({ pattern, target, options: { procedure } }: LoadSpecification) =>
    [schema ?? target.schema ?? '', procedure ?? procedureName(pattern, target.table)].join('\u0000');
  const others = folder.filter(
    (other) =>
      sameIdentifier(other.target.table, specification.target.table) &&
      !isSameLoad(other, specification) &&
      !isAlternative(other, specification),
  );
  const mark = marksOf([specification, ...others], nameOf, procedureMarks).get(specification);
  if (mark === undefined) return specification;
  const procedure = `${procedureName(specification.pattern, specification.target.table)}${mark}`;
  return { ...specification, options: { ...options, procedure } };
}

/** The mark of each load that shares its name with others. */
function marksOf(
  loads: readonly LoadSpecification[],
  nameOf: Marker,
  marks: readonly Marker[],
): ReadonlyMap<LoadSpecification, string> {
  const groups = new Map<string, LoadSpecification[]>();
  for (const load of loads) addTo(groups, nameOf(load).toLowerCase(), load);
  const found = new Map<LoadSpecification, string>();
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const named = marks.map((mark) => group.map(mark));
    const distinct = named.find((each) => new Set(each.map((name) => name.toLowerCase())).size === group.length);
    group.forEach((load, index) => {
      found.set(load, distinct?.[index] ?? `_${index + 1}`);
    });
  }
  return found;
}

function withMark<L extends Load>(load: L, mark: string | undefined): L {
  if (mark === undefined) return load;
  const files = load.files.map((file) => ({ ...file, path: file.path.replace(/(\.\w+)?$/, `${mark}$1`) }));
  return { ...load, files };
}

function isSameLoad(one: LoadSpecification, other: LoadSpecification): boolean {
  return one.pattern === other.pattern && joinsSameTables(one, other);
}

/** Another pattern between the same tables takes the first one's place, but for ghost records, which are beside the rows. */
function isAlternative(one: LoadSpecification, other: LoadSpecification): boolean {
  return joinsSameTables(one, other) && one.pattern !== 'ghost_records' && other.pattern !== 'ghost_records';
}

function joinsSameTables(one: LoadSpecification, other: LoadSpecification): boolean {
  return tableKey(one.source) === tableKey(other.source) && tableKey(one.target) === tableKey(other.target);
}

function placeOf({ database, schema }: LoadSpecification['target']): string {
  return [database, schema].filter((part) => part !== null).join('.');
}
