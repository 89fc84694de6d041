-- mergewright: {"format":1,"version":1,"pattern":"inactivation","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"hard_deletes":"ignore","max_inactivation_pct":100,"untracked":[],"key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","with_load":true,"target_identity":["cust_no","valid_from"],"target_key":["cust_no"],"keys":["cust_no"],"compare":["cust_name","city"],"valid_from":"valid_from","valid_to":"valid_to","valid_from_source":"now","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2 load with deletes found by absence.

-- Parameters
-- BatchTime: time of the load (UTC).
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- A version that begins in this load starts at the load's clock.
SET VARIABLE VersionStart = CAST(getvariable('BatchTime') AS TIMESTAMP);

-- Staged rows with a key; rows without one are skipped and counted.
SET VARIABLE measured = (
    SELECT
        {
            AcceptedRows: CAST(COALESCE(SUM(CASE WHEN s."cust_no" IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT),
            SkippedRows: CAST(COALESCE(SUM(CASE WHEN s."cust_no" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM "stage" AS s
);
SET VARIABLE AcceptedRows = getvariable('measured').AcceptedRows;
SET VARIABLE SkippedRows = getvariable('measured').SkippedRows;

-- A key that is staged more than once stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(MIN(s."cust_no") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM (
            SELECT
                1 AS "is_staged",
                s."cust_no",
                s."cust_name",
                s."city"
            FROM "stage" AS s
            WHERE s."cust_no" IS NOT NULL
        ) AS s
        GROUP BY s."cust_no"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- The changes: staged rows against the current row of their key.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    f."change_kind",
    f."stored_row",
    f."stored_from",
    f."cust_no",
    f."cust_name",
    f."city",
    f."valid_from",
    f."valid_to",
    f."closed_to"
FROM (
    SELECT
        CASE
            WHEN t."is_stored" IS NULL THEN 'new'
            WHEN s."cust_name" IS DISTINCT FROM t."cust_name"
                OR s."city" IS DISTINCT FROM t."city"
                THEN 'changed'
        END AS "change_kind",
        t."stored_row",
        t."valid_from" AS "stored_from",
        s."cust_no",
        s."cust_name",
        s."city",
        getvariable('VersionStart') AS "valid_from",
        CAST(NULL AS TIMESTAMP) AS "valid_to",
        getvariable('VersionStart') AS "closed_to"
    FROM (
        SELECT
            1 AS "is_staged",
            s."cust_no",
            s."cust_name",
            s."city"
        FROM "stage" AS s
        WHERE s."cust_no" IS NOT NULL
    ) AS s
    LEFT JOIN (
        SELECT
            1 AS "is_stored",
            t.rowid AS "stored_row",
            t."cust_no",
            t."cust_name",
            t."city",
            t."valid_from"
        FROM "target" AS t
        WHERE t."valid_to" IS NULL
    ) AS t
        ON s."cust_no" = t."cust_no"
) AS f
WHERE f."change_kind" IS NOT NULL;

-- What will change.
SET VARIABLE measured = (
    SELECT
        {
            NewKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'new' THEN 1 ELSE 0 END), 0) AS BIGINT),
            ChangedKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'changed' THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM temp."changes" AS c
);
SET VARIABLE NewKeys = getvariable('measured').NewKeys;
SET VARIABLE ChangedKeys = getvariable('measured').ChangedKeys;

-- A version that would end at or before its own start stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('batch_time_not_after_current: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(c."cust_no" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."changes" AS c
        WHERE c."change_kind" = 'changed'
          AND c."valid_from" <= c."stored_from"
        LIMIT 5
    ) AS o
);

-- Close the current version of each key that has a next one or is gone.
UPDATE "target" AS t
SET
    "valid_to" = c."closed_to"
FROM temp."changes" AS c
WHERE c."change_kind" = 'changed'
  AND t.rowid = c."stored_row";

-- Open a version for each new and each changed key.
INSERT INTO "target" (
    "cust_no",
    "cust_name",
    "city",
    "valid_from",
    "valid_to"
)
SELECT
    c."cust_no",
    c."cust_name",
    c."city",
    c."valid_from",
    c."valid_to"
FROM temp."changes" AS c
WHERE c."change_kind" IN ('new', 'changed');

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewKeys') + getvariable('ChangedKeys') AS BIGINT) AS inserted,
    CAST(0 AS BIGINT) AS updated,
    CAST(getvariable('ChangedKeys') AS BIGINT) AS expired,
    CAST(0 AS BIGINT) AS inactivated,
    CAST(0 AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('NewKeys') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
