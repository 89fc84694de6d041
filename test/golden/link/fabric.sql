-- mergewright: {"format":1,"version":1,"pattern":"link","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["link_hk"],"target_key":["link_hk"],"keys":["cust","nation"],"hash_key":{"link_hk":["cust","nation"],"cust_hk":["cust"],"nation_hk":["nation"]},"load_ts":"load_ts","record_source":"record_source","tie_break":["load_ts","record_source"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Link target from stage: inserts relationships that are not there yet.

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
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NULL OR CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[nation]))) > 0 THEN LTRIM(RTRIM(s.[nation])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- One row for each of the staged relationships: the first sighting.
    CREATE TABLE #sighted
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[link_hk],
        r.[cust_hk],
        r.[nation_hk],
        r.[load_ts],
        r.[record_source]
    FROM (
        SELECT
            s.[link_hk],
            s.[cust_hk],
            s.[nation_hk],
            s.[load_ts],
            s.[record_source],
            ROW_NUMBER() OVER (PARTITION BY s.[link_hk] ORDER BY s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2_UTF8) AS [sighting]
        FROM (
            SELECT
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(2424), (UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[cust])))) + '||' + UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[nation]))))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [link_hk],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(1212), UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[cust])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [cust_hk],
                LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(1212), UPPER(LTRIM(RTRIM(CONVERT(varchar(400), s.[nation])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [nation_hk],
                s.[load_ts],
                s.[record_source]
            FROM [dbo].[stage] AS s
            WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NOT NULL
              AND CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[nation]))) > 0 THEN LTRIM(RTRIM(s.[nation])) END IS NOT NULL
        ) AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- Distinct relationships in the stage.
    SELECT
        @AcceptedRows = COUNT_BIG(*)
    FROM #sighted AS c;

    -- Those of the relationships that the target does not have.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[link_hk],
        s.[cust_hk],
        s.[nation_hk],
        s.[load_ts],
        s.[record_source]
    FROM #sighted AS s
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target] AS t
        WHERE t.[link_hk] = s.[link_hk]
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

    -- Insert the relationships seen for the first time.
    INSERT INTO [dbo].[target] (
        [link_hk],
        [cust_hk],
        [nation_hk],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[link_hk],
        c.[cust_hk],
        c.[nation_hk],
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
