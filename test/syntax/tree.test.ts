import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { absoluteRange, bare, findAll, nodesAt, operandsOf, textOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import type { ColumnDefinition, Kind, Node, Statement } from '../../server/src/syntax/tree.ts';

function statementsOf(text: string, platform: PlatformName = 'sqlserver'): readonly Statement[] {
  return unitsOf(parse(text, { platform })).map((unit) => unit.statement);
}

/** The only statement of a text, which must be of the kind. */
function only<K extends Statement['kind']>(
  text: string,
  kind: K,
  platform: PlatformName = 'sqlserver',
): Extract<Statement, { kind: K }> {
  const [statement, ...others] = statementsOf(text, platform);
  expect(others).toEqual([]);
  expect(statement?.kind).toBe(kind);
  return statement as Extract<Statement, { kind: K }>;
}

function columnsOf(text: string, platform: PlatformName = 'sqlserver'): readonly ColumnDefinition[] {
  return only(text, 'create-table', platform).elements.filter((element) => element.kind === 'column-definition');
}

/** Kinds from a node down along its operands, as a short description of an expression's shape. */
function shape(node: Node): string {
  switch (node.kind) {
    case 'binary':
      return `(${shape(node.left)} ${node.operator} ${shape(node.right)})`;
    case 'unary':
      return `(${node.operator} ${shape(node.operand)})`;
    case 'column':
      return node.parts.map((part) => part?.name ?? '').join('.');
    case 'literal':
      return node.value;
    case 'parenthesis':
      return `[${shape(node.inner)}]`;
    case 'between':
      return `between(${shape(node.operand)}, ${shape(node.low)}, ${shape(node.high)})`;
    case 'collate':
      return `collate(${shape(node.operand)}, ${node.collation.name})`;
    case 'is-null':
      return `${node.not ? 'not-null' : 'null'}(${shape(node.operand)})`;
    case 'cast':
      return `${node.function.toLowerCase()}(${shape(node.operand)}, ${node.type.text})`;
    case 'call':
      return `${node.name.parts.map((part) => part?.name).join('.')}(${node.arguments.map(shape).join(', ')})`;
    default:
      return node.kind;
  }
}

function whereOf(condition: string): string {
  const statement = only(`SELECT a FROM t WHERE ${condition}`, 'select-statement');
  const { body } = statement.query;
  return body.kind === 'select' && body.where !== null ? shape(body.where) : '';
}

describe('expressions', () => {
  test.each([
    ['a = 1 OR b = 2 AND NOT c = 3', '((a = 1) OR ((b = 2) AND (NOT (c = 3))))'],
    ['a + b * -c = d', '((a + (b * (- c))) = d)'],
    ['a - b - c > 0', '(((a - b) - c) > 0)'],
    ['(a = 1 OR b = 2) AND c = 3', '([((a = 1) OR (b = 2))] AND (c = 3))'],
    ['a BETWEEN 1 AND 2 AND b = 3', '(between(a, 1, 2) AND (b = 3))'],
    ['a COLLATE Latin1_General_BIN = b', '(collate(a, Latin1_General_BIN) = b)'],
    ['a IS NOT NULL AND b IS NULL', '(not-null(a) AND null(b))'],
    ['CONVERT(varchar(10), a, 112) = CAST(b AS nvarchar(MAX))', '(convert(a, varchar(10)) = cast(b, nvarchar(max)))'],
    ["ISNULL(a, '') <> dbo.f(b, 1)", '(ISNULL(a, ) <> dbo.f(b, 1))'],
    ['a > = 1', '(a >= 1)'],
  ])('%s', (condition, expected) => {
    expect(whereOf(condition)).toBe(expected);
  });

  test('predicates with queries', () => {
    expect(whereOf('EXISTS (SELECT 1)')).toBe('exists');
    expect(whereOf('a IN (SELECT b FROM u)')).toBe('in-query');
    expect(whereOf('a NOT IN (1, 2)')).toBe('in-list');
    expect(whereOf('a >= ALL (SELECT b FROM u)')).toBe('quantified');
    expect(whereOf('a IS NOT DISTINCT FROM b')).toBe('is-distinct');
    expect(whereOf('a = (SELECT b FROM u)')).toBe('(a = subquery)');
  });

  test('a window', () => {
    const [call] = findAll(
      only(
        'SELECT SUM(a) OVER (PARTITION BY b, c ORDER BY d DESC ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t',
        'select-statement',
      ),
      'call',
    );
    expect(call?.over).toMatchObject({
      partitionBy: [{ parts: [{ name: 'b' }] }, { parts: [{ name: 'c' }] }],
      orderBy: [{ descending: true, expression: { parts: [{ name: 'd' }] } }],
      frame: { unit: 'rows', from: { type: 'preceding', offset: { value: '2' } }, to: { type: 'current-row' } },
    });
  });

  test('strings lose quotes and prefix, names lose brackets', () => {
    const [first, second] = findAll(only('SELECT N\'it\'\'s\', [a]]b], "c""d"', 'select-statement'), 'select-item');
    expect(first?.expression).toMatchObject({ kind: 'literal', type: 'national', value: "it's" });
    expect(second?.expression).toMatchObject({ kind: 'column', parts: [{ name: 'a]b', quote: 'bracket' }] });
  });

  test('operandsOf takes a chain apart, bare looks through parentheses', () => {
    const statement = only('SELECT 1 WHERE a = 1 AND (b = 2 AND c = 3) AND (d = 4 OR e = 5)', 'select-statement');
    const { body } = statement.query;
    const where = body.kind === 'select' ? body.where : null;
    expect(where === null ? [] : operandsOf(where, 'AND').map((operand) => shape(bare(operand)))).toEqual([
      '(a = 1)',
      '(b = 2)',
      '(c = 3)',
      '((d = 4) OR (e = 5))',
    ]);
  });
});

describe('queries', () => {
  test('joins from left to right, the nested one on the right side', () => {
    const statement = only(
      'SELECT 1 FROM a LEFT JOIN b INNER JOIN c ON b.x = c.x ON a.x = b.x CROSS APPLY f(a.y) AS d (z)',
      'select-statement',
    );
    const { body } = statement.query;
    expect(body.kind === 'select' ? body.from[0] : null).toMatchObject({
      kind: 'join',
      type: 'cross-apply',
      left: { kind: 'join', type: 'left', left: { kind: 'table' }, right: { kind: 'join', type: 'inner' } },
      right: { kind: 'table-function', alias: { name: 'd' }, columns: [{ name: 'z' }] },
    });
  });

  test('aliases of every style', () => {
    const items = findAll(only("SELECT a AS x, b y, z = c, @v = d, e AS 'w', t.*", 'select-statement'), 'select-item');
    expect(items.map((item) => [item.alias?.name ?? null, item.aliasStyle, item.assigns?.name ?? null])).toEqual([
      ['x', 'as', null],
      ['y', 'bare', null],
      ['z', 'equals', null],
      [null, null, '@v'],
      ['w', 'as', null],
      [null, null, null],
    ]);
    expect(items[5]?.expression).toMatchObject({ kind: 'star', qualifier: [{ name: 't' }] });
  });

  test('common tables, set operations, order and limits', () => {
    const text =
      'WITH x (a) AS (SELECT 1), y AS (SELECT a FROM x) SELECT a FROM y UNION ALL SELECT 2 ORDER BY a DESC OFFSET 1 ROWS FETCH NEXT 5 ROWS ONLY';
    expect(only(text, 'select-statement').query).toMatchObject({
      with: { tables: [{ name: { name: 'x' }, columns: [{ name: 'a' }] }, { name: { name: 'y' } }] },
      body: { kind: 'set-operation', operator: 'UNION', all: true },
      orderBy: [{ descending: true }],
      offset: { value: '1' },
      limit: { value: '5' },
    });
  });

  test('hints stand at their table', () => {
    const [table] = findAll(
      only('SELECT 1 FROM dbo.t AS x WITH (NOLOCK, INDEX(ix)) OPTION (MAXDOP 1)', 'select-statement'),
      'table',
    );
    expect(table).toMatchObject({
      alias: { name: 'x' },
      hints: [
        { name: 'NOLOCK', value: null },
        { name: 'INDEX', value: '(ix)' },
      ],
    });
  });
});

describe('CREATE TABLE', () => {
  test('columns with type, nullability, default, identity and collation', () => {
    const columns = columnsOf(`CREATE TABLE dbo.t (
      a [int] IDENTITY(1, 5) NOT NULL CONSTRAINT pk PRIMARY KEY,
      b [decimal](18, 4) NULL DEFAULT (0),
      c nvarchar(MAX) COLLATE Latin1_General_BIN2,
      d AS (a * 2) PERSISTED NOT NULL,
      e datetime2(7) GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
      f sys.sysname SPARSE,
      timestamp
    )`);
    expect(columns.map((column) => [column.name.name, column.type?.text ?? null, column.nullable])).toEqual([
      ['a', 'int', false],
      ['b', 'decimal(18,4)', true],
      ['c', 'nvarchar(max)', null],
      ['d', null, false],
      ['e', 'datetime2(7)', false],
      ['f', 'sysname', null],
      ['timestamp', 'timestamp', null],
    ]);
    expect(columns[0]).toMatchObject({
      identity: { seed: '1', increment: '5' },
      constraints: [{ type: 'primary-key', name: { name: 'pk' } }],
    });
    expect(columns[1]?.default).toMatchObject({ kind: 'parenthesis', inner: { value: '0' } });
    expect(columns[2]?.collation?.name).toBe('Latin1_General_BIN2');
    expect(columns[3]).toMatchObject({ persisted: true, computed: { kind: 'parenthesis' } });
    expect(columns[4]).toMatchObject({ generated: 'row-start', hidden: true });
    expect(columns[5]?.sparse).toBe(true);
  });

  test("the standard's types of several words have the server's names", () => {
    const written = ['double precision', 'char varying(10)', 'National Char Varying (20)', 'national character(3)'];
    const more = ['national text', 'binary varying(max)', 'character varying(5)', 'sys.int', 'dbo.Money'];
    const types = (platform: PlatformName, list: readonly string[]): readonly (string | undefined)[] =>
      columnsOf(`CREATE TABLE t (${list.map((type, index) => `c${index} ${type}`).join(', ')})`, platform).map(
        (column) => column.type?.text,
      );
    expect(types('sqlserver', [...written, ...more])).toEqual(
      ['float', 'varchar(10)', 'nvarchar(20)', 'nchar(3)'].concat([
        'ntext',
        'varbinary(max)',
        'varchar(5)',
        'int',
        'dbo.money',
      ]),
    );
    expect(types('duckdb', ['double precision'])).toEqual(['double precision']);
  });

  test('keys in their own order, references with actions', () => {
    const table = only(
      'CREATE TABLE t (a int, b int, CONSTRAINT pk PRIMARY KEY NONCLUSTERED (b DESC, a), FOREIGN KEY (a) REFERENCES dbo.u (x) ON DELETE CASCADE ON UPDATE SET NULL)',
      'create-table',
    );
    expect(table.elements[2]).toMatchObject({
      type: 'primary-key',
      clustered: false,
      enforced: true,
      columns: [
        { name: { name: 'b' }, descending: true },
        { name: { name: 'a' }, descending: false },
      ],
    });
    expect(table.elements[3]).toMatchObject({
      type: 'foreign-key',
      references: { onDelete: 'CASCADE', onUpdate: 'SET NULL' },
    });
  });

  test('options of Synapse with their columns', () => {
    const table = only(
      'CREATE TABLE t (a int, CONSTRAINT pk PRIMARY KEY NONCLUSTERED (a) NOT ENFORCED) WITH (DISTRIBUTION = HASH (a), CLUSTERED COLUMNSTORE INDEX)',
      'create-table',
      'synapse',
    );
    expect(table.options).toMatchObject([
      { name: 'DISTRIBUTION', value: 'HASH (a)', columns: [{ name: 'a' }] },
      { name: 'CLUSTERED COLUMNSTORE INDEX' },
    ]);
    expect(table.elements[1]).toMatchObject({ enforced: false });
  });

  test('temporal, clone, CTAS, SELECT INTO', () => {
    expect(
      only('CREATE TABLE t (a int) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))', 'create-table').options,
    ).toMatchObject([{ name: 'SYSTEM_VERSIONING', value: 'ON (HISTORY_TABLE = dbo.h)' }]);
    expect(
      only('CREATE TABLE a AS CLONE OF dbo.b', 'create-table', 'fabric').cloneOf?.parts.map((part) => part?.name),
    ).toEqual(['dbo', 'b']);
    expect(only('CREATE TABLE a WITH (HEAP) AS SELECT 1 AS x', 'create-table', 'synapse').query?.body.kind).toBe(
      'select',
    );
    const { body } = only('SELECT a INTO #t FROM u', 'select-statement').query;
    expect(body.kind === 'select' ? body.into?.parts[0]?.name : '').toBe('#t');
  });

  test('Spark columns', () => {
    const columns = columnsOf(
      "CREATE TABLE t (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 5) NOT NULL COMMENT 'key', y INT GENERATED ALWAYS AS (YEAR(d)), s STRUCT<a: INT, b: ARRAY<STRING>>) USING DELTA PARTITIONED BY (y)",
      'databricks',
    );
    expect(columns.map((column) => [column.name.name, column.type?.text, column.nullable])).toEqual([
      ['id', 'bigint', false],
      ['y', 'int', null],
      ['s', 'struct<a:int,b:array<string>>', null],
    ]);
    expect(columns[0]).toMatchObject({ identity: { seed: '5', increment: null, always: false }, comment: 'key' });
    expect(columns[1]?.computed?.kind).toBe('call');
  });
});

describe('writes', () => {
  test('MERGE with every part', () => {
    const merge = only(
      `WITH c AS (SELECT 1 AS k) MERGE TOP (10) INTO dw.t WITH (HOLDLOCK) AS x USING (SELECT k FROM c) AS s ON x.k = s.k
       WHEN MATCHED AND x.v <> s.v THEN UPDATE SET x.v = s.v, n += 1
       WHEN MATCHED THEN DELETE
       WHEN NOT MATCHED BY TARGET THEN INSERT (k, v) VALUES (s.k, DEFAULT)
       WHEN NOT MATCHED BY SOURCE AND x.v = 1 THEN UPDATE SET v = 0
       OUTPUT $action, inserted.k INTO @log (a, k) OPTION (LOOP JOIN);`,
      'merge',
    );
    expect(merge).toMatchObject({
      with: { tables: [{ name: { name: 'c' } }] },
      top: { count: { value: '10' } },
      target: { kind: 'table', alias: { name: 'x' }, hints: [{ name: 'HOLDLOCK' }] },
      source: { kind: 'derived-table', alias: { name: 's' } },
      on: { kind: 'binary', operator: '=' },
      output: [{ into: { kind: 'table-variable', name: '@log' }, intoColumns: [{ name: 'a' }, { name: 'k' }] }],
      hints: [{ text: 'LOOP JOIN' }],
      terminated: true,
    });
    expect(
      merge.branches.map((branch) => [
        branch.match,
        branch.byTarget,
        branch.condition?.kind ?? null,
        branch.action?.kind,
      ]),
    ).toEqual([
      ['matched', false, 'binary', 'merge-update'],
      ['matched', false, null, 'merge-delete'],
      ['not-matched', true, null, 'merge-insert'],
      ['not-matched-by-source', false, 'binary', 'merge-update'],
    ]);
  });

  test('MERGE of Delta with stars', () => {
    const merge = only(
      'MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.a <=> s.a WHEN MATCHED THEN UPDATE SET * EXCEPT (b) WHEN NOT MATCHED THEN INSERT *',
      'merge',
      'databricks',
    );
    expect(merge.schemaEvolution).toBe(true);
    expect(merge.branches.map((branch) => branch.action)).toMatchObject([
      { star: true, except: [{ name: 'b' }] },
      { star: true, except: [] },
    ]);
  });

  test('INSERT, UPDATE and DELETE', () => {
    expect(only('INSERT INTO t (a, b) OUTPUT inserted.a VALUES (1, DEFAULT), (2, NULL)', 'insert')).toMatchObject({
      columns: [{ name: 'a' }, { name: 'b' }],
      source: { body: { kind: 'values', rows: [{}, {}] } },
    });
    expect(only('INSERT t EXEC p 1', 'insert').source.kind).toBe('execute');
    expect(only('UPDATE x SET a = 1, @v = b = 2, c.WRITE(1, 2, 3) FROM t AS x WHERE x.d = 4', 'update')).toMatchObject({
      assignments: [
        { operator: '=', variable: null },
        { operator: '=', variable: { name: '@v' }, column: { parts: [{ name: 'b' }] } },
        { operator: 'call', column: { parts: [{ name: 'c' }] } },
      ],
      from: [{ kind: 'table', alias: { name: 'x' } }],
      where: { kind: 'binary' },
    });
    expect(only('DELETE x OUTPUT deleted.a INTO @t FROM t AS x', 'delete')).toMatchObject({
      target: { name: { parts: [{ name: 'x' }] } },
    });
  });

  test('rows of a nested MERGE', () => {
    const insert = only(
      "INSERT INTO h SELECT x.a FROM (MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE OUTPUT $action AS act, deleted.a) AS x WHERE x.act = 'DELETE'",
      'insert',
    );
    expect(findAll(insert, 'dml-table')[0]).toMatchObject({ alias: { name: 'x' }, statement: { kind: 'merge' } });
  });
});

describe('programs and control flow', () => {
  const kindsOf = (text: string): readonly Kind[] => statementsOf(text).map((statement) => statement.kind);

  test('statements are split without semicolons', () => {
    expect(
      kindsOf(
        'DECLARE @a int = 1 SET @a = 2 IF @a = 1 PRINT 1 ELSE BEGIN PRINT 2 END WHILE 1 = 1 BREAK BEGIN TRAN COMMIT EXEC p 1 SELECT 1 UPDATE t SET a = 1 RETURN',
      ),
    ).toEqual([
      'declare',
      'set-variable',
      'if',
      'while',
      'transaction',
      'transaction',
      'execute',
      'select-statement',
      'update',
      'return',
    ]);
    expect(
      kindsOf('SET IDENTITY_INSERT t ON\nMERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE;\nx: GOTO x'),
    ).toEqual(['set-option', 'merge', 'label', 'goto']);
    expect(
      kindsOf("ALTER PARTITION FUNCTION f () MERGE RANGE (1)\nBACKUP DATABASE x TO DISK = 'y' WITH INIT\nSELECT 1"),
    ).toEqual(['opaque', 'opaque', 'select-statement']);
  });

  test('a clause on a line of its own is no statement, whatever its first word', () => {
    const bounds = (text: string): readonly string[] => {
      const script = parse(text);
      return unitsOf(script).map((unit) => textOf(script, unit, unit.statement).replace(/\s+/g, ' '));
    };
    expect(bounds('ALTER ROLE r\nDROP MEMBER m\nDROP TABLE t')).toEqual(['ALTER ROLE r DROP MEMBER m', 'DROP TABLE t']);
    expect(bounds('ALTER LOGIN l\nDROP CREDENTIAL c\nDROP ROLE r')).toEqual([
      'ALTER LOGIN l DROP CREDENTIAL c',
      'DROP ROLE r',
    ]);
    expect(bounds('CREATE BROKER PRIORITY p FOR CONVERSATION\nSET (PRIORITY_LEVEL = 5)\nSET NOCOUNT ON')).toEqual([
      'CREATE BROKER PRIORITY p FOR CONVERSATION SET (PRIORITY_LEVEL = 5)',
      'SET NOCOUNT ON',
    ]);
    expect(bounds('ALTER DATABASE d\nSET ANSI_NULLS ON\nSET @a = 1')).toEqual([
      'ALTER DATABASE d SET ANSI_NULLS ON',
      'SET @a = 1',
    ]);
    expect(bounds('ALTER DATABASE d SET RECOVERY SIMPLE WITH\nROLLBACK IMMEDIATE\nSET NOCOUNT ON')).toEqual([
      'ALTER DATABASE d SET RECOVERY SIMPLE WITH ROLLBACK IMMEDIATE',
      'SET NOCOUNT ON',
    ]);
    expect(bounds('ALTER DATABASE d SET ALLOW_SNAPSHOT_ISOLATION ON CREATE TABLE t (a int)\nDBCC CHECKDB')).toEqual([
      'ALTER DATABASE d SET ALLOW_SNAPSHOT_ISOLATION ON',
      'CREATE TABLE t (a int)',
      'DBCC CHECKDB',
    ]);
    expect(bounds("INSERT BULK t (a int) BULK INSERT t FROM 'f' BACKUP LOG d TO x\nENABLE TRIGGER ALL ON t")).toEqual([
      'INSERT BULK t (a int)',
      "BULK INSERT t FROM 'f'",
      'BACKUP LOG d TO x',
      'ENABLE TRIGGER ALL ON t',
    ]);
    expect(bounds('DBCC CHECKDB SELECT 1')).toEqual(['DBCC CHECKDB', 'SELECT 1']);
    expect(bounds('DROP ROLE\nIF\nEXISTS r IF 1 = 1 SELECT 1 ELSE SELECT 2')).toEqual([
      'DROP ROLE IF EXISTS r',
      'IF 1 = 1 SELECT 1 ELSE SELECT 2',
    ]);
    expect(bounds('OPEN\nSYMMETRIC KEY k DECRYPTION\nBY CERTIFICATE c OPEN c')).toEqual([
      'OPEN SYMMETRIC KEY k DECRYPTION BY CERTIFICATE c',
      'OPEN c',
    ]);
    expect(bounds('BEGIN END CONVERSATION @h; SELECT 1 END')).toEqual(['BEGIN END CONVERSATION @h; SELECT 1 END']);
    expect(
      bounds('ALTER FULLTEXT INDEX ON t\nALTER COLUMN c ADD STATISTICAL_SEMANTICS\nALTER TABLE t ADD a int'),
    ).toEqual(['ALTER FULLTEXT INDEX ON t ALTER COLUMN c ADD STATISTICAL_SEMANTICS', 'ALTER TABLE t ADD a int']);
  });

  test('a procedure holds the statements up to the end of its batch', () => {
    const [procedure] = statementsOf(
      'CREATE OR ALTER PROCEDURE dbo.p @a int = 1, @b nvarchar(10) OUTPUT AS\nBEGIN TRY SELECT @a END TRY BEGIN CATCH THROW END CATCH\nSELECT 2\nGO\nSELECT 3',
    );
    expect(procedure).toMatchObject({
      kind: 'create-procedure',
      alter: true,
      parameters: [
        { name: '@a', type: { text: 'int' }, default: { value: '1' }, output: false },
        { name: '@b', type: { text: 'nvarchar(10)' }, output: true },
      ],
      body: [
        { kind: 'try-catch', try: [{ kind: 'select-statement' }], catch: [{ kind: 'throw' }] },
        { kind: 'select-statement' },
      ],
    });
  });

  test('functions, views and triggers', () => {
    expect(
      only('CREATE FUNCTION f (@a int) RETURNS TABLE AS RETURN (SELECT @a AS a)', 'create-function').query?.body.kind,
    ).toBe('select');
    expect(only('CREATE FUNCTION f () RETURNS @r TABLE (a int) AS BEGIN RETURN END', 'create-function')).toMatchObject({
      returnsVariable: '@r',
      returnsElements: [{ name: { name: 'a' } }],
      body: [{ kind: 'block' }],
    });
    expect(only('CREATE VIEW v (a) WITH SCHEMABINDING AS SELECT 1', 'create-view')).toMatchObject({
      columns: [{ name: 'a' }],
      options: [{ name: 'SCHEMABINDING' }],
    });
    expect(only('CREATE TRIGGER tr ON t AFTER INSERT, UPDATE AS PRINT 1', 'create-trigger')).toMatchObject({
      events: ['INSERT', 'UPDATE'],
      timing: 'after',
    });
  });
});

describe('positions', () => {
  const text = 'SELECT 1;\nGO\nUPDATE dbo.t SET a = 1 WHERE b = 2;';
  const script = parse(text);
  const unit = unitsOf(script)[1];

  test('nodes count from their statement', () => {
    const where = unit?.statement.kind === 'update' ? unit.statement.where : null;
    expect(where).toMatchObject({ start: 29, end: 34 });
    expect(unit !== undefined && where !== null ? absoluteRange(unit, where) : null).toEqual({ start: 42, end: 47 });
    expect(unit !== undefined && where !== null ? textOf(script, unit, where) : null).toBe('b = 2');
  });

  test('the nodes at an offset lead from the statement to the smallest', () => {
    const path = unit === undefined ? [] : nodesAt(unit, text.indexOf('b = 2'));
    expect(path.map((node) => node.kind)).toEqual(['update', 'binary', 'column', 'identifier']);
  });

  test('batches know their GO line and SQLCMD lines', () => {
    const { batches } = parse(':setvar x 1\nSELECT $(x)\nGO 5 -- again\n:r other.sql\nSELECT 2');
    expect(batches).toMatchObject([
      { separator: { start: 24, end: 37, repeat: 5 }, sqlcmd: [{ command: 'setvar', argument: 'x 1' }] },
      { separator: null, sqlcmd: [{ command: 'r', argument: 'other.sql' }] },
    ]);
  });
});
