-- mergewright: {"format":1,"version":1,"pattern":"status_tracking_satellite","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"max_inactivation_pct":100,"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["acct_hk","load_ts"],"target_key":["acct_hk"],"keys":["acct_no"],"hash_key":{"acct_hk":["acct_no"]},"status_column":"is_active","load_ts":"load_ts","record_source":"record_source","system_source":"SYSTEM","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Status of the keys of stage in target: a row when a key appears, vanishes or comes back. Each
-- load time in the stage is a full load of its own.

-- Parameters
-- MaxInactivationPct: highest share of the living keys, in per cent, that one run may find
-- vanished.
SET VARIABLE MaxInactivationPct = CAST(100 AS DECIMAL(5,2));
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."acct_no", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key; identical ones count once.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    r."acct_hk",
    r."load_ts",
    r."record_source",
    r."key_part_1_"
FROM (
    SELECT
        s."acct_hk",
        s."load_ts",
        s."record_source",
        s."key_part_1_",
        ROW_NUMBER() OVER (PARTITION BY s."acct_hk", s."load_ts", s."record_source" ORDER BY s."key_part_1_") AS "sighting"
    FROM (
        SELECT
            sha256(UPPER(trim(s."acct_no", ' '))) AS "acct_hk",
            s."load_ts",
            s."record_source",
            s."acct_no" AS "key_part_1_"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."acct_no", ' '), '') IS NOT NULL
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- Distinct keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."acct_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- The newest stored row of each key.
CREATE OR REPLACE TEMP TABLE "stored" AS
SELECT
    n."acct_hk",
    n."load_ts",
    n."is_dead"
FROM (
    SELECT
        r."acct_hk",
        max(r."load_ts") AS "load_ts",
        arg_max_null(r."is_dead", r."load_ts") AS "is_dead"
    FROM (
        SELECT
            t."acct_hk",
            t."load_ts",
            CASE WHEN t."is_active" = CAST('0' AS INTEGER) THEN 1 ELSE 0 END AS "is_dead"
        FROM "target" AS t
    ) AS r
    GROUP BY r."acct_hk"
) AS n;

-- A key that comes with a load time before all of its stored ones stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('late_row: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(s."key_part_1_" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."staged" AS s
        INNER JOIN temp."stored" AS o
            ON o."acct_hk" = s."acct_hk"
        WHERE s."load_ts" < o."load_ts"
          AND NOT EXISTS (
            SELECT
                1 AS "one"
            FROM "target" AS t
            WHERE t."acct_hk" = s."acct_hk"
              AND t."load_ts" <= s."load_ts"
        )
        LIMIT 5
    ) AS o
);

-- The load times in the stage, each with the one before it.
CREATE OR REPLACE TEMP TABLE "times" AS
SELECT
    w."load_ts",
    LAG(w."load_ts") OVER (ORDER BY w."load_ts") AS "previous_time"
FROM (
    SELECT
        s."load_ts"
    FROM temp."staged" AS s
    WHERE s."load_ts" IS NOT NULL
    GROUP BY s."load_ts"
) AS w;

-- One row per key and load time, with the delivery of the key before it.
CREATE OR REPLACE TEMP TABLE "delivered" AS
SELECT
    d."acct_hk",
    d."load_ts",
    d."record_source",
    LAG(d."load_ts") OVER (PARTITION BY d."acct_hk" ORDER BY d."load_ts") AS "delivered_before"
FROM (
    SELECT
        r."acct_hk",
        r."load_ts",
        r."record_source"
    FROM (
        SELECT
            s."acct_hk",
            s."load_ts",
            s."record_source",
            ROW_NUMBER() OVER (PARTITION BY s."acct_hk", s."load_ts" ORDER BY s."load_ts", s."record_source") AS "sighting"
        FROM temp."staged" AS s
    ) AS r
    WHERE r."sighting" = 1
) AS d;

-- Rows to add for keys that are new, back or changed.
CREATE OR REPLACE TEMP TABLE "arrivals" AS
SELECT
    s."acct_hk",
    s."load_ts",
    s."record_source"
FROM temp."delivered" AS s
INNER JOIN temp."times" AS w
    ON w."load_ts" = s."load_ts"
LEFT JOIN temp."stored" AS o
    ON o."acct_hk" = s."acct_hk"
WHERE (o."load_ts" IS NULL OR s."load_ts" >= o."load_ts")
  AND CASE
    WHEN s."delivered_before" IS NOT NULL AND (o."load_ts" IS NULL OR s."delivered_before" >= o."load_ts") AND s."delivered_before" = w."previous_time" THEN 0
    WHEN w."previous_time" IS NOT NULL AND (o."load_ts" IS NULL OR w."previous_time" >= o."load_ts") THEN 1
    ELSE CASE WHEN o."load_ts" IS NULL OR o."is_dead" = 1 THEN 1 ELSE 0 END
