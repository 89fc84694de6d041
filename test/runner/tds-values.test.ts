import sql from 'mssql';
import { describe, expect, test } from 'vitest';
import { affected, on, rows, script } from '../support/tds/answers.ts';
import { ByteReader, ByteWriter } from '../support/tds/bytes.ts';
import { column, writeRow } from '../support/tds/columns.ts';
import type { Value } from '../support/tds/scalars.ts';
import { connectDriver, connectPool, sendBatch, serve } from './tds-clients.ts';

/** A declared type, a value as the script writes it, and what the driver makes of it. */
type Case = readonly [type: string, value: Value, driver: unknown];

const utc = (text: string) => new Date(`${text}Z`);

const cases: readonly Case[] = [
  ['bit', true, true],
  ['bit', false, false],
  ['tinyint', 255, 255],
  ['smallint', -32_768, -32_768],
  ['int', -2_147_483_648, -2_147_483_648],
  ['int', 2_147_483_647, 2_147_483_647],
  ['bigint', '-9223372036854775808', '-9223372036854775808'],
  ['bigint', 9_223_372_036_854_775_807n, '9223372036854775807'],
  ['real', 0.5, 0.5],
  ['float', Math.PI, Math.PI],
  ['float', -1e300, -1e300],
  ['decimal(9, 2)', '-1234567.89', -1_234_567.89],
  ['decimal(19, 4)', '123456789012345.6789', Number('123456789012345.6789')],
  ['decimal(28, 0)', '9999999999999999999999999999', 1e28],
  // The driver makes a number of it and loses the last digits.
  ['decimal(38, 10)', '12345678901234567890.1234567891', 12_345_678_901_234_567_000],
  ['numeric(5, 5)', '0.00001', 0.00001],
  ['money', '-922337203685477.5808', Number('-922337203685477.5808')],
  ['money', '12.3456', 12.3456],
  ['smallmoney', '-214748.3648', -214_748.3648],
  ['date', '0001-01-01', utc('0001-01-01T00:00:00')],
  ['date', '9999-12-31', utc('9999-12-31T00:00:00')],
  ['time(0)', '23:59:59', utc('1970-01-01T23:59:59')],
  ['time(3)', '12:34:56.789', utc('1970-01-01T12:34:56.789')],
  ['time(7)', '12:34:56.7890000', utc('1970-01-01T12:34:56.789')],
  ['datetime2(0)', '2024-02-29 23:59:59', utc('2024-02-29T23:59:59')],
  ['datetime2(4)', '2024-02-29 23:59:59.9990', utc('2024-02-29T23:59:59.999')],
  ['datetime2', '9999-12-31 23:59:59.9990000', utc('9999-12-31T23:59:59.999')],
  ['datetime', '1753-01-01 00:00:00.000', utc('1753-01-01T00:00:00')],
  ['datetime', '2024-02-29 12:34:56.997', utc('2024-02-29T12:34:56.997')],
  ['smalldatetime', '2024-02-29 12:34:00', utc('2024-02-29T12:34:00')],
  ['datetimeoffset(7)', '2024-03-01 00:30:00.0000000 +02:00', utc('2024-02-29T22:30:00')],
  ['datetimeoffset(0)', '2023-12-31 23:00:00 -05:30', utc('2024-01-01T04:30:00')],
  ['nvarchar(20)', 'Zoë 𝄞 \u202e', 'Zoë 𝄞 \u202e'],
  ['nvarchar(20)', '', ''],
  ['nvarchar(max)', 'ö'.repeat(20_000), 'ö'.repeat(20_000)],
  ['nvarchar(max)', '', ''],
  ['nchar(3)', 'ab ', 'ab '],
  ['varchar(8)', 'Größe', 'Größe'],
  ['varchar(max)', 'x'.repeat(9000), 'x'.repeat(9000)],
  ['char(2)', 'a ', 'a '],
  ['sysname', 'dbo', 'dbo'],
  ['xml', '<a b="ä"/>', '<a b="ä"/>'],
  ['varbinary(4)', '0x00FF10', Buffer.from([0, 255, 16])],
  ['varbinary(max)', new Uint8Array(10_000).fill(7), Buffer.alloc(10_000, 7)],
  ['binary(2)', Uint8Array.of(1, 2), Buffer.from([1, 2])],
  ['rowversion', '0x00000000000007D1', Buffer.from('00000000000007d1', 'hex')],
  ['uniqueidentifier', '6F9619FF-8B86-D011-B42D-00C04FC964FF', '6F9619FF-8B86-D011-B42D-00C04FC964FF'],
];

