import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

/** Types of Microsoft's lists of what dedicated pools and Fabric Warehouse can't store, with the alternatives named there. */
const mapped: readonly (readonly [staged: string, synapse: string, fabric: string])[] = [
  ['image', 'varbinary(max)', 'varbinary(max)'],
  ['text', 'varchar(max)', 'varchar(max)'],
  ['ntext', 'nvarchar(max)', 'varchar(max)'],
  ['geography', 'varbinary(max)', 'varbinary(max)'],
  ['geometry', 'varbinary(max)', 'varbinary(max)'],
  ['money', 'money', 'decimal(19,4)'],
  ['smallmoney', 'smallmoney', 'decimal(10,4)'],
  ['datetimeoffset(7)', 'datetimeoffset(7)', 'datetime2(6)'],
  ['datetime', 'datetime', 'datetime2(3)'],
  ['smalldatetime', 'smalldatetime', 'datetime2(0)'],
  ['nvarchar(50)', 'nvarchar(50)', 'varchar(150)'],
  ['nchar(10)', 'nchar(10)', 'char(30)'],
  ['tinyint', 'tinyint', 'smallint'],
  ['binary(8)', 'binary(8)', 'varbinary(8)'],
  ['decimal(38,10)', 'decimal(38,10)', 'decimal(38,10)'],
];

async function create(types: readonly string[], platform: string) {
  const columns = types.map((type, index) => `, c${index} ${type} NULL`).join('');
  const terminal = await openTerminal({
    'tables.sql': `CREATE TABLE dbo.Stg (Id int NOT NULL PRIMARY KEY${columns});`,
  });
  return terminal.call('create', 'scd2', '--source', 'dbo.Stg', '--ddl', 'tables.sql', '--platform', platform);
}

test.each(['synapse', 'fabric'] as const)(
  'create for %s names the documented type for one it lacks',
  async (platform) => {
    const { code, out, err } = await create(
      mapped.map(([type]) => type),
      platform,
    );
    expect({ code, err }).toEqual({ code: 0, err: [] });
    const made = [...out.matchAll(/\[c\d+\] (\S+) NULL/g)].map(([, type]) => type);
    expect(made).toEqual(mapped.map(([, synapse, fabric]) => (platform === 'synapse' ? synapse : fabric)));
  },
);

test('XML and hierarchyid are stored as text by dedicated pools, and have no equivalent on Fabric', async () => {
  expect((await create(['xml', 'hierarchyid'], 'synapse')).out).toMatch(
    /\[c0\] varchar\(max\) NULL,\s+\[c1\] nvarchar\(4000\) NULL/,
  );
  const refused = await create(['xml', 'int', 'hierarchyid'], 'fabric');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err.map((line) => /unsupported: (.*? of column \w+ on \w+)/.exec(line)?.[1])).toEqual([
    'xml of column c0 on fabric',
    'hierarchyid of column c2 on fabric',
  ]);
});

test.each(['sql_variant', 'dbo.Money2', 'vector(3)'])('%s has no type on either', async (type) => {
  for (const platform of ['synapse', 'fabric']) {
    const { code, err } = await create([type], platform);
    expect(code).toBe(1);
    expect(err.join('\n')).toContain(`on ${platform}, which has no type for it`);
  }
  expect((await create([type], 'sqlserver:2025')).code).toBe(0);
});