END = 1;

-- A row for each key that a full load does not bring any more.
CREATE OR REPLACE TEMP TABLE "departures" AS
SELECT
    o."acct_hk",
    w."load_ts",
    'SYSTEM' AS "record_source"
FROM temp."stored" AS o
INNER JOIN temp."times" AS w
    ON w."load_ts" >= o."load_ts"
   AND (w."previous_time" IS NULL OR w."previous_time" < o."load_ts")
WHERE o."is_dead" = 0
  AND NOT EXISTS (
    SELECT
        1 AS "one"
    FROM temp."delivered" AS s
    WHERE s."acct_hk" = o."acct_hk"
      AND s."load_ts" = w."load_ts"
)
UNION ALL
SELECT
    p."acct_hk",
    w."load_ts",
    'SYSTEM' AS "record_source"
FROM temp."delivered" AS p
INNER JOIN temp."times" AS w
    ON w."previous_time" = p."load_ts"
LEFT JOIN temp."stored" AS o
    ON o."acct_hk" = p."acct_hk"
WHERE (o."load_ts" IS NULL OR p."load_ts" >= o."load_ts")
  AND NOT EXISTS (
    SELECT
        1 AS "one"
    FROM temp."delivered" AS s
    WHERE s."acct_hk" = p."acct_hk"
      AND s."load_ts" = w."load_ts"
);

-- Rows for keys that are new, back or changed.
SET VARIABLE ArrivedRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."arrivals" AS c
);

-- Rows for keys that vanished.
SET VARIABLE DepartedRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."departures" AS c
);

-- Keys that vanished.
SET VARIABLE VanishedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."acct_hk") AS BIGINT)
    FROM temp."departures" AS s
);

-- Keys that are stored as living.
SET VARIABLE LivingKeys = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN o."is_dead" = 0 THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM temp."stored" AS o
);

-- More vanished keys than the limit allows stop the load: the delivery may be cut.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('inactivation_threshold: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(g."keys" AS VARCHAR), 100), 'NULL')
                || ' of '
                || coalesce(left(CAST(CASE WHEN w."previous_time" IS NULL THEN getvariable('LivingKeys') ELSE b."keys" END AS VARCHAR), 100), 'NULL')
                || ' living keys vanished at '
                || coalesce(left(CAST(w."load_ts" AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."times" AS w
        INNER JOIN (
            SELECT
                r."load_ts",
                COUNT(*) AS "keys"
            FROM temp."departures" AS r
            GROUP BY r."load_ts"
        ) AS g
            ON g."load_ts" = w."load_ts"
        LEFT JOIN (
            SELECT
                r."load_ts",
                COUNT(*) AS "keys"
            FROM temp."delivered" AS r
            GROUP BY r."load_ts"
        ) AS b
            ON b."load_ts" = w."previous_time"
        WHERE (g."keys" * 100) > (CASE WHEN w."previous_time" IS NULL THEN getvariable('LivingKeys') ELSE b."keys" END * getvariable('MaxInactivationPct'))
        LIMIT 5
    ) AS o
);

-- Staged keys for which something is written.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."acct_hk") AS BIGINT)
    FROM (
        SELECT
            y."acct_hk"
        FROM (
            SELECT
                x."acct_hk"
            FROM temp."arrivals" AS x
            UNION ALL
            SELECT
                x."acct_hk"
            FROM temp."departures" AS x
            WHERE EXISTS (
                SELECT
                    1 AS "one"
                FROM temp."staged" AS s
                WHERE s."acct_hk" = x."acct_hk"
            )
        ) AS y
    ) AS s
);

-- Add the keys that are new, back or changed as present.
INSERT INTO "target" (
    "acct_hk",
    "load_ts",
    "record_source",
    "is_active"
)
SELECT
    c."acct_hk",
    c."load_ts",
    c."record_source",
    CAST('1' AS INTEGER) AS "is_active"
FROM temp."arrivals" AS c;

-- Add the keys that vanished as gone.
INSERT INTO "target" (
    "acct_hk",
    "load_ts",
    "record_source",
    "is_active"
)
SELECT
    c."acct_hk",
    c."load_ts",
    c."record_source",
    CAST('0' AS INTEGER) AS "is_active"
FROM temp."departures" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."stored";
DROP TABLE temp."times";
DROP TABLE temp."delivered";
DROP TABLE temp."arrivals";
DROP TABLE temp."departures";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0
UNION ALL
SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message
WHERE getvariable('AcceptedRows') = 0;

-- What changed.
SELECT
    CAST(getvariable('ArrivedRows') + getvariable('DepartedRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(getvariable('VanishedKeys') AS BIGINT) AS inactivated,
    CAST(NULL AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
