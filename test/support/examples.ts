/** The two running examples as tables and specifications: a satellite of addresses, and departments in persistent staging. */
import type { CatalogColumn, CatalogTable } from '../../protocol/catalog.ts';
import type { PlatformName } from '../../protocol/platform.ts';
import type { ColumnRole } from '../../protocol/roles.ts';
import type { FormName, LoadOptions, LoadSpecification, PatternName, Shape } from '../../protocol/specification.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import type { GenerateRequest } from '../../server/src/generate/types.ts';
import { bareTable } from './bare-table.ts';

/** Column name → type, then `!` where it is NOT NULL. */
type Columns = Readonly<Record<string, string>>;

function exampleTable(
  database: string | null,
  schema: string,
  table: string,
  columns: Columns,
  platform: PlatformName,
  roles: Readonly<Record<string, ColumnRole>> = {},
): CatalogTable {
  const types = Object.entries(columns).map(([name, type]) => [name, type.replace('!', '')] as const);
  const bare = bareTable(table, Object.fromEntries(types), platform);
  return {
    ...bare,
    name: { database, schema, table },
    columns: bare.columns.map(
      (of): CatalogColumn => ({
        ...of,
        nullable: columns[of.name]?.endsWith('!') !== true,
        role: roles[of.name] ?? 'attribute',
      }),
    ),
  };
}

const patientStage = exampleTable(
  null,
  'StageEmedsys',
  'Dev_Patient_',
  {
    patient_id: 'decimal(10,0)',
    address1: 'varchar(30)',
    address2: 'varchar(30)',
    city: 'varchar(30)',
    state: 'varchar(2)',
    zip: 'varchar(10)',
  },
  'synapse',
);

const patientSatellite: CatalogTable = {
  ...exampleTable(
    null,
    'raw',
    'SatPatientAddressEMED_TEST',
    {
      PatientKey: 'varchar(64)!',
      LoadDate: 'datetime!',
      LoadProcess: 'varchar(255)!',
      RecordSource: 'varchar(255)!',
      HashDiff: 'varchar(64)!',
      Address1: 'varchar(30)',
      Address2: 'varchar(30)',
      City: 'varchar(30)',
      State: 'varchar(2)',
      Zip: 'varchar(10)',
    },
    'synapse',
    { PatientKey: 'hash-key', LoadDate: 'load-date', RecordSource: 'record-source', HashDiff: 'hashdiff' },
  ),
  options: { distribution: 'hash(patientkey)' },
};

const addressColumns = ['address1', 'address2', 'city', 'state', 'zip'];

const patientOptions: LoadOptions = {
  keys: ['patient_id'],
  target_key: ['PatientKey'],
  hash_key: { PatientKey: ['patient_id', '@SourceSystem'] },
  hashdiff: { HashDiff: addressColumns },
  load_ts: 'LoadDate',
  record_source: 'RecordSource',
  parameters: { LoadProcess: 'LoadProcess', RecordSource: 'RecordSource' },
  hash_rules: { preset: 'legacy-concat' },
};

const departmentColumns: Columns = { DepartmentID: 'int!', DepartmentName: 'varchar(50)', Location: 'varchar(50)' };

const departmentStage = exampleTable(
  'Staging',
  'dbo',
  'Department',
  { ...departmentColumns, SourceInactiveDT: 'datetime' },
  'sqlserver',
);

const departmentTarget = exampleTable(
  'PersistentStaging',
  'dbo',
  'Department',
  {
    ...departmentColumns,
    SourceInactiveDT: 'datetime',
    EffectiveStartDT: 'datetime!',
    EffectiveExpireDT: 'datetime!',
    CurrentRowYN: 'char(1)!',
    PSInsertDT: 'datetime',
    CheckSum: 'int',
  },
  'sqlserver',
  { CheckSum: 'checksum' },
);

const departmentOptions: LoadOptions = {
  keys: ['DepartmentID'],
  target_key: ['DepartmentID'],
  target_identity: ['DepartmentID', 'EffectiveStartDT'],
  compare: ['DepartmentName', 'Location'],
  valid_from: 'EffectiveStartDT',
  valid_to: 'EffectiveExpireDT',
  is_current: 'CurrentRowYN',
  current_values: ['Y', 'N'],
  inactive_at: 'SourceInactiveDT',
  inserted_at: 'PSInsertDT',
  initial_valid_from: '1900-01-01 00:00:00',
  open_end: '4000-01-01 00:00:00',
  grain: 'day',
  closing: 'minus-3-ms',
  load: 'full',
  hard_deletes: 'new_record',
};

function request(
  pattern: PatternName,
  source: CatalogTable,
  target: CatalogTable,
  options: LoadOptions,
  platform: string,
  form: FormName,
  shape: Shape,
): GenerateRequest {
  const specification: LoadSpecification = {
    version: 1,
    pattern,
    source: source.name,
    target: target.name,
    platform,
    form,
    shape,
    options,
  };
  return { specification, tables: { source, target, extra: {} }, style: defaultStyle };
}

export function patientRequest(
  platform: string,
  form: FormName = 'script',
  shape: Shape = 'separate',
): GenerateRequest {
  return request('satellite', patientStage, patientSatellite, patientOptions, platform, form, shape);
}

export function departmentRequest(
  platform: string,
  form: FormName = 'script',
  shape: Shape = 'separate',
  pattern: 'scd2_day' | 'inactivation' = 'scd2_day',
): GenerateRequest {
  return request(pattern, departmentStage, departmentTarget, departmentOptions, platform, form, shape);
}

/** The example's tables in one database, for platforms that read no other; the target is distributed as MERGE wants it. */
export function inOneDatabase({ specification, tables, style }: GenerateRequest): GenerateRequest {
  const moved = (table: CatalogTable, schema: string): CatalogTable => ({
    ...table,
    name: { ...table.name, database: null, schema },
  });
  const source = moved(tables.source, 'stg');
  const target = { ...moved(tables.target, 'ps'), options: { distribution: 'hash(departmentid)' } };
  return {
    specification: { ...specification, source: source.name, target: target.name },
    tables: { source, target, extra: {} },
    style,
  };
}
