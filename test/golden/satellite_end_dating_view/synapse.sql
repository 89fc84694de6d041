-- mergewright: {"format":1,"version":1,"pattern":"satellite_end_dating_view","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":"9999-12-31 00:00:00","hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["member_hk","load_ts"],"target_key":["member_hk"],"keys":["member_no"],"hash_key":{"member_hk":["member_no"]},"load_ts":"load_ts","valid_to":"end_ts","is_current":"is_current","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- View target: the versions of stage with their ends.

IF OBJECT_ID(N'[dbo].[target]', N'V') IS NOT NULL DROP VIEW [dbo].[target];
GO
-- The view.
CREATE VIEW [dbo].[target]
AS
SELECT
    v.[member_hk],
    v.[city],
    v.[load_ts],
    COALESCE(v.[next_load_time], CAST('9999-12-31T00:00:00' AS datetime2(6))) AS [end_ts],
    CAST(CASE WHEN v.[next_load_time] IS NULL THEN 1 ELSE 0 END AS bit) AS [is_current]
FROM (
    SELECT
        s.[member_hk],
        s.[city],
        s.[load_ts],
        LEAD(s.[load_ts]) OVER (PARTITION BY s.[member_hk] ORDER BY s.[load_ts]) AS [next_load_time]
    FROM [dbo].[stage] AS s
) AS v;
GO
SET NOCOUNT ON;
SET XACT_ABORT ON;

-- What changed.
SELECT
    CAST(NULL AS bigint) AS inserted,
    CAST(NULL AS bigint) AS updated,
    CAST(NULL AS bigint) AS expired,
    CAST(NULL AS bigint) AS inactivated,
    CAST(NULL AS bigint) AS deleted,
    CAST(NULL AS bigint) AS unchanged,
    CAST(NULL AS bigint) AS skipped;
