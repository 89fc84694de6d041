-- mergewright: {"format":1,"version":1,"pattern":"persistent_staging","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"on_empty_stage":"apply","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id","load_ts","row_no"],"target_key":["id"],"keys":["id"],"compare":["name"],"op_column":"op","load_ts":"load_ts","order_within_batch":["row_no"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Persistent staging: appends a row for each real change of a key.

SET NOCOUNT ON;

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(6) = SYSUTCDATETIME();
-- End of parameters

-- What the load finds out.
DECLARE @AcceptedRows bigint;
DECLARE @SkippedRows bigint;
DECLARE @StagedKeys bigint;
DECLARE @NewRows bigint;
DECLARE @ChangedKeys bigint;
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #sequence;
    DROP TABLE IF EXISTS #newest;
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

    -- Staged rows in the order of their key.
    CREATE TABLE #sequence
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[id],
        s.[name],
        s.[op],
        s.[load_ts],
        s.[row_no],
        ROW_NUMBER() OVER (PARTITION BY s.[id] ORDER BY s.[row_no]) AS [position]
    FROM (
        SELECT
            s.[id],
            s.[name],
            s.[op],
            CAST(@BatchTime AS datetime2(6)) AS [load_ts],
            s.[row_no]
        FROM [dbo].[stage] AS s
        WHERE s.[id] IS NOT NULL
    ) AS s;

    -- Distinct keys in the stage.
    SELECT
        @StagedKeys = COUNT_BIG(*)
    FROM (
        SELECT
            COUNT_BIG(*) AS [rows]
        FROM #sequence AS s
        GROUP BY s.[id]
    ) AS k;

    -- The newest stored row of each staged key.
    CREATE TABLE #newest
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        n.[is_stored_],
        n.[id],
        n.[name],
        n.[op],
        n.[load_ts],
        n.[row_no]
    FROM (
        SELECT
            r.[is_stored_],
            r.[compared_key_1],
            r.[id],
            r.[name],
            r.[op],
            r.[load_ts],
            r.[row_no]
        FROM (
            SELECT
                1 AS [is_stored_],
                t.[id] AS [compared_key_1],
                t.[id],
                t.[name],
                t.[op],
                t.[load_ts],
                t.[row_no],
                ROW_NUMBER() OVER (PARTITION BY t.[id] ORDER BY t.[load_ts] DESC, t.[row_no] DESC) AS [recency]
            FROM [dbo].[target] AS t
            WHERE EXISTS (
                SELECT
                    1 AS [one]
                FROM #sequence AS s
                WHERE s.[id] = t.[id]
            )
        ) AS r
        WHERE r.[recency] = 1
    ) AS n;

    -- The changes: rows that differ from the row before them.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        0 AS [is_absent_],
        s.[id],
        s.[name],
        s.[op],
        s.[load_ts],
        s.[row_no]
    FROM #sequence AS s
    LEFT JOIN #sequence AS p
        ON p.[id] = s.[id]
       AND p.[position] = (s.[position] - 1)
    LEFT JOIN #newest AS n
        ON n.[id] = s.[id]
       AND s.[position] = 1
    WHERE ((s.[position] = 1
        AND (n.[is_stored_] IS NULL
            OR (s.[name] <> n.[name] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[name]) <> DATALENGTH(n.[name]) OR (s.[name] IS NULL AND n.[name] IS NOT NULL) OR (s.[name] IS NOT NULL AND n.[name] IS NULL))
            OR (s.[op] <> n.[op] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[op]) <> DATALENGTH(n.[op]) OR (s.[op] IS NULL AND n.[op] IS NOT NULL) OR (s.[op] IS NOT NULL AND n.[op] IS NULL))))
        OR (s.[position] > 1
            AND ((s.[name] <> p.[name] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[name]) <> DATALENGTH(p.[name]) OR (s.[name] IS NULL AND p.[name] IS NOT NULL) OR (s.[name] IS NOT NULL AND p.[name] IS NULL))
                OR (s.[op] <> p.[op] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(s.[op]) <> DATALENGTH(p.[op]) OR (s.[op] IS NULL AND p.[op] IS NOT NULL) OR (s.[op] IS NOT NULL AND p.[op] IS NULL)))));

    -- What will be appended.
    SELECT
        @NewRows = COUNT_BIG(*)
    FROM #changes AS c;

    -- Staged keys with a new row.
    SELECT
        @ChangedKeys = COUNT_BIG(*)
    FROM (
        SELECT
            COUNT_BIG(*) AS [rows]
        FROM #changes AS c
        WHERE c.[is_absent_] = 0
        GROUP BY c.[id]
    ) AS k;

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Append the changes.
    INSERT INTO [dbo].[target] (
        [id],
        [name],
        [op],
        [load_ts],
        [row_no]
    )
    SELECT
        c.[id],
        c.[name],
        c.[op],
        c.[load_ts],
        c.[row_no]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #sequence;
    DROP TABLE IF EXISTS #newest;
    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;

    -- What changed.
    SELECT
        CAST(@NewRows AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(NULL AS bigint) AS deleted,
        CAST(@StagedKeys - @ChangedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #sequence;
    DROP TABLE IF EXISTS #newest;
    DROP TABLE IF EXISTS #changes;
    THROW;
END CATCH;
