import type { PlatformName } from '../protocol/platform.ts';
import { type LoadOptions, type PatternName, patternNames } from '../protocol/specification.ts';
import { generateLoad } from '../server/src/generate/generate.ts';
import { defaultStyle } from '../server/src/generate/style.ts';
import { patternTitle } from '../server/src/load/candidates.ts';
import { inferSpecification } from '../server/src/load/infer.ts';
import { buildCatalog } from '../server/src/model/catalog.ts';
import { defaultConventions } from '../server/src/model/default-conventions.ts';
import { readDefinitions } from '../server/src/model/definitions.ts';
import { parse } from '../server/src/syntax/parse.ts';

/** Names that stand in the generated text where a person writes their own. */
const places = [
  'StageSchema',
  'StageTable',
  'TargetSchema',
  'TargetTable',
  'KeyColumn',
  'OtherKey',
  'ChildKey',
  'Attribute1',
  'Attribute2',
] as const;

/** A pattern's snippet: what people type to find it, further stage columns, the target's columns, options to state. */
interface Frame {
  readonly prefix: string;
  readonly stage?: string;
  readonly target: string;
  readonly options?: LoadOptions;
}

export const snippetPlatforms: readonly PlatformName[] = ['sqlserver', 'synapse', 'fabric', 'duckdb'];

const vault = 'ParentKey char(64) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(50) NOT NULL';
const link =
  'LinkKey char(64) NOT NULL PRIMARY KEY, FirstKey char(64) NOT NULL, SecondKey char(64) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(50) NOT NULL';
const linkKeys: LoadOptions = {
  keys: ['KeyColumn', 'OtherKey'],
  hash_key: { LinkKey: ['KeyColumn', 'OtherKey'], FirstKey: ['KeyColumn'], SecondKey: ['OtherKey'] },
};
const validity = 'ValidFrom datetime2(3) NOT NULL, ValidTo datetime2(3) NULL, IsCurrent bit NOT NULL';
const attributes = 'Attribute1 int NULL, Attribute2 int NULL';
const versions = `KeyColumn int NOT NULL, ${attributes}, ${validity}, PRIMARY KEY (KeyColumn, ValidFrom)`;
const dayValidity =
  "EffectiveStartDT datetime2(3) NOT NULL DEFAULT '1900-01-01', EffectiveExpireDT datetime2(3) NOT NULL DEFAULT '4000-01-01', CurrentRowYN char(1) NOT NULL DEFAULT 'Y', SourceInactiveDT datetime2(3) NULL";
const dayVersions = `KeyColumn int NOT NULL, ${attributes}, ${dayValidity}, PRIMARY KEY (KeyColumn, EffectiveStartDT)`;
const oneRow = `KeyColumn int NOT NULL PRIMARY KEY, ${attributes}`;

const frames: Readonly<Partial<Record<PatternName, Frame>>> = {
  hub: { prefix: 'hub', target: `${vault}, KeyColumn int NOT NULL, PRIMARY KEY (ParentKey)` },
  link: { prefix: 'link', stage: 'OtherKey int NULL', target: link, options: linkKeys },
  nh_link: {
    prefix: 'non-historised-link',
    stage: 'OtherKey int NULL',
    target: `${link}, ${attributes}`,
    options: linkKeys,
  },
  satellite: {
    prefix: 'satellite',
    target: `${vault}, HashDiff char(64) NOT NULL, ${attributes}, PRIMARY KEY (ParentKey, LoadDate)`,
  },
  ma_satellite: {
    prefix: 'multi-active-satellite',
    stage: 'ChildKey int NULL',
    target: `${vault}, ChildKey int NOT NULL, HashDiff char(64) NOT NULL, ${attributes}, PRIMARY KEY (ParentKey, LoadDate, ChildKey)`,
    options: { cdk: ['ChildKey'] },
  },
  record_tracking_satellite: {
    prefix: 'record-tracking-satellite',
    target: `${vault}, PRIMARY KEY (ParentKey, LoadDate, RecordSource)`,
  },
  status_tracking_satellite: {
    prefix: 'status-tracking-satellite',
    target: `${vault}, IsActive bit NOT NULL, PRIMARY KEY (ParentKey, LoadDate)`,
  },
  reference_table: { prefix: 'reference-table', target: oneRow },
  scd0: { prefix: 'scd0', target: oneRow },
  scd1: { prefix: 'scd1', target: oneRow },
  scd2: { prefix: 'scd2', target: versions },
  scd2_timestamp: { prefix: 'scd2-timestamp', stage: 'updated_at datetime2(3) NULL', target: versions },
  scd3: {
    prefix: 'scd3',
    target: `${oneRow}, PreviousAttribute1 int NULL`,
    options: { previous: { Attribute1: 'PreviousAttribute1' }, compare: ['Attribute1'] },
  },
  scd6: {
    prefix: 'scd6',
    target: `${versions}, CurrentAttribute1 int NULL`,
    options: { current_columns: { Attribute1: 'CurrentAttribute1' } },
  },
  scd2_day: { prefix: 'persistent-staging', target: dayVersions },
  inactivation: { prefix: 'inactivation', target: dayVersions },
};

/** The snippets of one platform as VS Code reads them: a load per pattern, as the generator writes it, with tab stops. */
export function snippetsOf(platform: PlatformName): string {
  const entries = patternNames.flatMap((pattern) => {
    const frame = frames[pattern];
    const text = frame === undefined ? null : loadText(pattern, frame, platform);
    if (frame === undefined || text === null) return [];
    const title = `${patternTitle(pattern)} (${platform})`;
    const description = `${patternTitle(pattern)} load for ${platform}`;
    return [
      [title, { prefix: [frame.prefix, `mergewright-${frame.prefix}`], description, body: bodyOf(text) }] as const,
    ];
  });
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function loadText(pattern: PatternName, frame: Frame, platform: PlatformName): string | null {
  const more = frame.stage === undefined ? '' : `, ${frame.stage}`;
  const ddl = `CREATE TABLE StageSchema.StageTable (KeyColumn int NOT NULL PRIMARY KEY, ${attributes}${more});
    CREATE TABLE TargetSchema.TargetTable (${frame.target});`;
  const catalog = buildCatalog([readDefinitions(parse(ddl, { platform: 'sqlserver' }), 'snippet.sql')]);
  const [source, target] = catalog.tables;
  if (source === undefined || target === undefined) return null;
  const options = { keys: ['KeyColumn'], ...frame.options };
  const settings = { conventions: defaultConventions, defaults: {}, patterns: {}, loads: [] };
  const { value } = inferSpecification({ pattern, source, target, platform, options }, catalog, settings);
  if (value === null) return null;
  const load = generateLoad({ specification: value, tables: { source, target, extra: {} }, style: defaultStyle });
  return load.value?.files[0]?.text ?? null;
}

/** Without the header, which would promise that the text equals its regeneration; names become tab stops. */
function bodyOf(text: string): readonly string[] {
  const escaped = text
    .replace(/^-- mergewright: .*\n/m, '')
    .replace(/[\\$}]/g, '\\$&')
    .trimEnd();
  const seen = new Set<string>();
  const order: readonly string[] = places;
  const stopped = escaped.replace(new RegExp(places.join('|'), 'g'), (name) => {
    const number = order.indexOf(name) + 1;
    if (seen.has(name)) return `\${${number}}`;
    seen.add(name);
    return `\${${number}:${name}}`;
  });
  return `${stopped}\n$0`.split('\n');
}
