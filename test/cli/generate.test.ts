import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commandLine } from '../../cli/src/command-line.ts';
import { openFolder } from '../../cli/src/open-folder.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { openTerminal } from './terminal.ts';

const samples = resolve('samples/warehouse');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-cli-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Calls the command line in the test's folder. */
async function call(...args: readonly string[]) {
  let out = '';
  const err: string[] = [];
  const code = await commandLine(args, {
    cwd: folder,
    env: {},
    out: (text) => {
      out += text;
    },
    err: (text) => err.push(text),
  });
  return { code, out, err };
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** Fails with one line that holds the parts, and leaves nothing behind. */
async function checkRefusal(args: readonly string[], code: 1 | 2, parts: readonly string[]): Promise<void> {
  const before = readdirSync(folder);
  const answer = await call(...args, '--out', 'out');
  expect(answer.code).toBe(code);
  const errors = answer.err.filter((line) => !line.includes(': info: '));
  expect(errors).toHaveLength(1);
  for (const part of parts) expect(errors[0]).toContain(part);
  expect(errors[0]).not.toContain('\n');
  expect(readdirSync(folder)).toEqual(before);
}

const stage = 'CREATE TABLE stg.Person (person_no int NOT NULL, name varchar(30), city varchar(30))';
const feed =
  'CREATE TABLE stg.Person (person_no int NOT NULL, name varchar(30), changed_at datetime2(3), seq bigint NOT NULL, op char(1))';
const satellite =
  'CREATE TABLE rdv.SatPerson (PersonKey char(64) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff char(64) NOT NULL, Name varchar(30), City varchar(30))';
const satelliteCall = [
  'generate',
  'satellite',
  '--source',
  'stg.Person',
  '--target',
  'rdv.SatPerson',
  '--ddl',
  'ddl.sql',
];

describe('catalog', () => {
  test('four tables of the samples in JSON', async () => {
    const { code, out } = await call('catalog', samples, '--json');
    expect(code).toBe(0);
    const catalog: Catalog = JSON.parse(out);
    expect(catalog.tables.map((table) => table.role).sort()).toEqual([
      'persistent-staging',
      'satellite',
      'staging',
      'staging',
    ]);
    expect(catalog.problems).toEqual([]);
  });

  test('a text that reads well in 80 columns', async () => {
    const { out } = await call('catalog', samples);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(out).toContain('key: PatientKey + LoadDate (inferred)');
  });

  test('a cut file keeps its tables and names the place', async () => {
    write('cut.sql', `${stage}\nGO\nCREATE TABLE rdv.Cut (a int, b`);
    const { code, out, err } = await call('catalog', 'cut.sql');
    expect(code).toBe(1);
    expect(out).toContain('stg.Person');
    expect(err[0]).toMatch(/^cut\.sql:3: error: /);
  });
});

describe('generate', () => {
  test.each(['sqlserver', 'synapse', 'duckdb'] as const)(
    'a satellite for %s, without a problem but its open parameter',
    async (platform) => {
      write('ddl.sql', `${stage}\nGO\n${satellite}`);
      const { code, out, err } = await call(...satelliteCall, '--platform', platform);
      expect(err).toEqual([
        'ddl.sql:3: info: RecordSource has no value and fills a NOT NULL column, so no row can be written: give ' +
          '--param RecordSource=VALUE to preview and run, or write "parameters": {"RecordSource": "VALUE"} in mergewright.json.',
      ]);
      expect(code).toBe(0);
      expect(problemsOf(parse(out, { platform }))).toEqual([]);
    },
  );

  test('values of parameters in mergewright.json, and one for no parameter', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    write('mergewright.json', '{"parameters": {"RSRC": "EMED"}}');
    const wrong = await call(...satelliteCall);
    expect(wrong.err[0]).toContain('RecordSource has no value');
    expect(wrong.err[0]).toContain('mergewright.json. Its value for RSRC is for no parameter of this load.');
    expect(wrong.code).toBe(0);
    write('mergewright.json', '{"parameters": {"recordsource": "EMED"}}');
    const right = await call(...satelliteCall);
    expect(right).toMatchObject({ code: 0, err: [] });
    expect(right.out).toContain("DECLARE @RecordSource varchar(20) = 'EMED';");
  });

  test('a parameter for a column that takes NULL needs no word', async () => {
    write(
      'ddl.sql',
      `${stage}\nGO\n${satellite.replace('RecordSource varchar(20) NOT NULL', 'RecordSource varchar(20) NULL')}`,
    );
    expect(await call(...satelliteCall, '--set', 'parameters={"RecordSource":"RecordSource"}')).toMatchObject({
      code: 0,
      err: [],
    });
  });

  test('JSON holds files, the specification and problems; a specification file gives the same text', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    const first = await call(...satelliteCall, '--json', '--set', 'hash_rules.preset=legacy-concat');
    const made = JSON.parse(first.out);
    expect(Object.keys(made)).toEqual(['files', 'specification', 'problems']);
    expect(made.specification.options.hash_key).toEqual({ PersonKey: ['person_no', '@SourceSystem'] });
    write('spec.json', JSON.stringify(made.specification));
    const again = await call('generate', '--spec', 'spec.json', '--ddl', 'ddl.sql', '--json');
    expect(JSON.parse(again.out).files).toEqual(made.files);
  });

  test('--out writes files and names them', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    const { code, out } = await call(...satelliteCall, '--out', 'loads');
    expect(code).toBe(0);
    expect(existsSync(join(folder, out.trim()))).toBe(true);
  });

  test('--all writes every load of the folder in the order in which they run', async () => {
    const { code, out } = await call('generate', '--all', '--ddl', samples, '--out', 'loads');
    expect(code).toBe(0);
    const files = out.trim().split('\n');
    expect(files).toHaveLength(3);
    expect(files.at(-1)).toContain('inactivation');
    expect(readFileSync(join(folder, files[1] ?? ''), 'utf8')).toContain("@RecordSource varchar(255) = 'EMED'");
  });

  test('the help of a pattern lists its options only', async () => {
    const { code, out } = await call('generate', 'satellite', '--help');
    expect(code).toBe(0);
    expect(out).toContain('hashdiff');
    expect(out).not.toContain('valid_to');
  });

  test('keys in key order, each once', async () => {
    const columns = 'RateCode char(3) NOT NULL, Pct decimal(9, 4) NULL, RateZone char(2) NOT NULL';
    write(
      'ddl.sql',
      `CREATE TABLE stg.Rate (${columns}, CONSTRAINT PK_Rate PRIMARY KEY (RateZone, RateCode))\nGO\nCREATE TABLE dw.Rate (${columns}, PRIMARY KEY (RateZone, RateCode))`,
    );
    const { code, out } = await call(
      'generate',
      'scd1',
      '--source',
      'stg.Rate',
      '--target',
      'dw.Rate',
      '--ddl',
      'ddl.sql',
    );
    expect(code).toBe(0);
    expect(out).not.toMatch(/,\s*,|,\s*\)/);
    const joins = [...out.matchAll(/\[RateZone\][^\n]*=[^\n]*\n?[^\n]*\[RateCode\]/g)];
    expect(joins.length).toBeGreaterThan(0);
  });
});

