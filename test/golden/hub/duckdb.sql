-- mergewright: {"format":1,"version":1,"pattern":"hub","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["part_hk"],"target_key":["part_hk"],"keys":["part_no"],"hash_key":{"part_hk":["part_no"]},"load_ts":"load_ts","record_source":"record_source","tie_break":["load_ts","record_source"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Hub target from stage: inserts business keys that are not there yet.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."part_no", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- One row for each of the staged business keys: the first sighting.
CREATE OR REPLACE TEMP TABLE "sighted" AS
SELECT
    r."part_hk",
    r."part_no",
    r."load_ts",
    r."record_source"
FROM (
    SELECT
        s."part_hk",
        s."part_no",
        s."load_ts",
        s."record_source",
        ROW_NUMBER() OVER (PARTITION BY s."part_hk" ORDER BY s."load_ts", s."record_source", s."part_no") AS "sighting"
    FROM (
        SELECT
            sha256(UPPER(trim(s."part_no", ' '))) AS "part_hk",
            s."part_no",
            s."load_ts",
            s."record_source"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."part_no", ' '), '') IS NOT NULL
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- Distinct business keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."sighted" AS c
);

-- Those of the business keys that the target does not have.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    s."part_hk",
    s."part_no",
    s."load_ts",
    s."record_source"
FROM temp."sighted" AS s
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target" AS t
    WHERE t."part_hk" = s."part_hk"
);

-- What will be inserted.
SET VARIABLE NewKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Insert the business keys seen for the first time.
INSERT INTO "target" (
    "part_hk",
    "part_no",
    "load_ts",
    "record_source"
)
SELECT
    c."part_hk",
    c."part_no",
    c."load_ts",
    c."record_source"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."sighted";
DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewKeys') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(NULL AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('NewKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
