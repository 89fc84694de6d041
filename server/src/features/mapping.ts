import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { ColumnMapping, MappedColumn } from '../../../protocol/requests.ts';
import type { LoadOptions } from '../../../protocol/specification.ts';
import type { Conventions } from '../model/conventions.ts';
import { type ColumnMatch, comesFromStage, matchColumns } from '../model/matching.ts';
import { sameIdentifier } from '../model/names.ts';

/** Target and stage columns side by side, each with what fills it and what that means. */
export function columnMapping(
  source: CatalogTable,
  target: CatalogTable,
  options: LoadOptions,
  conventions: Conventions,
): ColumnMapping {
  const { columns } = matchColumns(source, target, conventions, options.mapping ?? {});
  const used = new Set(columns.flatMap((match) => (match.source === null ? [] : [match.source])));
  const keys = [...(options.keys ?? []), ...Object.values(options.hash_key ?? {}).flat()];
  return {
    columns: columns.map((match) => mappedColumn(match, options)),
    sources: source.columns.map((column) => ({
      name: column.name,
      type: column.type,
      isUsed: used.has(column) || keys.some((name) => sameIdentifier(name, column.name)),
    })),
  };
}

function mappedColumn(match: ColumnMatch, options: LoadOptions): MappedColumn {
  const { target } = match;
  const facts = {
    target: target.name,
    targetType: target.type,
    role: target.role,
    source: match.source?.name ?? null,
    sourceType: match.source?.type ?? null,
  };
  const parameter = Object.entries(options.parameters ?? {}).find(([name]) => sameIdentifier(name, target.name))?.[1];
  if (parameter !== undefined)
    return {
      ...facts,
      source: null,
      sourceType: null,
      state: 'made-by-load',
      note: `Filled by the load parameter ${parameter}.`,
    };
  if (match.ties.length > 0) {
    return {
      ...facts,
      state: 'tied',
      note: `${match.ties.map((column) => column.name).join(' and ')} fit equally well; choose one.`,
    };
  }
  if (match.source === null) {
    return comesFromStage(target.role)
      ? {
          ...facts,
          state: 'unmatched',
          note: target.nullable
            ? 'Nothing in the stage fits; the column stays NULL.'
            : 'Nothing in the stage fits, and the column is NOT NULL.',
        }
      : { ...facts, state: 'made-by-load', note: 'Kept up by the load itself.' };
  }
  const how = {
    setting: 'Chosen by a person.',
    name: 'The names are equal.',
    spelling: 'The names differ in case and underscores only.',
    affix: 'The names agree without their prefixes.',
  };
  const found = match.by === null ? '' : how[match.by];
  if (match.fit === 'narrowing')
    return { ...facts, state: 'narrowed', note: `${found} ${match.source.type} may not fit into ${target.type}.` };
  if (match.fit === 'conversion')
    return { ...facts, state: 'converted', note: `${found} ${match.source.type} is converted to ${target.type}.` };
  return { ...facts, state: 'matched', note: found };
}
