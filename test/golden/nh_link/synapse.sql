-- mergewright: {"format":1,"version":1,"pattern":"nh_link","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["tx_hk"],"target_key":["tx_hk"],"keys":["tx_no"],"not_null":["tx_no","cust"],"hash_key":{"tx_hk":["tx_no"],"cust_hk":["cust"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Non-historised link target from stage: appends transactions that are not there yet.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @SkippedRows bigint;
DECLARE @AcceptedRows bigint;
DECLARE @NewKeys bigint;
DECLARE @ContradictingRows bigint;
DECLARE @Offenders nvarchar(4000);
DECLARE @Message nvarchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#unknown') IS NOT NULL DROP TABLE #unknown;
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
            COALESCE(SUM(CAST(CASE WHEN CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[tx_no]))) > 0 THEN LTRIM(RTRIM(s.[tx_no])) END IS NULL OR CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [dbo].[stage] AS s
    );

    -- Staged rows with a key.
    CREATE TABLE #staged
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[tx_no])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [tx_hk],
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(312), UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[cust])))) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [cust_hk],
        s.[amount],
        s.[load_ts],
        s.[record_source],
        s.[tx_no] AS [key_part_1_]
    FROM [dbo].[stage] AS s
    WHERE CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[tx_no]))) > 0 THEN LTRIM(RTRIM(s.[tx_no])) END IS NOT NULL
      AND CASE WHEN DATALENGTH(LTRIM(RTRIM(s.[cust]))) > 0 THEN LTRIM(RTRIM(s.[cust])) END IS NOT NULL;

    -- Distinct transactions in the stage.
    SET @AcceptedRows = (
        SELECT
            COUNT_BIG(DISTINCT s.[tx_hk])
        FROM #staged AS s
    );

    -- Rows of the transactions that the target does not have.
    CREATE TABLE #unknown
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[tx_hk],
        s.[cust_hk],
        s.[amount],
        s.[load_ts],
        s.[record_source],
        s.[key_part_1_]
    FROM #staged AS s
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target] AS t
        WHERE t.[tx_hk] = s.[tx_hk]
    );

    -- A key that is staged with different contents stops the load.
    SET @Offenders = NULL;
    SET @Offenders = (
        SELECT STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[key_part_1_])), 100), N'NULL'), N''), N'(blank)') AS [offender]
            FROM (
                SELECT
                    r.[tx_hk],
                    r.[cust_hk],
                    r.[amount],
                    r.[key_part_1_]
                FROM (
                    SELECT
                        s.[tx_hk],
                        s.[cust_hk],
                        s.[amount],
                        s.[key_part_1_],
                        ROW_NUMBER() OVER (PARTITION BY CONVERT(nvarchar(64), s.[tx_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[tx_hk]), CONVERT(nvarchar(64), s.[cust_hk]) COLLATE Latin1_General_100_BIN2, DATALENGTH(s.[cust_hk]), s.[amount] ORDER BY s.[key_part_1_] COLLATE Latin1_General_100_BIN2) AS [sighting]
                    FROM (
                        SELECT
                            s.[tx_hk],
                            s.[cust_hk],
                            s.[amount],
                            s.[key_part_1_]
                        FROM (
                            SELECT
                                u.[tx_hk],
                                u.[cust_hk],
                                u.[amount],
                                u.[load_ts],
                                u.[record_source],
                                u.[key_part_1_],
                                MIN(u.[load_ts]) OVER (PARTITION BY u.[tx_hk]) AS [first_time]
                            FROM #unknown AS u
                        ) AS s
                        WHERE s.[load_ts] = s.[first_time]
                    ) AS s
                ) AS r
                WHERE r.[sighting] = 1
            ) AS s
            GROUP BY s.[tx_hk]
            HAVING COUNT_BIG(*) > 1
        ) AS o
    );
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'duplicate_key: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50010, @Message, 1;
    END;

    -- One row of each: the first sighting.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[tx_hk],
        r.[cust_hk],
        r.[amount],
        r.[load_ts],
        r.[record_source]
    FROM (
        SELECT
            s.[tx_hk],
            s.[cust_hk],
            s.[amount],
            s.[load_ts],
            s.[record_source],
            ROW_NUMBER() OVER (PARTITION BY s.[tx_hk] ORDER BY s.[load_ts], s.[record_source] COLLATE Latin1_General_100_BIN2, s.[amount]) AS [sighting]
        FROM #unknown AS s
    ) AS r
    WHERE r.[sighting] = 1;

    -- What will be inserted.
    SET @NewKeys = (
        SELECT
            COUNT_BIG(*)
        FROM #changes AS c
    );

    -- Staged rows that contradict transactions that are stored already.
    SET @ContradictingRows = (
        SELECT
            COUNT_BIG(*)
        FROM #staged AS s
        INNER JOIN [dbo].[target] AS t
            ON t.[tx_hk] = s.[tx_hk]
        WHERE (t.[amount] <> s.[amount] OR (t.[amount] IS NULL AND s.[amount] IS NOT NULL) OR (t.[amount] IS NOT NULL AND s.[amount] IS NULL))
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

    -- Insert the transactions seen for the first time.
    INSERT INTO [dbo].[target] (
        [tx_hk],
        [cust_hk],
        [amount],
        [load_ts],
        [record_source]
    )
    SELECT
        c.[tx_hk],
        c.[cust_hk],
        c.[amount],
        c.[load_ts],
        c.[record_source]
    FROM #changes AS c;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#unknown') IS NOT NULL DROP TABLE #unknown;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;

    -- What was left out.
    IF @SkippedRows > 0
        SELECT N'null_key' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N'NULL') + N' staged rows without a key were skipped' AS message;
    IF @ContradictingRows > 0
        SELECT N'stored_row_kept' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @ContradictingRows), 100), N'NULL') + N' staged rows contradict stored transactions, which are kept' AS message;

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
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
    IF OBJECT_ID('tempdb..#unknown') IS NOT NULL DROP TABLE #unknown;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    THROW;
END CATCH;
