-- mergewright: {"format":1,"version":1,"pattern":"nh_link","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["tx_hk"],"target_key":["tx_hk"],"keys":["tx_no"],"not_null":["tx_no","cust"],"hash_key":{"tx_hk":["tx_no"],"cust_hk":["cust"]},"load_ts":"load_ts","record_source":"record_source","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Non-historised link target from stage: appends transactions that are not there yet.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."tx_no", ' '), '') IS NULL OR NULLIF(trim(s."cust", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    sha256(UPPER(trim(s."tx_no", ' '))) AS "tx_hk",
    sha256(UPPER(trim(s."cust", ' '))) AS "cust_hk",
    s."amount",
    s."load_ts",
    s."record_source",
    s."tx_no" AS "key_part_1_"
FROM "stage" AS s
WHERE NULLIF(trim(s."tx_no", ' '), '') IS NOT NULL
  AND NULLIF(trim(s."cust", ' '), '') IS NOT NULL;

-- Distinct transactions in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."tx_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- Rows of the transactions that the target does not have.
CREATE OR REPLACE TEMP TABLE "unknown" AS
SELECT
    s."tx_hk",
    s."cust_hk",
    s."amount",
    s."load_ts",
    s."record_source",
    s."key_part_1_"
FROM temp."staged" AS s
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target" AS t
    WHERE t."tx_hk" = s."tx_hk"
);

-- A key that is staged with different contents stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(MIN(s."key_part_1_") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM (
            SELECT
                r."tx_hk",
                r."cust_hk",
                r."amount",
                r."key_part_1_"
            FROM (
                SELECT
                    s."tx_hk",
                    s."cust_hk",
                    s."amount",
                    s."key_part_1_",
                    ROW_NUMBER() OVER (PARTITION BY s."tx_hk", s."cust_hk", s."amount" ORDER BY s."key_part_1_") AS "sighting"
                FROM (
                    SELECT
                        s."tx_hk",
                        s."cust_hk",
                        s."amount",
                        s."key_part_1_"
                    FROM (
                        SELECT
                            u."tx_hk",
                            u."cust_hk",
                            u."amount",
                            u."load_ts",
                            u."record_source",
                            u."key_part_1_",
                            MIN(u."load_ts") OVER (PARTITION BY u."tx_hk") AS "first_time"
                        FROM temp."unknown" AS u
                    ) AS s
                    WHERE s."load_ts" = s."first_time"
                ) AS s
            ) AS r
            WHERE r."sighting" = 1
        ) AS s
        GROUP BY s."tx_hk"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- One row of each: the first sighting.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    r."tx_hk",
    r."cust_hk",
    r."amount",
    r."load_ts",
    r."record_source"
FROM (
    SELECT
        s."tx_hk",
        s."cust_hk",
        s."amount",
        s."load_ts",
        s."record_source",
        ROW_NUMBER() OVER (PARTITION BY s."tx_hk" ORDER BY s."load_ts", s."record_source", s."amount") AS "sighting"
    FROM temp."unknown" AS s
) AS r
WHERE r."sighting" = 1;

-- What will be inserted.
SET VARIABLE NewKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Staged rows that contradict transactions that are stored already.
SET VARIABLE ContradictingRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."staged" AS s
    INNER JOIN "target" AS t
        ON t."tx_hk" = s."tx_hk"
    WHERE t."amount" IS DISTINCT FROM s."amount"
);

-- Insert the transactions seen for the first time.
INSERT INTO "target" (
    "tx_hk",
    "cust_hk",
    "amount",
    "load_ts",
    "record_source"
)
SELECT
    c."tx_hk",
    c."cust_hk",
    c."amount",
    c."load_ts",
    c."record_source"
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
SELECT 'stored_row_kept' AS warning_code, coalesce(left(CAST(getvariable('ContradictingRows') AS VARCHAR), 100), 'NULL') || ' staged rows contradict stored transactions, which are kept' AS message
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
