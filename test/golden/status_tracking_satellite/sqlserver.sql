-- mergewright: {"format":1,"version":1,"pattern":"status_tracking_satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"sqlserver","form":"script","shape":"separate","options":{"max_inactivation_pct":100,"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["acct_hk","load_ts"],"target_key":["acct_hk"],"keys":["acct_no"],"hash_key":{"acct_hk":["acct_no"]},"status_column":"is_active","load_ts":"load_ts","record_source":"record_source","system_source":"SYSTEM","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Status of the keys of stage in target: a row when a key appears, vanishes or comes back. Each
-- load time in the stage is a full load of its own.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- Parameters
-- MaxInactivationPct: highest share of the living keys, in per cent, that one run may find
-- vanished.
DECLARE @MaxInactivationPct decimal(5,2) = 100;
-- End of parameters

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @ArrivedRows bigint;
DECLARE @DepartedRows bigint;
DECLARE @VanishedKeys bigint;
DECLARE @LivingKeys bigint;
DECLARE @ChangedKeys bigint;
DECLARE @Offenders nvarchar(4000);
DECLARE @Message nvarchar(2048);
DECLARE @Lock int;

BEGIN TRY
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #stored;
    DROP TABLE IF EXISTS #times;
    DROP TABLE IF EXISTS #delivered;
    DROP TABLE IF EXISTS #arrivals;
    DROP TABLE IF EXISTS #departures;

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
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[acct_no]))) > 0 THEN LTRIM(RTRIM(s.[acct_no])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Staged rows with a key; identical ones count once.
    SELECT
        r.[acct_hk],
        r.[load_ts],
        r.[record_source],
        r.[key_part_1_]
    INTO #staged
    FROM (
        SELECT
            s.[acct_hk],
            s.[load_ts],
            s.[record_source],
            s.[key_part_1_],
            ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[acct_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[acct_hk]), s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[record_source]) ORDER BY s.[key_part_1_] COLLATE Latin1_General_100_BIN2) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[acct_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [acct_hk],
                s.[load_ts],
                s.[record_source],
                s.[acct_no] AS [key_part_1_]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[acct_no]))) > 0 THEN LTRIM(RTRIM(s.[acct_no])) END IS NOT NULL
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- Distinct keys in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(DISTINCT s.[acct_hk])
    FROM #staged AS s;

    -- The newest stored row of each key.
    SELECT
        n.[acct_hk],
        n.[load_ts],
        n.[is_dead]
    INTO #stored
    FROM (
        SELECT
            r.[acct_hk],
            r.[load_ts],
            r.[is_dead]
        FROM (
            SELECT
                t.[acct_hk],
                t.[load_ts],
                CASE WHEN t.[is_active] = CAST('0' AS int) THEN 1 ELSE 0 END AS [is_dead],
                ROW_NUMBER() OVER (PARTITION BY t.[acct_hk] ORDER BY t.[load_ts] DESC) AS [recency]
            FROM [dbo].[target] AS t
        ) AS r
        WHERE r.[recency] = 1
    ) AS n;

    -- A key that comes with a load time before all of its stored ones stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], N', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_1_]), 100), N'NULL'), N''), N'(blank)') AS [offender]
        FROM #staged AS s
        INNER JOIN #stored AS o
            ON o.[acct_hk] = s.[acct_hk]
        WHERE s.[load_ts] < o.[load_ts]
          AND NOT EXISTS (
            SELECT
                1 AS [one]
            FROM [dbo].[target] AS t
            WHERE t.[acct_hk] = s.[acct_hk]
              AND t.[load_ts] <= s.[load_ts]
        )
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'late_row: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50018, @Message, 1;
    END;

    -- The load times in the stage, each with the one before it.
    SELECT
        w.[load_ts],
        LAG(w.[load_ts]) OVER (ORDER BY w.[load_ts]) AS [previous_time]
    INTO #times
    FROM (
        SELECT
            s.[load_ts]
        FROM #staged AS s
        WHERE s.[load_ts] IS NOT NULL
        GROUP BY s.[load_ts]
    ) AS w;

    -- One row per key and load time, with the delivery of the key before it.
    SELECT
        d.[acct_hk],
        d.[load_ts],
        d.[record_source],
        LAG(d.[load_ts]) OVER (PARTITION BY d.[acct_hk] ORDER BY d.[load_ts]) AS [delivered_before]
    INTO #delivered
    FROM (
        SELECT
            r.[acct_hk],
            r.[load_ts],
            r.[record_source]
        FROM (
            SELECT
                s.[acct_hk],
                s.[load_ts],
                s.[record_source],
                ROW_NUMBER() OVER (PARTITION BY s.[acct_hk], s.[load_ts] ORDER BY s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2) AS [sighting]
            FROM #staged AS s
        ) AS r
        WHERE r.[sighting] = 1
    ) AS d;

    -- Rows to add for keys that are new, back or changed.
    SELECT
        s.[acct_hk],
        s.[load_ts],
        s.[record_source]
    INTO #arrivals
    FROM #delivered AS s
    INNER JOIN #times AS w
        ON w.[load_ts] = s.[load_ts]
    LEFT JOIN #stored AS o
        ON o.[acct_hk] = s.[acct_hk]
    WHERE (o.[load_ts] IS NULL OR s.[load_ts] >= o.[load_ts])
      AND CASE
        WHEN s.[delivered_before] IS NOT NULL AND (o.[load_ts] IS NULL OR s.[delivered_before] >= o.[load_ts]) AND s.[delivered_before] = w.[previous_time] THEN 0
        WHEN w.[previous_time] IS NOT NULL AND (o.[load_ts] IS NULL OR w.[previous_time] >= o.[load_ts]) THEN 1
        ELSE CASE WHEN o.[load_ts] IS NULL OR o.[is_dead] = 1 THEN 1 ELSE 0 END
    END = 1;

    -- A row for each key that a full load does not bring any more.
    SELECT
        [acct_hk],
        [load_ts],
        [record_source]
    INTO #departures
    FROM (
        SELECT
            o.[acct_hk],
            w.[load_ts],
            N'SYSTEM' AS [record_source]
        FROM #stored AS o
        INNER JOIN #times AS w
            ON w.[load_ts] >= o.[load_ts]
           AND (w.[previous_time] IS NULL OR w.[previous_time] < o.[load_ts])
        WHERE o.[is_dead] = 0
          AND NOT EXISTS (
            SELECT
                1 AS [one]
            FROM #delivered AS s
            WHERE s.[acct_hk] = o.[acct_hk]
              AND s.[load_ts] = w.[load_ts]
        )
        UNION ALL
        SELECT
            p.[acct_hk],
            w.[load_ts],
            N'SYSTEM' AS [record_source]
        FROM #delivered AS p
        INNER JOIN #times AS w
            ON w.[previous_time] = p.[load_ts]
        LEFT JOIN #stored AS o
            ON o.[acct_hk] = p.[acct_hk]
        WHERE (o.[load_ts] IS NULL OR p.[load_ts] >= o.[load_ts])
          AND NOT EXISTS (
            SELECT
                1 AS [one]
            FROM #delivered AS s
            WHERE s.[acct_hk] = p.[acct_hk]
              AND s.[load_ts] = w.[load_ts]
        )
    ) AS u;

    -- Rows for keys that are new, back or changed.
    SELECT
        @ArrivedRows = COUNT_BIG(*)
    FROM #arrivals AS c;

    -- Rows for keys that vanished.
    SELECT
        @DepartedRows = COUNT_BIG(*)
    FROM #departures AS c;

    -- Keys that vanished.
    SELECT
        @VanishedKeys = COUNT_BIG(DISTINCT s.[acct_hk])
    FROM #departures AS s;

    -- Keys that are stored as living.
    SELECT
        @LivingKeys = COALESCE(SUM(CAST(CASE WHEN o.[is_dead] = 0 THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #stored AS o;

    -- More vanished keys than the limit allows stop the load: the delivery may be cut.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], N', ')
    FROM (
        SELECT TOP (5)
            COALESCE(LEFT(CONVERT(nvarchar(4000), g.[keys]), 100), N'NULL')
                + N' of '
                + COALESCE(LEFT(CONVERT(nvarchar(4000), CASE WHEN w.[previous_time] IS NULL THEN @LivingKeys ELSE b.[keys] END), 100), N'NULL')
                + N' living keys vanished at '
                + COALESCE(LEFT(CONVERT(nvarchar(4000), w.[load_ts], 121), 100), N'NULL') AS [offender]
        FROM #times AS w
        INNER JOIN (
            SELECT
                r.[load_ts],
                COUNT_BIG(*) AS [keys]
            FROM #departures AS r
            GROUP BY r.[load_ts]
        ) AS g
            ON g.[load_ts] = w.[load_ts]
        LEFT JOIN (
            SELECT
                r.[load_ts],
                COUNT_BIG(*) AS [keys]
            FROM #delivered AS r
            GROUP BY r.[load_ts]
        ) AS b
            ON b.[load_ts] = w.[previous_time]
        WHERE (g.[keys] * 100) > (CASE WHEN w.[previous_time] IS NULL THEN @LivingKeys ELSE b.[keys] END * @MaxInactivationPct)
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'inactivation_threshold: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50016, @Message, 1;
    END;

    -- Staged keys for which something is written.
    SELECT
        @ChangedKeys = COUNT_BIG(DISTINCT s.[acct_hk])
    FROM (
        SELECT
            y.[acct_hk]
        FROM (
            SELECT
                x.[acct_hk]
            FROM #arrivals AS x
            UNION ALL
            SELECT
                x.[acct_hk]
            FROM #departures AS x
            WHERE EXISTS (
                SELECT
                    1 AS [one]
                FROM #staged AS s
                WHERE s.[acct_hk] = x.[acct_hk]
            )
        ) AS y
    ) AS s;

    -- Add the keys that are new, back or changed as present.
    INSERT INTO [dbo].[target] (
        [acct_hk],
        [load_ts],
        [record_source],
        [is_active]
    )
    SELECT
        c.[acct_hk],
        c.[load_ts],
        c.[record_source],
        CAST('1' AS int) AS [is_active]
    FROM #arrivals AS c;

    -- Add the keys that vanished as gone.
    INSERT INTO [dbo].[target] (
        [acct_hk],
        [load_ts],
        [record_source],
        [is_active]
    )
    SELECT
        c.[acct_hk],
        c.[load_ts],
        c.[record_source],
        CAST('0' AS int) AS [is_active]
    FROM #departures AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #stored;
    DROP TABLE IF EXISTS #times;
    DROP TABLE IF EXISTS #delivered;
    DROP TABLE IF EXISTS #arrivals;
    DROP TABLE IF EXISTS #departures;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT N'null_key' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N'NULL') + N' staged rows without a key were skipped' AS message;
    IF @AcceptedRows = 0
        SELECT N'empty_stage' AS warning_code, N'the stage is empty: absent keys were not looked for' AS message;

    -- What changed.
    SELECT
        CAST(@ArrivedRows + @DepartedRows AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(@VanishedKeys AS bigint) AS inactivated,
        CAST(NULL AS bigint) AS deleted,
        CAST(@AcceptedRows - @ChangedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
