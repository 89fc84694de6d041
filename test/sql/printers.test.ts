/** What the printers do where engines differ; the texts of whole loads stand in `test/golden`. */
import { describe, expect, test } from 'vitest';
import {
  aggregate,
  all,
  any,
  choose,
  column,
  compare,
  concat,
  differs,
  isNull,
  item,
  latestRows,
  literal,
  moveTime,
  named,
  nullIf,
  replace,
  same,
  select,
  shown,
  source,
  table,
  trim,
  union,
} from '../../server/src/load/build.ts';
import { keyLabel } from '../../server/src/load/context.ts';
import { type Expression, valueType } from '../../server/src/load/language.ts';
import { DuckDbPrinter } from '../../server/src/sql/duckdb.ts';
import { FabricPrinter, fabricType } from '../../server/src/sql/fabric.ts';
import { mergedWrites } from '../../server/src/sql/merge.ts';
import { isPlainName } from '../../server/src/sql/names.ts';
import { sqlServerPrinter } from '../../server/src/sql/sqlserver.ts';
import { SynapsePrinter } from '../../server/src/sql/synapse.ts';
import { duckdbType, tsqlType } from '../../server/src/sql/types.ts';

const style = { comma: 'trailing', quoteAlways: true } as const;
const duckdb = new DuckDbPrinter(style);
const server = sqlServerPrinter(style, 2019, false);
const newest = sqlServerPrinter(style, 2022, false);

const text = valueType('nvarchar(20)');
const number = valueType('int');
const left = column('s', 'name', text);
const right = column('t', 'name', text);

describe('comparison of texts', () => {
  test('counts case and trailing blanks where the collation would not', () => {
    expect(server.expression(compare(left, '=', right, 'exact'))).toBe(
      '(s.[name] = t.[name] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(s.[name]) = DATALENGTH(t.[name]))',
    );
    expect(duckdb.expression(compare(left, '=', right, 'exact'))).toBe('s."name" = t."name"');
  });

  test('leaves no letter to the code page of another collation', () => {
    const [stored, staged] = ['t', 's'].map((of) => column(of, 'name', valueType('varchar(20)')));
    if (stored === undefined || staged === undefined) throw new Error('there are no columns');
    const lengths = 'DATALENGTH(t.[name]) = DATALENGTH(s.[name])';
    const equal = compare(stored, '=', staged, 'exact');
    expect(server.expression(equal)).toBe(
      `(t.[name] = CONVERT(nvarchar(4000), s.[name]) COLLATE Latin1_General_100_BIN2 AND ${lengths})`,
    );
    expect(sqlServerPrinter(style, 2017, false).expression(equal)).toBe(
      `(t.[name] = CONVERT(nvarchar(4000), s.[name]) COLLATE Latin1_General_100_BIN2 AND ${lengths})`,
    );
    expect(new FabricPrinter(style).expression(compare(left, '=', right, 'exact'))).toContain(
      't.[name] COLLATE Latin1_General_100_BIN2_UTF8 AND',
    );
  });

  test('settles collations where rows of tables with several ones are put together', () => {
    const rows = (of: string) => select([item('name', column(of, 'name', text))], source(named(of), of));
    const both = union(rows('s'), rows('t'));
    const settled = sqlServerPrinter(style, 2019, true).query(both);
    expect(settled).toContain('s.[name] COLLATE DATABASE_DEFAULT AS [name]');
    expect(settled).toContain('t.[name] COLLATE DATABASE_DEFAULT AS [name]');
    expect(server.query(both)).not.toContain('COLLATE');
  });

  test('settles collations where shown values are put together', () => {
    const both = concat(shown(left), literal('/'), shown(right));
    const settled = (of: string): string => `LEFT(CONVERT(nvarchar(4000), ${of}) COLLATE DATABASE_DEFAULT, 100)`;
    const text = sqlServerPrinter(style, 2019, true).expression(both);
    expect(text).toContain(settled('s.[name]'));
    expect(text).toContain(settled('t.[name]'));
    expect(sqlServerPrinter(style, 2019, true).expression(shown(column('s', 'n', number)))).not.toContain('COLLATE');
    expect(server.expression(both)).not.toContain('COLLATE');
  });

  test('is null-safe in the form that the version knows', () => {
    const numbers = differs(column('s', 'n', number), column('t', 'n', number));
    expect(newest.expression(numbers)).toBe('s.[n] IS DISTINCT FROM t.[n]');
    expect(server.expression(numbers)).toBe(
      '(s.[n] <> t.[n] OR (s.[n] IS NULL AND t.[n] IS NOT NULL) OR (s.[n] IS NOT NULL AND t.[n] IS NULL))',
    );
    expect(server.expression(same(column('s', 'n', number), literal(null, number)))).toBe('s.[n] IS NULL');
    expect(duckdb.expression(numbers)).toBe('s."n" IS DISTINCT FROM t."n"');
  });

  test('says which collation counts where the tables may have two', () => {
    const mixed = sqlServerPrinter(style, 2019, true);
    expect(mixed.expression(compare(left, '=', right))).toBe('s.[name] = t.[name] COLLATE DATABASE_DEFAULT');
  });

  test('takes the collation that it is told', () => {
    const polish = sqlServerPrinter(style, 2019, 'Polish_CI_AS');
    expect(polish.expression(compare(left, '=', right))).toBe('s.[name] = t.[name] COLLATE Polish_CI_AS');
    const either = choose([[isNull(left), right]], left);
    expect(polish.expression(either)).toBe(
      'CASE WHEN s.[name] IS NULL THEN t.[name] COLLATE Polish_CI_AS ELSE s.[name] COLLATE Polish_CI_AS END',
    );
  });

  test('tells an empty text from a blank one', () => {
    expect(server.expression(nullIf(trim(left), ''))).toBe(
      'CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[name]))) > 0 THEN LTRIM(RTRIM(s.[name])) END',
    );
    expect(duckdb.expression(trim(left))).toBe(`trim(s."name", ' ')`);
  });

  test('groups by code points', () => {
    const query = select([item('name', aggregate('min', left))], source(named('staged'), 's'), {
      groupBy: [left],
      text: 'exact',
    });
    expect(server.query(query)).toContain('GROUP BY s.[name] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[name])');
    expect(duckdb.query(query)).toContain('GROUP BY s."name"');
  });
});

