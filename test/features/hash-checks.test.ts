import { createHash } from 'node:crypto';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { DataCheck } from '../../protocol/requests.ts';
import type { HashRules, LoadSpecification } from '../../protocol/specification.ts';
import { checksOf, inspection } from '../../server/src/features/inspection.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import { inferLoads } from '../../server/src/load/candidates.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';
import { refereeMissing, refereeTsql } from '../support/referee.ts';

const stage = `
CREATE TABLE stg.Patient (PatientCode varchar(20) NOT NULL, City varchar(30), Born datetime, Weight decimal(9,2), LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL);`;
const hub = `
CREATE TABLE raw.HubPatient (PatientKey varchar(64) NOT NULL PRIMARY KEY, PatientCode varchar(20) NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL);`;
const satellite = `
CREATE TABLE raw.SatPatient (PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff varchar(64) NOT NULL, City varchar(30), Born datetime, Weight decimal(9,2), PRIMARY KEY (PatientKey, LoadDate));`;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Folder {
  readonly catalog: ReturnType<typeof catalogFrom>;
  readonly loads: readonly LoadSpecification[];
}

function folder(ddl: string, rules?: HashRules): Folder {
  const catalog = catalogFrom(ddl);
  const defaults = rules === undefined ? {} : { hash_rules: rules };
  const settings = { conventions: defaultConventions, defaults, patterns: {}, loads: [] };
  const loads = inferLoads(catalog, () => settings, []).map(({ specification }) => specification);
  return { catalog, loads };
}

function hashChecksOf({ catalog, loads }: Folder, name: string, platform: string): readonly DataCheck[] {
  const found = inspection(tableIn(catalog, name), loads, platform);
  if ('message' in found) throw new Error(found.message);
  return checksOf(found, catalog).checks.filter((check) => check.name.startsWith('hash-recomputes'));
}

/** Loads staged rows with the folder's own loads, spoils rows by hand, and gives what each hash check then finds. */
async function foundAfter(place: Folder, spoil: string, hashType = 'varchar'): Promise<Record<string, unknown>> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    await connection.run(`CREATE SCHEMA stg; CREATE SCHEMA raw;
      CREATE TABLE stg.Patient (PatientCode varchar, City varchar, Born timestamp, Weight decimal(9,2), LoadDate timestamp, RecordSource varchar);
      CREATE TABLE raw.HubPatient (PatientKey ${hashType}, PatientCode varchar, LoadDate timestamp, RecordSource varchar);
      CREATE TABLE raw.SatPatient (PatientKey ${hashType}, LoadDate timestamp, RecordSource varchar, HashDiff ${hashType}, City varchar, Born timestamp, Weight decimal(9,2));
      INSERT INTO stg.Patient VALUES ('p|1', ' Köln', '1980-02-03 04:05:06.997', 70.50, '2026-03-01', 'x'),
        ('p2 ', NULL, NULL, NULL, '2026-03-01', 'x'), ('P3', '', '1999-12-31', 0, '2026-03-01', 'x');`);
    for (const specification of place.loads) {
      const tables = {
        source: tableIn(place.catalog, 'Patient'),
        target: tableIn(place.catalog, specification.target.table),
        extra: {},
      };
      const request = { specification: { ...specification, platform: 'duckdb' }, tables, style: defaultStyle };
      const { value, problems } = generateLoad(request);
      if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
      for (const batch of value.batches) await connection.run(batch.text);
    }
    if (spoil !== '') await connection.run(spoil);
    const checks = ['HubPatient', 'SatPatient'].flatMap((name) =>
      hashChecksOf(place, name, 'duckdb').map((check) => [`${name} ${check.name}`, check] as const),
    );
    const found: Record<string, unknown> = {};
    for (const [name, { batch, refusal }] of checks) {
      const rows = batch === null ? refusal : (await connection.runAndReadAll(batch.text)).getRowObjectsJson();
      found[name] = rows;
    }
    return found;
  } finally {
    connection.closeSync();
  }
}

const hubKey = 'HubPatient hash-recomputes:PatientKey';
const hashdiff = 'SatPatient hash-recomputes:HashDiff';
const satelliteKey = 'SatPatient hash-recomputes:PatientKey';

