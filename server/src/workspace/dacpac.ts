import { strFromU8, unzipSync } from 'fflate';
import type { CatalogKey, TableName } from '../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import { type DerivedDefinition, type FileDefinitions, readDefinitions } from '../model/definitions.ts';
import type { ColumnFacts, TableFacts } from '../model/facts.ts';
import { sameIdentifier, tableKey } from '../model/names.ts';
import { parse } from '../syntax/parse.ts';
import { parseXml, type XmlElement } from './xml.ts';

/** Places in a DACPAC are not text that a person edits; everything points at its start. */
const nowhere = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** A model of more text than this is no DACPAC that a person works with; unpacking stops there. */
const largestModel = 256 * 1024 * 1024;

/** Reads tables, columns, keys, defaults and views from a DACPAC: a zip that holds `model.xml`. */
export function readDacpac(bytes: Uint8Array, file: string): Outcome<FileDefinitions> {
  const empty: FileDefinitions = { file, platform: 'sqlserver', tables: [], derived: [], changes: [] };
  const model = modelOf(bytes);
  if (model === undefined) {
    const problem: Problem = {
      code: 'unreadable-dacpac',
      severity: 'error',
      message: `${file} is no DACPAC with a readable model.xml; build it again from its project.`,
      file,
    };
    return { value: empty, problems: [problem] };
  }
  return { value: { ...empty, tables: tablesOf(model, file), derived: viewsOf(model, file) }, problems: [] };
}

/** A view's columns follow from its query, as in a script. */
function viewsOf(elements: readonly XmlElement[], file: string): readonly DerivedDefinition[] {
  return elements.flatMap((element) => {
    const query = property(element, 'QueryScript');
    if (element.attributes['Type'] !== 'SqlView' || query === undefined) return [];
    const script = parse(`CREATE VIEW ${element.attributes['Name'] ?? ''} AS ${query}`, { platform: 'sqlserver' });
    return readDefinitions(script, file).derived.map((view) => ({ ...view, facts: { ...view.facts, range: nowhere } }));
  });
}

function modelOf(bytes: Uint8Array): readonly XmlElement[] | undefined {
  try {
    const entries = unzipSync(bytes, {
      filter: (entry) => entry.name.toLowerCase() === 'model.xml' && entry.originalSize < largestModel,
    });
    const [content] = Object.values(entries);
    if (content === undefined) return undefined;
    const root = parseXml(strFromU8(content).replace(/^\uFEFF/, ''));
    return root?.children.find((child) => child.name === 'Model')?.children;
  } catch {
    return undefined;
  }
}

function tablesOf(elements: readonly XmlElement[], file: string): readonly TableFacts[] {
  const ofType = (type: string) => elements.filter((element) => element.attributes['Type'] === type);
  const keys = groupByTable([
    ...ofType('SqlPrimaryKeyConstraint').map((element) => [element, 'primary-key'] as const),
    ...ofType('SqlUniqueConstraint').map((element) => [element, 'unique'] as const),
    ...ofType('SqlIndex').flatMap((element) =>
      property(element, 'IsUnique') === 'True' ? [[element, 'unique'] as const] : [],
    ),
  ]);
  const defaults = new Map(
    ofType('SqlDefaultConstraint').map((element) => [
      (referenced(element, 'ForColumn')[0] ?? '').toLowerCase(),
      property(element, 'DefaultExpressionScript') ?? null,
    ]),
  );
  const columnsOf = (table: XmlElement) =>
    related(table, 'Columns').flatMap((element) => {
      const column = columnOf(element, defaults.get((element.attributes['Name'] ?? '').toLowerCase()) ?? null);
      return column === null ? [] : [column];
    });
  return [...ofType('SqlTable'), ...ofType('SqlExternalTable')].flatMap((table): readonly TableFacts[] => {
    const name = tableNameFrom(table.attributes['Name'] ?? '');
    if (name === null) return [];
    const declared = keys.get(tableKey(name)) ?? [];
    const primary = declared.find((key) => key.kind === 'primary-key')?.columns ?? [];
    const columns = columnsOf(table).map((column) =>
      primary.some((other) => sameIdentifier(other, column.name)) ? { ...column, nullable: false } : column,
    );
    const origin = table.attributes['Type'] === 'SqlExternalTable' ? 'external' : 'table';
    return [{ name, platform: 'sqlserver', file, range: nowhere, columns, keys: declared, options: {}, origin }];
  });
}

