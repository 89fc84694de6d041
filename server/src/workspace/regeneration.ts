import { parsePlatform } from '../../../protocol/platform.ts';
import type { LoadOptions, LoadSpecification } from '../../../protocol/specification.ts';
import { readHeader } from '../generate/header.ts';
import { bindParameters, boundValues, withoutBlock } from '../generate/parameters.ts';
import { inferSpecification } from '../load/infer.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { sameIdentifier } from '../model/names.ts';
import type { Regenerate } from '../rules/engine/rule.ts';
import type { Folder } from './folder.ts';
import { loadOf } from './load-of.ts';

/** What a header gives today: the texts of its files, and which columns have come or gone since. */
interface Remade {
  readonly texts: readonly string[];
  readonly changes: readonly string[];
}

const remade = new WeakMap<TableCatalog, Map<string, Remade | null>>();

/**
 * Generates scripts again from their headers and the folder's tables. Column lists follow the tables, everything else
 * the header; a script that differs in more than the values of its parameters is out of date.
 */
export function regenerateIn(folder: Folder): Regenerate {
  return ({ text }) => {
    const specification = readHeader(text);
    if (specification === null) return null;
    const now = remake(folder, specification);
    if (now === null || now.texts.some((other) => plain(other) === plain(text))) return null;
    const [fresh] = now.texts;
    const platform = parsePlatform(specification.platform)?.name;
    if (fresh === undefined || platform === undefined) return null;
    const bound = bindParameters(fresh, known(fresh, boundValues(text, platform)), platform).value;
    return { text: text.includes('\r\n') ? bound.replaceAll('\n', '\r\n') : bound, changes: now.changes };
  };
}

/** Once for each header and catalog: a key in a script does not generate it again. */
function remake(folder: Folder, specification: LoadSpecification): Remade | null {
  const { catalog } = folder;
  const kept = remade.get(catalog) ?? new Map<string, Remade | null>();
  remade.set(catalog, kept);
  const key = JSON.stringify(specification);
  const before = kept.get(key);
  if (before !== undefined) return before;
  const made = remakeOnce(folder, specification);
  kept.set(key, made);
  return made;
}

function remakeOnce(folder: Folder, specification: LoadSpecification): Remade | null {
  const source = folder.catalog.lookup.one(specification.source);
  const target = folder.catalog.lookup.one(specification.target);
  if (source === undefined || target === undefined) return null;
  const { compare: _, hashdiff: __, ...stated } = specification.options;
  const { conventions } = folder.settingsOf(target.file).inference;
  const house = { conventions, defaults: {}, patterns: {}, loads: [] };
  const { value } = inferSpecification({ ...specification, source, target, options: stated }, folder.catalog, house);
  if (value === null) return null;
  const options = followTables(specification.options, value.options);
  const { value: load } = loadOf(folder, { ...specification, options });
  return load === null
    ? null
    : { texts: load.files.map((file) => file.text), changes: changesBetween(specification.options, options) };
}

/** Lists of tracked columns as the tables have them now, where the header states such lists at all. */
function followTables(header: LoadOptions, now: LoadOptions): LoadOptions {
  return {
    ...header,
    ...(header.compare === undefined || now.compare === undefined ? {} : { compare: now.compare }),
    ...(header.hashdiff === undefined || now.hashdiff === undefined ? {} : { hashdiff: now.hashdiff }),
  };
}

function changesBetween(before: LoadOptions, now: LoadOptions): readonly string[] {
  const columns = (options: LoadOptions) => [
    ...new Set([...(options.compare ?? []), ...Object.values(options.hashdiff ?? {}).flat()]),
  ];
  const missing = (from: readonly string[], others: readonly string[]) =>
    from.filter((name) => !others.some((other) => sameIdentifier(other, name)));
  const [old, fresh] = [columns(before), columns(now)];
  return [
    ...missing(fresh, old).map((name) => `column ${name} is new and not loaded`),
    ...missing(old, fresh).map((name) => `column ${name} is gone`),
  ];
}

/** Values of parameters that the fresh text still has. */
function known(text: string, values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => new RegExp(`\\b${name.replace(/\W/g, '')}\\b`).test(text)),
  );
}

function plain(text: string): string {
  return withoutBlock(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')).trimEnd();
}
