import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import type { LoadOptions, PatternName } from '../../protocol/specification.ts';
import { inferLoads } from '../../server/src/load/candidates.ts';
import { type InferenceSettings, inferSpecification, mergeOptions } from '../../server/src/load/infer.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { formatTableName } from '../../server/src/model/names.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

const settings: InferenceSettings = { conventions: defaultConventions, defaults: {}, patterns: {}, loads: [] };

const patient = `
  CREATE TABLE StageEmedsys.Dev_Patient_ (patient_id decimal(10,0) NULL, address1 varchar(30) NULL, address2 varchar(30) NULL, city varchar(30) NULL)
  GO
  CREATE TABLE raw.SatPatient (PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, LoadProcess varchar(255) NOT NULL, RecordSource varchar(255) NOT NULL, HashDiff varchar(64) NOT NULL, Address1 varchar(30) NULL, Address2 varchar(30) NULL, City varchar(30) NULL)`;

const department = `
  CREATE TABLE Staging.dbo.Department (DepartmentID int NOT NULL, DepartmentName nvarchar(50), Budget decimal(12,2), SourceInactiveDT datetime)
  GO
  CREATE TABLE PersistentStaging.dbo.Department (DepartmentID int NOT NULL, DepartmentName nvarchar(50), Budget decimal(12,2), SourceInactiveDT datetime,
    EffectiveStartDT datetime NOT NULL DEFAULT ('1900-01-01'), EffectiveExpireDT datetime NOT NULL DEFAULT ('4000-01-01'), CurrentRowYN char(1) NOT NULL DEFAULT 'Y', PSInsertDT datetime NOT NULL, CheckSum int NULL, PRIMARY KEY (DepartmentID, EffectiveStartDT))`;

function infer(
  ddl: string,
  pattern: PatternName,
  [source, target]: readonly [string, string],
  options: LoadOptions = {},
  platform: PlatformName = 'sqlserver',
) {
  const catalog = catalogFrom(ddl, platform);
  const find = (name: string) => tableNamed(catalog, name);
  return inferSpecification({ pattern, source: find(source), target: find(target), options }, catalog, settings);
}

function tableNamed(catalog: ReturnType<typeof catalogFrom>, name: string) {
  const found = catalog.tables.find((table) => formatTableName(table.name) === name);
  return found ?? tableIn(catalog, name);
}