describe('a value reaches the driver', () => {
  test.each(cases)('%s: %s', async (type, value, driver) => {
    const columns = [`a ${type}`, `b ${type} not null`, `c ${type} null`];
    const server = await serve({ handler: script(on('x', [rows(columns, [[value, value, null]])])) });
    const batch = sendBatch(await connectDriver(server), 'x');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard).toContainEqual({ row: [driver, driver, null] });
  });

  test('with the digits that a date of the driver holds beside it', async () => {
    const at = '2024-02-29 12:34:56.1234567';
    const server = await serve({
      handler: script(on('x', [rows(['at datetime2(7)', 'o datetimeoffset'], [[at, `${at} +00:00`]])])),
    });
    const { recordset } = await (await connectPool(server)).request().batch('x');
    for (const value of [recordset[0].at, recordset[0].o]) {
      expect(value).toEqual(utc('2024-02-29T12:34:56.123'));
      expect(value.nanosecondsDelta).toBeCloseTo(0.0004567, 10);
    }
  });

  test.each([
    ['a few nulls, each in its place', 9, [0]],
    ['many nulls, as a bit map', 20, Array.from({ length: 19 }, (_, index) => index)],
    ['nothing but nulls', 17, Array.from({ length: 17 }, (_, index) => index)],
  ] as const)('%s', async (_, width, nulls) => {
    const columns = Array.from({ length: width }, (_, index) => `c${index} ${index % 2 ? 'int' : 'nvarchar(max)'}`);
    const row = columns.map((_, index) => (nulls.some((at) => at === index) ? null : index % 2 ? index : `${index}`));
    const server = await serve({ handler: script(on('x', [rows(columns, [row, row])])) });
    const batch = sendBatch(await connectDriver(server), 'x');
    expect(await batch.end).toBeUndefined();
    expect(batch.heard.slice(1, 3)).toEqual([{ row }, { row }]);
  });
});

describe('the bytes of a value', () => {
  // Worked out by hand from MS-TDS 2.2.5.5; the first byte of a row is its token.
  test.each([
    ['decimal(38, 10)', '-1.0000000001', '11' + '00' + '01e40b54020000000000000000000000'],
    ['decimal(5, 2)', '123.45', '05' + '01' + '39300000'],
    ['money', '922337203685477.5807', '08' + 'ffffff7f' + 'ffffffff'],
    ['money', '-0.0001', '08' + 'ffffffff' + 'ffffffff'],
    ['datetime2(7)', '0001-01-02 00:00:00.0000001', '08' + '0100000000' + '010000'],
    ['datetimeoffset(7)', '0001-01-02 01:00:00.0000000 +01:00', '0a' + '0000000000' + '010000' + '3c00'],
    ['time(2)', '00:00:01.50', '03' + '960000'],
    ['datetime', '1900-01-02 00:00:00.010', '08' + '01000000' + '03000000'],
    ['datetime', '1899-12-31 00:00:00.000', '08' + 'ffffffff' + '00000000'],
    ['uniqueidentifier', '00112233-4455-6677-8899-aabbccddeeff', '10' + '33221100554477668899aabbccddeeff'],
    ['nvarchar(4)', 'aé', '0400' + '6100e900'],
    ['varchar(max)', 'ab', '0200000000000000' + '02000000' + '6162' + '00000000'],
    ['bigint', '-2', '08' + 'feffffffffffffff'],
  ])('%s %s', (type, value, bytes) => {
    const out = new ByteWriter();
    writeRow(out, [column(`c ${type}`)], [value]);
    expect(out.take().toString('hex')).toBe(`d1${bytes}`);
  });

  test.each([
    ['int', 2_147_483_648, 'does not fit into 4 bytes'],
    ['tinyint', -1, 'does not fit into 1 bytes'],
    ['decimal(4, 1)', '1234.5', 'does not fit into decimal(4, 1)'],
    ['decimal(4, 1)', '1.25', 'more than 1 decimal places'],
    ['money', 'ten', 'is not a decimal number'],
    ['datetime2(3)', '2024-01-01 00:00:00.1234', 'more than 3 decimal places'],
    ['date', '2024-02-30', 'is not a date'],
    ['time', '1:00', 'is not a time'],
    ['datetimeoffset', '2024-01-01 00:00:00', 'has no time zone'],
    ['nvarchar(2)', 'abc', '6 bytes do not fit into 4'],
    ['varchar(10)', 'Ω', 'does not fit into varchar'],
    ['varbinary(2)', 'ab', 'is not binary'],
    ['uniqueidentifier', '12', 'is not a uniqueidentifier'],
    ['int not null', null, 'null in a column that is not null'],
  ] as const)('%s refuses %s', (type, value, reason) => {
    expect(() => writeRow(new ByteWriter(), [column(`c ${type}`)], [value])).toThrow(reason);
  });

  test('a row needs as many values as there are columns, and a column a type that is known', () => {
    expect(() => writeRow(new ByteWriter(), [column('a int')], [1, 2])).toThrow('2 values for 1 columns');
    expect(() => column('a geography')).toThrow('the type geography is not known');
    expect(() => column('a')).toThrow('declares no column');
  });

  test('survives the growth of the buffer at any place', () => {
    const out = new ByteWriter();
    const texts = Array.from({ length: 5000 }, (_, index) => `text ${index}`);
    for (const [index, text] of texts.entries())
      out
        .u8(1)
        .u16(2)
        .u32(3)
        .i32(-4)
        .f32(5)
        .f64(6)
        .integer(7n, 5)
        .bytes(Uint8Array.of(index % 256))
        .longText(text);
    const bytes = new ByteReader(out.take());
    for (const [index, text] of texts.entries()) {
      const numbers = [
        bytes.u8(),
        bytes.u16(),
        bytes.u32(),
        bytes.signed(4),
        bytes.f32(),
        bytes.f64(),
        bytes.integer(5),
      ];
      expect(numbers).toEqual([1, 2, 3, -4n, 5, 6, 7n]);
      expect(bytes.u8()).toBe(index % 256);
      expect(bytes.ucs2(bytes.u16())).toBe(text);
    }
    expect(bytes.rest).toBe(0);
  });
});

