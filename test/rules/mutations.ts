/** One fault, put into a clean sample: the first place of `from` becomes `to`. */
export interface Mutation {
  readonly rule: string;
  readonly sample: string;
  readonly from: string;
  readonly to: string;
  /** In the sample's DDL instead of its script. */
  readonly ddl?: true;
  /** Rules that see the same fault from their own side. */
  readonly also?: readonly string[];
}

const scd2 = 'sqlserver-scd2';
const merge = 'sqlserver-merge';
const satellite = 'sqlserver-satellite';
const dynamic = 'sqlserver-dynamic';
const delta = 'delta-scd2';
const seat = 'delta-seat';
const synapse = 'synapse-satellite';
const duckdb = 'duckdb-scd2';

export const mutations: readonly Mutation[] = [
  // Versions
  {
    rule: 'closing-update-touches-history',
    sample: scd2,
    from: 'WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier',
    to: 'WHERE EXISTS (SELECT s.Tier',
  },
  {
    rule: 'closing-update-touches-history',
    sample: duckdb,
    from: ' AND t.is_current = true AND (t.tier',
    to: ' AND (t.tier',
  },
  {
    rule: 'interval-ends-one-unit-early',
    sample: scd2,
    from: 'SET ValidTo = @now, IsCurrent = 0\n        FROM dw.DimMember AS t JOIN',
    to: 'SET ValidTo = DATEADD(day, -1, @now), IsCurrent = 0\n        FROM dw.DimMember AS t JOIN',
  },
  {
    rule: 'clock-is-read-twice',
    sample: scd2,
    from: "s.City, @now, '9999-12-31'",
    to: "s.City, SYSUTCDATETIME(), '9999-12-31'",
  },
  { rule: 'open-end-is-mixed', sample: scd2, from: "t.ValidTo = '9999-12-31')", to: 't.ValidTo IS NULL)' },
  {
    rule: 'tracked-column-is-not-compared',
    sample: scd2,
    from: '(SELECT s.Tier, s.City EXCEPT SELECT t.Tier, t.City)',
    to: '(SELECT s.Tier EXCEPT SELECT t.Tier)',
  },
  {
    rule: 'comparison-misses-null',
    sample: scd2,
    from: 'EXISTS (SELECT s.Tier, s.City EXCEPT SELECT t.Tier, t.City)',
    to: '(s.Tier <> t.Tier OR EXISTS (SELECT s.City EXCEPT SELECT t.City))',
  },
  {
    rule: 'comparison-misses-null',
    sample: duckdb,
    from: '(t.tier IS DISTINCT FROM s.tier OR',
    to: '(t.tier <> s.tier OR',
  },
  {
    rule: 'comparison-equates-null-with-value',
    sample: scd2,
    from: 'EXISTS (SELECT s.Tier, s.City EXCEPT SELECT t.Tier, t.City)',
    to: "(ISNULL(s.Tier, '') <> ISNULL(t.Tier, '') OR EXISTS (SELECT s.City EXCEPT SELECT t.City))",
    also: ['tracked-column-is-not-compared'],
  },
  {
    rule: 'checksum-misses-changes',
    sample: scd2,
    from: 'EXISTS (SELECT s.Tier, s.City EXCEPT SELECT t.Tier, t.City)',
    to: 'BINARY_CHECKSUM(s.Tier, s.City) <> BINARY_CHECKSUM(t.Tier, t.City)',
  },
  { rule: 'close-and-open-lack-transaction', sample: duckdb, from: 'BEGIN TRANSACTION;\n', to: '' },
  {
    rule: 'local-clock-sets-validity',
    sample: scd2,
    from: "s.City, @now, '9999-12-31'",
    to: "s.City, GETDATE(), '9999-12-31'",
    also: ['clock-is-read-twice'],
  },
  {
    rule: 'late-row-closes-newer-version',
    sample: delta,
    from: 'MERGE INTO gold.customer AS t',
    to: 'UPDATE gold.customer AS t SET valid_to = s.loaded_at, is_current = false FROM stage.customer AS s WHERE s.customer_no = t.customer_no AND t.is_current = true;\nMERGE INTO gold.customer AS t',
    also: ['update-may-pick-any-row'],
  },
  // Inactivation
  {
    rule: 'inactivation-lacks-stage-guard',
    sample: scd2,
    from: "    IF NOT EXISTS (SELECT 1 FROM stg.Member)\n    BEGIN\n        THROW 50010, N'empty_stage: stg.Member holds no rows', 1;\n    END;\n    SELECT @current = COUNT(*) FROM dw.DimMember WHERE IsCurrent = 1;\n    SELECT @gone = COUNT(*) FROM dw.DimMember AS t\n    WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Member AS s WHERE s.MemberNo = t.MemberNo);\n    IF @gone * 100 > @MaxShare * @current",
    to: '    SELECT @current = COUNT(*) FROM dw.DimMember WHERE IsCurrent = 1;\n    IF 1000000 < @current',
  },
  {
    rule: 'inactivation-lacks-share-limit',
    sample: scd2,
    from: "    IF @gone * 100 > @MaxShare * @current\n    BEGIN\n        THROW 50011, N'too_many_gone: more keys are absent than the limit allows', 1;\n    END;\n",
    to: '',
  },
  {
    rule: 'not-in-may-meet-null',
    sample: scd2,
    from: 'WHERE t.IsCurrent = 1 AND NOT EXISTS (SELECT 1 FROM stg.Member AS s WHERE s.MemberNo = t.MemberNo);\n        INSERT',
    to: 'WHERE t.IsCurrent = 1 AND t.City NOT IN (SELECT City FROM stg.Member);\n        INSERT',
  },
  {
    rule: 'returning-key-stays-closed',
    sample: merge,
    from: ', IsActive = 1\nWHEN',
    to: '\nWHEN',
    also: ['column-lists-disagree'],
  },
  // Procedures
  { rule: 'transaction-lacks-xact-abort', sample: scd2, from: '    SET XACT_ABORT ON;\n', to: '' },
  {
    rule: 'throw-follows-unterminated-statement',
    sample: scd2,
    from: 'ROLLBACK TRANSACTION;',
    to: 'ROLLBACK TRANSACTION',
  },
  {
    rule: 'rowcount-is-read-late',
    sample: scd2,
    from: '        SET @opened = @@ROWCOUNT;',
    to: "        PRINT 'done';\n        SET @opened = @@ROWCOUNT;",
  },
  {
    rule: 'catch-swallows-error',
    sample: scd2,
    from: 'ROLLBACK TRANSACTION;\n        THROW;',
    to: 'ROLLBACK TRANSACTION;\n        PRINT ERROR_MESSAGE();',
  },
  {
    rule: 'dynamic-sql-lacks-quotename',
    sample: dynamic,
    from: "N' FROM ' + QUOTENAME(@Schema)",
    to: "N' FROM ' + @Schema",
  },
  {
    rule: 'metadata-lookup-lacks-schema',
    sample: dynamic,
    from: ' JOIN sys.schemas AS o ON o.schema_id = t.schema_id\n    WHERE t.name = @Table AND o.name = @Schema',
    to: '\n    WHERE t.name = @Table',
  },
  {
    rule: 'name-list-is-cut',
    sample: dynamic,
    from: 'CONVERT(nvarchar(max), QUOTENAME(c.name))',
    to: 'QUOTENAME(c.name)',
  },
  {
    rule: 'text-type-lacks-length',
    sample: dynamic,
    from: 'DECLARE @list nvarchar(max), @sql',
    to: 'DECLARE @list nvarchar, @sql',
  },
  {
    rule: 'set-options-are-off',
    sample: dynamic,
    from: '    SET XACT_ABORT ON;',
    to: '    SET XACT_ABORT ON;\n    SET ANSI_NULLS OFF;',
  },
  { rule: 'variable-outlives-its-batch', sample: satellite, from: 'WITH staged AS', to: 'GO\nWITH staged AS' },
  {
    rule: 'cte-follows-unterminated-statement',
    sample: satellite,
    from: 'SYSUTCDATETIME();\nWITH',
    to: 'SYSUTCDATETIME()\nWITH',
  },
  // MERGE
  { rule: 'merge-lacks-semicolon', sample: merge, from: 'INTO @changes (Act);', to: 'INTO @changes (Act)' },
  { rule: 'merge-lacks-holdlock', sample: merge, from: ' WITH (HOLDLOCK)', to: '' },
  { rule: 'merge-target-hint-is-refused', sample: merge, from: 'WITH (HOLDLOCK)', to: 'WITH (HOLDLOCK, NOLOCK)' },
  {
    rule: 'source-is-read-with-nolock',
    sample: merge,
    from: 'AS rn\n    FROM stg.Shop',
    to: 'AS rn\n    FROM stg.Shop WITH (NOLOCK)',
  },
  {
    rule: 'merge-source-repeats-keys',
    sample: merge,
    from: 'SELECT ShopNo, Region, Label, Size FROM numbered WHERE rn = 1',
    to: 'SELECT ShopNo, Region, Label, Size, LoadedAt FROM stg.Shop',
  },
  { rule: 'row-choice-has-ties', sample: merge, from: 'ORDER BY LoadedAt DESC', to: 'ORDER BY (SELECT NULL)' },
  {
    rule: 'merge-on-tests-target',
    sample: merge,
    from: 'ON t.ShopNo = s.ShopNo\n',
    to: "ON t.ShopNo = s.ShopNo AND t.Region <> 'X'\n",
  },
  {
    rule: 'merge-by-source-lacks-stage-guard',
    sample: merge,
    from: "IF NOT EXISTS (SELECT 1 FROM stg.Shop)\nBEGIN\n    THROW 50010, N'empty_stage: stg.Shop holds no rows', 1;\nEND;\nIF (SELECT COUNT(*) FROM stg.Shop) * 2 < @total",
    to: 'IF 1000000 < @total',
  },
  {
    rule: 'merge-by-source-reads-part',
    sample: merge,
    from: 'FROM numbered WHERE rn = 1\n',
    to: 'FROM numbered WHERE rn = 1 AND Size > @total\n',
  },
  {
    rule: 'by-source-branch-reads-source',
    sample: merge,
    from: 'BY SOURCE AND t.IsActive = 1',
    to: 'BY SOURCE AND s.Size = 1',
  },
  {
    rule: 'merge-branch-is-unreachable',
    sample: merge,
    from: 'WHEN NOT MATCHED BY SOURCE AND t.IsActive = 1',
    to: 'WHEN NOT MATCHED BY SOURCE THEN DELETE\nWHEN NOT MATCHED BY SOURCE AND t.IsActive = 1',
  },
  {
    rule: 'merge-updates-twice',
    sample: merge,
    from: 'WHEN NOT MATCHED BY TARGET',
    to: 'WHEN MATCHED AND s.Size = 0 THEN UPDATE SET Size = s.Size\nWHEN NOT MATCHED BY TARGET',
  },
  {
    rule: 'set-writes-generated-column',
    sample: merge,
    from: 'UPDATE SET Region = s.Region',
    to: 'UPDATE SET ShopId = 1, Region = s.Region',
  },
  {
    rule: 'insert-writes-generated-column',
    sample: merge,
    from: 'INSERT (ShopNo, Region, Label, Size, IsActive) VALUES (s.ShopNo,',
    to: 'INSERT (ShopId, ShopNo, Region, Label, Size, IsActive) VALUES (1, s.ShopNo,',
  },
  {
    rule: 'merge-insert-names-no-columns',
    sample: merge,
    from: 'INSERT (ShopNo, Region, Label, Size, IsActive) VALUES',
    to: 'INSERT VALUES',
  },
  {
    rule: 'merge-rowcount-is-a-total',
    sample: merge,
    from: "SELECT SUM(CASE WHEN Act = 'INSERT' THEN 1 ELSE 0 END) AS inserted FROM @changes;",
    to: 'SELECT @@ROWCOUNT AS inserted;',
  },
  { rule: 'merge-uses-top', sample: merge, from: 'MERGE INTO dw.Shop', to: 'MERGE TOP (100) INTO dw.Shop' },
  {
    rule: 'column-lists-disagree',
    sample: merge,
    from: 'Label = s.Label, Size = s.Size, IsActive',
    to: 'Label = s.Label, IsActive',
  },
  {
    rule: 'insert-leaves-column-out',
    sample: merge,
    from: 'Size, IsActive) VALUES (s.ShopNo, s.Region, s.Label, s.Size, 1)',
    to: 'IsActive) VALUES (s.ShopNo, s.Region, s.Label, 1)',
    also: ['column-lists-disagree'],
  },
  {
    rule: 'column-is-not-in-table',
    sample: merge,
    from: 'UPDATE SET Region = s.Region',
    to: 'UPDATE SET Regio = s.Region',
    also: ['column-lists-disagree'],
  },
  {
    rule: 'write-narrows-type',
    sample: merge,
    from: 'Label nvarchar(50) NULL,\n    Size int NOT NULL,\n    IsActive',
    to: 'Label nvarchar(30) NULL,\n    Size int NOT NULL,\n    IsActive',
    ddl: true,
  },
  {
    rule: 'merge-target-is-special',
    sample: merge,
    from: 'CREATE TABLE stg.Shop (',
    to: 'CREATE UNIQUE INDEX UX_Shop ON dw.Shop (ShopNo) WHERE IsActive = 1;\nCREATE TABLE stg.Shop (',
    ddl: true,
  },
  // Hashes
  {
    rule: 'hash-lacks-delimiter',
    sample: satellite,
    from: "COALESCE(p.FirstName, '^^'), '||',",
    to: "COALESCE(p.FirstName, '^^'),",
  },
  {
    rule: 'hash-date-lacks-style',
    sample: satellite,
    from: 'CONVERT(varchar(33), p.Born, 126)',
    to: 'CONVERT(varchar(33), p.Born)',
  },
  {
    rule: 'hash-depends-on-session',
    sample: satellite,
    from: 'CONVERT(varchar(33), p.Born, 126)',
    to: 'CONVERT(varchar(33), p.Born, 109)',
  },
  {
    rule: 'hash-number-loses-digits',
    sample: satellite,
    from: 'CONVERT(varchar(40), p.Score, 3)',
    to: 'CONVERT(varchar(40), p.Score)',
  },
  {
    rule: 'hash-equates-null-and-empty',
    sample: satellite,
    from: "COALESCE(p.Phone, '^^')",
    to: "COALESCE(p.Phone, '')",
  },
  {
    rule: 'text-type-lacks-length',
    sample: satellite,
    from: "COALESCE(p.FirstName, '^^')",
    to: "COALESCE(CONVERT(varchar, p.FirstName), '^^')",
  },
  {
    rule: 'hash-input-is-cut',
    sample: satellite,
    from: "COALESCE(p.FirstName, '^^')",
    to: "COALESCE(CONVERT(varchar(10), p.FirstName), '^^')",
  },
  {
    rule: 'hash-result-has-wrong-type',
    sample: satellite,
    from: '        )) AS binary(32)) AS HashDiff',
    to: '        )) AS binary(16)) AS HashDiff',
  },
  {
    rule: 'comparison-reads-all-versions',
    sample: satellite,
    from: '\n        AND x.LoadDts = (SELECT MAX(y.LoadDts) FROM rdv.SatPerson AS y WHERE y.PersonHk = s.PersonHk)',
    to: '',
  },
  {
    rule: 'hashdiff-holds-load-columns',
    sample: satellite,
    from: "COALESCE(p.Phone, '^^'), '||',",
    to: "COALESCE(p.Phone, '^^'), '||', p.LoadDate, '||',",
  },
  {
    rule: 'hashdiff-is-normalised',
    sample: satellite,
    from: "COALESCE(p.Phone, '^^')",
    to: "COALESCE(UPPER(p.Phone), '^^')",
  },
  {
    rule: 'isnull-cuts-placeholder',
    sample: satellite,
    from: "COALESCE(CONVERT(varchar(33), p.Born, 126), '^^')",
    to: "ISNULL(CONVERT(varchar(1), p.Phone), '^^')",
    also: ['hash-input-is-cut'],
  },
  {
    rule: 'hash-mixes-text-types',
    sample: satellite,
    from: "COALESCE(p.Phone, '^^')",
    to: "COALESCE(CONVERT(varchar(30), CONVERT(nvarchar(30), p.Phone)), '^^')",
  },
  // Delta and Synapse
  {
    rule: 'null-merge-key-inserts-unchanged',
    sample: delta,
    from: ' JOIN gold.customer AS c ON c.customer_no = s.customer_no\n  WHERE c.is_current = true AND NOT (c.row_hash <=> s.row_hash)',
    to: '',
  },
  {
    rule: 'merge-key-may-be-null',
    sample: seat,
    from: 'CREATE TABLE stage.seat (seat_no INT NOT NULL, biz_date DATE NOT NULL, fare DECIMAL(9,2)) USING DELTA;\nCREATE TABLE gold.seat (seat_no INT NOT NULL',
    to: 'CREATE TABLE stage.seat (seat_no INT, biz_date DATE NOT NULL, fare DECIMAL(9,2)) USING DELTA;\nCREATE TABLE gold.seat (seat_no INT',
    ddl: true,
  },
  {
    rule: 'merge-reads-all-partitions',
    sample: seat,
    from: ' AND t.biz_date = s.biz_date',
    to: '',
    also: ['merge-source-repeats-keys'],
  },
  {
    rule: 'by-source-branch-rewrites-table',
    sample: seat,
    from: 's.fare);',
    to: 's.fare)\nWHEN NOT MATCHED BY SOURCE THEN DELETE;',
    also: ['inactivation-lacks-share-limit', 'merge-by-source-lacks-stage-guard'],
  },
  {
    rule: 'delta-star-follows-source',
    sample: seat,
    from: 'INSERT (seat_no, biz_date, fare) VALUES (s.seat_no, s.biz_date, s.fare)',
    to: 'INSERT *',
  },
  { rule: 'comparison-misses-null', sample: seat, from: 'NOT (t.fare <=> s.fare)', to: 't.fare <> s.fare' },
  {
    rule: 'synapse-refuses-syntax',
    sample: synapse,
    from: "SELECT 1, 'x' UNION ALL SELECT 2, 'y'",
    to: "VALUES (1, 'x'), (2, 'y')",
  },
  {
    rule: 'synapse-merge-inserts-unhashed',
    sample: synapse,
    from: 'CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = HASH (UnitNo)',
    to: 'CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL) WITH (DISTRIBUTION = ROUND_ROBIN',
    ddl: true,
  },
  {
    rule: 'synapse-transaction-breaks',
    sample: synapse,
    from: '    BEGIN TRANSACTION;',
    to: '    BEGIN TRANSACTION load_units;',
  },
  {
    rule: 'insert-selects-star',
    sample: synapse,
    from: "INSERT INTO dw.Unit (UnitNo, Label) SELECT 1, 'x' UNION ALL SELECT 2, 'y'",
    to: 'INSERT INTO dw.Unit SELECT * FROM stg.Unit',
  },
];
