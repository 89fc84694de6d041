-- mergewright: {"format":1,"version":1,"pattern":"hub","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["part_hk"],"target_key":["part_hk"],"keys":["part_no"],"hash_key":{"part_hk":["part_no"]},"load_ts":"load_ts","record_source":"record_source","tie_break":["load_ts","record_source"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Hub target from stage: inserts business keys that are not there yet.

SET NOCOUNT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewKeys bigint;
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #sighted;
    DROP TABLE IF EXISTS #changes;

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SELECT
        @RowsBefore = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    -- Rows without a key are left out and counted.
    SELECT
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[part_no]))) > 0 THEN LTRIM(RTRIM(s.[part_no])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- One row for each of the staged business keys: the first sighting.
    CREATE TABLE #sighted
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[part_hk],
        r.[part_no],
        r.[load_ts],
        r.[record_source]
    FROM (
        SELECT
            s.[part_hk],
            s.[part_no],
            s.[load_ts],
            s.[record_source],
            ROW_NUMBER() OVER (PARTITION BY s.[part_hk] ORDER BY s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2_UTF8, s.[part_no] COLLATE Latin1_General_100_BIN2_UTF8) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(1212), UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[part_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [part_hk],
                s.[part_no],
                s.[load_ts],
                s.[record_source]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[part_no]))) > 0 THEN LTRIM(RTRIM(s.[part_no])) END IS NOT NULL
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- Distinct business keys in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(*)
    FROM #sighted AS c;

    -- Those of the business keys that the target does not have.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[part_hk],
        s.[part_no],
        s.[load_ts],
        s.[record_source]
    FROM #sighted AS s
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target] AS t
        WHERE t.[part_hk] = s.[part_hk]
    );

    -- What will be inserted.
    SELECT
        @NewKeys = COUNT_BIG(*)
    FROM #changes AS c;

    BEGIN TRANSACTION;

    SELECT
        @RowsNow = COUNT_BIG(*)
    FROM [dbo].[target] AS t;
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Insert the business keys seen for the first time.
    INSERT INTO [dbo].[target] (
        [part_hk],
        [part_no],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[part_hk],
        c.[part_no],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #sighted;
    DROP TABLE IF EXISTS #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;

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
    DROP TABLE IF EXISTS #sighted;
    DROP TABLE IF EXISTS #changes;
    THROW;
END CATCH;