describe('satellite', () => {
  test('keys, hash key, hashdiff, parameters and clock follow from the tables', () => {
    const { value, problems } = infer(patient, 'satellite', ['Dev_Patient_', 'SatPatient'], {}, 'synapse');
    expect(problems).toEqual([]);
    expect(value).toMatchObject({ pattern: 'satellite', platform: 'synapse', form: 'script', shape: 'separate' });
    expect(value?.options).toEqual({
      keys: ['patient_id'],
      target_key: ['PatientKey'],
      target_identity: ['PatientKey', 'LoadDate'],
      hash_key: { PatientKey: ['patient_id'] },
      hashdiff: { HashDiff: ['address1', 'address2', 'city'] },
      load_ts: 'LoadDate',
      record_source: 'RecordSource',
      parameters: { LoadProcess: 'LoadProcess', RecordSource: 'RecordSource' },
    });
  });

  test('legacy-concat takes the source system as a parameter', () => {
    const { value } = infer(patient, 'satellite', ['Dev_Patient_', 'SatPatient'], {
      hash_rules: { preset: 'legacy-concat' },
    });
    expect(value?.options.hash_key).toEqual({ PatientKey: ['patient_id', '@SourceSystem'] });
  });

  test.each([
    ['binary(16)', 'md5'],
    ['char(40)', 'sha1'],
    ['varchar(64)', undefined],
    ['binary(32)', undefined],
  ])('a hash key of %s says the algorithm', (type, algorithm) => {
    const ddl = patient.replaceAll('varchar(64)', type);
    expect(infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient']).value?.options.hash_rules?.algorithm).toBe(
      algorithm,
    );
  });

  test('hash and load columns that the stage has are taken over', () => {
    const { value, problems } = infer(
      `CREATE TABLE stg.Phone (PersonHk char(64), LoadDts datetime2(3), HashDiff char(64), Phone varchar(20), RecSrc varchar(10))
       GO
       CREATE TABLE rdv.SatPhone (PersonHk char(64) NOT NULL, LoadDts datetime2(3) NOT NULL, HashDiff char(64) NOT NULL, Phone varchar(20), RecSrc varchar(10) NOT NULL, PRIMARY KEY (PersonHk, LoadDts))`,
      'satellite',
      ['Phone', 'SatPhone'],
    );
    expect(problems).toEqual([]);
    expect(value?.options).toMatchObject({
      keys: ['PersonHk'],
      target_key: ['PersonHk'],
      load_ts: 'LoadDts',
      record_source: 'RecSrc',
    });
    expect(value?.options.hash_key).toBeUndefined();
    expect(value?.options.hashdiff).toBeUndefined();
    expect(value?.options.parameters).toBeUndefined();
  });

  test('the key comes from the hub where one has the same hash key', () => {
    const { value } = infer(
      `CREATE TABLE stg.Order_Line (order_no varchar(20), line_no int, amount decimal(9,2), nation char(2))
       GO
       CREATE TABLE dv.hub_line (hk_thing char(64) NOT NULL PRIMARY KEY, order_no varchar(20) NOT NULL, line_no int NOT NULL, ldts datetime2 NOT NULL, rsrc varchar(20) NOT NULL)
       GO
       CREATE TABLE dv.sat_line (hk_thing char(64) NOT NULL, ldts datetime2 NOT NULL, hd char(64) NOT NULL, rsrc varchar(20) NOT NULL, amount decimal(9,2), nation char(2), PRIMARY KEY (hk_thing, ldts))`,
      'satellite',
      ['Order_Line', 'sat_line'],
    );
    expect(value?.options.hash_key).toEqual({ hk_thing: ['order_no', 'line_no'] });
  });

  test('several possible keys are named, none is taken', () => {
    const { value, problems } = infer(
      `CREATE TABLE stg.Thing (a_no int, b_no int, amount int)
       GO
       CREATE TABLE dv.sat_thing (hk_object char(64) NOT NULL, ldts datetime2 NOT NULL, hd char(64) NOT NULL, rsrc varchar(20) NOT NULL, amount int, PRIMARY KEY (hk_object, ldts))`,
      'satellite',
      ['Thing', 'sat_thing'],
    );
    expect(value).toBeNull();
    expect(problems[0]).toMatchObject({ code: 'no-primary-key', severity: 'error' });
    expect(problems[0]?.message).toContain('a_no or b_no');
  });

  test('a stage column that no satellite stores is named with both ways out', () => {
    const ddl = patient.replace('city varchar(30) NULL)', 'city varchar(30) NULL, email varchar(60) NULL)');
    const { value, problems } = infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient']);
    expect(value).toBeNull();
    expect(problems.map((problem) => problem.code)).toEqual(['column-not-stored']);
    expect(problems[0]?.message).toContain('email');
    expect(infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient'], { untracked: ['email'] }).problems).toEqual([]);
  });

  test('a narrowing names both types and can be accepted', () => {
    const ddl = patient.replace('city varchar(30) NULL)\n  GO', 'city varchar(50) NULL)\n  GO');
    const { value, problems } = infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient']);
    expect(value).toBeNull();
    expect(problems[0]).toMatchObject({ code: 'narrowed-type', severity: 'error' });
    expect(problems[0]?.message).toMatch(/varchar\(50\).*varchar\(30\)/);
    expect(
      infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient'], { accept_narrowing: ['City'] }).value,
    ).not.toBeNull();
  });

  test('a NOT NULL column that nothing fills is an error', () => {
    const ddl = patient.replace(
      'HashDiff varchar(64) NOT NULL,',
      'HashDiff varchar(64) NOT NULL, Tenant int NOT NULL,',
    );
    const { problems } = infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient']);
    expect(problems.map((problem) => problem.code)).toEqual(['unfilled-column']);
    expect(
      infer(ddl, 'satellite', ['Dev_Patient_', 'SatPatient'], { parameters: { Tenant: 'Tenant' } }).value?.options
        .parameters,
    ).toEqual({
      LoadProcess: 'LoadProcess',
      RecordSource: 'RecordSource',
      Tenant: 'Tenant',
    });
  });
});

describe('links', () => {
  const link = `
    CREATE TABLE stg.Booking (booking_no varchar(9), cust varchar(9), nation varchar(9), amount int)
    GO
    CREATE TABLE dv.hub_customer (hk_customer char(64) NOT NULL PRIMARY KEY, cust varchar(9) NOT NULL, ldts datetime2 NOT NULL, rsrc varchar(9) NOT NULL)
    GO
    CREATE TABLE dv.link_cust_nation (hk_link char(64) NOT NULL PRIMARY KEY, hk_customer char(64) NOT NULL, hk_nation char(64) NOT NULL, ldts datetime2 NOT NULL, rsrc varchar(9) NOT NULL)`;

  test('each hub key is made of its business key, the own key of all', () => {
    const { value, problems } = infer(link, 'link', ['Booking', 'link_cust_nation']);
    expect(problems).toEqual([]);
    expect(value?.options).toMatchObject({
      keys: ['cust', 'nation'],
      target_key: ['hk_link'],
      hash_key: { hk_link: ['cust', 'nation'], hk_customer: ['cust'], hk_nation: ['nation'] },
      insert_only: true,
    });
  });

  test('hub', () => {
    const { value } = infer(link, 'hub', ['Booking', 'hub_customer']);
    expect(value?.options).toMatchObject({
      keys: ['cust'],
      target_key: ['hk_customer'],
      hash_key: { hk_customer: ['cust'] },
      parameters: { rsrc: 'rsrc' },
    });
  });
});

describe('versions', () => {
  const pair = ['Staging.dbo.Department', 'PersistentStaging.dbo.Department'] as const;

  test('persistent staging by day', () => {
    const { value, problems } = infer(department, 'scd2_day', pair);
    expect(problems.filter((problem) => problem.severity !== 'info')).toEqual([]);
    expect(value?.options).toEqual({
      keys: ['DepartmentID'],
      target_key: ['DepartmentID'],
      target_identity: ['DepartmentID', 'EffectiveStartDT'],
      compare: ['DepartmentName', 'Budget'],
      untracked: [],
      strategy: 'check',
      grain: 'day',
      valid_from: 'EffectiveStartDT',
      valid_to: 'EffectiveExpireDT',
      open_end: '4000-01-01 00:00:00',
      initial_valid_from: '1900-01-01 00:00:00',
      is_current: 'CurrentRowYN',
      current_values: ['Y', 'N'],
      inactive_at: 'SourceInactiveDT',
      inserted_at: 'PSInsertDT',
    });
  });

  test('inactivation marks absent keys', () => {
    expect(infer(department, 'inactivation', pair).value?.options).toMatchObject({
      hard_deletes: 'new_record',
      load: 'full',
      inactive_at: 'SourceInactiveDT',
    });
  });

  test('open end without a default: NULL, or 9999-12-31 where NULL is not allowed', () => {
    const ddl = (nullability: string) =>
      `CREATE TABLE stg.Item (ItemNo int PRIMARY KEY, Label varchar(9)) GO CREATE TABLE dw.Item (ItemNo int NOT NULL, Label varchar(9), ValidFrom datetime2 NOT NULL, ValidTo datetime2 ${nullability}, PRIMARY KEY (ItemNo, ValidFrom))`.replace(
        ' GO ',
        '\nGO\n',
      );
    expect(infer(ddl('NULL'), 'scd2', ['stg.Item', 'dw.Item']).value?.options.open_end).toBeNull();
    expect(infer(ddl('NOT NULL'), 'scd2', ['stg.Item', 'dw.Item']).value?.options.open_end).toBe('9999-12-31 00:00:00');
  });

  test('keys keep the order of the key, not of the columns', () => {
    const { value } = infer(
      `CREATE TABLE stg.Rate (RateCode char(3) NOT NULL, Pct decimal(9, 4) NULL, RateZone char(2) NOT NULL, CONSTRAINT PK_Rate PRIMARY KEY (RateZone, RateCode))
       GO
       CREATE TABLE dw.Rate (RateCode char(3) NOT NULL, Pct decimal(9, 4) NULL, RateZone char(2) NOT NULL)`,
      'scd1',
      ['stg.Rate', 'dw.Rate'],
    );
    expect(value?.options).toMatchObject({
      keys: ['RateZone', 'RateCode'],
      target_key: ['RateZone', 'RateCode'],
      compare: ['Pct'],
    });
  });

  test('without any key nothing is generated', () => {
    const { value, problems } = infer(
      'CREATE TABLE stg.PartText (PartId int NOT NULL, Locale char(5) NOT NULL, Label nvarchar(200) NULL)\nGO\nCREATE TABLE dw.PartText (PartId int NOT NULL, Locale char(5) NOT NULL, Label nvarchar(200) NULL)',
      'scd1',
      ['stg.PartText', 'dw.PartText'],
    );
    expect(value).toBeNull();
    expect(problems.map((problem) => problem.code)).toEqual(['no-primary-key']);
  });

  test('a number that the database gives to staged rows is no key of theirs', () => {
    const stage =
      'CREATE TABLE stg.Unit (StageKey int IDENTITY NOT NULL PRIMARY KEY, UnitNo int NOT NULL, Label varchar(20));';
    const target = (unique: string) =>
      `CREATE TABLE dw.DimUnit (UnitKey int IDENTITY NOT NULL PRIMARY KEY, UnitNo int NOT NULL ${unique}, Label varchar(20), ValidFrom datetime2 NOT NULL, ValidTo datetime2 NULL);`;
    const keys = (unique: string) => {
      const { value, problems } = infer(`${stage}${target(unique)}`, 'scd2', ['stg.Unit', 'dw.DimUnit']);
      return value?.options.keys ?? problems.map(({ code }) => code);
    };
    expect(keys('UNIQUE')).toEqual(['UnitNo']);
    expect(keys('')).toEqual(['no-primary-key']);
  });

  test('generated columns are left out, incomparable ones are stored but not compared', () => {
    const columns = (more: string) =>
      `ContactNo int NOT NULL CONSTRAINT PK_${more.length} PRIMARY KEY, First nvarchar(40) NULL, Geo geography NULL, Doc xml NULL${more}`;
    const { value, problems } = infer(
      `CREATE TABLE stg.Contact (${columns('')})\nGO\nCREATE TABLE dw.Contact (Xid bigint IDENTITY(1, 1) NOT NULL, ${columns(", FullName AS (CONCAT(First, N'x')) PERSISTED, RowVer rowversion NOT NULL")})`,
      'scd1',
      ['stg.Contact', 'dw.Contact'],
    );
    expect(value?.options).toMatchObject({ compare: ['First'], untracked: ['Geo', 'Doc'] });
    expect(problems.map((problem) => `${problem.code} ${problem.severity}`)).toEqual([
      'not-comparable info',
      'not-comparable info',
    ]);
    expect(JSON.stringify(value)).not.toMatch(/Xid|FullName|RowVer/);
  });
});

describe('loads of a folder', () => {
  const candidates = (ddl: string, more: Partial<InferenceSettings> = {}) => {
    const merged = { ...settings, ...more };
    return inferLoads(catalogFrom(ddl), () => merged, merged.loads);
  };

  test('every target gets its loads, detection of absent keys comes last', () => {
    const loads = candidates(`${department}\nGO\n${patient}`);
    expect(loads.map((load) => load.title)).toEqual([
      'SCD 2 by day · load from Department',
      'Satellite · load from Dev_Patient_',
      'Inactivation · load from Department',
    ]);
  });

  test('what mergewright.json says of a load is merged in', () => {
    const loads = [
      {
        pattern: 'satellite',
        source: { database: null, schema: null, table: 'dev_patient_' },
        target: { database: null, schema: 'raw', table: 'SatPatient' },
        options: { hash_rules: { preset: 'legacy-concat' } },
      },
    ] as const;
    const [load] = candidates(patient, { loads });
    expect(load?.specification.options.hash_rules).toEqual({ preset: 'legacy-concat' });
    expect(load?.specification.options.hashdiff).toEqual({ HashDiff: ['address1', 'address2', 'city'] });
    expect(load?.confidence).toBe(1);
  });

  test('several satellites split one staging table by columns', () => {
    const loads = candidates(`
      CREATE TABLE stg.Person (person_no int, name varchar(20), city varchar(20))
      GO
      CREATE TABLE rdv.SatPersonName (PersonKey char(64) NOT NULL, LoadDate datetime2 NOT NULL, HashDiff char(64) NOT NULL, RecordSource varchar(9) NOT NULL, Name varchar(20))
      GO
      CREATE TABLE rdv.SatPersonCity (PersonKey char(64) NOT NULL, LoadDate datetime2 NOT NULL, HashDiff char(64) NOT NULL, RecordSource varchar(9) NOT NULL, City varchar(20))`);
    expect(loads.map((load) => load.specification.target.table)).toEqual(['SatPersonName', 'SatPersonCity']);
    expect(loads.map((load) => load.specification.options.hashdiff)).toEqual([
      { HashDiff: ['name'] },
      { HashDiff: ['city'] },
    ]);
  });

  test('hash rules are merged field by field', () => {
    expect(
      mergeOptions(
        { hash_rules: { trim: true, preset: 'automate-dv' } },
        { keys: ['a'] },
        { hash_rules: { trim: false } },
      ),
    ).toEqual({
      keys: ['a'],
      hash_rules: { trim: false, preset: 'automate-dv' },
    });
  });
});