describe('types that stand in no comparison', () => {
  const at = (name: string, type: string) => item(name, column('s', name, valueType(type)));
  const items = [at('id', 'int'), at('doc', 'xml'), at('note', 'text'), at('place', 'geography'), at('scan', 'image')];

  test('are grouped by what they convert to, and stay what they are', () => {
    const rows = server.query(select(items, source(named('staged'), 's'), { distinct: true, text: 'exact' }));
    for (const line of [
      '    d.[id],',
      '    CONVERT(xml, MIN(CAST(d.[doc] AS nvarchar(max))), 1) AS [doc],',
      '    MIN(CAST(d.[note] AS varchar(max))) AS [note],',
      '    CONVERT(geography, CAST(d.[place] AS varbinary(max))) AS [place],',
      '    CAST(d.[scan] AS varbinary(max)) AS [scan]',
    ])
      expect(rows.split('\n')).toContain(line);
    expect(rows).toContain(
      'GROUP BY d.[id], CAST(d.[doc] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2, DATALENGTH(CAST(d.[doc] AS nvarchar(max))), CONVERT(nvarchar(max), CAST(d.[note] AS varchar(max))) COLLATE Latin1_General_100_BIN2, DATALENGTH(CAST(d.[note] AS varchar(max))), CAST(d.[place] AS varbinary(max)), CAST(d.[scan] AS varbinary(max))',
    );
  });

  test('are sorted by it', () => {
    const [, doc, note, place] = items.map(({ value }) => server.orderItem({ by: value, descending: false }));
    expect(doc).toBe('CAST(s.[doc] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2');
    expect(note).toBe('CONVERT(nvarchar(max), CAST(s.[note] AS varchar(max))) COLLATE Latin1_General_100_BIN2');
    expect(place).toBe('CAST(s.[place] AS varbinary(max))');
  });

  test('are taken as they are elsewhere', () => {
    const rows = duckdb.query(select(items, source(named('staged'), 's'), { distinct: true, text: 'exact' }));
    expect(rows).not.toContain('CAST');
    expect(server.query(select(items, source(named('staged'), 's')))).not.toContain('CAST');
  });
});

