/**
 * Tables as nobody wishes for them: names with blanks, brackets, quotes and reserved words, types that can't be compared or
 * hashed. What is created for them takes their loads, nothing is found in either, and Microsoft's parser reads both.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTerminal } from '../cli/terminal.ts';
import { type RefereeText, type RefereeVersion, refereeMissing, refereeTsql } from '../support/referee.ts';

const everywhere = [
  '[the no] varchar(20) NOT NULL',
  '[select] int NULL',
  '[a]]b] varchar(10) NULL',
  `[it's "q"] varchar(10) NULL`,
  '[größe ✓] varchar(30) NULL',
  '[flag] bit NULL',
  '[small] decimal(38,38) NULL',
  '[changed] datetime2(6) NULL',
  '[time] time(3) NULL',
  '[bytes] varbinary(20) NULL',
  '[all bytes] varbinary(max) NULL',
  '[x.y] bigint NULL',
  '[percent%] smallint NULL',
  '[guid] uniqueidentifier NULL',
];
const synapse = [
  ...everywhere,
  '[there] datetimeoffset(6) NULL',
  '[price] money NULL',
  '[at] datetime NULL',
  '[day] smalldatetime NULL',
  '[tiny] tinyint NULL',
  '[float] float NULL',
  '[fixed] nchar(5) NULL',
];
const sqlserver = [
  ...synapse,
  '[xml] xml NULL',
  '[place] geography NULL',
  '[any] sql_variant NULL',
  '[row] rowversion NOT NULL',
  '[sum] AS ([select] + 1)',
];
const duckdb = [
  '"the no" VARCHAR NOT NULL',
  '"select" INTEGER',
  '"a]b" VARCHAR',
  `"it's ""q""" VARCHAR`,
  '"größe ✓" VARCHAR',
  'flag BOOLEAN',
  'small DECIMAL(38,38)',
  'changed TIMESTAMP',
  '"time" TIME',
  'bytes BLOB',
  '"x.y" BIGINT',
  'guid UUID',
  'large HUGEINT',
  'list INTEGER[]',
  'parts STRUCT(a INTEGER, b VARCHAR)',
  'there TIMESTAMPTZ',
];
/** Columns without one text on every platform, which a vault's load leaves out. */
const unhashed: Readonly<Record<string, readonly string[]>> = {
  sqlserver: ['float', 'xml', 'place', 'any'],
  synapse: ['float'],
  fabric: [],
  duckdb: ['large', 'list', 'parts'],
};

const patterns: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['hub', {}],
  ['link', { keys: ['the no', 'select'] }],
  ['nh_link', { keys: ['the no', 'select'] }],
  ['satellite', {}],
  ['ma_satellite', { cdk: ['select'] }],
  ['status_tracking_satellite', {}],
  ['record_tracking_satellite', {}],
  ['eff_satellite', { keys: ['the no', 'select'], driving_key: ['TheKey'], secondary_key: ['SelectKey'] }],
  ['scd0', {}],
  ['scd1', {}],
  ['scd2', {}],
  ['scd2_timestamp', { updated_at: 'changed' }],
  ['scd2_cdc', { sequence_by: 'x.y' }],
  ['scd2_day', {}],
  ['scd3', {}],
  ['scd6', {}],
  ['inactivation', {}],
  ['persistent_staging', {}],
  ['reference_table', {}],
];

const grammars: Readonly<Record<string, RefereeVersion>> = {
  sqlserver: '2019',
  synapse: 'newest',
  fabric: 'fabricdw',
};

test.each([
  ['sqlserver', `CREATE TABLE [s t g].[Order's] (${sqlserver.join(', ')}, PRIMARY KEY ([the no]));`],
  ['synapse', `CREATE TABLE [s t g].[Order's] (${synapse.join(', ')}) WITH (DISTRIBUTION = ROUND_ROBIN, HEAP);`],
  ['fabric', `CREATE TABLE [s t g].[Order's] (${everywhere.join(', ')});`],
  ['duckdb', `CREATE TABLE "s t g"."Order's" (${duckdb.join(', ')}, PRIMARY KEY ("the no"));`],
] as const)('odd tables on %s', async (platform, ddl) => {
  const terminal = await openTerminal({
    'ddl/stage.sql': ddl,
    'mergewright.json': JSON.stringify({ platform, parameters: { RecordSource: "it's" } }),
  });
  const source = platform === 'duckdb' ? `"s t g"."Order's"` : "[s t g].[Order's]";
  const target = platform === 'duckdb' ? 'dw."a ]x"' : 'dw.[a ]]x]';
  const texts: RefereeText[] = [];
  for (const [pattern, stated] of patterns) {
    const isVault = /link|satellite/.test(pattern);
    const options = { keys: ['the no'], ...stated, ...(isVault ? { untracked: unhashed[platform] } : {}) };
    const settings = Object.entries(options).flatMap(([name, value]) => ['--set', `${name}=${JSON.stringify(value)}`]);
    const load = ['--source', source, '--target', target, ...settings];
    const made = await terminal.call('create', pattern, ...load, '--ddl', 'ddl/stage.sql');
    await terminal.write('ddl/target.sql', made.out);
    texts.push({ name: `created ${pattern}`, text: made.out });
    for (const shape of ['separate', 'merge']) {
      for (const form of platform === 'duckdb' ? ['script'] : ['script', 'procedure']) {
        const folder = `out/${pattern}-${shape}-${form}`;
        const shapes = ['--shape', shape, '--form', form, '--out', folder];
        const { code, err } = await terminal.call('generate', pattern, ...load, ...shapes, '--ddl', 'ddl');
        expect([code, err.filter((line) => !line.includes(': info: '))], folder).toEqual([0, []]);
        const { out } = await terminal.call('lint', folder, '--ddl', 'ddl');
        expect(out, folder).toContain('nothing found');
        for (const file of readdirSync(terminal.path(folder)))
          texts.push({ name: `${folder}/${file}`, text: readFileSync(terminal.path(`${folder}/${file}`), 'utf8') });
      }
    }
  }
  const grammar = grammars[platform];
  if (grammar !== undefined && refereeMissing() === null) expect(await refereeTsql(texts, grammar)).toEqual([]);
});
