import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import type { TableRole } from '../../protocol/roles.ts';
import type { Conventions } from '../../server/src/model/conventions.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { catalogFrom, columnRolesOf, tableIn } from '../support/catalogs.ts';

/** DDL with the roles that a person of the field would give its tables. */
interface RoleCase {
  readonly title: string;
  readonly platform?: PlatformName;
  readonly ddl: string;
  readonly roles: Readonly<Record<string, TableRole>>;
}

const cases: readonly RoleCase[] = [
  {
    title: 'tables of a warehouse that no load of a pattern fills',
    ddl: `
      CREATE TABLE dm.fct_orders (order_sk bigint NOT NULL, customer_sk bigint NOT NULL, order_date_sk int NOT NULL, amount decimal(18,2));
      CREATE TABLE dm.FactSales (SalesKey bigint IDENTITY PRIMARY KEY, DateKey int NOT NULL, CustomerKey int NOT NULL, Amount money);
      CREATE TABLE dm.BridgeAccountCustomer (AccountKey int NOT NULL, CustomerKey int NOT NULL, Weight decimal(5,4), PRIMARY KEY (AccountKey, CustomerKey));
      CREATE TABLE etl.LoadLog (LogId bigint IDENTITY PRIMARY KEY, ProcName sysname, StartTime datetime2, EndTime datetime2, Status varchar(10));
      CREATE TABLE rv.hub_customer (customer_sqn int IDENTITY NOT NULL PRIMARY KEY, customer_no varchar(20) NOT NULL UNIQUE, load_date datetime2 NOT NULL, record_source varchar(50) NOT NULL);
      CREATE TABLE dbo.Contract (ContractID int NOT NULL PRIMARY KEY, CustomerID int NOT NULL, StartDate date NOT NULL, EndDate date NULL, Active bit NOT NULL);`,
    roles: {
      fct_orders: 'unknown',
      FactSales: 'unknown',
      BridgeAccountCustomer: 'unknown',
      LoadLog: 'unknown',
      hub_customer: 'unknown',
      Contract: 'unknown',
    },
  },
  {
    title: 'versions by load date and its end, outside of a vault',
    ddl: 'CREATE TABLE psa.customer (customer_id int NOT NULL, name nvarchar(50), load_dts datetime2 NOT NULL, load_end_dts datetime2 NULL, is_current bit NOT NULL, row_hash binary(32), PRIMARY KEY (customer_id, load_dts));',
    roles: { customer: 'persistent-staging' },
  },
  {
    title: 'German, Dutch and run-together names',
    ddl: `
      CREATE TABLE dw.DimKunde (KundeSK int IDENTITY NOT NULL PRIMARY KEY, KundenNr nvarchar(10) NOT NULL, Ort nvarchar(40), GueltigVon date NOT NULL, GueltigBis date NOT NULL, IstAktuell bit NOT NULL);
      CREATE TABLE dw.Artikel (ArtikelSchluessel int NOT NULL PRIMARY KEY, ArtikelNr varchar(18) NOT NULL, Bezeichnung varchar(80), Gültig_ab datetime2 NOT NULL, Gültig_bis datetime2 NULL, KZ_Aktuell char(1) NOT NULL);
      CREATE TABLE dwh.DimKlant (KlantSleutel int NOT NULL PRIMARY KEY, Klantnummer varchar(20) NOT NULL, Naam varchar(100), GeldigVanaf datetime2 NOT NULL, GeldigTot datetime2 NULL, IsHuidig bit NOT NULL);
      CREATE TABLE raw.Sat_Kunde (Kunde_HK char(32) NOT NULL, Ladezeit datetime2 NOT NULL, Quelle varchar(20) NOT NULL, HDIFF char(32) NOT NULL, Ort varchar(40), PRIMARY KEY (Kunde_HK, Ladezeit));
      CREATE TABLE dw.PRODUCT (PRODUCTSK int IDENTITY NOT NULL PRIMARY KEY, PRODUCTNO varchar(20) NOT NULL, COLOUR varchar(20), VALIDFROM datetime2 NOT NULL, VALIDTO datetime2 NULL, ISCURRENT bit NOT NULL);`,
    roles: {
      DimKunde: 'dimension',
      Artikel: 'dimension',
      DimKlant: 'dimension',
      Sat_Kunde: 'satellite',
      PRODUCT: 'dimension',
    },
  },
  {
    title: 'views over dimensions are no stages, views over a vault may be',
    ddl: `
      CREATE TABLE dw.DimKunde (KundeSK int IDENTITY NOT NULL PRIMARY KEY, KundenNr nvarchar(10) NOT NULL, Ort nvarchar(40), ValidFrom date NOT NULL, ValidTo date NOT NULL, IsCurrent bit NOT NULL);
      GO
      CREATE VIEW dw.vKunde AS SELECT KundenNr, Ort FROM dw.DimKunde WHERE IsCurrent = 1;
      GO
      CREATE VIEW mart.Kunde AS SELECT * FROM dw.vKunde;
      GO
      CREATE VIEW stg.KundeHeute AS SELECT KundenNr, Ort FROM src.Kunde;`,
    roles: { vKunde: 'unknown', Kunde: 'unknown', KundeHeute: 'staging' },
  },
  {
    title: 'hub, link and satellite with hash keys by the names of dbt packages',
    ddl: `
      CREATE TABLE dv.hub_customer (customer_hk binary(16) NOT NULL PRIMARY KEY NONCLUSTERED, customer_id varchar(20) NOT NULL, load_datetime datetime2 NOT NULL, record_source varchar(50) NOT NULL);
      CREATE TABLE dv.link_customer_order (customer_order_hk binary(16) NOT NULL, customer_hk binary(16) NOT NULL, order_hk binary(16) NOT NULL, load_datetime datetime2 NOT NULL, record_source varchar(50) NOT NULL);
      CREATE TABLE dv.sat_customer_details (customer_hk binary(16) NOT NULL, hashdiff binary(16) NOT NULL, name varchar(50), phone varchar(20), effective_from datetime2, load_datetime datetime2 NOT NULL, record_source varchar(50) NOT NULL);`,
    roles: { hub_customer: 'hub', link_customer_order: 'link', sat_customer_details: 'satellite' },
  },
  {
    title: 'the same without any helpful name',
    ddl: `
      CREATE TABLE x.a1 (k1_hk char(64) NOT NULL PRIMARY KEY, number varchar(20) NOT NULL, ldts datetime2 NOT NULL, rsrc varchar(50) NOT NULL);
      CREATE TABLE x.a2 (k2_hk char(64) NOT NULL PRIMARY KEY, k1_hk char(64) NOT NULL, k3_hk char(64) NOT NULL, ldts datetime2 NOT NULL, rsrc varchar(50) NOT NULL);
      CREATE TABLE x.a3 (k1_hk char(64) NOT NULL, ldts datetime2 NOT NULL, hd char(64) NOT NULL, rsrc varchar(50) NOT NULL, label varchar(50) NULL, PRIMARY KEY (k1_hk, ldts));
      CREATE TABLE x.a4 (k1_hk char(64) NOT NULL, ldts datetime2 NOT NULL, line int NOT NULL, hd char(64) NOT NULL, rsrc varchar(50) NOT NULL, label varchar(50) NULL, PRIMARY KEY (k1_hk, ldts, line));
      CREATE TABLE x.a5 (k5_hk char(64) NOT NULL PRIMARY KEY, k1_hk char(64) NOT NULL, k3_hk char(64) NOT NULL, amount decimal(10,2) NULL, ldts datetime2 NOT NULL, rsrc varchar(50) NOT NULL);`,
    roles: { a1: 'hub', a2: 'link', a3: 'satellite', a4: 'ma-satellite', a5: 'nh-link' },
  },
  {
    title: 'satellites of other kinds',
    ddl: `
      CREATE TABLE dv.eff_sat_order (link_hk char(64) NOT NULL, order_hk char(64) NOT NULL, clerk_hk char(64) NOT NULL, start_ts datetime2 NULL, end_ts datetime2 NULL, load_ts datetime2 NOT NULL, record_source varchar(20) NULL);
      CREATE TABLE dv.sts_account (acct_hk char(64) NOT NULL, load_ts datetime2 NOT NULL, is_active bit NOT NULL, record_source varchar(20) NULL);
      CREATE TABLE dv.rts_account (acct_hk char(64) NOT NULL, load_ts datetime2 NOT NULL, record_source varchar(20) NOT NULL);
      CREATE TABLE dv.xts_account (acct_hk char(64) NOT NULL, satellite_name varchar(60) NOT NULL, hashdiff char(64) NOT NULL, load_ts datetime2 NOT NULL, record_source varchar(20) NOT NULL);
      CREATE TABLE dv.pit_account (acct_hk char(64) NOT NULL, as_of datetime2 NOT NULL, name_hk char(64) NULL, name_ts datetime2 NULL, login_hk char(64) NULL, login_ts datetime2 NULL);
      CREATE TABLE dv.bridge_account (acct_hk char(64) NOT NULL, as_of datetime2 NOT NULL, link_hk char(64) NULL);`,
    roles: {
      eff_sat_order: 'eff-satellite',
      sts_account: 'st-satellite',
      rts_account: 'rt-satellite',
      xts_account: 'xts',
      pit_account: 'pit',
      bridge_account: 'bridge',
    },
  },
  {
    title: "a vault by AutomateDV's names",
    ddl: `
      CREATE TABLE dv.hub_customer (CUSTOMER_PK BINARY(16) NOT NULL, CUSTOMER_ID VARCHAR(38), LOAD_DATE DATE, SOURCE VARCHAR(4));
      CREATE TABLE dv.link_customer_nation (LINK_CUSTOMER_NATION_PK BINARY(16), CUSTOMER_FK BINARY(16), NATION_FK BINARY(16), LOAD_DATE DATE, SOURCE VARCHAR(4));
      CREATE TABLE dv.t_link_order (ORDER_PK BINARY(16), CUSTOMER_FK BINARY(16), PRODUCT_FK BINARY(16), AMOUNT DECIMAL(12,2), EFFECTIVE_FROM DATE, LOAD_DATE DATE, SOURCE VARCHAR(4));
      CREATE TABLE dv.xts_customer (CUSTOMER_PK BINARY(16), SATELLITE_NAME VARCHAR(50), HASHDIFF BINARY(16), LOAD_DATE DATE, SOURCE VARCHAR(4));`,
    roles: { hub_customer: 'hub', link_customer_nation: 'link', t_link_order: 'nh-link', xts_customer: 'xts' },
  },
  {
    title: "a vault by datavault4dbt's names",
    ddl: `
      CREATE TABLE dv.account_h (hk_account_h CHAR(32), account_key VARCHAR(50), account_number VARCHAR(50), ldts DATETIME2, rsrc VARCHAR(100));
      CREATE TABLE dv.account_contact_nl (hk_account_contact_nl CHAR(32), hk_account_h CHAR(32), hk_contact_h CHAR(32), amount DECIMAL(10,2), ldts DATETIME2, rsrc VARCHAR(100));
      CREATE TABLE dv.account_data_s (hk_account_h CHAR(32), hd_account_s CHAR(32), ldts DATETIME2, ledts DATETIME2, rsrc VARCHAR(100), name VARCHAR(50));
      CREATE TABLE dv.contact_phone_0_ms (hk_contact_h CHAR(32), hd_contact_ms CHAR(32), ma_attribute VARCHAR(30), phone_number VARCHAR(30), ldts DATETIME2, rsrc VARCHAR(100));
      CREATE TABLE dv.creditcard_rts (hk_creditcard_h CHAR(32), ldts DATETIME2, rsrc VARCHAR(100), stg VARCHAR(100));`,
    roles: {
      account_h: 'hub',
      account_contact_nl: 'nh-link',
      account_data_s: 'satellite',
      contact_phone_0_ms: 'ma-satellite',
      creditcard_rts: 'rt-satellite',
    },
  },
  {
    title: "facts, and stages that number their rows, by WideWorldImporters' names",
    ddl: `
      CREATE TABLE Dimension.City ([City Key] int NOT NULL PRIMARY KEY, [WWI City ID] int NOT NULL, City nvarchar(50) NOT NULL, [Valid From] datetime2(7) NOT NULL, [Valid To] datetime2(7) NOT NULL, [Lineage Key] int NOT NULL);
      CREATE TABLE Integration.City_Staging ([City Staging Key] int IDENTITY(1,1) NOT NULL PRIMARY KEY, [WWI City ID] int NOT NULL, City nvarchar(50) NOT NULL, [Valid From] datetime2(7) NOT NULL, [Valid To] datetime2(7) NOT NULL);
      CREATE TABLE Fact.Sale ([Sale Key] bigint IDENTITY(1,1) NOT NULL, [City Key] int NOT NULL, Quantity int NOT NULL, Profit decimal(18,2) NOT NULL, [Lineage Key] int NOT NULL);`,
    roles: { City: 'dimension', City_Staging: 'staging', Sale: 'unknown' },
  },
  {
    title: 'dimensions of type 2 and type 1',
    ddl: `
      CREATE TABLE dw.DimCustomer (CustomerKey int IDENTITY(1,1) NOT NULL PRIMARY KEY, CustomerNo varchar(10) NOT NULL, Name nvarchar(50) NULL, StartDate datetime NOT NULL, endDate datetime NULL, active bit NOT NULL);
      CREATE TABLE dw.DimProduct (ProductKey int IDENTITY(1,1) PRIMARY KEY, Sku varchar(10) NOT NULL UNIQUE, Title nvarchar(50) NULL);
      CREATE TABLE dw.customer_history (cust_no int NOT NULL, name varchar(20) NULL, valid_from datetime2 NOT NULL, valid_to datetime2 NULL, is_current bit NOT NULL, hash_value char(64) NULL, PRIMARY KEY (cust_no, valid_from));`,
    roles: { DimCustomer: 'dimension', DimProduct: 'dimension', customer_history: 'dimension' },
  },
  {
    title: 'staging with hash columns beside the satellite that it fills',
    ddl: `
      CREATE TABLE stg.customer_hashed (customer_hk binary(32) NULL, hashdiff binary(32) NULL, customer_id varchar(20) NULL, name varchar(50) NULL, load_date datetime2 NULL, record_source varchar(50) NULL);
      CREATE TABLE rdv.customer_sat (customer_hk binary(32) NOT NULL, load_date datetime2 NOT NULL, hashdiff binary(32) NOT NULL, record_source varchar(50) NOT NULL, name varchar(50) NULL, PRIMARY KEY (customer_hk, load_date));`,
    roles: { customer_hashed: 'staging', customer_sat: 'satellite' },
  },
  {
    title: 'persistent staging that no name gives away, by its twin',
    ddl: `
      CREATE TABLE a.Item (ItemNo int, Label varchar(20), Weight decimal(9,2));
      CREATE TABLE b.Item (ItemNo int NOT NULL, Label varchar(20), Weight decimal(9,2), ValidFrom datetime2 NOT NULL, ValidTo datetime2 NOT NULL, PRIMARY KEY (ItemNo, ValidFrom));`,
    roles: { Item: 'staging' },
  },
  {
    title: 'a snapshot of dbt on DuckDB',
    platform: 'duckdb',
    ddl: `
      CREATE TABLE raw.orders (id BIGINT, status VARCHAR, updated_at TIMESTAMP);
      CREATE TABLE snapshots.orders_snapshot (id BIGINT, status VARCHAR, updated_at TIMESTAMP, dbt_scd_id VARCHAR, dbt_updated_at TIMESTAMP, dbt_valid_from TIMESTAMP, dbt_valid_to TIMESTAMP);`,
    roles: { orders: 'staging', orders_snapshot: 'persistent-staging' },
  },
  {
    title: 'Databricks tables with strings for hashes',
    platform: 'databricks',
    ddl: `
      CREATE TABLE silver.hub_store (hk_store STRING NOT NULL, store_no STRING NOT NULL, ldts TIMESTAMP NOT NULL, rsrc STRING NOT NULL) USING DELTA;
      CREATE TABLE silver.sat_store (hk_store STRING NOT NULL, ldts TIMESTAMP NOT NULL, hd_store STRING NOT NULL, rsrc STRING NOT NULL, city STRING) USING DELTA;
      CREATE TABLE gold.customers (id BIGINT, city STRING, __START_AT TIMESTAMP, __END_AT TIMESTAMP) USING DELTA;`,
    roles: { hub_store: 'hub', sat_store: 'satellite', customers: 'dimension' },
  },
  {
    title: 'tables that are nothing of all that',
    ddl: `
      CREATE TABLE dbo.Settings (Id int NOT NULL PRIMARY KEY, Name nvarchar(100) NOT NULL, Value nvarchar(max) NULL, A int, B int, C int, D int);
      CREATE TABLE ref.Currency (CurrencyCode char(3) NOT NULL PRIMARY KEY, CurrencyName nvarchar(50) NOT NULL);`,
    roles: { Settings: 'unknown', Currency: 'reference' },
  },
];