describe('values', () => {
  test.each([
    { value: "it's", duckdb: "'it''s'", tsql: "N'it''s'" },
    { value: 'two\nlines', duckdb: "('two' || chr(10) || 'lines')", tsql: "(N'two' + NCHAR(10) + N'lines')" },
  ])('$value is a literal without line breaks', ({ value, duckdb: one, tsql }) => {
    expect(duckdb.expression(literal(value))).toBe(one);
    expect(server.expression(literal(value))).toBe(tsql);
  });

  test('a datetime literal means the same under every language', () => {
    const end = literal('4000-01-01 00:00:00.000000', valueType('datetime'));
    expect(server.expression(end)).toBe("CAST('4000-01-01T00:00:00.000' AS datetime)");
    expect(server.expression(literal('1900-01-01', valueType('datetime2(3)')))).toBe(
      "CAST('1900-01-01T00:00:00' AS datetime2(3))",
    );
  });

  test('time moves in the unit that the platform has', () => {
    const time = column('t', 'at', valueType('datetime2(7)'));
    expect(server.expression(moveTime(time, -1, 'tick'))).toBe('DATEADD(nanosecond, -100, t.[at])');
    expect(duckdb.expression(moveTime(time, -3, 'millisecond'))).toBe('t."at" - INTERVAL 3 MILLISECONDS');
  });

  test('a key in a message is never empty', () => {
    expect(duckdb.expression(shown(left))).toContain("'(blank)'");
    expect(duckdb.expression(shown(column('s', 'n', number)))).not.toContain('(blank)');
  });

  test('keys of many columns are cut, so that five of them fit what STRING_AGG gives', () => {
    const guard = (columns: number) => {
      const keys = Array.from({ length: columns }, (_, index) => column('s', `k${index}`, number));
      return {
        kind: 'guard-rows',
        says: 'No key twice.',
        code: 'duplicate_key',
        query: select([item('offender', keyLabel(keys))], source(named('staged'), 's')),
      } as const;
    };
    const synapse = new SynapsePrinter(style);
    const fabric = new FabricPrinter(style);
    expect(server.step(guard(6))).toContain("STRING_AGG(o.[offender], N', ')");
    expect(server.step(guard(7))).toContain("STRING_AGG(LEFT(o.[offender], 700), N', ')");
    expect(synapse.step(guard(7))).toContain("STRING_AGG(LEFT(o.[offender], 700), N', ')");
    expect(fabric.step(guard(3))).toContain("STRING_AGG(o.[offender], ', ')");
    expect(fabric.step(guard(4))).toContain("STRING_AGG(LEFT(o.[offender], 390), ', ')");
  });
});

test('the latest row of a key is an aggregate on the embedded engine and a row number in T-SQL', () => {
  const rows = select(
    [
      item('k', column('t', 'k', number)),
      item('at', column('t', 'at', valueType('datetime2(6)'))),
      item('v', column('t', 'v', text)),
    ],
    source(table({ database: null, schema: 'dw', table: 'sat' }), 't'),
  );
  const query = select([item('v', column('l', 'v', text))], source(latestRows(rows, ['k'], ['at']), 'l'));
  expect(duckdb.query(query)).toContain('arg_max_null(r."v", r."at") AS "v"');
  expect(duckdb.query(query)).toContain('GROUP BY r."k"');
  expect(server.query(query)).toContain('ROW_NUMBER() OVER (PARTITION BY t.[k] ORDER BY t.[at] DESC) AS [recency]');
});

