import { describe, expect, test } from 'vitest';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { bareSpelling, matchColumns } from '../../server/src/model/matching.ts';
import { compactName, fitsPattern, parseTableName, words } from '../../server/src/model/names.ts';
import { compareTypes, typeFacts } from '../../server/src/model/types.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

describe('names', () => {
  test.each([
    ['EffectiveStartDT', 'effective start dt'],
    ['HK_CUSTOMER', 'hk customer'],
    ['PSInsertDT', 'ps insert dt'],
    ['__START_AT', 'start at'],
    ['ÖrtlicheÄmter', 'örtliche ämter'],
    ['a1B2', 'a1 b2'],
  ])('words of %s', (name, expected) => {
    expect(words(name).join(' ')).toBe(expected);
  });

  test('patterns with a star see word borders, others do not', () => {
    expect(fitsPattern('CUSTOMER_HK', ['*_hk'])).toBe(true);
    expect(fitsPattern('Chk', ['*_hk'])).toBe(false);
    expect(fitsPattern('HASHDIFF', ['hash_diff'])).toBe(true);
    expect(fitsPattern('HashDiff', ['hash_diff'])).toBe(true);
  });

  test.each([
    ['HK_CUSTOMER', 'HK_*', true],
    ['HKey', 'hk_*', false],
    ['SnapshotDate', 'snapshot*', true],
    ['RowSnapshotDate', '*_snapshot*', true],
    ['SnapshotDate', '*_snapshot*', false],
    ['HubSatName', '*sat*_name', true],
    ['HubSatNames', '*sat*_name', false],
    ['Anything', '*', true],
  ])('%s and the pattern %s', (name, pattern, expected) => {
    expect(fitsPattern(name, [pattern])).toBe(expected);
  });

  test('a name of signs alone has no words', () => {
    expect(words('_-_')).toEqual([]);
  });

  test.each([
    ['[Staging].[dbo].[Dep]]art.ment]', { database: 'Staging', schema: 'dbo', table: 'Dep]art.ment' }],
    ['"a"."b c"', { database: null, schema: 'a', table: 'b c' }],
    ['db..t', { database: 'db', schema: null, table: 't' }],
    ['t', { database: null, schema: null, table: 't' }],
  ])('reads %s', (text, expected) => {
    expect(parseTableName(text)).toEqual(expected);
  });

  test.each(['', 'a.', 'a.b.c.d', '[a', 'a]b'])('refuses %j', (text) => {
    expect(parseTableName(text)).toBeUndefined();
  });

  test('compact names keep letters and digits only', () => {
    expect(compactName('[Patient Id_]')).toBe('patientid');
  });
});

describe('types', () => {
  test.each([
    ['varchar(50)', 'varchar(30)', 'narrowing'],
    ['varchar(30)', 'varchar(30)', 'same'],
    ['varchar(30)', 'nvarchar(30)', 'widening'],
    ['nvarchar(30)', 'varchar(30)', 'narrowing'],
    ['varchar(max)', 'varchar(8000)', 'narrowing'],
    ['datetime2(7)', 'datetime', 'narrowing'],
    ['datetime', 'datetime2(7)', 'widening'],
    ['datetimeoffset(7)', 'datetime2(7)', 'narrowing'],
    ['date', 'datetime', 'widening'],
    ['datetime', 'date', 'narrowing'],
    ['decimal(10,0)', 'decimal(9,0)', 'narrowing'],
    ['decimal(10,2)', 'decimal(12,2)', 'widening'],
    ['decimal(10,2)', 'decimal(10,4)', 'narrowing'],
    ['int', 'bigint', 'widening'],
    ['bigint', 'int', 'narrowing'],
    ['int', 'decimal(10,0)', 'widening'],
    ['int', 'decimal(9,0)', 'narrowing'],
    ['money', 'decimal(19,4)', 'same'],
    ['int', 'varchar(20)', 'conversion'],
    ['float', 'real', 'narrowing'],
    ['uniqueidentifier', 'uniqueidentifier', 'same'],
    ['xml', 'xml', 'same'],
  ] as const)('%s into %s is %s', (from, to, expected) => {
    expect(compareTypes(typeFacts(from, true), typeFacts(to, true))).toBe(expected);
  });
});

describe('matching', () => {
  const match = (stage: string, target: string, mapping = {}) => {
    const catalog = catalogFrom(`CREATE TABLE stg.Patient (${stage})\nGO\nCREATE TABLE dw.SatPatient (${target})`);
    return matchColumns(
      tableIn(catalog, 'Patient'),
      tableIn(catalog, 'SatPatient'),
      defaultConventions,
      mapping,
    ).columns.map(
      (column) =>
        `${column.target.name} <- ${column.source?.name ?? (column.ties.map((tie) => tie.name).join('|') || '-')} ${column.by ?? '-'} ${column.fit ?? '-'}`,
    );
  };

  test('by name, spelling and affix', () => {
    expect(
      match(
        'patient_id int, ADDRESS1 varchar(30), src_city varchar(30), patient_zip varchar(9)',
        'PatientId int, Address1 varchar(30), City varchar(30), Zip varchar(9)',
      ),
    ).toEqual([
      'PatientId <- patient_id spelling same',
      'Address1 <- ADDRESS1 name same',
      'City <- src_city affix same',
      'Zip <- patient_zip affix same',
    ]);
  });

  test('ties stay open', () => {
    expect(match('src_city varchar(30), patient_city varchar(30)', 'City varchar(30)')).toEqual([
      'City <- src_city|patient_city - -',
    ]);
  });

  test('a better fit for another column goes before an affix', () => {
    expect(match('city varchar(30)', 'City varchar(30), patient_city varchar(30)')).toEqual([
      'City <- city name same',
      'patient_city <- - - -',
    ]);
  });

  test('settings go before names', () => {
    expect(match('a varchar(50), City varchar(30)', 'City varchar(30)', { city: 'a' })).toEqual([
      'City <- a setting narrowing',
    ]);
  });
});

test('Fabric counts bytes of UTF-8: 60 of them hold 20 Unicode characters', () => {
  const stage = tableIn(catalogFrom('CREATE TABLE stg.a (name nvarchar(20), town nvarchar(21));'), 'a');
  const target = tableIn(catalogFrom('CREATE TABLE dw.b (name varchar(60), town varchar(60));', 'fabric'), 'b');
  const fits = matchColumns(stage, target, defaultConventions, {}).columns.map(({ target: of, fit }) => [of.name, fit]);
  expect(fits).toEqual([
    ['name', 'same'],
    ['town', 'narrowing'],
  ]);
});

test.each([
  ['stg_customer_stg', 'customer'],
  ['StgStgCustomerName', 'customername'],
  ['stg', 'stg'],
  ['stg_stg', 'stg'],
  ['customer_stg_name', 'customerstgname'],
  ['customerstg', 'customerstg'],
])('%s without its affixes is %s', (name, bare) => {
  expect(bareSpelling(name, new Set(['stg']))).toBe(bare);
});
