-- mergewright: {"format":1,"version":1,"pattern":"persistent_staging","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"on_empty_stage":"apply","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id","load_ts","row_no"],"target_key":["id"],"keys":["id"],"compare":["name"],"op_column":"op","load_ts":"load_ts","order_within_batch":["row_no"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Persistent staging: appends a row for each real change of a key.

-- Parameters
-- BatchTime: time of the load (UTC).
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Staged rows with a key; rows without one are skipped and counted.
SET VARIABLE measured = (
    SELECT
        {
            AcceptedRows: CAST(COALESCE(SUM(CASE WHEN s."id" IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT),
            SkippedRows: CAST(COALESCE(SUM(CASE WHEN s."id" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM "stage" AS s
);
SET VARIABLE AcceptedRows = getvariable('measured').AcceptedRows;
SET VARIABLE SkippedRows = getvariable('measured').SkippedRows;

-- Staged rows in the order of their key.
CREATE OR REPLACE TEMP TABLE "sequence" AS
SELECT
    s."id",
    s."name",
    s."op",
    s."load_ts",
    s."row_no",
    ROW_NUMBER() OVER (PARTITION BY s."id" ORDER BY s."row_no") AS "position"
FROM (
    SELECT
        s."id",
        s."name",
        s."op",
        CAST(getvariable('BatchTime') AS TIMESTAMP) AS "load_ts",
        s."row_no"
    FROM "stage" AS s
    WHERE s."id" IS NOT NULL
) AS s;

-- Distinct keys in the stage.
SET VARIABLE StagedKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM (
        SELECT
            COUNT(*) AS "rows"
        FROM temp."sequence" AS s
        GROUP BY s."id"
    ) AS k
);

-- The newest stored row of each staged key.
CREATE OR REPLACE TEMP TABLE "newest" AS
SELECT
    n."is_stored_",
    n."id",
    n."name",
    n."op",
    n."load_ts",
    n."row_no"
FROM (
    SELECT
        arg_max_null(r."is_stored_", (r."load_ts", r."row_no")) AS "is_stored_",
        r."compared_key_1",
        arg_max_null(r."id", (r."load_ts", r."row_no")) AS "id",
        arg_max_null(r."name", (r."load_ts", r."row_no")) AS "name",
        arg_max_null(r."op", (r."load_ts", r."row_no")) AS "op",
        arg_max_null(r."load_ts", (r."load_ts", r."row_no")) AS "load_ts",
        arg_max_null(r."row_no", (r."load_ts", r."row_no")) AS "row_no"
    FROM (
        SELECT
            1 AS "is_stored_",
            t."id" AS "compared_key_1",
            t."id",
            t."name",
            t."op",
            t."load_ts",
            t."row_no"
        FROM "target" AS t
        WHERE EXISTS (
            SELECT
                1 AS "one"
            FROM temp."sequence" AS s
            WHERE s."id" = t."id"
        )
    ) AS r
    GROUP BY r."compared_key_1"
) AS n;

-- The changes: rows that differ from the row before them.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    0 AS "is_absent_",
    s."id",
    s."name",
    s."op",
    s."load_ts",
    s."row_no"
FROM temp."sequence" AS s
LEFT JOIN temp."sequence" AS p
    ON p."id" = s."id"
   AND p."position" = (s."position" - 1)
LEFT JOIN temp."newest" AS n
    ON n."id" = s."id"
   AND s."position" = 1
WHERE ((s."position" = 1
    AND (n."is_stored_" IS NULL
        OR s."name" IS DISTINCT FROM n."name"
        OR s."op" IS DISTINCT FROM n."op"))
    OR (s."position" > 1
        AND (s."name" IS DISTINCT FROM p."name"
            OR s."op" IS DISTINCT FROM p."op")));

-- What will be appended.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Staged keys with a new row.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM (
        SELECT
            COUNT(*) AS "rows"
        FROM temp."changes" AS c
        WHERE c."is_absent_" = 0
        GROUP BY c."id"
    ) AS k
);

-- Append the changes.
INSERT INTO "target" (
    "id",
    "name",
    "op",
    "load_ts",
    "row_no"
)
SELECT
    c."id",
    c."name",
    c."op",
    c."load_ts",
    c."row_no"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."sequence";
DROP TABLE temp."newest";
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
    CAST(getvariable('StagedKeys') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