describe('hashes are made again from the columns of their row', () => {
  test.each([
    ['the default rule', undefined],
    ['a rule that sorts, trims and raises', { preset: 'automate-dv' }],
    ['a rule that raises keys only', { preset: 'datavault4dbt' }],
  ] as const)('what a load wrote holds, under %s', async (_, rules) => {
    const found = await foundAfter(folder(`${stage}${hub}${satellite}`, rules), '');
    expect(found).toEqual({
      [hubKey]: [],
      [hashdiff]: [],
      [satelliteKey]: 'PatientKey is hashed from PatientCode, and SatPatient does not hold PatientCode.',
    });
  });

  test('a parameter of the load that the table does not keep leaves only the hashdiff to check', async () => {
    const found = await foundAfter(folder(`${stage}${hub}${satellite}`, { preset: 'legacy-concat' }), '');
    expect(found).toMatchObject({
      [hubKey]: 'PatientKey is hashed from PatientCode, @SourceSystem, and HubPatient does not hold @SourceSystem.',
      [hashdiff]: [],
    });
  });

  test('a row that was changed by hand is shown with its key and with what the hash should be', async () => {
    const place = folder(`${stage}${hub}${satellite}`);
    const found = await foundAfter(
      place,
      `UPDATE raw.HubPatient SET PatientCode = 'other' WHERE PatientCode = 'P3';
       UPDATE raw.SatPatient SET Weight = 70.51 WHERE City = ' Köln';
       INSERT INTO raw.HubPatient VALUES (repeat('0', 64), '', '1900-01-01', 'SYSTEM'), (repeat('f', 64), '', '9999-12-31', 'ERROR');`,
    );
    expect(found[hubKey]).toEqual([
      {
        PatientKey: sha256('P3'),
        LoadDate: '2026-03-01 00:00:00',
        recomputed: sha256('other'),
      },
    ]);
    expect(found[hashdiff]).toEqual([
      {
        PatientKey: sha256('p^21'),
        LoadDate: '2026-03-01 00:00:00',
        HashDiff: sha256(' Köln||1980-02-03 04:05:06.997000||70.50'),
        recomputed: sha256(' Köln||1980-02-03 04:05:06.997000||70.51'),
      },
    ]);
  });

  test('a hash that is kept as bytes is compared as bytes', async () => {
    const bytes = (ddl: string) =>
      ddl.replaceAll('Key varchar(64)', 'Key binary(32)').replace('HashDiff varchar(64)', 'HashDiff binary(32)');
    const place = folder(bytes(`${stage}${hub}${satellite}`));
    const found = await foundAfter(place, "UPDATE raw.SatPatient SET City = 'x' WHERE City = ' Köln'", 'blob');
    expect(found[hubKey]).toEqual([]);
    expect(found[hashdiff]).toHaveLength(1);
    const [check] = hashChecksOf(place, 'HubPatient', 'sqlserver');
    expect(check?.batch?.text).toMatch(/0x0{64}/);
  });

  test('a hash that is right by the rule of one of several loads holds', async () => {
    const place = folder(`${stage}${hub}${satellite}`);
    const [first] = place.loads;
    if (first === undefined) throw new Error('no load');
    const other = { ...first, options: { ...first.options, hash_rules: { prefix: 'other' } } };
    const checks = hashChecksOf({ ...place, loads: [...place.loads, other] }, first.target.table, 'duckdb');
    expect(checks[0]?.batch?.text).toContain('other');
    const found = await foundAfter(place, '');
    expect(found[hubKey]).toEqual([]);
  });
});

describe('a hash whose inputs are not in the table is not guessed', () => {
  const refusals = (ddl: string, name: string) =>
    hashChecksOf(folder(ddl), name, 'sqlserver').map(({ refusal }) => refusal);

  test('without a load', () => {
    expect(refusals(hub, 'HubPatient')).toEqual([
      'No load of the folder says from which columns PatientKey is hashed.',
    ]);
  });

  test('where the key was staged as another type than the stored one', () => {
    const stored = hub.replace('PatientCode varchar(20)', 'PatientCode nvarchar(40)');
    expect(refusals(`${stage}${stored}`, 'HubPatient')).toEqual([null]);
    const dated = stage.replace('PatientCode varchar(20)', 'PatientCode datetime2(3)');
    expect(refusals(`${dated}${hub}`, 'HubPatient')).toEqual([
      'PatientCode was hashed as datetime2(3) and is stored as varchar(20), which has another text.',
    ]);
  });
});

describe.skipIf(refereeMissing() !== null)("Microsoft's parser", () => {
  test.each([
    ['sqlserver:2012', '2012'],
    ['sqlserver:2019', '2019'],
    ['azuresql', 'newest'],
    ['synapse', 'newest'],
    ['fabric', 'fabricdw'],
  ] as const)('takes the checks of hashes for %s', async (platform, version) => {
    const place = folder(`${stage}${hub}${satellite}`.replaceAll('raw.', '[r]]aw].').replaceAll('City', "[Ci'ty]"));
    const texts = ['HubPatient', 'SatPatient'].flatMap((name) =>
      hashChecksOf(place, name, platform).flatMap(({ batch }) => (batch === null ? [] : [{ name, text: batch.text }])),
    );
    expect(texts).toHaveLength(2);
    expect(await refereeTsql(texts, version)).toEqual([]);
  });
});
