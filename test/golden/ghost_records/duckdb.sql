-- mergewright: {"format":1,"version":1,"pattern":"ghost_records","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":true,"load_ts":"1900-01-01 00:00:00","record_source":"SYSTEM"},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["member_hk","load_ts","hashdiff"],"target_key":["member_hk"],"keys":["member_no"],"hash_key":{"member_hk":["member_no"]},"hashdiff":{"hashdiff":["city","full_name"]},"load_ts":"load_ts","record_source":"record_source","duplicates":"collapse_identical","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Satellite target from stage: inserts a version where a key's content differs from its latest
-- version.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."member_no", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key: what they are compared by.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    sha256(UPPER(trim(s."member_no", ' '))) AS "member_hk",
    sha256(COALESCE(NULLIF(UPPER(trim(s."city", ' ')), ''), '^^') || '||' || COALESCE(NULLIF(UPPER(trim(s."full_name", ' ')), ''), '^^')) AS "hashdiff",
    s."load_ts",
    s."member_no" AS "key_part_1_"
FROM "stage" AS s
WHERE NULLIF(trim(s."member_no", ' '), '') IS NOT NULL;

-- Distinct keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."member_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- Staged keys with a row that is not their latest version; of the satellite only the versions of
-- staged keys are read.
CREATE OR REPLACE TEMP TABLE "candidates" AS
SELECT
    MIN(r."member_hk") AS "member_hk",
    MAX(r."latest_time_") AS "latest_time_",
    MAX(r."latest_content_") AS "latest_content_"
FROM (
    SELECT
        s."member_hk",
        l."latest_time_",
        l."latest_content_"
    FROM temp."staged" AS s
    LEFT JOIN (
        SELECT
            r."member_hk",
            max(r."latest_time_") AS "latest_time_",
            arg_max_null(r."latest_content_", r."latest_time_") AS "latest_content_"
        FROM (
            SELECT
                t."member_hk",
                t."load_ts" AS "latest_time_",
                t."hashdiff" AS "latest_content_"
            FROM "target" AS t
            WHERE EXISTS (
                SELECT
                    1 AS "one"
                FROM temp."staged" AS s
                WHERE t."member_hk" = s."member_hk"
            )
        ) AS r
        GROUP BY r."member_hk"
    ) AS l
        ON l."member_hk" = s."member_hk"
    WHERE (l."latest_time_" IS NULL
        OR s."hashdiff" IS DISTINCT FROM l."latest_content_"
        OR s."load_ts" < l."latest_time_")
) AS r
GROUP BY r."member_hk";

-- All staged rows of these keys; what is said twice for one load date counts once.
CREATE OR REPLACE TEMP TABLE "sequence" AS
SELECT
    r."member_hk",
    r."hashdiff",
    r."full_name",
    r."city",
    r."load_ts",
    r."record_source",
    r."key_part_1_",
    r."latest_time_",
    r."latest_content_"
FROM (
    SELECT
        s."member_hk",
        s."hashdiff",
        s."full_name",
        s."city",
        s."load_ts",
        s."record_source",
        s."key_part_1_",
        k."latest_time_",
        k."latest_content_",
        ROW_NUMBER() OVER (PARTITION BY s."member_hk", s."load_ts", s."hashdiff" ORDER BY s."member_hk", s."hashdiff", s."full_name", s."city", s."load_ts", s."record_source") AS "repeat_no_"
    FROM (
        SELECT
            sha256(UPPER(trim(s."member_no", ' '))) AS "member_hk",
            sha256(COALESCE(NULLIF(UPPER(trim(s."city", ' ')), ''), '^^') || '||' || COALESCE(NULLIF(UPPER(trim(s."full_name", ' ')), ''), '^^')) AS "hashdiff",
            s."full_name",
            s."city",
            s."load_ts",
            s."record_source",
            s."member_no" AS "key_part_1_"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."member_no", ' '), '') IS NOT NULL
          AND EXISTS (
            SELECT
                1 AS "one"
            FROM temp."staged" AS n
            INNER JOIN temp."candidates" AS k
                ON k."member_hk" = n."member_hk"
            WHERE n."key_part_1_" = s."member_no"
        )
    ) AS s
    INNER JOIN temp."candidates" AS k
        ON k."member_hk" = s."member_hk"
) AS r
WHERE r."repeat_no_" = 1;

-- The changes: rows whose content is not that of the version before them.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    r."member_hk",
    r."hashdiff",
    r."full_name",
    r."city",
    r."load_ts",
    r."record_source"
FROM (
    SELECT
        s."member_hk",
        s."hashdiff",
        s."full_name",
        s."city",
        s."load_ts",
        s."record_source",
        s."latest_content_",
        LAG(s."hashdiff") OVER (PARTITION BY s."member_hk" ORDER BY s."load_ts", s."hashdiff") AS "content_before_",
        ROW_NUMBER() OVER (PARTITION BY s."member_hk" ORDER BY s."load_ts", s."hashdiff") AS "position_"
    FROM temp."sequence" AS s
    WHERE (s."latest_time_" IS NULL OR s."load_ts" >= s."latest_time_")
      AND NOT EXISTS (
        SELECT
            1 AS "one"
        FROM "target" AS t
        WHERE t."member_hk" = s."member_hk"
          AND t."load_ts" = s."load_ts"
          AND t."hashdiff" IS NOT DISTINCT FROM s."hashdiff"
    )
) AS r
WHERE ((r."position_" = 1
    AND r."hashdiff" IS DISTINCT FROM r."latest_content_")
    OR (r."position_" > 1
        AND r."hashdiff" IS DISTINCT FROM r."content_before_"));

-- What will be inserted.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Keys with a new version.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."member_hk") AS BIGINT)
    FROM temp."changes" AS s
);

-- The ghost row, until it is there.
CREATE OR REPLACE TEMP TABLE "ghosts" AS
SELECT
    '0000000000000000000000000000000000000000000000000000000000000000' AS "member_hk",
    '0000000000000000000000000000000000000000000000000000000000000000' AS "hashdiff",
    CAST(NULL AS VARCHAR) AS "full_name",
    CAST(NULL AS VARCHAR) AS "city",
    CAST('1900-01-01 00:00:00' AS TIMESTAMP) AS "load_ts",
    'SYSTEM' AS "record_source"
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target" AS t
    WHERE t."member_hk" = '0000000000000000000000000000000000000000000000000000000000000000'
);

-- Ghost rows to add.
SET VARIABLE GhostRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."ghosts" AS c
);

-- Add the ghost rows that later joins rely on.
INSERT INTO "target" (
    "member_hk",
    "hashdiff",
    "full_name",
    "city",
    "load_ts",
    "record_source"
)
SELECT
    c."member_hk",
    c."hashdiff",
    c."full_name",
    c."city",
    c."load_ts",
    c."record_source"
FROM temp."ghosts" AS c;

-- Insert the versions.
INSERT INTO "target" (
    "member_hk",
    "hashdiff",
    "full_name",
    "city",
    "load_ts",
    "record_source"
)
SELECT
    c."member_hk",
    c."hashdiff",
    c."full_name",
    c."city",
    c."load_ts",
    c."record_source"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."candidates";
DROP TABLE temp."sequence";
DROP TABLE temp."changes";
DROP TABLE temp."ghosts";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewRows') + getvariable('GhostRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(NULL AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
