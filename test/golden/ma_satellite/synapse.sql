-- mergewright: {"format":1,"version":1,"pattern":"ma_satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"same_ts_conflict":"insert_all","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","load_ts","phone"],"target_key":["cust_hk"],"keys":["cust_no"],"hash_key":{"cust_hk":["cust_no"]},"cdk":["phone"],"hashdiff":{"hashdiff":["label","phone"]},"load_ts":"load_ts","record_source":"record_source","not_null":["cust_no","phone"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Multi-active satellite target from stage: writes the whole set of a key when any of its rows was
-- added, removed or changed.

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
    IF OBJECT_ID('tempdb..#newest') IS NOT NULL DROP TABLE #newest;
    IF OBJECT_ID('tempdb..#late') IS NOT NULL DROP TABLE #late;
    IF OBJECT_ID('tempdb..#members') IS NOT NULL DROP TABLE #members;
    IF OBJECT_ID('tempdb..#sets') IS NOT NULL DROP TABLE #sets;
    IF OBJECT_ID('tempdb..#changed_sets') IS NOT NULL DROP TABLE #changed_sets;
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
            COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust_no]))) > 0 THEN LTRIM(RTRIM(s.[cust_no])) END IS NULL OR CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[phone]))) > 0 THEN LTRIM(RTRIM(s.[phone])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [dbo].[stage] AS s
    );

    -- Staged rows with a key; identical ones count once.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[cust_hk],
        r.[phone],
        r.[hashdiff],
        r.[label],
        r.[load_ts],
        r.[record_source],
        r.[key_part_1_]
    FROM (
        SELECT
            s.[cust_hk],
            s.[phone],
            s.[hashdiff],
            s.[label],
            s.[load_ts],
            s.[record_source],
            s.[key_part_1_],
            ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[phone] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[phone]), CONVERT(nvarchar(64), s.[hashdiff]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[hashdiff]), s.[label] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[label]), s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[record_source]) ORDER BY s.[key_part_1_] COLLATE Latin1_General_100_BIN2) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[cust_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [cust_hk],
                s.[phone],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(624), (COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[label]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[label])))) END, N'^^') + N'||' + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[phone])))) END, N'^^')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [hashdiff],
                s.[label],
                s.[load_ts],
                s.[record_source],
                s.[cust_no] AS [key_part_1_]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust_no]))) > 0 THEN LTRIM(RTRIM(s.[cust_no])) END IS NOT NULL
              AND CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[phone]))) > 0 THEN LTRIM(RTRIM(s.[phone])) END IS NOT NULL
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- A dependent child key that is staged twice in one set stops the load.
    SET @Offenders = NULL;
    SET @Offenders = (
        SELECT STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[key_part_1_])), 100), N'NULL'), N''), N'(blank)')), 100), N'NULL'), N''), N'(blank)') + N'/' + COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[phone])), 100), N'NULL'), N''), N'(blank)') AS [offender]
            FROM #staged AS s
            GROUP BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[load_ts], s.[phone] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[phone])
            HAVING COUNT_BIG(*) > 1
        ) AS o
    );
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'duplicate_key: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50010, @Message, 1;
    END;

    -- Distinct keys in the stage.
    SET @AcceptedRows = (
        SELECT
            COUNT_BIG(DISTINCT s.[cust_hk])
        FROM #staged AS s
    );

    -- The newest stored load time of each staged key.
    CREATE TABLE #newest
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        MIN(t.[cust_hk]) AS [cust_hk],
        MAX(t.[load_ts]) AS [newest_time]
    FROM [dbo].[target] AS t
    WHERE EXISTS (
        SELECT
            1 AS [one]
        FROM #staged AS s
        WHERE t.[cust_hk] = s.[cust_hk]
    )
    GROUP BY t.[cust_hk];

    -- Sets older than the newest stored one of their key, with the load time of the set that was in
    -- force then.
    CREATE TABLE #late
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        MIN(z.[cust_hk]) AS [cust_hk],
        MIN(z.[load_ts]) AS [load_ts],
        MIN(z.[members]) AS [members],
        MAX(t.[load_ts]) AS [in_force]
    FROM (
        SELECT
            MIN(s.[cust_hk]) AS [cust_hk],
            MIN(s.[load_ts]) AS [load_ts],
            COUNT_BIG(*) AS [members]
        FROM #staged AS s
        INNER JOIN #newest AS n
            ON n.[cust_hk] = s.[cust_hk]
        WHERE s.[load_ts] < n.[newest_time]
        GROUP BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[load_ts]
    ) AS z
    LEFT JOIN [dbo].[target] AS t
        ON t.[cust_hk] = z.[cust_hk]
       AND t.[load_ts] <= z.[load_ts]
    GROUP BY CONVERT(nvarchar(64), z.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(z.[cust_hk]), z.[load_ts];

    -- A late set that is not the one in force at its load time stops the load.
    SET @Offenders = NULL;
    SET @Offenders = (
        SELECT STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_1_]), 100), N'NULL'), N''), N'(blank)') AS [offender]
            FROM #staged AS s
            INNER JOIN #late AS l
                ON l.[cust_hk] = s.[cust_hk]
               AND l.[load_ts] = s.[load_ts]
            LEFT JOIN (
                SELECT
                    MIN(u.[cust_hk]) AS [cust_hk],
                    MIN(u.[load_ts]) AS [load_ts],
                    COUNT_BIG(*) AS [members]
                FROM [dbo].[target] AS u
                WHERE EXISTS (
                    SELECT
                        1 AS [one]
                    FROM #late AS l
                    WHERE u.[cust_hk] = l.[cust_hk]
                )
                GROUP BY CONVERT(nvarchar(64), u.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(u.[cust_hk]), u.[load_ts]
            ) AS k
                ON k.[cust_hk] = l.[cust_hk]
               AND k.[load_ts] = l.[in_force]
            WHERE (k.[members] IS NULL
                OR k.[members] <> l.[members]
                OR NOT EXISTS (
                    SELECT
                        1 AS [one]
                    FROM [dbo].[target] AS t
                    WHERE t.[cust_hk] = s.[cust_hk]
                      AND t.[load_ts] = l.[in_force]
                      AND ((t.[phone] = s.[phone] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[phone]) = DATALENGTH(s.[phone])) OR (t.[phone] IS NULL AND s.[phone] IS NULL))
                      AND t.[hashdiff] = s.[hashdiff]
                ))
        ) AS o
    );
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'late_row: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50018, @Message, 1;
    END;

    -- Members of the newest stored set of each staged key, and of the sets staged after it.
    CREATE TABLE #members
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        1 AS [is_stored],
        t.[cust_hk],
        t.[load_ts],
        t.[phone],
        t.[hashdiff]
    FROM [dbo].[target] AS t
    INNER JOIN #newest AS n
        ON t.[cust_hk] = n.[cust_hk]
       AND t.[load_ts] = n.[newest_time]
    UNION ALL
    SELECT
        0 AS [is_stored],
        s.[cust_hk],
        s.[load_ts],
        s.[phone],
        s.[hashdiff]
    FROM #staged AS s
    LEFT JOIN #newest AS n
        ON n.[cust_hk] = s.[cust_hk]
    WHERE (n.[newest_time] IS NULL OR s.[load_ts] >= n.[newest_time]);

    -- Each set with the set before it.
    CREATE TABLE #sets
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        g.[cust_hk],
        g.[load_ts],
        g.[is_stored],
        g.[members],
        LAG(g.[load_ts]) OVER (PARTITION BY g.[cust_hk] ORDER BY g.[load_ts], g.[is_stored] DESC) AS [previous_time],
        LAG(g.[is_stored]) OVER (PARTITION BY g.[cust_hk] ORDER BY g.[load_ts], g.[is_stored] DESC) AS [previous_stored],
        LAG(g.[members]) OVER (PARTITION BY g.[cust_hk] ORDER BY g.[load_ts], g.[is_stored] DESC) AS [previous_members]
    FROM (
        SELECT
            MIN(m.[cust_hk]) AS [cust_hk],
            MIN(m.[load_ts]) AS [load_ts],
            MIN(m.[is_stored]) AS [is_stored],
            COUNT_BIG(*) AS [members]
        FROM #members AS m
        GROUP BY CONVERT(nvarchar(64), m.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(m.[cust_hk]), m.[load_ts], m.[is_stored]
    ) AS g;

    -- Staged sets that are not the same as the set before: another size, or a member without a twin.
    CREATE TABLE #changed_sets
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        MIN(x.[cust_hk]) AS [cust_hk],
        MIN(x.[load_ts]) AS [load_ts]
    FROM #sets AS x
    INNER JOIN #members AS m
        ON m.[cust_hk] = x.[cust_hk]
       AND m.[load_ts] = x.[load_ts]
       AND m.[is_stored] = x.[is_stored]
    LEFT JOIN #members AS p
        ON p.[cust_hk] = x.[cust_hk]
       AND p.[load_ts] = x.[previous_time]
       AND p.[is_stored] = x.[previous_stored]
       AND ((p.[phone] = m.[phone] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(p.[phone]) = DATALENGTH(m.[phone])) OR (p.[phone] IS NULL AND m.[phone] IS NULL))
       AND p.[hashdiff] = m.[hashdiff]
    WHERE x.[is_stored] = 0
    GROUP BY CONVERT(nvarchar(64), x.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(x.[cust_hk]), x.[load_ts]
    HAVING (MIN(x.[previous_members]) IS NULL OR MIN(x.[members]) <> MIN(x.[previous_members]) OR COUNT_BIG(p.[is_stored]) < MIN(x.[members]));

    -- All rows of the sets that changed.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[cust_hk],
        s.[phone],
        s.[hashdiff],
        s.[label],
        s.[load_ts],
        s.[record_source]
    FROM #staged AS s
    INNER JOIN #changed_sets AS x
        ON s.[cust_hk] = x.[cust_hk]
       AND s.[load_ts] = x.[load_ts];

    -- What will be inserted.
    SET @NewRows = (
        SELECT
            COUNT_BIG(*)
        FROM #changes AS c
    );

    -- Keys whose set changed.
    SET @ChangedKeys = (
        SELECT
            COUNT_BIG(DISTINCT s.[cust_hk])
        FROM #changes AS s
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

    -- Insert the sets that changed.
    INSERT INTO [dbo].[target] (
        [cust_hk],
        [phone],
        [hashdiff],
        [label],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[cust_hk],
        c.[phone],
        c.[hashdiff],
        c.[label],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#newest') IS NOT NULL DROP TABLE #newest;
    IF OBJECT_ID('tempdb..#late') IS NOT NULL DROP TABLE #late;
    IF OBJECT_ID('tempdb..#members') IS NOT NULL DROP TABLE #members;
    IF OBJECT_ID('tempdb..#sets') IS NOT NULL DROP TABLE #sets;
    IF OBJECT_ID('tempdb..#changed_sets') IS NOT NULL DROP TABLE #changed_sets;
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
    IF OBJECT_ID('tempdb..#newest') IS NOT NULL DROP TABLE #newest;
    IF OBJECT_ID('tempdb..#late') IS NOT NULL DROP TABLE #late;
    IF OBJECT_ID('tempdb..#members') IS NOT NULL DROP TABLE #members;
    IF OBJECT_ID('tempdb..#sets') IS NOT NULL DROP TABLE #sets;
    IF OBJECT_ID('tempdb..#changed_sets') IS NOT NULL DROP TABLE #changed_sets;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    THROW;
END CATCH;
