-- mergewright: {"format":1,"version":1,"pattern":"reference_table","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["code"],"target_key":["code"],"keys":["code"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"as_is","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Reference table target from stage: inserts codes that are not there yet.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."code", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    s."code",
    s."label",
    s."load_ts"
FROM "stage" AS s
WHERE NULLIF(trim(s."code", ' '), '') IS NOT NULL;

-- Distinct codes in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM (
        SELECT
            COUNT(*) AS "rows"
        FROM temp."staged" AS s
        GROUP BY NULLIF(trim(s."code", ' '), '')
    ) AS k
);

-- Rows of the codes that the target does not have.
CREATE OR REPLACE TEMP TABLE "unknown" AS
SELECT
    s."code",
    s."label",
    s."load_ts"
FROM temp."staged" AS s
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target" AS t
    WHERE NULLIF(trim(t."code", ' '), '') = NULLIF(trim(s."code", ' '), '')
);

-- A key that is staged with different contents stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(MIN(s."code") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM (
            SELECT DISTINCT
                s."code",
                s."label"
            FROM (
                SELECT
                    u."code",
                    u."label",
                    u."load_ts",
                    MIN(u."load_ts") OVER (PARTITION BY NULLIF(trim(u."code", ' '), '')) AS "first_time"
                FROM temp."unknown" AS u
            ) AS s
            WHERE s."load_ts" = s."first_time"
        ) AS s
        GROUP BY NULLIF(trim(s."code", ' '), '')
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- One row of each: the first sighting.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    r."code",
    r."label",
    r."load_ts"
FROM (
    SELECT
        s."code",
        s."label",
        s."load_ts",
        ROW_NUMBER() OVER (PARTITION BY NULLIF(trim(s."code", ' '), '') ORDER BY s."load_ts", s."code", s."label") AS "sighting"
    FROM temp."unknown" AS s
) AS r
WHERE r."sighting" = 1;

-- What will be inserted.
SET VARIABLE NewKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Staged rows that contradict codes that are stored already.
SET VARIABLE ContradictingRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."staged" AS s
    INNER JOIN "target" AS t
        ON NULLIF(trim(t."code", ' '), '') = NULLIF(trim(s."code", ' '), '')
    WHERE t."label" IS DISTINCT FROM s."label"
);

-- Insert the codes seen for the first time.
INSERT INTO "target" (
    "code",
    "label",
    "load_ts"
)
SELECT
    c."code",
    c."label",
    c."load_ts"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."unknown";
DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0
UNION ALL
SELECT 'stored_row_kept' AS warning_code, coalesce(left(CAST(getvariable('ContradictingRows') AS VARCHAR), 100), 'NULL') || ' staged rows contradict stored codes, which are kept' AS message
WHERE getvariable('ContradictingRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewKeys') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(NULL AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('NewKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
