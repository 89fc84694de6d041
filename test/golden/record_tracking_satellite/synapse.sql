-- mergewright: {"format":1,"version":1,"pattern":"record_tracking_satellite","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","load_ts","record_source"],"target_key":["cust_hk"],"keys":["cust"],"hash_key":{"cust_hk":["cust"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Record tracking satellite target from stage: records each appearance of a key once.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewRows bigint;
DECLARE @RecordedKeys bigint;
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
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
            COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [dbo].[stage] AS s
    );

    -- Staged rows with a key.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[cust])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [cust_hk],
        s.[load_ts],
        s.[record_source]
    FROM [dbo].[stage] AS s
    WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NOT NULL;

    -- Distinct keys in the stage.
    SET @AcceptedRows = (
        SELECT
            COUNT_BIG(DISTINCT s.[cust_hk])
        FROM #staged AS s
    );

    -- Appearances that are not recorded yet, each once.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[cust_hk],
        r.[load_ts],
        r.[record_source]
    FROM (
        SELECT
            s.[cust_hk],
            s.[load_ts],
            s.[record_source],
            ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[record_source]) ORDER BY CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2) AS [sighting]
        FROM (
            SELECT
                s.[cust_hk],
                s.[load_ts],
                s.[record_source]
            FROM #staged AS s
            WHERE NOT EXISTS (
                SELECT
                    1 AS [one]
                FROM [dbo].[target] AS t
                WHERE ((t.[cust_hk] = CONVERT(nvarchar(4000), s.[cust_hk]) COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[cust_hk]) = DATALENGTH(s.[cust_hk])) OR (t.[cust_hk] IS NULL AND s.[cust_hk] IS NULL))
                  AND (t.[load_ts] = s.[load_ts] OR (t.[load_ts] IS NULL AND s.[load_ts] IS NULL))
                  AND ((t.[record_source] = s.[record_source] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(t.[record_source]) = DATALENGTH(s.[record_source])) OR (t.[record_source] IS NULL AND s.[record_source] IS NULL))
            )
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- What will be inserted.
    SET @NewRows = (
        SELECT
            COUNT_BIG(*)
        FROM #changes AS c
    );

    -- Keys among them.
    SET @RecordedKeys = (
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

    -- Record the new appearances.
    INSERT INTO [dbo].[target] (
        [cust_hk],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[cust_hk],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
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
        CAST(@AcceptedRows - @RecordedKeys AS bigint) AS unchanged,
        CAST(@SkippedRows AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    THROW;
END CATCH;