describe('names', () => {
  test.each(['Patient', '_x1'])('%s stands plainly', (name) => expect(isPlainName(name)).toBe(true));
  test.each(['order', 'a b', '1a', 'Größe', 'select', ''])('%j needs quotes', (name) =>
    expect(isPlainName(name)).toBe(false),
  );

  test('quotes are doubled inside', () => {
    expect(server.tableName({ database: 'a]b', schema: null, table: 'c' })).toBe('[a]]b]..[c]');
    expect(duckdb.tableName({ database: null, schema: 'a"b', table: 'c' })).toBe('"a""b"."c"');
  });
});

describe('types on another platform', () => {
  test.each([
    ['tinyint', 'UTINYINT'],
    ['decimal(10,2)', 'DECIMAL(10,2)'],
    ['money', 'DECIMAL(19,4)'],
    ['datetime', 'TIMESTAMP'],
    ['datetimeoffset(3)', 'TIMESTAMPTZ'],
    ['bit', 'BOOLEAN'],
    ['nvarchar(max)', 'VARCHAR'],
    ['varbinary(32)', 'BLOB'],
    ['uniqueidentifier', 'UUID'],
  ])('%s is %s on the embedded engine', (tsql, expected) => {
    expect(duckdbType(valueType(tsql))).toBe(expected);
  });

  test.each([
    ['varchar', 'nvarchar(max)'],
    ['timestamp', 'datetime2(6)'],
    ['hugeint', 'decimal(38,0)'],
    ['boolean', 'bit'],
  ])('%s is %s in T-SQL', (type, expected) => {
    expect(tsqlType(valueType(type, 'duckdb'))).toBe(expected);
  });

  test.each([
    ['nvarchar(100)', 'varchar(300)'],
    ['datetime', 'datetime2(3)'],
    ['datetime2(7)', 'datetime2(6)'],
    ['tinyint', 'smallint'],
    ['money', 'decimal(19,4)'],
  ])('%s is %s in a Fabric warehouse', (type, expected) => {
    expect(fabricType(valueType(type))).toBe(expected);
  });
});

const changed = compare(column('c', 'kind', text), '=', literal('changed'));
const match = {
  address: null,
  on: [compare(column('t', 'k', number), '=', column('c', 'stored_k', number))],
  where: [],
};
const target = { database: null, schema: 'dw', table: 'dim' };
const update = {
  kind: 'update',
  says: 'Close.',
  shows: 'expired',
  from: 'changes',
  where: [changed],
  match,
  set: [{ column: 'ends', value: column('c', 'closed', number) }],
} as const;
const insert = {
  kind: 'insert',
  says: 'Open.',
  shows: 'inserted',
  from: 'changes',
  where: [any(changed, compare(column('c', 'kind', text), '=', literal('new')))],
  values: [{ column: 'k', value: column('c', 'k', number) }],
} as const;

describe('literals', () => {
  const code = valueType('varchar(20)');

  test('are no Unicode text beside a column that is none, unless they need it', () => {
    expect(server.expression(literal('it’s', code))).toBe("N'it’s'");
    expect(server.expression(literal("it's", code))).toBe("'it''s'");
    expect(server.expression(literal("it's", text))).toBe("N'it''s'");
    expect(server.expression(literal("it's"))).toBe("N'it''s'");
  });
});

test('the embedded engine escapes a text only where it holds what is escaped', () => {
  const escaped = (of: Expression) => duckdb.expression(replace(replace(of, '^', '^1'), '|', '^2'));
  expect(escaped(left)).toBe(
    `CASE WHEN contains(s."name", '^') OR contains(s."name", '|') THEN replace(replace(s."name", '^', '^1'), '|', '^2') ELSE s."name" END`,
  );
  expect(escaped(trim(left))).toBe(`replace(replace(trim(s."name", ' '), '^', '^1'), '|', '^2')`);
});

