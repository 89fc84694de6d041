-- mergewright: {"format":1,"version":1,"pattern":"hash","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["rid"],"target_key":["rid"],"keys":["rid"],"hash_columns":{"h":["a","b"]},"hash_role":"hashdiff","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Hash columns of target over the rows of stage.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- The rows that target will hold.
CREATE OR REPLACE TEMP TABLE "built" AS
SELECT
    s."rid",
    sha256(COALESCE(NULLIF(UPPER(trim(s."a", ' ')), ''), '^^') || '||' || COALESCE(NULLIF(UPPER(trim(s."b", ' ')), ''), '^^')) AS "h"
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
    "h"
)
SELECT
    b_."rid",
    b_."h"
FROM temp."built" AS b_;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."built";

-- What changed.
SELECT
    CAST(getvariable('BuiltRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(getvariable('FormerRows') AS BIGINT) AS deleted,
    CAST(NULL AS BIGINT) AS unchanged,
    CAST(NULL AS BIGINT) AS skipped;
