-- mergewright: {"format":1,"version":1,"pattern":"scd3","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"on_empty_stage":"apply","max_inactivation_pct":100,"untracked":[],"key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id"],"target_key":["id"],"keys":["id"],"compare":["region"],"previous":{"region":"prev_region"},"changed_at":"changed_at","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 3: keeps the value before beside the current one.

SET NOCOUNT ON;

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(6) = SYSUTCDATETIME();
-- End of parameters

-- What the load finds out.
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
                s.[region]
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
        f.[id],
        f.[region],
        f.[stored_region]
    FROM (
        SELECT
            CASE
                WHEN t.[is_stored] IS NULL THEN 'new'
                WHEN (s.[region] <> t.[region] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[region]) <> DATALENGTH(t.[region]) OR (s.[region] IS NULL AND t.[region] IS NOT NULL) OR (s.[region] IS NOT NULL AND t.[region] IS NULL)) THEN 'changed'
            END AS [change_kind],
            t.[id] AS [stored_id],
            s.[id],
            s.[region],
            t.[region] AS [stored_region]
        FROM (
            SELECT
                1 AS [is_staged],
                s.[id],
                s.[region]
            FROM [dbo].[stage] AS s
            WHERE s.[id] IS NOT NULL
        ) AS s
        LEFT JOIN (
            SELECT
                1 AS [is_stored],
                t.[id],
                t.[region],
                t.[prev_region],
                t.[changed_at]
            FROM [dbo].[target] AS t
        ) AS t
            ON s.[id] = t.[id]
    ) AS f
    WHERE f.[change_kind] IS NOT NULL;

    -- What will change.
    SELECT
        @NewKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'new' THEN 1 ELSE 0 END AS bigint)), 0),
        @ChangedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'changed' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #changes AS c;

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Move the former value aside and take the new one.
    UPDATE t
    SET
        [prev_region] = CASE WHEN (c.[stored_region] <> c.[region] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(c.[stored_region]) <> DATALENGTH(c.[region]) OR (c.[stored_region] IS NULL AND c.[region] IS NOT NULL) OR (c.[stored_region] IS NOT NULL AND c.[region] IS NULL)) THEN c.[stored_region] ELSE t.[prev_region] END,
        [region] = c.[region],
        [changed_at] = CAST(@BatchTime AS datetime2(6))
    FROM [dbo].[target] AS t
    INNER JOIN #changes AS c
        ON t.[id] = c.[stored_id]
    WHERE c.[change_kind] = 'changed';

    -- Insert the new keys; they have no value before.
    INSERT INTO [dbo].[target] (
        [id],
        [region]
    )
    SELECT
        c.[id],
        c.[region]
    FROM #changes AS c
    WHERE c.[change_kind] = 'new';

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;

    -- What changed.
    SELECT
        CAST(@NewKeys AS bigint) AS inserted,
        CAST(@ChangedKeys AS bigint) AS updated,
        CAST(0 AS bigint) AS expired,
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
