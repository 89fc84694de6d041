import { describe, expect, test } from 'vitest';
import { mssqlCatalog } from '../../runner/src/describe/mssql.ts';
import { factsQuery } from '../../runner/src/drivers/mssql.ts';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { readsOnly } from '../../server/src/workspace/reads-only.ts';
import { refereeMissing, refereeTsql } from '../support/referee.ts';
import { rows, on as rule, script } from '../support/tds/answers.ts';
import type { Row } from '../support/tds/columns.ts';
import { openOn, serveWarehouse } from './warehouse-server.ts';

const tableColumns = ['id int', 's nvarchar(128)', 'n nvarchar(128)', 't varchar(2)', 'd nvarchar(128)'];
const columnColumns = [
  'id int',
  'n nvarchar(128)',
  't nvarchar(128)',
  'l int',
  'p int',
  's int',
  'nullable int',
  'collation nvarchar(128)',
  'seed nvarchar(40)',
  'step nvarchar(40)',
  'computed nvarchar(4000)',
  'persisted int',
  'label nvarchar(128)',
  'value nvarchar(4000)',
  'period int',
];
const keyColumns = ['id int', 'n nvarchar(128)', 't char(2)', 'x nvarchar(60)', 'c nvarchar(128)', 'd int'];
const distributionColumns = ['id int', 'p nvarchar(60)', 'c nvarchar(128)', 'x nvarchar(60)'];
const evil = ']; DROP TABLE x --\n\u202e"\'';

/** A column as the catalog query gives it. */
function column(id: number, name: string, type: string, more: Partial<Record<string, string | number>> = {}): Row {
  return [
    id,
    name,
    type,
    more['length'] ?? 4,
    more['precision'] ?? 10,
    more['scale'] ?? 0,
    more['nullable'] ?? 1,
    more['collation'] ?? null,
    more['seed'] ?? null,
    more['step'] ?? null,
    more['computed'] ?? null,
    more['persisted'] ?? null,
    more['label'] ?? null,
    more['value'] ?? null,
    more['period'] ?? null,
  ];
}

async function warehouse(platform: 'sqlserver' | 'synapse' = 'sqlserver') {
  const server = await serveWarehouse({
    handler: script(
      rule('sys.objects', [
        rows(tableColumns, [
          [1, 'dw', 'Unit', 'U', 'House'],
          [2, 'other', 'Unit', 'U', 'House'],
          [3, evil, evil, 'U', 'House'],
          [4, 'dw', 'vUnit', 'V', 'House'],
        ]),
      ]),
      rule('sys.pdw_table_distribution_properties', [
        rows(distributionColumns, [[1, 'HASH', 'UnitNo', 'CLUSTERED COLUMNSTORE']]),
      ]),
      rule('sys.key_constraints', [
        rows(keyColumns, [
          [1, 'PK_Unit', 'PK', 'CLUSTERED', 'UnitNo', 0],
          [1, 'PK_Unit', 'PK', 'CLUSTERED', 'From', 1],
          [1, 'UQ_Unit', 'UQ', 'NONCLUSTERED', 'Name', 0],
        ]),
      ]),
      rule('sys.sql_modules', [
        rows(['id int', 'd nvarchar(4000)'], [[4, 'CREATE VIEW dw.vUnit AS SELECT 1 AS a;\n']]),
      ]),
      rule('sys.columns', [
        rows(columnColumns, [
          column(1, 'UnitNo', 'int', { nullable: 0, seed: '1', step: '1' }),
          column(1, 'From', 'datetime2', { scale: 7, nullable: 0, label: 'DF_From', value: "('1900-01-01')" }),
          column(1, 'Name', 'nvarchar', { length: 40, collation: 'Latin1_General_BIN2' }),
          column(1, 'Long', 'varchar', { length: -1 }),
          column(1, 'Price', 'decimal', { precision: 12, scale: 2 }),
          column(1, 'Twice', 'int', { computed: '([Price]*(2))', persisted: 1 }),
          column(1, 'Row', 'timestamp', { nullable: 0 }),
          column(3, evil, 'varbinary', { length: 16 }),
        ]),
      ]),
    ),
  });
  return { server, session: await openOn(server, { platform }) };
}

