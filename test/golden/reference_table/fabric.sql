-- mergewright: {"format":1,"version":1,"pattern":"reference_table","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["code"],"target_key":["code"],"keys":["code"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"as_is","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Reference table target from stage: inserts codes that are not there yet.

SET NOCOUNT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewKeys bigint;
DECLARE @ContradictingRows bigint;
DECLARE @Offenders varchar(4000);
DECLARE @Message varchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #unknown;
    DROP TABLE IF EXISTS #changes;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- Rows without a key are left out and counted.
    SELECT
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Staged rows with a key.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[code],
        s.[label],
        s.[load_ts]
    FROM [dbo].[stage] AS s
    WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END IS NOT NULL;

    -- Distinct codes in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(*)
    FROM (
        SELECT
            COUNT_BIG(*) AS [rows]
        FROM #staged AS s
        GROUP BY CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END)
    ) AS k;

    -- Rows of the codes that the target does not have.
    CREATE TABLE #unknown
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[code],
        s.[label],
        s.[load_ts]
    FROM #staged AS s
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target] AS t
        WHERE (CASE WHEN DATALENGTH(LTRIM(RTRIM(t.[code]))) > 0 THEN LTRIM(RTRIM(t.[code])) END = CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(t.[code]))) > 0 THEN LTRIM(RTRIM(t.[code])) END) = DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END))
    );

    -- A key that is staged with different contents stops the load.
    SET @Offenders = NULL;
    SELECT @Offenders = STRING_AGG(o.[offender], ', ')
    FROM (
        SELECT TOP (5)
            COALESCE(NULLIF(COALESCE(LEFT(CONVERT(varchar(8000), MIN(s.[code])), 100), 'NULL'), ''), '(blank)') AS [offender]
        FROM (
            SELECT
                MIN(d.[code]) AS [code],
                MIN(d.[label]) AS [label]
            FROM (
                SELECT
                    s.[code],
                    s.[label]
                FROM (
                    SELECT
                        u.[code],
                        u.[label],
                        u.[load_ts],
                        MIN(u.[load_ts]) OVER (PARTITION BY CASE WHEN DATALENGTH(LTRIM(RTRIM(u.[code]))) > 0 THEN LTRIM(RTRIM(u.[code])) END COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(u.[code]))) > 0 THEN LTRIM(RTRIM(u.[code])) END)) AS [first_time]
                    FROM #unknown AS u
                ) AS s
                WHERE s.[load_ts] = s.[first_time]
            ) AS d
            GROUP BY d.[code] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(d.[code]), d.[label] COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(d.[label])
        ) AS s
        GROUP BY CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END)
        HAVING COUNT_BIG(*) > 1
    ) AS o;
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT('duplicate_key: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
        THROW 50010, @Message, 1;
    END;

    -- One row of each: the first sighting.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[code],
        r.[label],
        r.[load_ts]
    FROM (
        SELECT
            s.[code],
            s.[label],
            s.[load_ts],
            ROW_NUMBER() OVER (PARTITION BY CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END COLLATE Latin1_General_100_BIN2_UTF8, DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END) ORDER BY s.[load_ts], s.[code] COLLATE Latin1_General_100_BIN2_UTF8, s.[label] COLLATE Latin1_General_100_BIN2_UTF8) AS [sighting]
        FROM #unknown AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- What will be inserted.
    SELECT
        @NewKeys = COUNT_BIG(*)
    FROM #changes AS c;

    -- Staged rows that contradict codes that are stored already.
    SELECT
        @ContradictingRows = COUNT_BIG(*)
    FROM #staged AS s
    INNER JOIN [dbo].[target] AS t
        ON (CASE WHEN DATALENGTH(LTRIM(RTRIM(t.[code]))) > 0 THEN LTRIM(RTRIM(t.[code])) END = CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END COLLATE Latin1_General_100_BIN2_UTF8 AND DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(t.[code]))) > 0 THEN LTRIM(RTRIM(t.[code])) END) = DATALENGTH(CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[code]))) > 0 THEN LTRIM(RTRIM(s.[code])) END))
    WHERE (t.[label] <> s.[label] COLLATE Latin1_General_100_BIN2_UTF8 OR DATALENGTH(t.[label]) <> DATALENGTH(s.[label]) OR (t.[label] IS NULL AND s.[label] IS NOT NULL) OR (t.[label] IS NOT NULL AND s.[label] IS NULL));

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Insert the codes seen for the first time.
    INSERT INTO [dbo].[target] (
        [code],
        [label],
        [load_ts]
    )
    SELECT
        c.[code],
        c.[label],
        c.[load_ts]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #unknown;
    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;
    IF @ContradictingRows > 0
        SELECT 'stored_row_kept' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @ContradictingRows), 100), 'NULL') + ' staged rows contradict stored codes, which are kept' AS message;

    -- What changed.
    SELECT
        CAST(@NewKeys AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(NULL AS bigint) AS deleted,
        CAST(@AcceptedRows - @NewKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #staged;
    DROP TABLE IF EXISTS #unknown;
    DROP TABLE IF EXISTS #changes;
    THROW;
END CATCH;
