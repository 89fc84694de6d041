-- mergewright: {"format":1,"version":1,"pattern":"pit","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{"hub":{"database":null,"schema":"dbo","table":"hub"},"sat_name":{"database":null,"schema":"dbo","table":"sat_name"},"sat_login":{"database":null,"schema":"dbo","table":"sat_login"}},"platform":"sqlserver","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"load_ts":"1900-01-01 00:00:00"},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","as_of"],"target_key":["cust_hk","as_of"],"keys":["cust"],"hash_key":{"cust_hk":["cust"]},"satellites":{"sat_name":["name_hk","name_ts"],"sat_login":["login_hk","login_ts"]},"as_of":"as_of","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Point-in-time table target: for each key and date the row of each satellite that was the newest
-- then.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @BuiltRows bigint;
DECLARE @FormerRows bigint;
DECLARE @Lock int;

BEGIN TRY
    DROP TABLE IF EXISTS #dates;
    DROP TABLE IF EXISTS #newest_1;
    DROP TABLE IF EXISTS #newest_2;
    DROP TABLE IF EXISTS #built;

    BEGIN TRANSACTION;

    -- One load of this table at a time.
    EXEC @Lock = sys.sp_getapplock
        @Resource = N'mergewright dbo.target',
        @LockMode = 'Exclusive',
        @LockOwner = 'Transaction',
        @LockTimeout = 60000;
    IF @Lock < 0
    BEGIN
        THROW 50019, N'concurrent_load: another load of this table is running', 1;
    END;

    -- The dates, each once.
    SELECT DISTINCT
        s.[as_of]
    INTO #dates
    FROM [dbo].[stage] AS s
    WHERE s.[as_of] IS NOT NULL;

    -- The newest row of sat_name per key at each date.
    SELECT
        MIN(t.[cust_hk]) AS [hub_key],
        d.[as_of],
        MAX(t.[load_ts]) AS [newest_time]
    INTO #newest_1
    FROM [dbo].[sat_name] AS t
    INNER JOIN #dates AS d
        ON t.[load_ts] <= d.[as_of]
    GROUP BY t.[cust_hk], d.[as_of];

    -- The newest row of sat_login per key at each date.
    SELECT
        MIN(t.[cust_hk]) AS [hub_key],
        d.[as_of],
        MAX(t.[load_ts]) AS [newest_time]
    INTO #newest_2
    FROM [dbo].[sat_login] AS t
    INNER JOIN #dates AS d
        ON t.[load_ts] <= d.[as_of]
    GROUP BY t.[cust_hk], d.[as_of];

    -- The rows that target will hold.
    SELECT
        h.[cust_hk],
        d.[as_of],
        CASE WHEN newest_1.[newest_time] IS NULL THEN '0000000000000000000000000000000000000000000000000000000000000000' ELSE newest_1.[hub_key] END AS [name_hk],
        CASE WHEN newest_1.[newest_time] IS NULL THEN CAST('1900-01-01T00:00:00' AS datetime2(6)) ELSE newest_1.[newest_time] END AS [name_ts],
        CASE WHEN newest_2.[newest_time] IS NULL THEN '0000000000000000000000000000000000000000000000000000000000000000' ELSE newest_2.[hub_key] END AS [login_hk],
        CASE WHEN newest_2.[newest_time] IS NULL THEN CAST('1900-01-01T00:00:00' AS datetime2(6)) ELSE newest_2.[newest_time] END AS [login_ts]
    INTO #built
    FROM [dbo].[hub] AS h
    CROSS JOIN #dates AS d
    LEFT JOIN #newest_1 AS newest_1
        ON newest_1.[hub_key] = h.[cust_hk]
       AND newest_1.[as_of] = d.[as_of]
    LEFT JOIN #newest_2 AS newest_2
        ON newest_2.[hub_key] = h.[cust_hk]
       AND newest_2.[as_of] = d.[as_of]
    WHERE h.[cust_hk] IS NOT NULL;

    -- How many they are.
    SELECT
        @BuiltRows = COUNT_BIG(*)
    FROM #built AS c;

    -- How many rows they replace.
    SELECT
        @FormerRows = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- Replace all rows.
    DELETE FROM [dbo].[target];

    INSERT INTO [dbo].[target] (
        [cust_hk],
        [as_of],
        [name_hk],
        [name_ts],
        [login_hk],
        [login_ts]
    )
    SELECT
        b.[cust_hk],
        b.[as_of],
        b.[name_hk],
        b.[name_ts],
        b.[login_hk],
        b.[login_ts]
    FROM #built AS b;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #dates;
    DROP TABLE IF EXISTS #newest_1;
    DROP TABLE IF EXISTS #newest_2;
    DROP TABLE IF EXISTS #built;

    -- What changed.
    SELECT
        CAST(@BuiltRows AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(@FormerRows AS bigint) AS deleted,
        CAST(NULL AS bigint) AS unchanged,
        CAST(NULL AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
