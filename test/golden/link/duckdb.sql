-- mergewright: {"format":1,"version":1,"pattern":"link","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["link_hk"],"target_key":["link_hk"],"keys":["cust","nation"],"hash_key":{"link_hk":["cust","nation"],"cust_hk":["cust"],"nation_hk":["nation"]},"load_ts":"load_ts","record_source":"record_source","tie_break":["load_ts","record_source"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Link target from stage: inserts relationships that are not there yet.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."cust", ' '), '') IS NULL OR NULLIF(trim(s."nation", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- One row for each of the staged relationships: the first sighting.
CREATE OR REPLACE TEMP TABLE "sighted" AS
SELECT
    r."link_hk",
    r."cust_hk",
    r."nation_hk",
    r."load_ts",
    r."record_source"
FROM (
    SELECT
        s."link_hk",
        s."cust_hk",
        s."nation_hk",
        s."load_ts",
        s."record_source",
        ROW_NUMBER() OVER (PARTITION BY s."link_hk" ORDER BY s."load_ts", s."record_source") AS "sighting"
    FROM (
        SELECT
            sha256(UPPER(trim(s."cust", ' ')) || '||' || UPPER(trim(s."nation", ' '))) AS "link_hk",
            sha256(UPPER(trim(s."cust", ' '))) AS "cust_hk",
            sha256(UPPER(trim(s."nation", ' '))) AS "nation_hk",
            s."load_ts",
            s."record_source"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."cust", ' '), '') IS NOT NULL
          AND NULLIF(trim(s."nation", ' '), '') IS NOT NULL
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- Distinct relationships in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."sighted" AS c
);

-- Those of the relationships that the target does not have.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    s."link_hk",
    s."cust_hk",
    s."nation_hk",
    s."load_ts",
    s."record_source"
FROM temp."sighted" AS s
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target" AS t
    WHERE t."link_hk" = s."link_hk"
);

-- What will be inserted.
SET VARIABLE NewKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Insert the relationships seen for the first time.
INSERT INTO "target" (
    "link_hk",
    "cust_hk",
    "nation_hk",
    "load_ts",
    "record_source"
)
SELECT
    c."link_hk",
    c."cust_hk",
    c."nation_hk",
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