describe('DDL of live tables of SQL Server', () => {
  test('is in its own syntax and parses', async () => {
    const { session } = await warehouse();
    const [unit] = await session.describe([{ database: null, schema: 'DW', table: 'unit' }]);
    expect(unit?.text).toBe(
      [
        'CREATE TABLE [dw].[Unit] (',
        '    [UnitNo] int IDENTITY(1,1) NOT NULL,',
        "    [From] datetime2(7) NOT NULL CONSTRAINT [DF_From] DEFAULT ('1900-01-01'),",
        '    [Name] nvarchar(20) COLLATE Latin1_General_BIN2 NULL,',
        '    [Long] varchar(max) NULL,',
        '    [Price] decimal(12,2) NULL,',
        '    [Twice] AS ([Price]*(2)) PERSISTED,',
        '    [Row] rowversion NOT NULL,',
        '    CONSTRAINT [PK_Unit] PRIMARY KEY CLUSTERED ([UnitNo], [From] DESC),',
        '    CONSTRAINT [UQ_Unit] UNIQUE NONCLUSTERED ([Name])',
        ')',
        '',
      ]
        .join('\n')
        .replace(/\)\n$/, ');\nGO\n'),
    );
    expect(problemsOf(parse(unit?.text ?? '', { platform: 'sqlserver' }))).toEqual([]);
    expect(unit?.notes[0]).toMatch(/left out/);
  });

  test('of Synapse names the distribution, and keys that are not enforced', async () => {
    const { session } = await warehouse('synapse');
    const [unit] = await session.describe([{ database: null, schema: 'dw', table: 'Unit' }]);
    expect(unit?.text).toContain('PRIMARY KEY NONCLUSTERED ([UnitNo], [From] DESC) NOT ENFORCED');
    expect(unit?.text).toMatch(/\)\nWITH \(DISTRIBUTION = HASH\(\[UnitNo\]\), CLUSTERED COLUMNSTORE INDEX\);\nGO\n$/);
    expect(problemsOf(parse(unit?.text ?? '', { platform: 'synapse' }))).toEqual([]);
  });

  test('quotes names that were made to inject, and never puts one into a query', async () => {
    const { server, session } = await warehouse();
    const [strange] = await session.describe([{ database: null, schema: evil, table: evil }]);
    const quoted = `[${evil.replaceAll(']', ']]')}]`;
    expect(strange?.text).toBe(`CREATE TABLE ${quoted}.${quoted} (\n    ${quoted} varbinary(16) NULL\n);\nGO\n`);
    expect(server.recorder.sql().join('\n')).not.toContain('DROP TABLE');
  });

  test('of a view is its text; a name that means two tables or none is told', async () => {
    const { session } = await warehouse();
    const [view] = await session.describe([{ database: null, schema: null, table: 'vUnit' }]);
    expect(view?.text).toBe('CREATE VIEW dw.vUnit AS SELECT 1 AS a;\nGO\n');
    await expect(session.describe([{ database: null, schema: null, table: 'Unit' }])).rejects.toThrow(
      'Unit means more than one table: House.dw.Unit, House.other.Unit. Write more of its name.',
    );
    await expect(session.describe([{ database: null, schema: null, table: 'None' }])).rejects.toThrow(
      /has no table None/,
    );
    expect(await session.tables()).toContainEqual({ database: 'House', schema: 'dw', name: 'vUnit', kind: 'view' });
  });
});

const queries = [
  { name: 'facts', text: factsQuery },
  { name: 'tables', text: mssqlCatalog.tables },
  { name: 'columns', text: mssqlCatalog.columns([1, 2]) },
  { name: 'keys', text: mssqlCatalog.keys([1]) },
  { name: 'views', text: mssqlCatalog.views([1]) },
  { name: 'distributions', text: mssqlCatalog.distributions([1]) },
];

test.each(queries)('the query for $name is a read that parses', ({ text }) => {
  expect(problemsOf(parse(text, { platform: 'sqlserver' }))).toEqual([]);
  expect(readsOnly(text, 'sqlserver')).toBe(true);
});

test.skipIf(refereeMissing() !== null)('Microsoft’s parser of 2012 takes every query of ours', async () => {
  expect(await refereeTsql(queries, '2012')).toEqual([]);
});
