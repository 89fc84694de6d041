-- mergewright: {"format":1,"version":1,"pattern":"record_tracking_satellite","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","load_ts","record_source"],"target_key":["cust_hk"],"keys":["cust"],"hash_key":{"cust_hk":["cust"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Record tracking satellite target from stage: records each appearance of a key once.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."cust", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    sha256(UPPER(trim(s."cust", ' '))) AS "cust_hk",
    s."load_ts",
    s."record_source"
FROM "stage" AS s
WHERE NULLIF(trim(s."cust", ' '), '') IS NOT NULL;

-- Distinct keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."cust_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- Appearances that are not recorded yet, each once.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    r."cust_hk",
    r."load_ts",
    r."record_source"
FROM (
    SELECT
        s."cust_hk",
        s."load_ts",
        s."record_source",
        ROW_NUMBER() OVER (PARTITION BY s."cust_hk", s."load_ts", s."record_source" ORDER BY s."cust_hk", s."load_ts", s."record_source") AS "sighting"
    FROM (
        SELECT
            s."cust_hk",
            s."load_ts",
            s."record_source"
        FROM temp."staged" AS s
        WHERE NOT EXISTS (
            SELECT
                1 AS "one"
            FROM "target" AS t
            WHERE t."cust_hk" IS NOT DISTINCT FROM s."cust_hk"
              AND t."load_ts" IS NOT DISTINCT FROM s."load_ts"
              AND t."record_source" IS NOT DISTINCT FROM s."record_source"
        )
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- What will be inserted.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Keys among them.
SET VARIABLE RecordedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."cust_hk") AS BIGINT)
    FROM temp."changes" AS s
);

-- Record the new appearances.
INSERT INTO "target" (
    "cust_hk",
    "load_ts",
    "record_source"
)
SELECT
    c."cust_hk",
    c."load_ts",
    c."record_source"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(NULL AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('RecordedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