describe('texts that grow', () => {
  const escaped = (type: string) => server.expression(replace(column('s', 'x', valueType(type)), '|', '^2'));

  test('are not cut where escaping doubles them', () => {
    expect(escaped('nvarchar(2000)')).toBe("REPLACE(s.[x] COLLATE Latin1_General_100_BIN2, N'|', N'^2')");
    expect(escaped('nvarchar(2001)')).toBe(
      "REPLACE(CAST(s.[x] AS nvarchar(max)) COLLATE Latin1_General_100_BIN2, N'|', N'^2')",
    );
    expect(escaped('nvarchar(max)')).toBe("REPLACE(s.[x] COLLATE Latin1_General_100_BIN2, N'|', N'^2')");
  });
});

describe('variables', () => {
  const counted = select([item('Rows', aggregate('count', null))], source(named('staged'), 's'));
  const step = { kind: 'measure', says: 'Count.', query: counted } as const;

  test('Synapse takes one value by SET, the others by SELECT', () => {
    expect(new SynapsePrinter(style).step(step)).toBe(
      '-- Count.\nSET @Rows = (\n    SELECT\n        COUNT_BIG(*)\n    FROM #staged AS s\n);',
    );
    expect(server.step(step)).toBe('-- Count.\nSELECT\n    @Rows = COUNT_BIG(*)\nFROM #staged AS s;');
  });
});

describe('writes', () => {
  test('Synapse joins implicitly and takes no alias', () => {
    expect(new SynapsePrinter(style).write(update, target)).toBe(
      `-- Close.\nUPDATE [dw].[dim]\nSET\n    [ends] = c.[closed]\nFROM #changes AS c\nWHERE [dim].[k] = c.[stored_k]\n  AND c.[kind] = N'changed';`,
    );
  });

  test('Fabric has texts without N, and relations with a distribution', () => {
    const fabric = new FabricPrinter(style);
    const query = select([item('x', literal('a'))], source(named('staged'), 's'));
    expect(fabric.materialised('y', query)).toBe(
      `CREATE TABLE #y\nWITH (DISTRIBUTION = ROUND_ROBIN)\nAS\nSELECT\n    'a' AS [x]\nFROM #staged AS s;`,
    );
  });

  test('an update and an insert become one MERGE; rows to add match nothing', () => {
    const [merge, ...others] = mergedWrites([update, insert], (name) => column('t', name, number));
    expect(others).toEqual([]);
    if (merge === undefined) throw new Error('there is no merge');
    const printed = server.write(merge, target);
    expect(printed).toContain('MERGE INTO [dw].[dim] WITH (HOLDLOCK) AS t');
    expect(printed).toContain('CAST(NULL AS int) AS [stored_k]');
    expect(printed).toContain('WHEN MATCHED THEN\n    UPDATE SET\n        [ends] = c.[closed]');
    expect(printed.trimEnd().endsWith(';')).toBe(true);
  });

  test('a match of NULLs needs a mark, else an added row would meet a stored one', () => {
    const nullSafe = { ...match, on: [same(column('t', 'k', number), column('c', 'stored_k', number))] };
    const [merge] = mergedWrites([{ ...update, match: nullSafe }, insert], (name) => column('t', name, number));
    if (merge === undefined) throw new Error('there is no merge');
    expect(server.write(merge, target)).toContain('ON c.[has_stored_row] = 1');
  });

  test('inserts alone stay as they are', () => {
    expect(mergedWrites([insert], (name) => column('t', name, number))).toEqual([insert]);
  });
});

test('conditions are flattened, and grouped only where they mix', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => isNull(column(null, name, number)));
  if (a === undefined || b === undefined || c === undefined) throw new Error('three conditions');
  expect(duckdb.expression(all(a, all(b, c)))).toBe('"a" IS NULL AND "b" IS NULL AND "c" IS NULL');
  expect(duckdb.expression(all(a, any(b, c)))).toBe('"a" IS NULL AND ("b" IS NULL OR "c" IS NULL)');
  expect(duckdb.expression(choose([[a, literal(1)]], literal(0)))).toBe('CASE WHEN "a" IS NULL THEN 1 ELSE 0 END');
});
