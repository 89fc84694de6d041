-- mergewright: {"format":1,"version":1,"pattern":"eff_satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"same_ts_conflict":"insert_all","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":"9999-12-31 00:00:00","hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["link_hk","load_ts","end_ts"],"target_key":["link_hk"],"keys":["order_no","clerk"],"driving_key":["order_no"],"secondary_key":["clerk"],"hash_key":{"link_hk":["order_no","clerk"],"order_hk":["order_no"],"clerk_hk":["clerk"]},"effective_from":"eff_from","start":"start_ts","end":"end_ts","load_ts":"load_ts","record_source":"record_source","not_null":["order_no","clerk"],"duplicates":"collapse_identical","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Effectivity satellite target from stage: opens the delivered relationships of a driving key and
-- closes its others, by new rows only.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewRows bigint;
DECLARE @ChangedKeys bigint;
DECLARE @Offenders nvarchar(4000);
DECLARE @Message nvarchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#stored') IS NOT NULL DROP TABLE #stored;
    IF OBJECT_ID('tempdb..#deliveries') IS NOT NULL DROP TABLE #deliveries;
    IF OBJECT_ID('tempdb..#delivered') IS NOT NULL DROP TABLE #delivered;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SET @RowsBefore = (
        SELECT
            COUNT_BIG(*)
        FROM [dbo].[target] AS t
    );

    -- Rows without a key are left out and counted.
    SET @SkippedRows = (
        SELECT
            COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[order_no]))) > 0 THEN LTRIM(RTRIM(s.[order_no])) END IS NULL OR CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[clerk]))) > 0 THEN LTRIM(RTRIM(s.[clerk])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [dbo].[stage] AS s
    );

    -- Staged relationships with all their keys; identical ones count once.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[link_hk],
        r.[order_hk],
        r.[clerk_hk],
        r.[eff_from],
        r.[load_ts],
        r.[record_source],
        r.[effective_time],
        r.[key_part_1_],
        r.[key_part_2_]
    FROM (
        SELECT
            s.[link_hk],
            s.[order_hk],
            s.[clerk_hk],
            s.[eff_from],
            s.[load_ts],
            s.[record_source],
            s.[effective_time],
            s.[key_part_1_],
            s.[key_part_2_],
            ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[link_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[link_hk]), CONVERT(nvarchar(64), s.[order_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[order_hk]), CONVERT(nvarchar(64), s.[clerk_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[clerk_hk]), s.[eff_from], s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[record_source]), s.[effective_time] ORDER BY s.[key_part_1_] COLLATE Latin1_General_100_BIN2, s.[key_part_2_] COLLATE Latin1_General_100_BIN2) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(624), (UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[order_no])))) + N'||' + UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[clerk]))))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [link_hk],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[order_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [order_hk],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[clerk])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [clerk_hk],
                s.[eff_from],
                s.[load_ts],
                s.[record_source],
                s.[eff_from] AS [effective_time],
                s.[order_no] AS [key_part_1_],
                s.[clerk] AS [key_part_2_]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[order_no]))) > 0 THEN LTRIM(RTRIM(s.[order_no])) END IS NOT NULL
              AND CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[clerk]))) > 0 THEN LTRIM(RTRIM(s.[clerk])) END IS NOT NULL
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- Distinct relationships in the stage.
    SET @AcceptedRows = (
        SELECT
            COUNT_BIG(DISTINCT s.[link_hk])
        FROM #staged AS s
    );

    -- The newest stored row of each relationship of the staged driving keys.
    CREATE TABLE #stored
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        n.[link_hk],
        n.[order_hk],
        n.[clerk_hk],
        n.[start_ts],
        n.[end_ts],
        n.[eff_from],
        n.[load_ts],
        n.[record_source],
        n.[is_closed]
    FROM (
        SELECT
            r.[link_hk],
            r.[order_hk],
            r.[clerk_hk],
            r.[start_ts],
            r.[end_ts],
            r.[eff_from],
            r.[load_ts],
            r.[record_source],
            r.[is_closed]
        FROM (
            SELECT
                t.[link_hk],
                t.[order_hk],
                t.[clerk_hk],
                t.[start_ts],
                t.[end_ts],
                t.[eff_from],
                t.[load_ts],
                t.[record_source],
                CASE WHEN t.[end_ts] = CAST('9999-12-31T00:00:00' AS datetime2(6)) THEN 0 ELSE 1 END AS [is_closed],
                ROW_NUMBER() OVER (PARTITION BY t.[link_hk] ORDER BY t.[load_ts] DESC, CASE WHEN t.[end_ts] = CAST('9999-12-31T00:00:00' AS datetime2(6)) THEN 0 ELSE 1 END DESC) AS [recency]
            FROM [dbo].[target] AS t
            WHERE EXISTS (
                SELECT
                    1 AS [one]
                FROM #staged AS s
                WHERE t.[order_hk] = s.[order_hk]
            )
        ) AS r
        WHERE r.[recency] = 1
    ) AS n;

    -- Deliveries: a driving key with a load time, the delivery before it, and the newest stored load
    -- time. A delivery older than that is known already.
    CREATE TABLE #deliveries
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        d.[order_hk],
        d.[load_ts],
        d.[effective_time],
        n.[newest_time],
        LAG(d.[load_ts]) OVER (PARTITION BY d.[order_hk] ORDER BY d.[load_ts]) AS [previous_time]
    FROM (
        SELECT
            MIN(s.[order_hk]) AS [order_hk],
            MIN(s.[load_ts]) AS [load_ts],
            MIN(s.[effective_time]) AS [effective_time]
        FROM #staged AS s
        GROUP BY s.[order_hk], s.[load_ts]
    ) AS d
    LEFT JOIN (
        SELECT
            MIN(o.[order_hk]) AS [order_hk],
            MAX(o.[load_ts]) AS [newest_time]
        FROM #stored AS o
        GROUP BY o.[order_hk]
    ) AS n
        ON n.[order_hk] = d.[order_hk]
    WHERE (n.[newest_time] IS NULL OR d.[load_ts] >= n.[newest_time]);

    -- A relationship that comes with a load time before the newest stored one of its driving key, and
    -- is not stored, stops the load.
    SET @Offenders = NULL;
    SET @Offenders = (
        SELECT STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_1_]), 100), N'NULL'), N''), N'(blank)') + N'/' + COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_2_]), 100), N'NULL'), N''), N'(blank)') AS [offender]
            FROM #staged AS s
            INNER JOIN (
                SELECT
                    MIN(o.[order_hk]) AS [order_hk],
                    MAX(o.[load_ts]) AS [newest_time]
                FROM #stored AS o
                GROUP BY o.[order_hk]
            ) AS n
                ON n.[order_hk] = s.[order_hk]
            WHERE s.[load_ts] < n.[newest_time]
              AND NOT EXISTS (
                SELECT
                    1 AS [one]
                FROM [dbo].[target] AS t
                WHERE t.[link_hk] = s.[link_hk]
                  AND t.[load_ts] <= s.[load_ts]
            )
        ) AS o
    );
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'late_row: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50018, @Message, 1;
    END;

    -- Delivered relationships: whether each opens now, and the load time at which it was opened in this
    -- run (NULL: it is stored).
    CREATE TABLE #delivered
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[link_hk],
        r.[order_hk],
        r.[clerk_hk],
        r.[eff_from],
        r.[load_ts],
        r.[record_source],
        r.[effective_time],
        r.[opens],
        COALESCE(CASE WHEN r.[opens] = 1 THEN r.[load_ts] END, MAX(CASE WHEN r.[opens] = 1 THEN r.[load_ts] END) OVER (PARTITION BY r.[link_hk] ORDER BY r.[load_ts] ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS [opened_at]
    FROM (
        SELECT
            s.[link_hk],
            s.[order_hk],
            s.[clerk_hk],
            s.[eff_from],
            s.[load_ts],
            s.[record_source],
            s.[effective_time],
            CASE WHEN CASE WHEN d.[previous_time] IS NULL THEN o.[is_closed] ELSE CASE WHEN p.[load_ts] IS NOT NULL THEN 0 END END IS NULL THEN 1 ELSE 0 END AS [opens]
        FROM #staged AS s
        INNER JOIN #deliveries AS d
            ON d.[order_hk] = s.[order_hk]
           AND d.[load_ts] = s.[load_ts]
        LEFT JOIN #stored AS o
            ON o.[link_hk] = s.[link_hk]
           AND o.[is_closed] = 0
        LEFT JOIN #staged AS p
            ON p.[link_hk] = s.[link_hk]
           AND p.[load_ts] = d.[previous_time]
    ) AS r;

    -- Rows to add: relationships that open, and a closing row for each that was open before and is not
    -- delivered again.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[link_hk],
        s.[order_hk],
        s.[clerk_hk],
        s.[effective_time] AS [start_ts],
        CAST('9999-12-31T00:00:00' AS datetime2(6)) AS [end_ts],
        s.[eff_from],
        s.[load_ts],
        s.[record_source]
    FROM #delivered AS s
    WHERE s.[opens] = 1
    UNION ALL
    SELECT
        o.[link_hk],
        o.[order_hk],
        o.[clerk_hk],
        o.[start_ts],
        d.[effective_time] AS [end_ts],
        d.[effective_time] AS [eff_from],
        d.[load_ts],
        o.[record_source]
    FROM #deliveries AS d
    INNER JOIN #stored AS o
        ON o.[order_hk] = d.[order_hk]
    WHERE d.[previous_time] IS NULL
      AND o.[is_closed] = 0
      AND NOT EXISTS (
        SELECT
            1 AS [one]
        FROM #staged AS s
        WHERE s.[link_hk] = o.[link_hk]
          AND s.[load_ts] = d.[load_ts]
    )
    UNION ALL
    SELECT
        CASE WHEN p.[opened_at] IS NULL THEN o.[link_hk] ELSE b.[link_hk] END AS [link_hk],
        CASE WHEN p.[opened_at] IS NULL THEN o.[order_hk] ELSE b.[order_hk] END AS [order_hk],
        CASE WHEN p.[opened_at] IS NULL THEN o.[clerk_hk] ELSE b.[clerk_hk] END AS [clerk_hk],
        CASE WHEN p.[opened_at] IS NULL THEN o.[start_ts] ELSE b.[effective_time] END AS [start_ts],
        d.[effective_time] AS [end_ts],
        d.[effective_time] AS [eff_from],
        d.[load_ts],
        CASE WHEN p.[opened_at] IS NULL THEN o.[record_source] ELSE b.[record_source] END AS [record_source]
    FROM #deliveries AS d
    INNER JOIN #delivered AS p
        ON p.[order_hk] = d.[order_hk]
       AND p.[load_ts] = d.[previous_time]
    LEFT JOIN #delivered AS b
        ON b.[link_hk] = p.[link_hk]
       AND b.[load_ts] = p.[opened_at]
    LEFT JOIN #stored AS o
        ON o.[link_hk] = p.[link_hk]
       AND o.[is_closed] = 0
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM #staged AS s
        WHERE s.[link_hk] = p.[link_hk]
          AND s.[load_ts] = d.[load_ts]
    );

    -- What will be inserted.
    SET @NewRows = (
        SELECT
            COUNT_BIG(*)
        FROM #changes AS c
    );

    -- Staged relationships among them.
    SET @ChangedKeys = (
        SELECT
            COUNT_BIG(DISTINCT s.[link_hk])
        FROM (
            SELECT
                x.[link_hk]
            FROM #changes AS x
            WHERE EXISTS (
                SELECT
                    1 AS [one]
                FROM #staged AS s
                WHERE s.[link_hk] = x.[link_hk]
            )
        ) AS s
    );

    BEGIN TRANSACTION;

    SET @RowsNow = (
        SELECT
            COUNT_BIG(*)
        FROM [dbo].[target] AS t
    );
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, N'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Add the opening and closing rows.
    INSERT INTO [dbo].[target] (
        [link_hk],
        [order_hk],
        [clerk_hk],
        [start_ts],
        [end_ts],
        [eff_from],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[link_hk],
        c.[order_hk],
        c.[clerk_hk],
        c.[start_ts],
        c.[end_ts],
        c.[eff_from],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#stored') IS NOT NULL DROP TABLE #stored;
    IF OBJECT_ID('tempdb..#deliveries') IS NOT NULL DROP TABLE #deliveries;
    IF OBJECT_ID('tempdb..#delivered') IS NOT NULL DROP TABLE #delivered;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;

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
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#stored') IS NOT NULL DROP TABLE #stored;
    IF OBJECT_ID('tempdb..#deliveries') IS NOT NULL DROP TABLE #deliveries;
    IF OBJECT_ID('tempdb..#delivered') IS NOT NULL DROP TABLE #delivered;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    THROW;
END CATCH;
