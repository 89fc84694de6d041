-- mergewright: {"format":1,"version":1,"pattern":"eff_satellite","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"same_ts_conflict":"insert_all","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":"9999-12-31 00:00:00","hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":true,"ignore_null_updates":false,"ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["link_hk","load_ts","end_ts"],"target_key":["link_hk"],"keys":["order_no","clerk"],"driving_key":["order_no"],"secondary_key":["clerk"],"hash_key":{"link_hk":["order_no","clerk"],"order_hk":["order_no"],"clerk_hk":["clerk"]},"effective_from":"eff_from","start":"start_ts","end":"end_ts","load_ts":"load_ts","record_source":"record_source","not_null":["order_no","clerk"],"duplicates":"collapse_identical","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Effectivity satellite target from stage: opens the delivered relationships of a driving key and
-- closes its others, by new rows only.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."order_no", ' '), '') IS NULL OR NULLIF(trim(s."clerk", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged relationships with all their keys; identical ones count once.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    r."link_hk",
    r."order_hk",
    r."clerk_hk",
    r."eff_from",
    r."load_ts",
    r."record_source",
    r."effective_time",
    r."key_part_1_",
    r."key_part_2_"
FROM (
    SELECT
        s."link_hk",
        s."order_hk",
        s."clerk_hk",
        s."eff_from",
        s."load_ts",
        s."record_source",
        s."effective_time",
        s."key_part_1_",
        s."key_part_2_",
        ROW_NUMBER() OVER (PARTITION BY s."link_hk", s."order_hk", s."clerk_hk", s."eff_from", s."load_ts", s."record_source", s."effective_time" ORDER BY s."key_part_1_", s."key_part_2_") AS "sighting"
    FROM (
        SELECT
            sha256(UPPER(trim(s."order_no", ' ')) || '||' || UPPER(trim(s."clerk", ' '))) AS "link_hk",
            sha256(UPPER(trim(s."order_no", ' '))) AS "order_hk",
            sha256(UPPER(trim(s."clerk", ' '))) AS "clerk_hk",
            s."eff_from",
            s."load_ts",
            s."record_source",
            s."eff_from" AS "effective_time",
            s."order_no" AS "key_part_1_",
            s."clerk" AS "key_part_2_"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."order_no", ' '), '') IS NOT NULL
          AND NULLIF(trim(s."clerk", ' '), '') IS NOT NULL
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- Distinct relationships in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."link_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- The newest stored row of each relationship of the staged driving keys.
CREATE OR REPLACE TEMP TABLE "stored" AS
SELECT
    n."link_hk",
    n."order_hk",
    n."clerk_hk",
    n."start_ts",
    n."end_ts",
    n."eff_from",
    n."load_ts",
    n."record_source",
    n."is_closed"
FROM (
    SELECT
        r."link_hk",
        arg_max_null(r."order_hk", (r."load_ts", r."is_closed")) AS "order_hk",
        arg_max_null(r."clerk_hk", (r."load_ts", r."is_closed")) AS "clerk_hk",
        arg_max_null(r."start_ts", (r."load_ts", r."is_closed")) AS "start_ts",
        arg_max_null(r."end_ts", (r."load_ts", r."is_closed")) AS "end_ts",
        arg_max_null(r."eff_from", (r."load_ts", r."is_closed")) AS "eff_from",
        arg_max_null(r."load_ts", (r."load_ts", r."is_closed")) AS "load_ts",
        arg_max_null(r."record_source", (r."load_ts", r."is_closed")) AS "record_source",
        arg_max_null(r."is_closed", (r."load_ts", r."is_closed")) AS "is_closed"
    FROM (
        SELECT
            t."link_hk",
            t."order_hk",
            t."clerk_hk",
            t."start_ts",
            t."end_ts",
            t."eff_from",
            t."load_ts",
            t."record_source",
            CASE WHEN t."end_ts" = CAST('9999-12-31 00:00:00' AS TIMESTAMP) THEN 0 ELSE 1 END AS "is_closed"
        FROM "target" AS t
        WHERE EXISTS (
            SELECT
                1 AS "one"
            FROM temp."staged" AS s
            WHERE t."order_hk" = s."order_hk"
        )
    ) AS r
    GROUP BY r."link_hk"
) AS n;

-- Deliveries: a driving key with a load time, the delivery before it, and the newest stored load
-- time. A delivery older than that is known already.
CREATE OR REPLACE TEMP TABLE "deliveries" AS
SELECT
    d."order_hk",
    d."load_ts",
    d."effective_time",
    n."newest_time",
    LAG(d."load_ts") OVER (PARTITION BY d."order_hk" ORDER BY d."load_ts") AS "previous_time"
FROM (
    SELECT
        MIN(s."order_hk") AS "order_hk",
        MIN(s."load_ts") AS "load_ts",
        MIN(s."effective_time") AS "effective_time"
    FROM temp."staged" AS s
    GROUP BY s."order_hk", s."load_ts"
) AS d
LEFT JOIN (
    SELECT
        MIN(o."order_hk") AS "order_hk",
        MAX(o."load_ts") AS "newest_time"
    FROM temp."stored" AS o
    GROUP BY o."order_hk"
) AS n
    ON n."order_hk" = d."order_hk"
WHERE (n."newest_time" IS NULL OR d."load_ts" >= n."newest_time");

-- A relationship that comes with a load time before the newest stored one of its driving key, and
-- is not stored, stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('late_row: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(s."key_part_1_" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') || '/' || coalesce(nullif(trim(coalesce(left(CAST(s."key_part_2_" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."staged" AS s
        INNER JOIN (
            SELECT
                MIN(o."order_hk") AS "order_hk",
                MAX(o."load_ts") AS "newest_time"
            FROM temp."stored" AS o
            GROUP BY o."order_hk"
        ) AS n
            ON n."order_hk" = s."order_hk"
        WHERE s."load_ts" < n."newest_time"
          AND NOT EXISTS (
            SELECT
                1 AS "one"
            FROM "target" AS t
            WHERE t."link_hk" = s."link_hk"
              AND t."load_ts" <= s."load_ts"
        )
        LIMIT 5
    ) AS o
);

-- Delivered relationships: whether each opens now, and the load time at which it was opened in this
-- run (NULL: it is stored).
CREATE OR REPLACE TEMP TABLE "delivered" AS
SELECT
    r."link_hk",
    r."order_hk",
    r."clerk_hk",
    r."eff_from",
    r."load_ts",
    r."record_source",
    r."effective_time",
    r."opens",
    COALESCE(CASE WHEN r."opens" = 1 THEN r."load_ts" END, MAX(CASE WHEN r."opens" = 1 THEN r."load_ts" END) OVER (PARTITION BY r."link_hk" ORDER BY r."load_ts" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS "opened_at"
FROM (
    SELECT
        s."link_hk",
        s."order_hk",
        s."clerk_hk",
        s."eff_from",
        s."load_ts",
        s."record_source",
        s."effective_time",
        CASE WHEN CASE WHEN d."previous_time" IS NULL THEN o."is_closed" ELSE CASE WHEN p."load_ts" IS NOT NULL THEN 0 END END IS NULL THEN 1 ELSE 0 END AS "opens"
    FROM temp."staged" AS s
    INNER JOIN temp."deliveries" AS d
        ON d."order_hk" = s."order_hk"
       AND d."load_ts" = s."load_ts"
    LEFT JOIN temp."stored" AS o
        ON o."link_hk" = s."link_hk"
       AND o."is_closed" = 0
    LEFT JOIN temp."staged" AS p
        ON p."link_hk" = s."link_hk"
       AND p."load_ts" = d."previous_time"
) AS r;

-- Rows to add: relationships that open, and a closing row for each that was open before and is not
-- delivered again.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    s."link_hk",
    s."order_hk",
    s."clerk_hk",
    s."effective_time" AS "start_ts",
    CAST('9999-12-31 00:00:00' AS TIMESTAMP) AS "end_ts",
    s."eff_from",
    s."load_ts",
    s."record_source"
FROM temp."delivered" AS s
WHERE s."opens" = 1
UNION ALL
SELECT
    o."link_hk",
    o."order_hk",
    o."clerk_hk",
    o."start_ts",
    d."effective_time" AS "end_ts",
    d."effective_time" AS "eff_from",
    d."load_ts",
    o."record_source"
FROM temp."deliveries" AS d
INNER JOIN temp."stored" AS o
    ON o."order_hk" = d."order_hk"
WHERE d."previous_time" IS NULL
  AND o."is_closed" = 0
  AND NOT EXISTS (
    SELECT
        1 AS "one"
    FROM temp."staged" AS s
    WHERE s."link_hk" = o."link_hk"
      AND s."load_ts" = d."load_ts"
)
UNION ALL
SELECT
    CASE WHEN p."opened_at" IS NULL THEN o."link_hk" ELSE b."link_hk" END AS "link_hk",
    CASE WHEN p."opened_at" IS NULL THEN o."order_hk" ELSE b."order_hk" END AS "order_hk",
    CASE WHEN p."opened_at" IS NULL THEN o."clerk_hk" ELSE b."clerk_hk" END AS "clerk_hk",
    CASE WHEN p."opened_at" IS NULL THEN o."start_ts" ELSE b."effective_time" END AS "start_ts",
    d."effective_time" AS "end_ts",
    d."effective_time" AS "eff_from",
    d."load_ts",
    CASE WHEN p."opened_at" IS NULL THEN o."record_source" ELSE b."record_source" END AS "record_source"
FROM temp."deliveries" AS d
INNER JOIN temp."delivered" AS p
    ON p."order_hk" = d."order_hk"
   AND p."load_ts" = d."previous_time"
LEFT JOIN temp."delivered" AS b
    ON b."link_hk" = p."link_hk"
   AND b."load_ts" = p."opened_at"
LEFT JOIN temp."stored" AS o
    ON o."link_hk" = p."link_hk"
   AND o."is_closed" = 0
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM temp."staged" AS s
    WHERE s."link_hk" = p."link_hk"
      AND s."load_ts" = d."load_ts"
);

-- What will be inserted.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Staged relationships among them.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."link_hk") AS BIGINT)
    FROM (
        SELECT
            x."link_hk"
        FROM temp."changes" AS x
        WHERE EXISTS (
            SELECT
                1 AS "one"
            FROM temp."staged" AS s
            WHERE s."link_hk" = x."link_hk"
        )
    ) AS s
);

-- Add the opening and closing rows.
INSERT INTO "target" (
    "link_hk",
    "order_hk",
    "clerk_hk",
    "start_ts",
    "end_ts",
    "eff_from",
    "load_ts",
    "record_source"
)
SELECT
    c."link_hk",
    c."order_hk",
    c."clerk_hk",
    c."start_ts",
    c."end_ts",
    c."eff_from",
    c."load_ts",
    c."record_source"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."stored";
DROP TABLE temp."deliveries";
DROP TABLE temp."delivered";
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
    CAST(getvariable('AcceptedRows') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
