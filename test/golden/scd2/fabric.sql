-- mergewright: {"format":1,"version":1,"pattern":"scd2","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"on_empty_stage":"apply","max_inactivation_pct":100,"untracked":["shelf"],"key_compare":"exact","empty_as_null":false,"open_end":null,"scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["sku","valid_from"],"target_key":["sku"],"keys":["sku"],"compare":["title","price"],"valid_from":"valid_from","valid_to":"valid_to","valid_from_source":"now","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2: closes changed versions and opens the next ones.

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
DECLARE @Offenders varchar(4000);
DECLARE @Message varchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #changes;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- A version that begins in this load starts at the load's clock.
    SET @VersionStart = CAST(@BatchTime AS datetime2(6));

    -- Staged rows with a key; rows without one are skipped and counted.
    SELECT
        @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN s.[sku] IS NOT NULL THEN 1 ELSE 0 END AS bigint)), 0),
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN s.[sku] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- A key that is staged more than once stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), MIN(s.[sku])), 100), 'NULL'), ''), '(blank)') AS [offender]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[sku],
                s.[title],
                s.[price],
                s.[shelf]
            FROM [dbo].[stage] AS s
            WHERE s.[sku] IS NOT NULL
        ) AS s
        GROUP BY s.[sku] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(s.[sku])
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
        f.[stored_sku],
        f.[stored_from],
        f.[sku],
        f.[title],
        f.[price],
        f.[shelf],
        f.[valid_from],
        f.[valid_to],
        f.[closed_to]
    FROM (
        SELECT
            CASE
                WHEN t.[is_stored] IS NULL THEN 'new'
                WHEN (s.[title] <> t.[title] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[title]) <> DATALENGTH(t.[title]) OR (s.[title] IS NULL AND t.[title] IS NOT NULL) OR (s.[title] IS NOT NULL AND t.[title] IS NULL))
                    OR (s.[price] <> t.[price] OR (s.[price] IS NULL AND t.[price] IS NOT NULL) OR (s.[price] IS NOT NULL AND t.[price] IS NULL))
                    THEN 'changed'
            END AS [change_kind],
            t.[sku] AS [stored_sku],
            t.[valid_from] AS [stored_from],
            s.[sku],
            s.[title],
            s.[price],
            s.[shelf],
            @VersionStart AS [valid_from],
            CAST(NULL AS datetime2(6)) AS [valid_to],
            @VersionStart AS [closed_to]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[sku],
                s.[title],
                s.[price],
                s.[shelf]
            FROM [dbo].[stage] AS s
            WHERE s.[sku] IS NOT NULL
        ) AS s
        LEFT JOIN (
            SELECT
                1 AS [is_stored],
                t.[sku],
                t.[title],
                t.[price],
                t.[shelf],
                t.[valid_from]
            FROM [dbo].[target] AS t
            WHERE t.[valid_to] IS NULL
        ) AS t
            ON (s.[sku] = t.[sku] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(s.[sku]) = DATALENGTH(t.[sku]))
    ) AS f
    WHERE f.[change_kind] IS NOT NULL;

    -- What will change.
    SELECT
        @NewKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'new' THEN 1 ELSE 0 END AS bigint)), 0),
        @ChangedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'changed' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #changes AS c;

    -- A version that would end at or before its own start stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), c.[sku]), 100), 'NULL'), ''), '(blank)') AS [offender]
        FROM #changes AS c
        WHERE c.[change_kind] = 'changed'
          AND c.[valid_from] <= c.[stored_from]
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
        [valid_to] = c.[closed_to]
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON (t.[sku] = c.[stored_sku] COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(t.[sku]) = DATALENGTH(c.[stored_sku]))
       AND t.[valid_from] = c.[stored_from]
    WHERE c.[change_kind] = 'changed'
      AND t.[valid_to] IS NULL;

    -- Open a version for each new and each changed key.
    INSERT INTO [dbo].[target] (
        [sku],
        [title],
        [price],
        [shelf],
        [valid_from],
        [valid_to]
    )
    SELECT
        c.[sku],
        c.[title],
        c.[price],
        c.[shelf],
        c.[valid_from],
        c.[valid_to]
    FROM #changes AS c
    WHERE c.[change_kind] IN ('new', 'changed');

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;

    -- What changed.
    SELECT
        CAST(@NewKeys + @ChangedKeys AS bigint) AS inserted,
        CAST(0 AS bigint) AS updated,
        CAST(@ChangedKeys AS bigint) AS expired,
        CAST(0 AS bigint) AS inactivated,
        CAST(0 AS bigint) AS deleted,
        CAST(@AcceptedRows - @NewKeys - @ChangedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #changes;
    THROW;
END CATCH;
