-- mergewright: {"format":1,"version":1,"pattern":"stage_null_keys","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["rid"],"target_key":["rid"],"keys":["rid"],"required":{"cust":"-1"},"optional":{"agent":"-2"},"keep_original_suffix":"_original","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Rows of stage in target with stand-in values for missing keys.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows that bear the stand-in value of cust by themselves.
SET VARIABLE Delivered_cust = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN s."cust" = '-1' THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Rows that bear the stand-in value of agent by themselves.
SET VARIABLE Delivered_agent = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN s."agent" = '-2' THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- The rows that target will hold.
CREATE OR REPLACE TEMP TABLE "built" AS
SELECT
    s."rid",
    CASE WHEN s."cust" IS NULL THEN '-1' ELSE s."cust" END AS "cust",
    CASE WHEN s."agent" IS NULL THEN '-2' ELSE s."agent" END AS "agent",
    s."cust" AS "cust_original",
    s."agent" AS "agent_original"
FROM "stage" AS s;

-- How many they are.
SET VARIABLE BuiltRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."built" AS c
);

-- How many rows they replace.
SET VARIABLE FormerRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM "target" AS t
);

-- Replace all rows.
DELETE FROM "target";

INSERT INTO "target" (
    "rid",
    "cust",
    "agent",
    "cust_original",
    "agent_original"
)
SELECT
    b."rid",
    b."cust",
    b."agent",
    b."cust_original",
    b."agent_original"
FROM temp."built" AS b;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."built";

-- What was left out.
SELECT 'stand_in_delivered' AS warning_code, coalesce(left(CAST(getvariable('Delivered_cust') AS VARCHAR), 100), 'NULL') || ' staged rows have cust -1, the stand-in for a missing key' AS message
WHERE getvariable('Delivered_cust') > 0
UNION ALL
SELECT 'stand_in_delivered' AS warning_code, coalesce(left(CAST(getvariable('Delivered_agent') AS VARCHAR), 100), 'NULL') || ' staged rows have agent -2, the stand-in for a missing key' AS message
WHERE getvariable('Delivered_agent') > 0;

-- What changed.
SELECT
    CAST(getvariable('BuiltRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(getvariable('FormerRows') AS BIGINT) AS deleted,
    CAST(NULL AS BIGINT) AS unchanged,
    CAST(NULL AS BIGINT) AS skipped;