describe('refusals', () => {
  test('a text where a list is expected names the list in the form of the call', () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    return checkRefusal([...satelliteCall, '--set', 'keys=no, sub'], 2, [
      `--set: option "keys" expects a list of names, as in --set 'keys=["no","sub"]'.`,
    ]);
  });

  test('a missing file', () =>
    checkRefusal(['generate', 'satellite', '--source', 'a', '--target', 'b', '--ddl', 'missing.sql'], 2, [
      'missing.sql',
      'does not exist',
    ]));

  test('a name that matches nothing, or two tables', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}\nGO\nCREATE TABLE old.Person (a int)`);
    await checkRefusal(
      ['generate', 'satellite', '--source', 'stg.Nobody', '--target', 'rdv.SatPerson', '--ddl', 'ddl.sql'],
      2,
      ['stg.Nobody', 'names no table'],
    );
    await checkRefusal(
      ['generate', 'satellite', '--source', 'Person', '--target', 'rdv.SatPerson', '--ddl', 'ddl.sql'],
      2,
      ['old.Person', 'write more of its name'],
    );
  });

  test('DDL that ends in the middle', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite.slice(0, -30)}`);
    await checkRefusal(satelliteCall, 1, ['ddl.sql:3: error: ']);
  });

  test('a staging column that the satellite lacks', async () => {
    write('ddl.sql', `${stage.replace('name varchar(30)', 'name varchar(30), email varchar(60)')}\nGO\n${satellite}`);
    await checkRefusal(satelliteCall, 1, ['email', 'add it to the satellite']);
  });

  test('a type that would be narrowed', async () => {
    write('ddl.sql', `${stage.replace('city varchar(30)', 'city varchar(50)')}\nGO\n${satellite}`);
    await checkRefusal(satelliteCall, 1, ['varchar(50)', 'varchar(30)', 'widen']);
  });

  test('no key anywhere', async () => {
    const columns = 'PartId int NOT NULL, Locale char(5) NOT NULL, Label nvarchar(200) NULL';
    write('ddl.sql', `CREATE TABLE stg.PartText (${columns})\nGO\nCREATE TABLE dw.PartText (${columns})`);
    await checkRefusal(
      ['generate', 'scd1', '--source', 'stg.PartText', '--target', 'dw.PartText', '--ddl', 'ddl.sql'],
      1,
      ['declares a key', '--set keys'],
    );
    const { out } = await call(
      'generate',
      'scd1',
      '--source',
      'stg.PartText',
      '--target',
      'dw.PartText',
      '--ddl',
      'ddl.sql',
      '--json',
    );
    expect(JSON.parse(out)).toMatchObject({
      files: [],
      specification: null,
      problems: [{ rule: 'no-primary-key', hazards: ['P16'], severity: 'error' }],
    });
  });

  test('settings that can not be used', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    write('mergewright.json', '{"platform": "oracle"}');
    await checkRefusal(satelliteCall, 2, ['mergewright.json', 'platform']);
  });

  test.each([
    [['generate', 'satelite'], '"satelite" is no pattern'],
    [[...satelliteCall, '--platform', 'oracle'], '"oracle" is no platform'],
    [[...satelliteCall, '--form', 'poem'], '"poem" is no form'],
    [[...satelliteCall, '--shape', 'round'], '"round" is no shape'],
    [[...satelliteCall, '--set', 'closing'], 'write KEY=VALUE'],
    [[...satelliteCall, '--set', 'clsoing=minus-3-ms'], 'no option "clsoing"'],
    [[...satelliteCall, '--set', 'duplicates=perhaps'], 'one of fail'],
    [[...satelliteCall, '--set', 'hash_rules.trim=maybe'], 'true or false for "trim"'],
    [[...satelliteCall, '--nonsense'], '--nonsense'],
  ] as const)('%j', async (args, part) => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    await checkRefusal(args, 2, [part]);
  });
});

