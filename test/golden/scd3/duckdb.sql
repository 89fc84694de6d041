-- mergewright: {"format":1,"version":1,"pattern":"scd3","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"on_empty_stage":"apply","max_inactivation_pct":100,"untracked":[],"key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id"],"target_key":["id"],"keys":["id"],"compare":["region"],"previous":{"region":"prev_region"},"changed_at":"changed_at","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 3: keeps the value before beside the current one.

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

-- A key that is staged more than once stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(MIN(s."id") AS VARCHAR), 100), 'NULL') AS "offender"
        FROM (
            SELECT
                1 AS "is_staged",
                s."id",
                s."region"
            FROM "stage" AS s
            WHERE s."id" IS NOT NULL
        ) AS s
        GROUP BY s."id"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- The changes: staged rows against the current row of their key.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    f."change_kind",
    f."stored_row",
    f."id",
    f."region",
    f."stored_region"
FROM (
    SELECT
        CASE
            WHEN t."is_stored" IS NULL THEN 'new'
            WHEN s."region" IS DISTINCT FROM t."region" THEN 'changed'
        END AS "change_kind",
        t."stored_row",
        s."id",
        s."region",
        t."region" AS "stored_region"
    FROM (
        SELECT
            1 AS "is_staged",
            s."id",
            s."region"
        FROM "stage" AS s
        WHERE s."id" IS NOT NULL
    ) AS s
    LEFT JOIN (
        SELECT
            1 AS "is_stored",
            t.rowid AS "stored_row",
            t."id",
            t."region",
            t."prev_region",
            t."changed_at"
        FROM "target" AS t
    ) AS t
        ON s."id" = t."id"
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

-- Move the former value aside and take the new one.
UPDATE "target" AS t
SET
    "prev_region" = CASE WHEN c."stored_region" IS DISTINCT FROM c."region" THEN c."stored_region" ELSE t."prev_region" END,
    "region" = c."region",
    "changed_at" = CAST(getvariable('BatchTime') AS TIMESTAMP)
FROM temp."changes" AS c
WHERE c."change_kind" = 'changed'
  AND t.rowid = c."stored_row";

-- Insert the new keys; they have no value before.
INSERT INTO "target" (
    "id",
    "region"
)
SELECT
    c."id",
    c."region"
FROM temp."changes" AS c
WHERE c."change_kind" = 'new';

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0;

-- What changed.
SELECT
    CAST(getvariable('NewKeys') AS BIGINT) AS inserted,
    CAST(getvariable('ChangedKeys') AS BIGINT) AS updated,
    CAST(0 AS BIGINT) AS expired,
    CAST(0 AS BIGINT) AS inactivated,
    CAST(0 AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('NewKeys') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
