-- mergewright: {"format":1,"version":1,"pattern":"stage_null_keys","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"fabric","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["rid"],"target_key":["rid"],"keys":["rid"],"required":{"cust":"-1"},"optional":{"agent":"-2"},"keep_original_suffix":"_original","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Rows of stage in target with stand-in values for missing keys.

SET NOCOUNT ON;

-- What the load finds out.
DECLARE @Delivered_cust bigint;
DECLARE @Delivered_agent bigint;
DECLARE @BuiltRows bigint;
DECLARE @FormerRows bigint;

BEGIN TRY
    DROP TABLE IF EXISTS #built;

    -- Rows that bear the stand-in value of cust by themselves.
    SELECT
        @Delivered_cust = COALESCE(SUM(CAST(CASE WHEN s.[cust] = '-1' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- Rows that bear the stand-in value of agent by themselves.
    SELECT
        @Delivered_agent = COALESCE(SUM(CAST(CASE WHEN s.[agent] = '-2' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- The rows that target will hold.
    CREATE TABLE #built
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[rid],
        CASE WHEN s.[cust] IS NULL THEN '-1' ELSE s.[cust] END AS [cust],
        CASE WHEN s.[agent] IS NULL THEN '-2' ELSE s.[agent] END AS [agent],
        s.[cust] AS [cust_original],
        s.[agent] AS [agent_original]
    FROM [dbo].[stage] AS s;

    -- How many they are.
    SELECT
        @BuiltRows = COUNT_BIG(*)
    FROM #built AS c;

    -- How many rows they replace.
    SELECT
        @FormerRows = COUNT_BIG(*)
    FROM [dbo].[target] AS t;

    BEGIN TRANSACTION;

    -- Replace all rows.
    DELETE FROM [dbo].[target];

    INSERT INTO [dbo].[target] (
        [rid],
        [cust],
        [agent],
        [cust_original],
        [agent_original]
    )
    SELECT
        b.[rid],
        b.[cust],
        b.[agent],
        b.[cust_original],
        b.[agent_original]
    FROM #built AS b;

    COMMIT TRANSACTION;

    DROP TABLE IF EXISTS #built;

    -- What was left out.
    IF @Delivered_cust > 0
        SELECT 'stand_in_delivered' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @Delivered_cust), 100), 'NULL') + ' staged rows have cust -1, the stand-in for a missing key' AS message;
    IF @Delivered_agent > 0
        SELECT 'stand_in_delivered' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @Delivered_agent), 100), 'NULL') + ' staged rows have agent -2, the stand-in for a missing key' AS message;

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
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    DROP TABLE IF EXISTS #built;
    THROW;
END CATCH;
