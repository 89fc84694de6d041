import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { ColumnMapping, MappedColumn } from '../../../protocol/requests.ts';
import type { LoadOptions } from '../../../protocol/specification.ts';
import type { Conventions } from '../model/conventions.ts';
import { type ColumnMatch, comesFromStage, matchColumns } from '../model/matching.ts';
import { sameIdentifier } from '../model/names.ts';

/** Target and stage columns of a load side by side, with what a person should look at. */
export function columnMapping(
  source: CatalogTable,
  target: CatalogTable,
  conventions: Conventions,
  options: LoadOptions,
): ColumnMapping {
  const match = matchColumns(source, target, conventions, options.mapping);
  const unused = new Set(match.unused.map((column) => column.name));
  return {
    columns: match.columns.map((column) => mapped(column, options)),
    sources: source.columns.map(({ name, type }) => ({ name, type, isUsed: !unused.has(name) })),
  };
}

function mapped(match: ColumnMatch, options: LoadOptions): MappedColumn {
  const { target, source } = match;
  return {
    target: target.name,
    targetType: target.type,
    role: target.role,
    source: source?.name ?? null,
    sourceType: source?.type ?? null,
    ...stateOf(match, options),
  };
}

function stateOf(match: ColumnMatch, options: LoadOptions): Pick<MappedColumn, 'state' | 'note'> {
  const { target, source, ties, fit } = match;
  if (ties.length > 0) {
    const names = ties.map((column) => column.name).join(', ');
    return { state: 'tied', note: `${names} fit equally well; choose one.` };
  }
  if (source === null) return withoutSource(match, options);
  if (fit === 'narrowing') {
    return {
      state: 'narrowed',
      note: `${source.type} does not fit into ${target.type}: values may be cut or refused.`,
    };
  }
  if (fit === 'conversion') return { state: 'converted', note: `${source.type} is converted to ${target.type}.` };
  return { state: 'matched', note: match.by === 'setting' ? 'chosen in mergewright.json' : 'found by its name' };
}

function withoutSource({ target }: ColumnMatch, options: LoadOptions): Pick<MappedColumn, 'state' | 'note'> {
  const parameter = Object.entries(options.parameters ?? {}).find(([name]) => sameIdentifier(name, target.name))?.[1];
  if (parameter !== undefined) return { state: 'made-by-load', note: `filled by the parameter ${parameter}` };
  if (!comesFromStage(target.role)) return { state: 'made-by-load', note: 'made by the load' };
  const hole = target.nullable ? 'it stays NULL' : 'it may not be NULL, so the load fails';
  return { state: 'unmatched', note: `no stage column fits; ${hole}.` };
}
