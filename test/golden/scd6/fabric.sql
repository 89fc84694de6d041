-- mergewright: {"format":1,"version":1,"pattern":"scd6","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"on_empty_stage":"apply","max_inactivation_pct":100,"untracked":[],"key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":["label"],"end_offset":"0","target_identity":["id","valid_from"],"target_key":["id"],"keys":["id"],"compare":["segment"],"current_columns":{"segment":"cur_segment"},"valid_from":"valid_from","valid_to":"valid_to","valid_from_source":"now","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 6: opens versions, and keeps the current values on all versions of a key.

SET NOCOUNT ON;

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(6) = SYSUTCDATETIME();
-- End of parameters

-- What the load finds out.
DECLARE @VersionStart datetime2(6);
DECLARE @AcceptedRows bigint;
DECLARE @SkippedRows bigint;
DECLARE @NewKeys bigint;
DECLARE @ChangedKeys bigint;
DECLARE @RefreshedKeys bigint;
DECLARE @EarlierRows bigint;
DECLARE @Offenders varchar(4000);
DECLARE @Message varchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #changes;
    DROP TABLE IF EXISTS #earlier_versions;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- A version that begins in this load starts at the load's clock.
    SET @VersionStart = CAST(@BatchTime AS datetime2(6));

    -- Staged rows with a key; rows without one are skipped and counted.
    SELECT
        @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN s.[id] IS NOT NULL THEN 1 ELSE 0 END AS bigint)), 0),
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN s.[id] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- A key that is staged more than once stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(LEFT(CONVERT(varchar(8000), MIN(s.[id])), 100), 'NULL') AS [offender]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[id],
                s.[segment],
                s.[label]
            FROM [dbo].[stage] AS s
            WHERE s.[id] IS NOT NULL
        ) AS s
        GROUP BY s.[id]
        HAVING COUNT_BIG(*) > 1
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT('duplicate_key: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50010, @Message, 1;
    END;

    -- The changes: staged rows against the current row of their key.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        f.[change_kind],
        f.[stored_id],
        f.[stored_from],
        f.[id],
        f.[segment],
        f.[cur_segment],
        f.[label],
        f.[valid_from],
        f.[valid_to],
        f.[closed_to]
    FROM (
        SELECT
            CASE
                WHEN t.[is_stored] IS NULL THEN 'new'
                WHEN (s.[segment] <> t.[segment] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[segment]) <> DATALENGTH(t.[segment]) OR (s.[segment] IS NULL AND t.[segment] IS NOT NULL) OR (s.[segment] IS NOT NULL AND t.[segment] IS NULL)) THEN 'changed'
                WHEN (s.[label] <> t.[label] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[label]) <> DATALENGTH(t.[label]) OR (s.[label] IS NULL AND t.[label] IS NOT NULL) OR (s.[label] IS NOT NULL AND t.[label] IS NULL))
                    OR (s.[segment] <> t.[cur_segment] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[segment]) <> DATALENGTH(t.[cur_segment]) OR (s.[segment] IS NULL AND t.[cur_segment] IS NOT NULL) OR (s.[segment] IS NOT NULL AND t.[cur_segment] IS NULL))
                    THEN 'refreshed'
            END AS [change_kind],
            t.[id] AS [stored_id],
            t.[valid_from] AS [stored_from],
            s.[id],
            s.[segment],
            s.[segment] AS [cur_segment],
            s.[label],
            @VersionStart AS [valid_from],
            CAST(NULL AS datetime2(6)) AS [valid_to],
            @VersionStart AS [closed_to]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[id],
                s.[segment],
                s.[label]
            FROM [dbo].[stage] AS s
            WHERE s.[id] IS NOT NULL
        ) AS s
        LEFT JOIN (
            SELECT
                1 AS [is_stored],
                t.[id],
                t.[segment],
                t.[cur_segment],
                t.[label],
                t.[valid_from]
            FROM [dbo].[target] AS t
            WHERE t.[valid_to] IS NULL
        ) AS t
            ON s.[id] = t.[id]
    ) AS f
    WHERE f.[change_kind] IS NOT NULL;

    -- What will change.
    SELECT
        @NewKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'new' THEN 1 ELSE 0 END AS bigint)), 0),
        @ChangedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'changed' THEN 1 ELSE 0 END AS bigint)), 0),
        @RefreshedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'refreshed' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #changes AS c;

    -- A version that would end at or before its own start stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(LEFT(CONVERT(varchar(8000), c.[id]), 100), 'NULL') AS [offender]
        FROM #changes AS c
        WHERE c.[change_kind] = 'changed'
          AND c.[valid_from] <= c.[stored_from]
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT('batch_time_not_after_current: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50017, @Message, 1;
    END;

    -- Earlier versions of these keys that do not bear the current values yet.
    CREATE TABLE #earlier_versions
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        t.[id] AS [stored_id],
        t.[valid_from] AS [stored_from],
        c.[cur_segment],
        c.[label]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON c.[id] = t.[id]
    WHERE t.[valid_to] IS NOT NULL
      AND ((c.[cur_segment] <> t.[cur_segment] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(c.[cur_segment]) <> DATALENGTH(t.[cur_segment]) OR (c.[cur_segment] IS NULL AND t.[cur_segment] IS NOT NULL) OR (c.[cur_segment] IS NOT NULL AND t.[cur_segment] IS NULL))
        OR (c.[label] <> t.[label] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(c.[label]) <> DATALENGTH(t.[label]) OR (c.[label] IS NULL AND t.[label] IS NOT NULL) OR (c.[label] IS NOT NULL AND t.[label] IS NULL)));

    -- Earlier versions that will change.
    SELECT
        @EarlierRows = COUNT_BIG(*)
    FROM #earlier_versions AS c;

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
        [valid_to] = c.[closed_to],
        [cur_segment] = c.[cur_segment],
        [label] = c.[label]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON t.[id] = c.[stored_id]
       AND t.[valid_from] = c.[stored_from]
    WHERE c.[change_kind] = 'changed'
      AND t.[valid_to] IS NULL;

    -- Columns without versions are kept up on the current row.
    UPDATE t
    SET
        [cur_segment] = c.[cur_segment],
        [label] = c.[label]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON t.[id] = c.[stored_id]
       AND t.[valid_from] = c.[stored_from]
    WHERE c.[change_kind] = 'refreshed'
      AND t.[valid_to] IS NULL;

    -- Open a version for each new and each changed key.
    INSERT INTO [dbo].[target] (
        [id],
        [segment],
        [cur_segment],
        [label],
        [valid_from],
        [valid_to]
    )
    SELECT
        c.[id],
        c.[segment],
        c.[cur_segment],
        c.[label],
        c.[valid_from],
        c.[valid_to]
    FROM #changes AS c
    WHERE c.[change_kind] IN ('new', 'changed');

    -- Earlier versions take the current values, too.
    UPDATE t
    SET
        [cur_segment] = c.[cur_segment],
        [label] = c.[label]
    FROM [dbo].[target] AS t
    INNER JOIN #earlier_versions AS c
        ON t.[id] = c.[stored_id]
       AND t.[valid_from] = c.[stored_from]
    WHERE t.[valid_to] IS NOT NULL;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #changes;
    DROP TABLE IF EXISTS #earlier_versions;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;

    -- What changed.
    SELECT
        CAST(@NewKeys + @ChangedKeys AS bigint) AS inserted,
        CAST(@RefreshedKeys + @EarlierRows AS bigint) AS updated,
        CAST(@ChangedKeys AS bigint) AS expired,
        CAST(0 AS bigint) AS inactivated,
        CAST(0 AS bigint) AS deleted,
        CAST(@AcceptedRows - @NewKeys - @ChangedKeys - @RefreshedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #changes;
    DROP TABLE IF EXISTS #earlier_versions;
    THROW;
END CATCH;