describe('a parameter is read', () => {
  test.each([
    ['bit', sql.Bit, true, true],
    ['tinyint', sql.TinyInt, 255, 255],
    ['smallint', sql.SmallInt, -2, -2],
    ['int', sql.Int, -3, -3],
    ['bigint', sql.BigInt, '9223372036854775807', 9_223_372_036_854_775_807n],
    ['real', sql.Real, 0.25, 0.25],
    ['float', sql.Float, Math.E, Math.E],
    ['decimal', sql.Decimal(18, 4), -12.5, '-12.5000'],
    ['numeric', sql.Numeric(38, 0), 12, '12'],
    ['money', sql.Money, -12.25, '-12.2500'],
    ['smallmoney', sql.SmallMoney, 1.5, '1.5000'],
    ['date', sql.Date, utc('2024-02-29T00:00:00'), '2024-02-29'],
    ['time', sql.Time(3), utc('1970-01-01T12:34:56.789'), '12:34:56.789'],
    ['datetime2', sql.DateTime2(7), utc('2024-02-29T12:34:56.789'), '2024-02-29 12:34:56.7890000'],
    ['datetime', sql.DateTime, utc('2024-02-29T12:34:56.997'), '2024-02-29 12:34:56.997'],
    ['smalldatetime', sql.SmallDateTime, utc('2024-02-29T12:34:00'), '2024-02-29 12:34:00'],
    ['nvarchar', sql.NVarChar(20), 'Zoë', 'Zoë'],
    ['nvarchar(max)', sql.NVarChar(sql.MAX), 'ä'.repeat(9000), 'ä'.repeat(9000)],
    ['varchar', sql.VarChar(20), 'Größe', 'Größe'],
    ['char', sql.Char(2), 'ab', 'ab'],
    ['varbinary', sql.VarBinary(4), Buffer.from([1, 2]), Buffer.from([1, 2])],
    ['varbinary(max)', sql.VarBinary(sql.MAX), Buffer.alloc(9000, 1), Buffer.alloc(9000, 1)],
    [
      'uniqueidentifier',
      sql.UniqueIdentifier,
      '6F9619FF-8B86-D011-B42D-00C04FC964FF',
      '6F9619FF-8B86-D011-B42D-00C04FC964FF',
    ],
  ] as const)('%s', async (_, type, value, read) => {
    const server = await serve({ handler: () => [affected(0)] });
    const pool = await connectPool(server);
    await pool.request().input('a', type, value).input('b', type, null).query('SELECT @a');
    expect(server.recorder.entries.at(-1)).toMatchObject({ sql: 'SELECT @a', parameters: { a: read, b: null } });
  });

  test('with a zone', async () => {
    const server = await serve({ handler: () => [affected(0)] });
    const pool = await connectPool(server);
    await pool.request().input('a', sql.DateTimeOffset(3), utc('2024-02-29T22:30:00.5')).query('SELECT @a');
    const entry = server.recorder.entries.at(-1);
    expect(entry).toMatchObject({
      parameters: { a: expect.stringMatching(/^2024-0[23]-\d\d \d\d:\d\d:00.500 [+-]\d\d:\d\d$/) },
    });
  });
});
