-- mergewright: {"format":1,"version":1,"pattern":"xts","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"sqlserver","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","satellite_name","hashdiff","load_ts","record_source"],"target_key":["cust_hk"],"keys":["cust"],"hash_key":{"cust_hk":["cust"]},"satellites":{"SAT_NAME":["first_name","last_name"],"SAT_PHONE":["phone"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Extended tracking satellite target from stage: records each state of the tracked satellites once.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewRows bigint;
DECLARE @RecordedKeys bigint;
DECLARE @Lock int;

BEGIN TRY
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #appearances;
    DROP TABLE IF EXISTS #changes;

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

    -- Rows without a key are left out and counted.
    SELECT
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Staged rows with a key, with one hashdiff per satellite.
    SELECT
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[cust])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [cust_hk],
        s.[load_ts],
        s.[record_source],
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(624), (COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[first_name]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[first_name])))) END, N'^^') + N'||' + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[last_name]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[last_name])))) END, N'^^')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [hashdiff_1],
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone])))) END, N'^^') COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [hashdiff_2]
    INTO #staged
    FROM [dbo].[stage] AS s
    WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NOT NULL;

    -- One appearance per row and satellite.
    SELECT
        [cust_hk],
        [load_ts],
        [record_source],
        [satellite_name],
        [hashdiff]
    INTO #appearances
    FROM (
        SELECT
            s.[cust_hk],
            s.[load_ts],
            s.[record_source],
            N'SAT_NAME' AS [satellite_name],
            s.[hashdiff_1] AS [hashdiff]
        FROM #staged AS s
        UNION ALL
        SELECT
            s.[cust_hk],
            s.[load_ts],
            s.[record_source],
            N'SAT_PHONE' AS [satellite_name],
            s.[hashdiff_2] AS [hashdiff]
        FROM #staged AS s
    ) AS u;

    -- Distinct keys in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(DISTINCT s.[cust_hk])
    FROM #appearances AS s;

    -- Appearances that are not recorded yet, each once.
    SELECT
        r.[cust_hk],
        r.[load_ts],
        r.[record_source],
        r.[satellite_name],
        r.[hashdiff]
    INTO #changes
    FROM (
        SELECT
            s.[cust_hk],
            s.[load_ts],
            s.[record_source],
            s.[satellite_name],
            s.[hashdiff],
            ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[satellite_name] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[satellite_name]), CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[hashdiff]), s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[record_source]) ORDER BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, s.[satellite_name] COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2, s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2) AS [sighting]
        FROM (
            SELECT
                s.[cust_hk],
                s.[load_ts],
                s.[record_source],
                s.[satellite_name],
                s.[hashdiff]
            FROM #appearances AS s
            WHERE NOT EXISTS (
                SELECT
                    1 AS [one]
                FROM [dbo].[target] AS t
                WHERE ((t.[cust_hk] = CONVERT(nvarchar(4000), s.[cust_hk]) COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[cust_hk]) = DATALENGTH(s.[cust_hk])) OR (t.[cust_hk] IS NULL AND s.[cust_hk] IS NULL))
                  AND ((t.[satellite_name] = s.[satellite_name] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[satellite_name]) = DATALENGTH(s.[satellite_name])) OR (t.[satellite_name] IS NULL AND s.[satellite_name] IS NULL))
                  AND ((t.[hashdiff] = CONVERT(nvarchar(4000), s.[hashdiff]) COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[hashdiff]) = DATALENGTH(s.[hashdiff])) OR (t.[hashdiff] IS NULL AND s.[hashdiff] IS NULL))
                  AND (t.[load_ts] = s.[load_ts] OR (t.[load_ts] IS NULL AND s.[load_ts] IS NULL))
                  AND ((t.[record_source] = s.[record_source] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[record_source]) = DATALENGTH(s.[record_source])) OR (t.[record_source] IS NULL AND s.[record_source] IS NULL))
            )
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- What will be inserted.
    SELECT
        @NewRows = COUNT_BIG(*)
    FROM #changes AS c;

    -- Keys among them.
    SELECT
        @RecordedKeys = COUNT_BIG(DISTINCT s.[cust_hk])
    FROM #changes AS s;

    -- Record the new appearances.
    INSERT INTO [dbo].[target] (
        [cust_hk],
        [load_ts],
        [record_source],
        [satellite_name],
        [hashdiff]
    )
    SELECT
        c.[cust_hk],
        c.[load_ts],
        c.[record_source],
        c.[satellite_name],
        c.[hashdiff]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #appearances;
    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT N'null_key' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N'NULL') + N' staged rows without a key were skipped' AS message;

    -- What changed.
    SELECT
        CAST(@NewRows AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(NULL AS bigint) AS deleted,
        CAST(@AcceptedRows - @RecordedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
