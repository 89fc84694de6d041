-- mergewright: {"format":1,"version":1,"pattern":"hash","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["rid"],"target_key":["rid"],"keys":["rid"],"hash_columns":{"h":["a","b"]},"hash_role":"hashdiff","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Hash columns of target over the rows of stage.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What the load finds out.
DECLARE @BuiltRows bigint;
DECLARE @FormerRows bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#built') IS NOT NULL DROP TABLE #built;

    -- The rows that target will hold.
    CREATE TABLE #built
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        s.[rid],
        LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(624), (COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[a]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[a])))) END, N'^^') + N'||' + COALESCE(CASE WHEN DATALENGTH(UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[b]))))) > 0 THEN UPPER(LTRIM(RTRIM(CONVERT(nvarchar(100), s.[b])))) END, N'^^')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [h]
    FROM [dbo].[stage] AS s;

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
        [rid],
        [h]
    )
    SELECT
        b.[rid],
        b.[h]
    FROM #built AS b;

    COMMIT TRANSACTION;

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
    IF OBJECT_ID('tempdb..#built') IS NOT NULL DROP TABLE #built;
    THROW;
END CATCH;
