-- mergewright: {"format":1,"version":1,"pattern":"satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"sqlserver","form":"script","shape":"separate","options":{"same_ts_conflict":"insert_all","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["member_hk","load_ts","hashdiff"],"target_key":["member_hk"],"keys":["member_no"],"hash_key":{"member_hk":["member_no"]},"hashdiff":{"hashdiff":["city","full_name","phone"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"alphabetical","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Satellite target from stage: inserts a version where a key's content differs from its latest
-- version.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewRows bigint;
DECLARE @ChangedKeys bigint;
DECLARE @Lock int;

BEGIN TRY
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #candidates;
    DROP TABLE IF EXISTS #sequence;
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
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[member_no]))) > 0 THEN LTRIM(RTRIM(s.[member_no])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Staged rows with a key: what they are compared by.
    SELECT
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[member_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [member_hk],
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(936), (COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[city]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[city])))) END, N'^^')
            + N'||'
            + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[full_name]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[full_name])))) END, N'^^')
            + N'||'
            + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone])))) END, N'^^')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [hashdiff],
        s.[load_ts],
        s.[member_no] AS [key_part_1_]
    INTO #staged
    FROM [dbo].[stage] AS s
    WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[member_no]))) > 0 THEN LTRIM(RTRIM(s.[member_no])) END IS NOT NULL;

    -- Distinct keys in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(DISTINCT s.[member_hk])
    FROM #staged AS s;

    -- Staged keys with a row that is not their latest version; of the satellite only the versions of
    -- staged keys are read.
    SELECT
        MIN(r.[member_hk]) AS [member_hk],
        MAX(r.[latest_time_]) AS [latest_time_],
        MAX(r.[latest_content_]) AS [latest_content_]
    INTO #candidates
    FROM (
        SELECT
            s.[member_hk],
            l.[latest_time_],
            l.[latest_content_]
        FROM #staged AS s
        LEFT JOIN (
            SELECT
                r.[member_hk],
                r.[latest_time_],
                r.[latest_content_]
            FROM (
                SELECT
                    t.[member_hk],
                    t.[load_ts] AS [latest_time_],
                    t.[hashdiff] AS [latest_content_],
                    ROW_NUMBER() OVER (PARTITION BY t.[member_hk] ORDER BY t.[load_ts] DESC) AS [recency]
                FROM [dbo].[target] AS t
                WHERE EXISTS (
                    SELECT
                        1 AS [one]
                    FROM #staged AS s
                    WHERE t.[member_hk] = s.[member_hk]
                )
            ) AS r
            WHERE r.[recency] = 1
        ) AS l
            ON l.[member_hk] = s.[member_hk]
        WHERE (l.[latest_time_] IS NULL
            OR (s.[hashdiff] <> l.[latest_content_] OR (s.[hashdiff] IS NULL AND l.[latest_content_] IS NOT NULL) OR (s.[hashdiff] IS NOT NULL AND l.[latest_content_] IS NULL))
            OR s.[load_ts] < l.[latest_time_])
    ) AS r
    GROUP BY r.[member_hk];

    -- All staged rows of these keys; what is said twice for one load date counts once.
    SELECT
        r.[member_hk],
        r.[hashdiff],
        r.[full_name],
        r.[city],
        r.[phone],
        r.[load_ts],
        r.[record_source],
        r.[key_part_1_],
        r.[latest_time_],
        r.[latest_content_]
    INTO #sequence
    FROM (
        SELECT
            s.[member_hk],
            s.[hashdiff],
            s.[full_name],
            s.[city],
            s.[phone],
            s.[load_ts],
            s.[record_source],
            s.[key_part_1_],
            k.[latest_time_],
            k.[latest_content_],
            ROW_NUMBER() OVER (PARTITION BY s.[member_hk], s.[load_ts], s.[hashdiff] ORDER BY CONVERT(nvarchar(64), s.[member_hk]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2, s.[full_name] COLLATE Latin1_General_100_BIN2, s.[city] COLLATE Latin1_General_100_BIN2, s.[phone] COLLATE Latin1_General_100_BIN2, s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2) AS [repeat_no_]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[member_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [member_hk],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(936), (COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[city]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[city])))) END, N'^^')
                    + N'||'
                    + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[full_name]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[full_name])))) END, N'^^')
                    + N'||'
                    + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone])))) END, N'^^')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [hashdiff],
                s.[full_name],
                s.[city],
                s.[phone],
                s.[load_ts],
                s.[record_source],
                s.[member_no] AS [key_part_1_]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[member_no]))) > 0 THEN LTRIM(RTRIM(s.[member_no])) END IS NOT NULL
              AND EXISTS (
                SELECT
                    1 AS [one]
                FROM #staged AS n
                INNER JOIN #candidates AS k
                    ON k.[member_hk] = n.[member_hk]
                WHERE n.[key_part_1_] = s.[member_no]
            )
        ) AS s
        INNER JOIN #candidates AS k
            ON k.[member_hk] = s.[member_hk]
    ) AS r
    WHERE r.[repeat_no_] = 1;

    -- The changes: rows whose content is not that of the version before them.
    SELECT
        r.[member_hk],
        r.[hashdiff],
        r.[full_name],
        r.[city],
        r.[phone],
        r.[load_ts],
        r.[record_source]
    INTO #changes
    FROM (
        SELECT
            s.[member_hk],
            s.[hashdiff],
            s.[full_name],
            s.[city],
            s.[phone],
            s.[load_ts],
            s.[record_source],
            s.[latest_content_],
            LAG(s.[hashdiff]) OVER (PARTITION BY s.[member_hk] ORDER BY s.[load_ts], CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2) AS [content_before_],
            ROW_NUMBER() OVER (PARTITION BY s.[member_hk] ORDER BY s.[load_ts], CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2) AS [position_]
        FROM #sequence AS s
        WHERE (s.[latest_time_] IS NULL OR s.[load_ts] >= s.[latest_time_])
          AND NOT EXISTS (
            SELECT
                1 AS [one]
            FROM [dbo].[target] AS t
            WHERE t.[member_hk] = s.[member_hk]
              AND t.[load_ts] = s.[load_ts]
              AND (t.[hashdiff] = s.[hashdiff] OR (t.[hashdiff] IS NULL AND s.[hashdiff] IS NULL))
        )
    ) AS r
    WHERE ((r.[position_] = 1
        AND (r.[hashdiff] <> r.[latest_content_] OR (r.[hashdiff] IS NULL AND r.[latest_content_] IS NOT NULL) OR (r.[hashdiff] IS NOT NULL AND r.[latest_content_] IS NULL)))
        OR (r.[position_] > 1
            AND (r.[hashdiff] <> r.[content_before_] OR (r.[hashdiff] IS NULL AND r.[content_before_] IS NOT NULL) OR (r.[hashdiff] IS NOT NULL AND r.[content_before_] IS NULL))));

    -- What will be inserted.
    SELECT
        @NewRows = COUNT_BIG(*)
    FROM #changes AS c;

    -- Keys with a new version.
    SELECT
        @ChangedKeys = COUNT_BIG(DISTINCT s.[member_hk])
    FROM #changes AS s;

    -- Insert the versions.
    INSERT INTO [dbo].[target] (
        [member_hk],
        [hashdiff],
        [full_name],
        [city],
        [phone],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[member_hk],
        c.[hashdiff],
        c.[full_name],
        c.[city],
        c.[phone],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #candidates;
    DROP TABLE IF EXISTS #sequence;
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
        CAST(@AcceptedRows - @ChangedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
