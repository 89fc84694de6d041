-- mergewright: {"format":1,"version":1,"pattern":"bridge","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{"hub":{"database":null,"schema":"dbo","table":"hub"},"link":{"database":null,"schema":"dbo","table":"link"},"eff_sat":{"database":null,"schema":"dbo","table":"eff_sat"}},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":"9999-12-31 00:00:00","hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","as_of","link_hk"],"target_key":["cust_hk","as_of","link_hk"],"keys":["cust"],"hash_key":{"cust_hk":["cust"],"link_hk":["cust","order_no"]},"as_of":"as_of","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Bridge target: for each key and date the relationships that were in force then.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @BuiltRows bigint;
DECLARE @FormerRows bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#dates') IS NOT NULL DROP TABLE #dates;
    IF OBJECT_ID('tempdb..#effective') IS NOT NULL DROP TABLE #effective;
    IF OBJECT_ID('tempdb..#built') IS NOT NULL DROP TABLE #built;

    -- The dates, each once.
    CREATE TABLE #dates
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT DISTINCT
        s.[as_of]
    FROM [dbo].[stage] AS s
    WHERE s.[as_of] IS NOT NULL;

    -- Relationships in force at each date, by the newest row loaded by then.
    CREATE TABLE #effective
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        e.[link_key],
        e.[as_of]
    FROM (
        SELECT
            r.[link_key],
            r.[as_of],
            r.[load_time],
            r.[started],
            r.[ended],
            r.[is_closed]
        FROM (
            SELECT
                t.[link_hk] AS [link_key],
                d.[as_of],
                t.[load_ts] AS [load_time],
                t.[start_ts] AS [started],
                t.[end_ts] AS [ended],
                CASE WHEN t.[end_ts] IS NULL OR t.[end_ts] > d.[as_of] THEN 0 ELSE 1 END AS [is_closed],
                ROW_NUMBER() OVER (PARTITION BY t.[link_hk], d.[as_of] ORDER BY t.[load_ts] DESC, CASE WHEN t.[end_ts] IS NULL OR t.[end_ts] > d.[as_of] THEN 0 ELSE 1 END DESC) AS [recency]
            FROM [dbo].[eff_sat] AS t
            INNER JOIN #dates AS d
                ON t.[load_ts] <= d.[as_of]
        ) AS r
        WHERE r.[recency] = 1
    ) AS e
    WHERE (e.[started] IS NULL OR e.[started] <= e.[as_of])
      AND e.[is_closed] = 0;

    -- The rows that target will hold.
    CREATE TABLE #built
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        l.[cust_hk],
        l.[link_hk],
        e.[as_of]
    FROM #effective AS e
    INNER JOIN [dbo].[link] AS l
        ON l.[link_hk] = e.[link_key]
    INNER JOIN [dbo].[hub] AS h
        ON h.[cust_hk] = l.[cust_hk];

    -- How many they are.
    SET @BuiltRows = (
        SELECT
            COUNT_BIG(*)
        FROM #built AS c
    );

    -- How many rows they replace.
    SET @FormerRows = (
        SELECT
            COUNT_BIG(*)
        FROM [dbo].[target] AS t
    );

    BEGIN TRANSACTION;

    -- Replace all rows.
    DELETE FROM [dbo].[target];

    INSERT INTO [dbo].[target] (
        [cust_hk],
        [link_hk],
        [as_of]
    )
    SELECT
        b.[cust_hk],
        b.[link_hk],
        b.[as_of]
    FROM #built AS b;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#dates') IS NOT NULL DROP TABLE #dates;
    IF OBJECT_ID('tempdb..#effective') IS NOT NULL DROP TABLE #effective;
    IF OBJECT_ID('tempdb..#built') IS NOT NULL DROP TABLE #built;

    -- What changed.
    SELECT
        CAST(@BuiltRows AS bigint) AS inserted,
        CAST(NULL AS bigint) AS updated,
        CAST(NULL AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(@FormerRows AS bigint) AS deleted,
        CAST(NULL AS bigint) AS unchanged,
        CAST(NULL AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF OBJECT_ID('tempdb..#dates') IS NOT NULL DROP TABLE #dates;
    IF OBJECT_ID('tempdb..#effective') IS NOT NULL DROP TABLE #effective;
    IF OBJECT_ID('tempdb..#built') IS NOT NULL DROP TABLE #built;
    THROW;
END CATCH;