describe('init and create', () => {
  test('a first mergewright.json that can be read back, and never a second one', async () => {
    write('ddl.sql', `${stage}\nGO\n${satellite}`);
    const { code, out } = await call('init');
    expect(code).toBe(0);
    expect(out).toContain('2 tables');
    expect(JSON.parse(readFileSync(join(folder, 'mergewright.json'), 'utf8'))).toMatchObject({
      platform: 'sqlserver',
      parameters: { RecordSource: '' },
    });
    const again = await call('init');
    expect(again.code).toBe(2);
    expect(again.err[0]).toContain('exists already');
    expect((await call('catalog', '.')).code).toBe(0);
  });

  test.each<readonly [pattern: string, ...settings: string[]]>([
    ['hub'],
    ['satellite'],
    ['ma_satellite', 'cdk=["name"]'],
    ['eff_satellite', 'keys=["person_no","name"]', 'driving_key=["person_no"]'],
    ['xts', 'satellites={"SAT_PERSON":["name","city"]}'],
    ['link', 'keys=["person_no","name"]'],
    ['nh_link'],
    ['scd0'],
    ['scd1'],
    ['scd2'],
    ['scd2_day'],
    ['scd2_timestamp', 'updated_at=changed_at'],
    ['scd2_cdc', 'sequence_by=seq', 'op_column=op', 'delete_values=["D"]'],
    ['scd3', 'compare=["name"]'],
    ['scd6'],
    ['inactivation'],
    ['persistent_staging'],
    ['reference_table'],
    ['status_tracking_satellite'],
    ['record_tracking_satellite'],
  ])('the created target of %s is one that its load accepts', async (pattern, ...settings) => {
    write('stage.sql', pattern === 'scd2_cdc' || pattern === 'scd2_timestamp' ? feed : stage);
    const options = ['keys=["person_no"]', ...settings].flatMap((setting) => ['--set', setting]);
    const made = await call('create', pattern, '--source', 'stg.Person', '--ddl', 'stage.sql', ...options);
    expect([made.code, made.err]).toEqual([0, []]);
    write('target.sql', made.out);
    const target = /CREATE TABLE (\S+)/.exec(made.out)?.[1] ?? '';
    const load = await call(
      ...['generate', pattern, '--source', 'stg.Person', '--target', target, '--ddl', 'stage.sql', 'target.sql'],
      ...['--platform', 'sqlserver:2022', ...options],
    );
    expect(load.err.filter((line) => line.includes('error'))).toEqual([]);
    expect(load.out).toContain('BEGIN TRANSACTION');
  });

  test('beside each tracked column stands its companion, named as the stage writes names', async () => {
    write('stage.sql', 'CREATE TABLE stg.Shop (id int NOT NULL PRIMARY KEY, region varchar(20), Owner nvarchar(40));');
    const third = await call(
      'create',
      'scd3',
      '--source',
      'stg.Shop',
      '--ddl',
      'stage.sql',
      '--set',
      'compare=["region"]',
    );
    expect(third.out.match(/\[\w+\](?= \w)/g)).toEqual([
      '[id]',
      '[region]',
      '[previous_region]',
      '[Owner]',
      '[ChangedAt]',
    ]);
    const sixth = await call('create', 'scd6', '--source', 'stg.Shop', '--ddl', 'stage.sql');
    expect(sixth.out).toContain('[CurrentOwner] nvarchar(40) NULL');
    expect(sixth.out).toContain('[current_region] varchar(20) NULL');
  });

  test('columns that the load will refuse to hash are named when its table is made', async () => {
    write('stage.sql', 'CREATE TABLE stg.Probe (id int NOT NULL PRIMARY KEY, reading float, note xml);');
    const { code, out, err } = await call('create', 'satellite', '--source', 'stg.Probe', '--ddl', 'stage.sql');
    expect(code).toBe(1);
    expect(out).toContain('[reading] float NULL');
    expect(err).toHaveLength(2);
    expect(err[0]).toContain('stage.sql:1: warning: The load will refuse to hash reading');
  });

  test('without a key nothing is created', async () => {
    write('stage.sql', stage);
    await checkRefusal(['create', 'hub', '--source', 'stg.Person', '--ddl', 'stage.sql'], 1, ['declares no key']);
  });
});

