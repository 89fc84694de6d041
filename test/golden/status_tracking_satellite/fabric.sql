-- mergewright: {"format":1,"version":1,"pattern":"status_tracking_satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"max_inactivation_pct":100,"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["acct_hk","load_ts"],"target_key":["acct_hk"],"keys":["acct_no"],"hash_key":{"acct_hk":["acct_no"]},"status_column":"is_active","load_ts":"load_ts","record_source":"record_source","system_source":"SYSTEM","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Status of the keys of stage in target: a row when a key appears, vanishes or comes back. Each
-- load time in the stage is a full load of its own.

SET NOCOUNT ON;

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
DECLARE @Offenders varchar(4000);
DECLARE @Message varchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #stored;
    DROP TABLE IF EXISTS #times;
    DROP TABLE IF EXISTS #delivered;
    DROP TABLE IF EXISTS #arrivals;
    DROP TABLE IF EXISTS #departures;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- Rows without a key are left out and counted.
    SELECT
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[acct_no]))) > 0 THEN LTRIM(RTRIM(s.[acct_no])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Staged rows with a key; identical ones count once.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[acct_hk],
        r.[load_ts],
        r.[record_source],
        r.[key_part_1_]
    FROM (
        SELECT
            s.[acct_hk],
            s.[load_ts],
            s.[record_source],
            s.[key_part_1_],
            ROW_NUMBER() OVER (PARTITION BY s.[acct_hk] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(s.[acct_hk]), s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(s.[record_source]) ORDER BY s.[key_part_1_] COLLATE Latin1_General_100_BIN2_UTF8) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(1212), UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[acct_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [acct_hk],
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
    CREATE TABLE #stored
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        n.[acct_hk],
        n.[load_ts],
        n.[is_dead]
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
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), s.[key_part_1_]), 100), 'NULL'), ''), '(blank)') AS [offender]
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
        SET @Message = LEFT('late_row: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50018, @Message, 1;
    END;

    -- The load times in the stage, each with the one before it.
    CREATE TABLE #times
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        w.[load_ts],
        LAG(w.[load_ts]) OVER (ORDER BY w.[load_ts]) AS [previous_time]
    FROM (
        SELECT
            s.[load_ts]
        FROM #staged AS s
        WHERE s.[load_ts] IS NOT NULL
        GROUP BY s.[load_ts]
    ) AS w;

    -- One row per key and load time, with the delivery of the key before it.
    CREATE TABLE #delivered
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        d.[acct_hk],
        d.[load_ts],
        d.[record_source],
        LAG(d.[load_ts]) OVER (PARTITION BY d.[acct_hk] ORDER BY d.[load_ts]) AS [delivered_before]
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
                ROW_NUMBER() OVER (PARTITION BY s.[acct_hk], s.[load_ts] ORDER BY s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2_UTF8) AS [sighting]
            FROM #staged AS s
        ) AS r
        WHERE r.[sighting] = 1
    ) AS d;

    -- Rows to add for keys that are new, back or changed.
    CREATE TABLE #arrivals
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[acct_hk],
        s.[load_ts],
        s.[record_source]
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
    CREATE TABLE #departures
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        o.[acct_hk],
        w.[load_ts],
        'SYSTEM' AS [record_source]
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
        'SYSTEM' AS [record_source]
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
    );

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
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(LEFT(CONVERT(varchar(8000), g.[keys]), 100), 'NULL')
                + ' of '
                + COALESCE(LEFT(CONVERT(varchar(8000), CASE WHEN w.[previous_time] IS NULL THEN @LivingKeys ELSE b.[keys] END), 100), 'NULL')
                + ' living keys vanished at '
                + COALESCE(LEFT(CONVERT(varchar(8000), w.[load_ts], 121), 100), 'NULL') AS [offender]
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
        SET @Message = LEFT('inactivation_threshold: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
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

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

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
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;
    IF @AcceptedRows = 0
        SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message;

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
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #stored;
    DROP TABLE IF EXISTS #times;
    DROP TABLE IF EXISTS #delivered;
    DROP TABLE IF EXISTS #arrivals;
    DROP TABLE IF EXISTS #departures;
    THROW;
END CATCH;
