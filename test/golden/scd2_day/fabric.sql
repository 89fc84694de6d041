-- mergewright: {"format":1,"version":1,"pattern":"scd2_day","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"hard_deletes":"new_record","load":"full","max_inactivation_pct":100,"closing":"minus-3-ms","untracked":[],"key_compare":"exact","empty_as_null":false,"open_end":"4000-01-01 00:00:00","scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["dept_no","eff_start"],"target_key":["dept_no"],"keys":["dept_no"],"compare":["dept_name","location"],"valid_from":"eff_start","valid_to":"eff_end","valid_from_source":"now","initial_valid_from":"1900-01-01 00:00:00","is_current":"current_yn","current_values":["Y","N"],"inactive_at":"source_inactive","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2 with one version per key and day: a version that began today is rewritten in place.

SET NOCOUNT ON;

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(6) = SYSUTCDATETIME();
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
DECLARE @MaxInactivationPct decimal(5,2) = 100;
-- End of parameters

-- What the load finds out.
DECLARE @VersionStart datetime2(3);
DECLARE @AcceptedRows bigint;
DECLARE @SkippedRows bigint;
DECLARE @DetectsAbsence int;
DECLARE @NewKeys bigint;
DECLARE @ChangedKeys bigint;
DECLARE @RewrittenKeys bigint;
DECLARE @AbsentKeys bigint;
DECLARE @AbsentTodayKeys bigint;
DECLARE @OpenKeys bigint;
DECLARE @Offenders varchar(4000);
DECLARE @Message varchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #earlier;
    DROP TABLE IF EXISTS #changes;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- A version that begins in this load starts today.
    SET @VersionStart = CAST(CAST(@BatchTime AS date) AS datetime2(3));

    -- Staged rows with a key; rows without one are skipped and counted.
    SELECT
        @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN s.[dept_no] IS NOT NULL THEN 1 ELSE 0 END AS bigint)), 0),
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN s.[dept_no] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- A key that is staged more than once stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), MIN(s.[dept_no])), 100), 'NULL'), ''), '(blank)') AS [offender]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[dept_no],
                s.[dept_name],
                s.[location]
            FROM [dbo].[stage] AS s
            WHERE s.[dept_no] IS NOT NULL
        ) AS s
        GROUP BY s.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(s.[dept_no])
        HAVING COUNT_BIG(*) > 1
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT('duplicate_key: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50010, @Message, 1;
    END;

    -- An empty delivery inactivates nothing.
    SET @DetectsAbsence = CAST(CASE WHEN @AcceptedRows > 0 THEN 1 ELSE 0 END AS int);

    -- Keys without a current row that have been here before.
    CREATE TABLE #earlier
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        1 AS [is_earlier],
        MIN(t.[dept_no]) AS [dept_no],
        MAX(t.[eff_end]) AS [previous_end]
    FROM [dbo].[target] AS t
    WHERE EXISTS (
        SELECT
            1 AS [one]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[dept_no],
                s.[dept_name],
                s.[location]
            FROM [dbo].[stage] AS s
            WHERE s.[dept_no] IS NOT NULL
        ) AS s
        WHERE (s.[dept_no] = t.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(s.[dept_no]) = DATALENGTH(t.[dept_no]))
          AND NOT EXISTS (
            SELECT
                1 AS [one]
            FROM [dbo].[target] AS o
            WHERE (o.[dept_no] = s.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(o.[dept_no]) = DATALENGTH(s.[dept_no]))
              AND o.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3))
        )
    )
      AND t.[eff_end] <> CAST('4000-01-01T00:00:00' AS datetime2(3))
    GROUP BY t.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(t.[dept_no]);

    -- The changes: staged rows against the current row of their key, both ways.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        f.[change_kind],
        f.[stored_dept_no],
        f.[stored_from],
        f.[dept_no],
        f.[dept_name],
        f.[location],
        f.[source_inactive],
        f.[eff_start],
        f.[eff_end],
        f.[current_yn],
        f.[closed_to]
    FROM (
        SELECT
            CASE
                WHEN s.[is_staged] IS NULL
                    AND t.[source_inactive] IS NULL
                    AND @DetectsAbsence = 1
                    AND CAST(t.[eff_start] AS date) = CAST(@VersionStart AS date)
                    THEN 'absent today'
                WHEN s.[is_staged] IS NULL AND t.[source_inactive] IS NULL AND @DetectsAbsence = 1 THEN 'absent'
                WHEN s.[is_staged] IS NULL THEN NULL
                WHEN t.[is_stored] IS NULL THEN 'new'
                WHEN CAST(t.[eff_start] AS date) = CAST(@VersionStart AS date)
                    AND (t.[source_inactive] IS NOT NULL
                        OR (s.[dept_name] <> t.[dept_name] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[dept_name]) <> DATALENGTH(t.[dept_name]) OR (s.[dept_name] IS NULL AND t.[dept_name] IS NOT NULL) OR (s.[dept_name] IS NOT NULL AND t.[dept_name] IS NULL))
                        OR (s.[location] <> t.[location] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[location]) <> DATALENGTH(t.[location]) OR (s.[location] IS NULL AND t.[location] IS NOT NULL) OR (s.[location] IS NOT NULL AND t.[location] IS NULL)))
                    THEN 'rewritten'
                WHEN t.[source_inactive] IS NOT NULL
                    OR (s.[dept_name] <> t.[dept_name] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[dept_name]) <> DATALENGTH(t.[dept_name]) OR (s.[dept_name] IS NULL AND t.[dept_name] IS NOT NULL) OR (s.[dept_name] IS NOT NULL AND t.[dept_name] IS NULL))
                    OR (s.[location] <> t.[location] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[location]) <> DATALENGTH(t.[location]) OR (s.[location] IS NULL AND t.[location] IS NOT NULL) OR (s.[location] IS NOT NULL AND t.[location] IS NULL))
                    THEN 'changed'
            END AS [change_kind],
            t.[dept_no] AS [stored_dept_no],
            t.[eff_start] AS [stored_from],
            CASE WHEN s.[is_staged] IS NOT NULL THEN s.[dept_no] ELSE t.[dept_no] END AS [dept_no],
            CASE WHEN s.[is_staged] IS NOT NULL THEN s.[dept_name] ELSE t.[dept_name] END AS [dept_name],
            CASE WHEN s.[is_staged] IS NOT NULL THEN s.[location] ELSE t.[location] END AS [location],
            CASE WHEN s.[is_staged] IS NOT NULL THEN CAST(NULL AS datetime2(3)) ELSE @VersionStart END AS [source_inactive],
            CASE WHEN s.[is_staged] IS NOT NULL AND t.[is_stored] IS NULL AND e.[is_earlier] IS NULL THEN CAST('1900-01-01T00:00:00' AS datetime2(3)) ELSE @VersionStart END AS [eff_start],
            CAST('4000-01-01T00:00:00' AS datetime2(3)) AS [eff_end],
            'Y' AS [current_yn],
            CAST(DATEADD(millisecond, -3, @VersionStart) AS datetime2(3)) AS [closed_to]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[dept_no],
                s.[dept_name],
                s.[location]
            FROM [dbo].[stage] AS s
            WHERE s.[dept_no] IS NOT NULL
        ) AS s
        FULL JOIN (
            SELECT
                1 AS [is_stored],
                t.[dept_no],
                t.[dept_name],
                t.[location],
                t.[source_inactive],
                t.[eff_start],
                t.[eff_end],
                t.[current_yn]
            FROM [dbo].[target] AS t
            WHERE t.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3))
        ) AS t
            ON (s.[dept_no] = t.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(s.[dept_no]) = DATALENGTH(t.[dept_no]))
        LEFT JOIN #earlier AS e
            ON (e.[dept_no] = s.[dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(e.[dept_no]) = DATALENGTH(s.[dept_no]))
    ) AS f
    WHERE f.[change_kind] IS NOT NULL;

    -- What will change.
    SELECT
        @NewKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'new' THEN 1 ELSE 0 END AS bigint)), 0),
        @ChangedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'changed' THEN 1 ELSE 0 END AS bigint)), 0),
        @RewrittenKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'rewritten' THEN 1 ELSE 0 END AS bigint)), 0),
        @AbsentKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'absent' THEN 1 ELSE 0 END AS bigint)), 0),
        @AbsentTodayKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'absent today' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #changes AS c;

    -- Open keys that this load speaks about.
    SELECT
        @OpenKeys = COUNT_BIG(*)
    FROM [dbo].[target] AS t
    WHERE t.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3))
      AND t.[source_inactive] IS NULL;

    -- More absent keys than the limit allows stop the load: the delivery may be cut.
    IF ((@AbsentKeys + @AbsentTodayKeys) * 100) > (@OpenKeys * @MaxInactivationPct)
    BEGIN
        SET @Message = LEFT('inactivation_threshold: ' + REPLACE(COALESCE(LEFT(CONVERT(varchar(8000), @AbsentKeys + @AbsentTodayKeys), 100), 'NULL')
        + ' of '
        + COALESCE(LEFT(CONVERT(varchar(8000), @OpenKeys), 100), 'NULL')
        + ' open keys are absent, more than the limit of '
        + COALESCE(LEFT(CONVERT(varchar(8000), @MaxInactivationPct), 100), 'NULL')
        + ' per cent', '%', '%' + '%'), 2000);
        THROW 50016, @Message, 1;
    END;

    -- A version that would end at or before its own start stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), c.[dept_no]), 100), 'NULL'), ''), '(blank)') AS [offender]
        FROM #changes AS c
        WHERE c.[change_kind] IN ('changed', 'absent')
          AND c.[eff_start] <= c.[stored_from]
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT('batch_time_not_after_current: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50017, @Message, 1;
    END;

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Close the current version of each key that has a next one or is gone.
    UPDATE t
    SET
        [eff_end] = c.[closed_to],
        [current_yn] = 'N'
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON (t.[dept_no] = c.[stored_dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(t.[dept_no]) = DATALENGTH(c.[stored_dept_no]))
       AND t.[eff_start] = c.[stored_from]
    WHERE c.[change_kind] IN ('changed', 'absent')
      AND t.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3));

    -- A version that began today is rewritten in place.
    UPDATE t
    SET
        [dept_name] = c.[dept_name],
        [location] = c.[location],
        [source_inactive] = c.[source_inactive]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON (t.[dept_no] = c.[stored_dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(t.[dept_no]) = DATALENGTH(c.[stored_dept_no]))
       AND t.[eff_start] = c.[stored_from]
    WHERE c.[change_kind] = 'rewritten'
      AND t.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3));

    -- A version that began today and is gone bears its inactive date.
    UPDATE t
    SET
        [source_inactive] = c.[source_inactive]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON (t.[dept_no] = c.[stored_dept_no] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(t.[dept_no]) = DATALENGTH(c.[stored_dept_no]))
       AND t.[eff_start] = c.[stored_from]
    WHERE c.[change_kind] = 'absent today'
      AND t.[eff_end] = CAST('4000-01-01T00:00:00' AS datetime2(3));

    -- Open the next version: new and changed keys, and a marked copy for each key that is gone.
    INSERT INTO [dbo].[target] (
        [dept_no],
        [dept_name],
        [location],
        [source_inactive],
        [eff_start],
        [eff_end],
        [current_yn]
    )
    SELECT
        c.[dept_no],
        c.[dept_name],
        c.[location],
        c.[source_inactive],
        c.[eff_start],
        c.[eff_end],
        c.[current_yn]
    FROM #changes AS c
    WHERE c.[change_kind] IN ('new', 'changed', 'absent');

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #earlier;
    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;
    IF @DetectsAbsence = 0
        SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message;

    -- What changed.
    SELECT
        CAST(@NewKeys + @ChangedKeys + @AbsentKeys AS bigint) AS inserted,
        CAST(@RewrittenKeys + @AbsentTodayKeys AS bigint) AS updated,
        CAST(@ChangedKeys + @AbsentKeys AS bigint) AS expired,
        CAST(@AbsentKeys + @AbsentTodayKeys AS bigint) AS inactivated,
        CAST(0 AS bigint) AS deleted,
        CAST(@AcceptedRows - @NewKeys - @ChangedKeys - @RewrittenKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #earlier;
    DROP TABLE IF EXISTS #changes;
    THROW;
END CATCH;