describe('a platform on the command line', () => {
  const tables = (types: string): string =>
    `CREATE TABLE stg.c (id int NOT NULL PRIMARY KEY, name ${types.split('|')[0]});\n` +
    `CREATE TABLE dw.dim_c (id int NOT NULL, name ${types.split('|')[1]}, valid_from datetime2(3) NOT NULL, valid_to datetime2(3), is_current bit NOT NULL);\n`;
  const load = ['generate', 'scd2', '--source', 'stg.c', '--target', 'dw.dim_c', '--ddl', 'd.sql'];

  test('what the platform cannot do is told before what the columns lack', async () => {
    write('d.sql', tables('varchar(200)|varchar(10)'));
    for (const more of [
      ['--platform', 'databricks'],
      ['--platform', 'databricks', '--form', 'pyspark'],
      ['--form', 'pyspark'],
    ]) {
      const { err } = await call(...load, ...more);
      expect(err).toHaveLength(1);
      expect(err[0]).toMatch(/^error: unsupported: /);
    }
  });

  test('DDL without signs of another platform is read as of the platform that is asked for', async () => {
    write('plain.sql', 'CREATE TABLE [dbo].[a] ([id] [int])');
    write('other.sql', 'CREATE TABLE dbo.b (id int) WITH (DISTRIBUTION = HASH(id))');
    const opened = await openFolder(['plain.sql', 'other.sql'], folder, undefined, 'fabric');
    expect(opened.catalog.tables.map((table) => table.platform)).toEqual(['fabric', 'synapse']);
  });
});

test('a rule for absent keys that nothing asks for is told, one that is at work is not', async () => {
  const terminal = await openTerminal({
    'tables.sql': `CREATE TABLE stg.Unit (no INTEGER, name VARCHAR);
CREATE TABLE dw.Unit (no INTEGER NOT NULL, name VARCHAR, valid_from TIMESTAMP NOT NULL, valid_to TIMESTAMP, PRIMARY KEY (no, valid_from));`,
  });
  const generate = (...set: string[]) =>
    terminal.call(
      ...['generate', 'scd2', '--source', 'stg.Unit', '--target', 'dw.Unit', '--ddl', 'tables.sql'],
      ...['--platform', 'duckdb', '--out', '.', ...set.flatMap((each) => ['--set', each])],
    );
  const idle = await generate('hard_deletes=invalidate');
  expect(idle).toMatchObject({
    code: 0,
    err: [expect.stringContaining('info: hard_deletes is invalidate, but absent keys of Unit are not looked for')],
  });
  expect(await generate('hard_deletes=invalidate', 'load=full')).toMatchObject({ code: 0, err: [] });
  expect(await generate('hard_deletes=ignore')).toMatchObject({ code: 0, err: [] });
});
