import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { PlatformName } from '../../protocol/platform.ts';
import { buildCatalog } from '../../server/src/model/catalog.ts';
import { readDefinitions } from '../../server/src/model/definitions.ts';
import { formatTableName } from '../../server/src/model/names.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { platformOrExpected } from '../../server/src/syntax/platform.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

const shape = (ddl: string, name: string, platform: 'sqlserver' | 'synapse' | 'fabric' = 'sqlserver') =>
  tableIn(catalogFrom(ddl, platform), name).columns.map(
    (column) => `${column.name} ${column.type}${column.nullable ? '' : ' not null'}`,
  );

describe('definitions', () => {
  test('USE gives tables their database, GO does not take it away', () => {
    const { tables } = catalogFrom(
      'USE [Staging]\nGO\nCREATE TABLE [dbo].[Department]([Id] [int] NOT NULL)\nGO\nCREATE TABLE Other.dbo.T (a int)',
    );
    expect(tables.map((table) => formatTableName(table.name))).toEqual(['Staging.dbo.Department', 'Other.dbo.T']);
  });

  test('tables that a script of Spark makes in its blocks, loops and branches are known', () => {
    const { tables } = catalogFrom(
      `BEGIN
         DECLARE n INT DEFAULT 1;
         CREATE TABLE a (x INT NOT NULL, y STRING);
         IF n = 1 THEN ALTER TABLE a ADD COLUMNS (z DATE); END IF;
         REPEAT CREATE TABLE IF NOT EXISTS b AS SELECT x FROM a; UNTIL n = 1 END REPEAT;
         CASE n WHEN 1 THEN CREATE TABLE c (i INT); ELSE CREATE TABLE d (i INT); END CASE;
       END`,
      'databricks',
    );
    expect(tables.map(({ name, columns }) => `${name.table}: ${columns.map((column) => column.name)}`)).toEqual([
      'a: x,y,z',
      'c: i',
      'd: i',
      'b: x',
    ]);
  });

  test('columns that are written in front of the query of a streaming table or materialized view count', () => {
    const { tables } = catalogFrom(
      `CREATE TABLE src (id INT NOT NULL, label STRING);
       CREATE OR REFRESH STREAMING TABLE raw (id BIGINT NOT NULL COMMENT 'key', label, amount DECIMAL(18, 2) DEFAULT 0.0,
         total DECIMAL(20, 2) GENERATED ALWAYS AS (amount * 2),
         CONSTRAINT ok EXPECT (id IS NOT NULL) ON VIOLATION DROP ROW, CONSTRAINT pk PRIMARY KEY (id)
       ) AS SELECT id, label, 1, 2 FROM STREAM(src);
       CREATE MATERIALIZED VIEW mv (id COMMENT 'x', n BIGINT NOT NULL, PRIMARY KEY (id)) AS SELECT id, label FROM src;`,
      'databricks',
    );
    expect(
      tables.map(({ name, columns, keys }) => ({
        name: name.table,
        columns: columns.map((column) => `${column.name} ${column.type}${column.nullable ? '' : ' not null'}`),
        keys: keys.map((key) => `${key.kind} ${key.columns}`),
      })),
    ).toEqual([
      { name: 'src', columns: ['id int not null', 'label string'], keys: ['inferred id'] },
      {
        name: 'raw',
        columns: ['id bigint not null', 'label ', 'amount decimal(18,2)', 'total decimal(20,2)'],
        keys: ['primary-key id'],
      },
      { name: 'mv', columns: ['id int not null', 'n bigint not null'], keys: ['primary-key id'] },
    ]);
  });

  test('a unique index of DuckDB on an expression is no key', () => {
    const { tables } = catalogFrom(
      'CREATE TABLE t (a INTEGER, b VARCHAR); CREATE UNIQUE INDEX i ON t (lower(b), a); CREATE UNIQUE INDEX j ON t (b);',
      'duckdb',
    );
    expect(tables[0]?.keys).toEqual([{ kind: 'unique', columns: ['b'], enforced: true }]);
  });

  test('REPLACE COLUMNS of Spark leaves nothing of the columns before, and fields of structs are no columns', () => {
    const { tables } = catalogFrom(
      `CREATE TABLE u (x INT);
       ALTER TABLE u REPLACE COLUMNS (y STRING COMMENT 'q', z INT);
       CREATE TABLE t (a INT NOT NULL, b STRUCT<x: INT, y: STRING>, y STRING, x INT);
       ALTER TABLE t ADD COLUMN b.z INT;
       ALTER TABLE t DROP COLUMN b.x;
       ALTER TABLE t RENAME COLUMN b.y TO w;
       ALTER TABLE t DROP COLUMNS IF EXISTS (y, nothing);`,
      'databricks',
    );
    expect(tables.map(({ name, columns }) => `${name.table}: ${columns.map((column) => column.name)}`)).toEqual([
      'u: y,z',
      't: a,b,x',
    ]);
  });

  test('ALTER TABLE of any file adds columns, keys and defaults', () => {
    const files = [
      'CREATE TABLE dbo.T (a int NOT NULL, b varchar(10) NULL, gone int)',
      `ALTER TABLE dbo.T ADD c date NULL, d int NOT NULL;
       ALTER TABLE dbo.T ADD CONSTRAINT PK_T PRIMARY KEY (a, d);
       ALTER TABLE dbo.T ADD CONSTRAINT DF_T DEFAULT ('4000-01-01') FOR c;
       ALTER TABLE dbo.T ALTER COLUMN b varchar(20) NOT NULL;
       ALTER TABLE dbo.T DROP COLUMN gone;
       CREATE UNIQUE INDEX UX_T ON dbo.T (b);`,
    ].map((text, index) => readDefinitions(parse(text), `${index}.sql`));
    const { tables } = buildCatalog([...files].reverse());
    const table = tableIn({ tables }, 'T');
    expect(table.columns.map((column) => `${column.name} ${column.type} ${column.nullable} ${column.default}`)).toEqual(
      ['a int false null', 'b varchar(20) false null', "c date true ('4000-01-01')", 'd int false null'],
    );
    expect(table.keys).toEqual([
      { kind: 'primary-key', columns: ['a', 'd'], enforced: true },
      { kind: 'unique', columns: ['b'], enforced: true },
    ]);
  });

  test('changes of one column follow one after the other', () => {
    const text = `CREATE TABLE dw.t (a int, B int, c int);
ALTER TABLE dw.t RENAME COLUMN b TO d;
ALTER TABLE dw.t DROP COLUMN A;
ALTER TABLE dw.t ADD COLUMN b date;
ALTER TABLE dw.t ADD COLUMN a bigint;
ALTER TABLE dw.t ADD COLUMN C text;`;
    const { tables } = buildCatalog([readDefinitions(parse(text, { platform: 'duckdb' }), 'ddl.sql')]);
    const { columns } = tableIn({ tables }, 't');
    expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual(['d int', 'c int', 'b date', 'a bigint']);
  });

  describe.each(['duckdb', 'spark', 'databricks'] as const)('on %s', (platform) => {
    const changed = (change: string) => {
      const ddl = `CREATE TABLE dw.t (a int NOT NULL, b varchar(10), c int DEFAULT 1);\n${change}`;
      return tableIn(catalogFrom(ddl, platform), 't').columns.map(
        ({ name, type, nullable, default: value }) => `${name} ${type} ${nullable ? 'null' : 'not null'} ${value}`,
      );
    };

    test.each([
      ['ALTER COLUMN c TYPE bigint', 'c bigint null 1'],
      ['ALTER C SET DATA TYPE decimal(10, 2)', 'c decimal(10,2) null 1'],
      ['ALTER COLUMN c SET NOT NULL', 'c int not null 1'],
      ['ALTER c SET DEFAULT 5', 'c int null 5'],
      ['ALTER COLUMN c DROP DEFAULT', 'c int null null'],
      ['RENAME COLUMN c TO d', 'd int null 1'],
      ["ALTER COLUMN c COMMENT 'TYPE bigint'", 'c int null 1'],
      ['ALTER COLUMN c.x TYPE bigint', 'c int null 1'],
    ])('%s changes that alone', (change, column) => {
      expect(changed(`ALTER TABLE dw.t ${change};`)).toEqual([
        'a int not null null',
        'b varchar(10) null null',
        column,
      ]);
    });

    test('DROP NOT NULL, then a type, then DROP COLUMN', () => {
      expect(
        changed(
          'ALTER TABLE dw.t ALTER a DROP NOT NULL; ALTER TABLE dw.t ALTER a TYPE bigint; ALTER TABLE dw.t DROP COLUMN b;',
        ),
      ).toEqual(['a bigint null null', 'c int null 1']);
    });

    test('several columns in one statement', () => {
      const second = platform === 'duckdb' ? 'ALTER COLUMN c' : 'c';
      expect(changed(`ALTER TABLE dw.t ALTER COLUMN b TYPE text, ${second} TYPE bigint;`)).toEqual([
        'a int not null null',
        'b text null null',
        'c bigint null 1',
      ]);
    });
  });

  test('DuckDB takes a collation and an expression after the type', () => {
    const ddl = `CREATE TABLE t (a int, b int);
ALTER TABLE t ALTER a TYPE varchar COLLATE nocase USING concat(a, ',', b), ALTER b SET DATA TYPE hugeint;`;
    expect(tableIn(catalogFrom(ddl, 'duckdb'), 't').columns.map(({ type }) => type)).toEqual(['varchar', 'hugeint']);
  });

  test('CHANGE gives a column of Spark a new name and type', () => {
    const ddl = `CREATE TABLE t (a int, b int);
ALTER TABLE t CHANGE COLUMN a id bigint COMMENT 'the key' FIRST;
ALTER TABLE t CHANGE b COMMENT 'as it was';
ALTER TABLE t CHANGE b TYPE bigint;`;
    expect(tableIn(catalogFrom(ddl, 'spark'), 't').columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id bigint',
      'b bigint',
    ]);
  });

  test.each(['sqlserver', 'azuresql', 'synapse', 'fabric'] as const)('sp_rename renames a column on %s', (platform) => {
    const ddl = `CREATE TABLE dbo.T (a int NOT NULL, [b c] int, CONSTRAINT PK_T PRIMARY KEY NONCLUSTERED (a) NOT ENFORCED)
GO
EXEC sp_rename 'dbo.T.a', 'id', 'COLUMN'
EXEC sys.sp_rename @objname = N'[dbo].[T].[b c]', @objtype = 'column', @newname = N'd e'
EXEC sp_rename 'dbo.T.id', 'no', 'INDEX'
EXEC sp_rename 'dbo.T', 'id'
EXEC sp_rename @name, 'no', 'COLUMN'`;
    const table = tableIn(catalogFrom(ddl, platform), 'id');
    expect(table.columns.map(({ name }) => name)).toEqual(['id', 'd e']);
    expect(table.keys.map(({ columns }) => columns)).toEqual([['id']]);
  });

  test('CTAS, SELECT INTO and views have the columns of what they read', () => {
    const ddl = `
      CREATE TABLE stg.Patient (patient_id decimal(10,0) NOT NULL, city varchar(30) NULL, extra int)
      GO
      CREATE VIEW stg.v_patient AS SELECT p.patient_id AS id, p.city, CAST(p.extra AS varchar(12)) AS extra_text, 1 AS one FROM stg.Patient AS p
      GO
      SELECT * INTO stg.Copy FROM stg.Patient
      GO
      CREATE VIEW stg.v_of_view (x, y) AS WITH c AS (SELECT id, city FROM stg.v_patient) SELECT c.* FROM c
      GO
      CREATE TABLE stg.Made WITH (DISTRIBUTION = ROUND_ROBIN, HEAP) AS SELECT patient_id, city FROM stg.Patient`;
    expect(shape(ddl, 'v_patient', 'synapse')).toEqual([
      'id decimal(10,0) not null',
      'city varchar(30)',
      'extra_text varchar(12)',
      'one ',
    ]);
    expect(shape(ddl, 'Copy', 'synapse')).toEqual([
      'patient_id decimal(10,0) not null',
      'city varchar(30)',
      'extra int',
    ]);
    expect(shape(ddl, 'v_of_view', 'synapse')).toEqual(['x decimal(10,0) not null', 'y varchar(30)']);
    expect(shape(ddl, 'Made', 'synapse')).toEqual(['patient_id decimal(10,0) not null', 'city varchar(30)']);
  });

  test('views that read each other in a circle end', () => {
    const { tables } = catalogFrom('CREATE VIEW a AS SELECT x FROM b\nGO\nCREATE VIEW b AS SELECT x FROM a');
    expect(tables.map((table) => table.columns.map((column) => column.name))).toEqual([['x'], ['x']]);
  });

  test('temporary tables and tables inside procedures belong to nobody else', () => {
    const { tables } = catalogFrom(
      "CREATE TABLE #t (a int)\nGO\nCREATE PROCEDURE p AS BEGIN CREATE TABLE dbo.Inside (a int) END\nGO\nIF OBJECT_ID('dbo.T') IS NULL BEGIN CREATE TABLE dbo.T (a int) END",
    );
    expect(tables.map((table) => table.name.table)).toEqual(['T']);
  });

  describe('what a script makes and drops again is its own', () => {
    const left = (text: string, platform: PlatformName = 'sqlserver') =>
      catalogFrom(text, platform).tables.map(({ name }) => formatTableName(name));

    test.each(['sqlserver', 'synapse', 'fabric', 'spark', 'databricks', 'duckdb'] as const)('on %s', (platform) => {
      const text = `CREATE TABLE dw.Kept (a int);
CREATE TABLE dw.work (a int);
ALTER TABLE dw.work ADD b int;
INSERT INTO dw.Kept SELECT a FROM dw.work;
DROP TABLE dw.work;`;
      expect(left(text, platform)).toEqual(['dw.Kept']);
    });

    test('in any spelling of the name, also under IF, with USE, made by a query, as a view', () => {
      expect(
        left(`USE W
CREATE TABLE dbo.Kept (a int)
SELECT a INTO dbo.made FROM dbo.Kept
CREATE TABLE [dbo].[Work] (a int)
GO
CREATE VIEW dbo.v AS SELECT a FROM dbo.Kept
GO
IF OBJECT_ID('work') IS NOT NULL DROP TABLE WORK
DROP TABLE IF EXISTS W.dbo.made
DROP VIEW dbo.v`),
      ).toEqual(['W.dbo.Kept']);
    });

    test('a table that is made anew, renamed into place or dropped in another schema stays', () => {
      expect(left('DROP TABLE IF EXISTS dbo.T\nCREATE TABLE dbo.T (a int)')).toEqual(['dbo.T']);
      const anew = catalogFrom('CREATE TABLE dbo.T (a int)\nDROP TABLE dbo.T\nCREATE TABLE dbo.T (a int, b int)');
      expect(tableIn(anew, 'T').columns.map(({ name }) => name)).toEqual(['a', 'b']);
      expect(anew.problems).toEqual([]);
      const swap = 'CREATE TABLE dbo.T (a int)\nCREATE TABLE dbo.N (a int)\nDROP TABLE dbo.T\n';
      expect(left(`${swap}EXEC sp_rename 'dbo.N', 'T'`)).toContain('dbo.T');
      expect(left(`${swap}RENAME OBJECT dbo.N TO T`, 'synapse')).toContain('dbo.T');
      expect(left(`${swap.replaceAll('\n', ';\n')}ALTER TABLE dbo.N RENAME TO T;`, 'duckdb')).toContain('dbo.T');
      expect(left('CREATE TABLE a.T (x int)\nCREATE TABLE b.T (x int)\nDROP TABLE b.T')).toEqual(['a.T']);
      expect(left('CREATE TABLE t (x int); CREATE TEMP TABLE t (x int); DROP TABLE temp.t;', 'duckdb')).toEqual(['t']);
    });

    test.each(['-- +goose Down', '-- +migrate Down', '-- migrate:down', '-- //@UNDO'])('not behind %s', (mark) => {
      expect(left(`CREATE TABLE t (a int);\n${mark}\nDROP TABLE t;`, 'duckdb')).toEqual(['t']);
    });

    test('a script that is dropped from here changes no table of the same name', () => {
      const files = ['CREATE TABLE dw.T (a int)', 'CREATE TABLE w.T (a int)\nALTER TABLE T ADD b int\nDROP TABLE w.T'];
      const { tables } = buildCatalog(files.map((text, index) => readDefinitions(parse(text), `${index}.sql`)));
      expect(tables.map(({ columns }) => columns.map(({ name }) => name))).toEqual([['a']]);
    });

    test('generated loads define the tables that they keep, and views', async () => {
      const folder = 'test/golden';
      const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.sql'));
      expect(names.length).toBeGreaterThan(100);
      const defined = new Set<string>();
      for (const name of names) {
        const text = await readFile(`${folder}/${name}`, 'utf8');
        if (!/^-- mergewright: /m.test(text)) continue;
        const { tables, derived } = readDefinitions(
          parse(text, { platform: platformOrExpected(text, 'sqlserver') }),
          name,
        );
        for (const facts of tables) defined.add(facts.name.table);
        for (const { facts } of derived) if (facts.origin !== 'view') defined.add(facts.name.table);
      }
      expect([...defined]).toEqual(['target_events']);
    });
  });

  test('views see what ALTER TABLE made of a table, copies what it was before', () => {
    const ddl = `CREATE TABLE dbo.P (a int NOT NULL PRIMARY KEY, old int);
GO
SELECT * INTO dbo.Before FROM dbo.P;
ALTER TABLE dbo.P ADD newc varchar(3) NOT NULL;
ALTER TABLE dbo.P ALTER COLUMN a bigint NOT NULL;
ALTER TABLE dbo.P DROP COLUMN old;
SELECT * INTO dbo.After FROM dbo.P;
ALTER TABLE dbo.After ADD last date;
GO
CREATE VIEW dbo.vv AS SELECT a, newc FROM dbo.P;
GO
CREATE VIEW dbo.va AS SELECT * FROM dbo.After;`;
    expect(shape(ddl, 'vv')).toEqual(['a bigint not null', 'newc varchar(3) not null']);
    expect(shape(ddl, 'Before')).toEqual(['a int not null', 'old int']);
    expect(shape(ddl, 'After')).toEqual(['a bigint not null', 'newc varchar(3) not null', 'last date']);
    expect(shape(ddl, 'va')).toEqual(['a bigint not null', 'newc varchar(3) not null', 'last date']);
  });

  test('a table defined twice keeps its first definition and says so', () => {
    const catalog = catalogFrom('CREATE TABLE dbo.T (a int)\nGO\nCREATE TABLE dbo.T (a int, b int)');
    expect(catalog.tables).toHaveLength(1);
    expect(catalog.problems.map((problem) => problem.code)).toEqual(['defined-twice']);
    expect(catalogFrom('CREATE TABLE dbo.T (a int)\nGO\nCREATE TABLE dbo.T (a int)').problems).toEqual([]);
  });

  test('one name in two schemas is two tables', () => {
    const catalog = catalogFrom(
      'CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label nvarchar(50) NULL)\nGO\nCREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Colour nvarchar(20) NULL)',
    );
    expect(catalog.lookup.find({ database: null, schema: null, table: 'unit' })).toHaveLength(2);
    expect(
      catalog.lookup.one({ database: null, schema: 'STG', table: 'unit' })?.columns.map((column) => column.name),
    ).toEqual(['UnitNo', 'Label']);
  });

  test('keys that a platform does not enforce prove nothing', () => {
    const table = tableIn(
      catalogFrom(
        'CREATE TABLE dbo.T (a int NOT NULL, b int, CONSTRAINT PK PRIMARY KEY NONCLUSTERED (a) NOT ENFORCED)',
        'synapse',
      ),
      'T',
    );
    expect(table.keys).toEqual([{ kind: 'primary-key', columns: ['a'], enforced: false }]);
  });

  test('ranges lead to the text', () => {
    const text = 'GO\n\n  CREATE TABLE dbo.T (\n  a int,\n  [b c] varchar(10) NOT NULL\n)';
    const table = tableIn(catalogFrom(text), 'T');
    expect(table.range).toEqual({ start: { line: 2, character: 2 }, end: { line: 5, character: 1 } });
    expect(table.columns[1]?.range).toEqual({ start: { line: 4, character: 2 }, end: { line: 4, character: 28 } });
  });
});