describe('roles', () => {
  test.each(cases)('$title', ({ ddl, platform = 'sqlserver', roles }) => {
    const { tables } = catalogFrom(ddl, platform);
    const found = Object.fromEntries(
      tables.filter((table) => table.name.table in roles).map((table) => [table.name.table, table.role]),
    );
    const last = Object.fromEntries(Object.keys(roles).map((name) => [name, found[name]]));
    if (roles['Item'] === undefined) expect(last).toEqual(roles);
    else expect(tables.map((table) => table.role)).toEqual(['staging', 'persistent-staging']);
  });

  test('confidence and reasons are there for every guess', () => {
    for (const { ddl, platform = 'sqlserver' } of cases) {
      for (const table of catalogFrom(ddl, platform).tables) {
        expect(table.confidence).toBeGreaterThanOrEqual(0);
        expect(table.confidence).toBeLessThanOrEqual(1);
        expect(table.reasons.length).toBeGreaterThan(0);
        for (const reason of table.reasons) expect(reason).toMatch(/^[\p{L}\d_#].*\.$/u);
      }
    }
  });

  test('a correction goes before every guess', () => {
    const corrections = [{ table: 'dbo.Settings', role: 'reference', columns: { Value: 'technical' } }] as const;
    const ddl =
      'CREATE TABLE dbo.Settings (Id int NOT NULL PRIMARY KEY, Name varchar(9), Value varchar(9), A int, B int, C int, D int)';
    const table = tableIn(catalogFrom(ddl, 'sqlserver', { ...defaultConventions, corrections }), 'Settings');
    expect(table.role).toBe('reference');
    expect(table.confidence).toBe(1);
    expect(columnRolesOf(table)).toMatchObject({ Id: 'business-key', Value: 'technical' });
  });
});

describe('the business key of a dimension', () => {
  const dimension =
    'CREATE TABLE dw.DimCustomer (CustomerKey int IDENTITY(1,1) NOT NULL PRIMARY KEY, CustomerId int NOT NULL, Name varchar(50), City varchar(50), ValidFrom datetime2 NOT NULL, ValidTo datetime2 NULL, IsCurrent bit NOT NULL);';
  const businessKey = (ddl: string, corrections: Conventions['corrections'] = []) => {
    const table = tableIn(catalogFrom(ddl, 'sqlserver', { ...defaultConventions, corrections }), 'DimCustomer');
    const columns = table.columns.filter(({ role }) => role === 'business-key').map(({ name }) => name);
    return { columns, reasons: table.reasons.filter((reason) => reason.includes('business key')) };
  };

  test('is the key of its stage, under its own name, with the reason', () => {
    const stage =
      'CREATE TABLE stg.Customer (customer_id int NOT NULL PRIMARY KEY, name varchar(50), city varchar(50));';
    expect(businessKey(`${dimension}${stage}`)).toEqual({
      columns: ['CustomerId'],
      reasons: ['CustomerId is its business key, as it is the key of stg.Customer.'],
    });
  });

  test('is the key that the settings state of its stage', () => {
    const stage = 'CREATE TABLE stg.Customer (customer_id int NOT NULL, name varchar(50), city varchar(50));';
    expect(businessKey(`${dimension}${stage}`).columns).toEqual([]);
    const corrections = [{ table: 'stg.Customer', key: ['customer_id', 'city'] }];
    expect(businessKey(`${dimension}${stage}`, corrections)).toEqual({
      columns: ['CustomerId', 'City'],
      reasons: ['CustomerId + City are its business key, as they are the key of stg.Customer.'],
    });
  });

  test('is its own unique key before that of any stage', () => {
    const stage =
      'CREATE TABLE stg.Customer (name varchar(50) NOT NULL PRIMARY KEY, customer_id int, city varchar(50));';
    const unique = dimension.replace('CustomerId int NOT NULL', 'CustomerId int NOT NULL UNIQUE');
    expect(businessKey(`${unique}${stage}`)).toEqual({ columns: ['CustomerId'], reasons: [] });
  });

  test('stays open where its stages disagree, and where a stage only counts its rows', () => {
    const crm = 'CREATE TABLE crm.Customer (customer_id int NOT NULL PRIMARY KEY, name varchar(50), city varchar(50));';
    const erp = 'CREATE TABLE erp.Customer (customer_id int, name varchar(50) NOT NULL PRIMARY KEY, city varchar(50));';
    expect(businessKey(`${dimension}${crm}${erp}`).columns).toEqual([]);
    const counted =
      'CREATE TABLE stg.Customer_Staging (CustomerStagingKey int IDENTITY NOT NULL PRIMARY KEY, customer_id int, name varchar(50), city varchar(50));';
    expect(businessKey(`${dimension}${counted}`).columns).toEqual([]);
  });
});

describe('column roles', () => {
  test('the satellite of the running example', () => {
    const catalog = catalogFrom(
      `CREATE TABLE StageEmedsys.Dev_Patient_ (patient_id decimal(10,0) NULL, address1 varchar(30) NULL, city varchar(30) NULL) WITH (DISTRIBUTION = HASH(patient_id), CLUSTERED COLUMNSTORE INDEX);
       CREATE TABLE raw.SatPatientAddressEMED_TEST (PatientKey varchar(64) NOT NULL, LoadDate datetime NOT NULL, LoadProcess varchar(255) NOT NULL, RecordSource varchar(255) NOT NULL, HashDiff varchar(64) NOT NULL, Address1 varchar(30) NULL, City varchar(30) NULL) WITH (DISTRIBUTION = HASH(PatientKey), CLUSTERED COLUMNSTORE INDEX);`,
      'synapse',
    );
    const satellite = tableIn(catalog, 'SatPatientAddressEMED_TEST');
    expect(columnRolesOf(satellite)).toEqual({
      PatientKey: 'hash-key',
      LoadDate: 'load-date',
      LoadProcess: 'load-process',
      RecordSource: 'record-source',
      HashDiff: 'hashdiff',
      Address1: 'attribute',
      City: 'attribute',
    });
    expect(satellite.keys).toEqual([{ kind: 'inferred', columns: ['PatientKey', 'LoadDate'], enforced: false }]);
    expect(satellite.options).toEqual({ distribution: 'hash(PatientKey)', index: 'clustered columnstore' });
    const stage = tableIn(catalog, 'Dev_Patient_');
    expect(columnRolesOf(stage)).toEqual({ patient_id: 'business-key', address1: 'attribute', city: 'attribute' });
  });

  test('a start date of a contract is no validity', () => {
    const table = tableIn(
      catalogFrom('CREATE TABLE stg.Contract (ContractNo int, start_date date, end_date date, active bit)'),
      'Contract',
    );
    expect(table.role).toBe('staging');
    expect(columnRolesOf(table)).toEqual({
      ContractNo: 'attribute',
      start_date: 'attribute',
      end_date: 'attribute',
      active: 'attribute',
    });
  });

  test('columns that no load may write are marked', () => {
    const catalog = catalogFrom(
      `CREATE TABLE dw.Contact (Xid bigint IDENTITY(1, 1) NOT NULL, ContactNo int NOT NULL CONSTRAINT PK_Contact PRIMARY KEY, First nvarchar(40) NULL,
         FullName AS (CONCAT(First, N'x')) PERSISTED, RowVer rowversion NOT NULL, Stamp timestamp,
         SysStart datetime2 GENERATED ALWAYS AS ROW START NOT NULL, SysEnd datetime2 GENERATED ALWAYS AS ROW END NOT NULL, PERIOD FOR SYSTEM_TIME (SysStart, SysEnd))`,
    );
    const { columns } = tableIn(catalog, 'Contact');
    expect(columns.filter((column) => column.computed).map((column) => column.name)).toEqual([
      'FullName',
      'RowVer',
      'Stamp',
      'SysStart',
      'SysEnd',
    ]);
    expect(columns.filter((column) => column.identity).map((column) => column.name)).toEqual(['Xid']);
    expect(columns.filter((column) => column.role === 'business-key').map((column) => column.name)).toEqual([
      'ContactNo',
    ]);
  });
});

test("WhereScape's columns have the roles of its own names", () => {
  const catalog = catalogFrom(
    'CREATE TABLE dv.s_customer (hk_h_customer CHAR(32) NOT NULL, dss_load_date DATETIME2 NOT NULL, dss_change_hash CHAR(32), dss_record_source VARCHAR(50), dss_version INT, dss_create_time DATETIME2, name VARCHAR(50), source VARCHAR(10))',
  );
  expect(columnRolesOf(tableIn(catalog, 's_customer'))).toEqual({
    hk_h_customer: 'hash-key',
    dss_load_date: 'load-date',
    dss_change_hash: 'hashdiff',
    dss_record_source: 'record-source',
    dss_version: 'technical',
    dss_create_time: 'technical',
    name: 'attribute',
    source: 'attribute',
  });
});

test('a column called source is business where no vault is', () => {
  const catalog = catalogFrom(
    'CREATE TABLE dw.DimLead (LeadKey int IDENTITY(1,1) PRIMARY KEY, LeadNo int NOT NULL UNIQUE, Source varchar(20), ValidFrom datetime2 NOT NULL, ValidTo datetime2)',
  );
  expect(columnRolesOf(tableIn(catalog, 'DimLead'))).toMatchObject({ Source: 'attribute' });
});

test('a stage with load columns is not said to have business columns only', () => {
  const catalog = catalogFrom(
    'CREATE TABLE stg.c (id int, name varchar(50), LoadDate datetime2, RecordSource varchar(20))',
  );
  expect(tableIn(catalog, 'c').reasons.join(' ')).toContain(
    'It has business columns and load columns (LoadDate, RecordSource), and no hash or validity columns.',
  );
});

test('a load date with an end is the time of a version, outside of a vault', () => {
  const table = tableIn(
    catalogFrom(
      'CREATE TABLE psa.customer (customer_id int NOT NULL, name nvarchar(50), load_dts datetime2 NOT NULL, load_end_dts datetime2 NULL, is_current bit NOT NULL, PRIMARY KEY (customer_id, load_dts))',
    ),
    'customer',
  );
  expect(columnRolesOf(table)).toEqual({
    customer_id: 'business-key',
    name: 'attribute',
    load_dts: 'effective-start',
    load_end_dts: 'effective-end',
    is_current: 'current-flag',
  });
});

test('a column named as a business key is one where no key says otherwise', () => {
  const catalog =
    catalogFrom(`CREATE TABLE dm.DimKlant (KlantSK int IDENTITY PRIMARY KEY, KlantBK varchar(20) NOT NULL, Naam varchar(100));
CREATE TABLE dm.DimStaff (StaffKey int IDENTITY PRIMARY KEY, StaffAlternateKey varchar(20), Team_BK int NOT NULL UNIQUE, ValidFrom date NOT NULL, ValidTo date NOT NULL);`);
  expect(columnRolesOf(tableIn(catalog, 'DimKlant'))).toMatchObject({ KlantBK: 'business-key', Naam: 'attribute' });
  expect(columnRolesOf(tableIn(catalog, 'DimStaff'))).toMatchObject({
    StaffAlternateKey: 'attribute',
    Team_BK: 'business-key',
  });
});

test('reasons are sentences', () => {
  const catalog = catalogFrom(
    'CREATE TABLE rv.es_order (order_hk binary(20) NOT NULL, load_dts datetime2 NOT NULL, effective_from datetime2 NOT NULL, effective_to datetime2 NOT NULL, rec_src varchar(50) NOT NULL)',
  );
  expect(tableIn(catalog, 'es_order').reasons.join(' ')).toContain('is one of an effectivity satellite table.');
});