function columnOf(element: XmlElement, defaultText: string | null): ColumnFacts | null {
  const name = partsOf(element.attributes['Name'] ?? '').at(-1);
  // `$node_id` and its like are no columns that anybody declared.
  if (name === undefined || property(element, 'GraphType') !== undefined) return null;
  const computed = element.attributes['Type'] === 'SqlComputedColumn';
  const [specifier] = related(element, 'TypeSpecifier');
  const type = specifier === undefined ? '' : typeFrom(specifier);
  const generated = property(element, 'GeneratedAlwaysType');
  return {
    name,
    type,
    nullable: property(element, computed ? 'IsPersistedNullable' : 'IsNullable') !== 'False',
    identity: property(element, 'IsIdentity') === 'True',
    computed:
      computed || type === 'timestamp' || type === 'rowversion' || (generated !== undefined && generated !== '0'),
    default: defaultText,
    collation: property(element, 'Collation') ?? null,
    range: nowhere,
    period: generated === '1' ? 'start' : generated === '2' ? 'end' : null,
  };
}

function typeFrom(specifier: XmlElement): string {
  const parts = partsOf(referenced(specifier, 'Type')[0] ?? '');
  const name = (parts.length > 1 && parts[0] !== 'sys' ? parts.join('.') : (parts.at(-1) ?? '')).toLowerCase();
  const length = property(specifier, 'IsMax') === 'True' ? 'max' : property(specifier, 'Length');
  const precision = property(specifier, 'Precision');
  // A scale of zero is left out; where none was written, the model holds the default.
  const scale = property(specifier, 'Scale') ?? (/^(?:time|datetime2|datetimeoffset)$/.test(name) ? '0' : undefined);
  const parameters = [length ?? precision ?? scale, precision === undefined ? undefined : scale].filter(
    (part) => part !== undefined,
  );
  return parameters.length === 0 ? name : `${name}(${parameters.join(',')})`;
}

function groupByTable(
  constraints: readonly (readonly [XmlElement, 'primary-key' | 'unique'])[],
): ReadonlyMap<string, readonly CatalogKey[]> {
  const grouped = new Map<string, CatalogKey[]>();
  for (const [element, kind] of constraints) {
    const table = tableNameFrom(
      referenced(element, 'DefiningTable')[0] ?? referenced(element, 'IndexedObject')[0] ?? '',
    );
    const columns = related(element, 'ColumnSpecifications').flatMap((column) => {
      const name = partsOf(referenced(column, 'Column')[0] ?? '').at(-1);
      return name === undefined ? [] : [name];
    });
    if (table === null || columns.length === 0) continue;
    const known = grouped.get(tableKey(table)) ?? [];
    grouped.set(tableKey(table), [...known, { kind, columns, enforced: true }]);
  }
  return grouped;
}

/** A property stands in an attribute, or, when it is long, in a `Value` element. */
function property(element: XmlElement, name: string): string | undefined {
  const found = element.children.find((child) => child.name === 'Property' && child.attributes['Name'] === name);
  return found === undefined
    ? undefined
    : (found.attributes['Value'] ?? found.children.find((child) => child.name === 'Value')?.text);
}

function entries(element: XmlElement, relationship: string): readonly XmlElement[] {
  return element.children
    .filter((child) => child.name === 'Relationship' && child.attributes['Name'] === relationship)
    .flatMap((child) => child.children.filter((entry) => entry.name === 'Entry').flatMap((entry) => entry.children));
}

function related(element: XmlElement, relationship: string): readonly XmlElement[] {
  return entries(element, relationship).filter((child) => child.name === 'Element');
}

function referenced(element: XmlElement, relationship: string): readonly string[] {
  return entries(element, relationship).flatMap((child) =>
    child.name === 'References' ? [child.attributes['Name'] ?? ''] : [],
  );
}

/** `[dbo].[T].[Id]` → dbo, T, Id. */
function partsOf(name: string): readonly string[] {
  return [...name.matchAll(/\[((?:[^\]]|\]\])*)\]/g)].map((match) => (match[1] ?? '').replaceAll(']]', ']'));
}

function tableNameFrom(name: string): TableName | null {
  const parts = partsOf(name);
  const table = parts[1];
  return table === undefined ? null : { database: null, schema: parts[0] ?? null, table };
}
