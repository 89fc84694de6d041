-- mergewright: {"format":1,"version":1,"pattern":"ma_satellite","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"same_ts_conflict":"insert_all","untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","load_ts","phone"],"target_key":["cust_hk"],"keys":["cust_no"],"hash_key":{"cust_hk":["cust_no"]},"cdk":["phone"],"hashdiff":{"hashdiff":["label","phone"]},"load_ts":"load_ts","record_source":"record_source","not_null":["cust_no","phone"],"hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":true,"case":"upper","empty_as_null":true,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Multi-active satellite target from stage: writes the whole set of a key when any of its rows was
-- added, removed or changed.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN NULLIF(trim(s."cust_no", ' '), '') IS NULL OR NULLIF(trim(s."phone", ' '), '') IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "stage" AS s
);

-- Staged rows with a key; identical ones count once.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    r."cust_hk",
    r."phone",
    r."hashdiff",
    r."label",
    r."load_ts",
    r."record_source",
    r."key_part_1_"
FROM (
    SELECT
        s."cust_hk",
        s."phone",
        s."hashdiff",
        s."label",
        s."load_ts",
        s."record_source",
        s."key_part_1_",
        ROW_NUMBER() OVER (PARTITION BY s."cust_hk", s."phone", s."hashdiff", s."label", s."load_ts", s."record_source" ORDER BY s."key_part_1_") AS "sighting"
    FROM (
        SELECT
            sha256(UPPER(trim(s."cust_no", ' '))) AS "cust_hk",
            s."phone",
            sha256(COALESCE(NULLIF(UPPER(trim(s."label", ' ')), ''), '^^') || '||' || COALESCE(NULLIF(UPPER(trim(s."phone", ' ')), ''), '^^')) AS "hashdiff",
            s."label",
            s."load_ts",
            s."record_source",
            s."cust_no" AS "key_part_1_"
        FROM "stage" AS s
        WHERE NULLIF(trim(s."cust_no", ' '), '') IS NOT NULL
          AND NULLIF(trim(s."phone", ' '), '') IS NOT NULL
    ) AS s
) AS r
WHERE r."sighting" = 1;

-- A dependent child key that is staged twice in one set stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(coalesce(nullif(trim(coalesce(left(CAST(MIN(s."key_part_1_") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') || '/' || coalesce(nullif(trim(coalesce(left(CAST(MIN(s."phone") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."staged" AS s
        GROUP BY s."cust_hk", s."load_ts", s."phone"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- Distinct keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."cust_hk") AS BIGINT)
    FROM temp."staged" AS s
);

-- The newest stored load time of each staged key.
CREATE OR REPLACE TEMP TABLE "newest" AS
SELECT
    MIN(t."cust_hk") AS "cust_hk",
    MAX(t."load_ts") AS "newest_time"
FROM "target" AS t
WHERE EXISTS (
    SELECT
        1 AS "one"
    FROM temp."staged" AS s
    WHERE t."cust_hk" = s."cust_hk"
)
GROUP BY t."cust_hk";

-- Sets older than the newest stored one of their key, with the load time of the set that was in
-- force then.
CREATE OR REPLACE TEMP TABLE "late" AS
SELECT
    MIN(z."cust_hk") AS "cust_hk",
    MIN(z."load_ts") AS "load_ts",
    MIN(z."members") AS "members",
    MAX(t."load_ts") AS "in_force"
FROM (
    SELECT
        MIN(s."cust_hk") AS "cust_hk",
        MIN(s."load_ts") AS "load_ts",
        COUNT(*) AS "members"
    FROM temp."staged" AS s
    INNER JOIN temp."newest" AS n
        ON n."cust_hk" = s."cust_hk"
    WHERE s."load_ts" < n."newest_time"
    GROUP BY s."cust_hk", s."load_ts"
) AS z
LEFT JOIN "target" AS t
    ON t."cust_hk" = z."cust_hk"
   AND t."load_ts" <= z."load_ts"
GROUP BY z."cust_hk", z."load_ts";

-- A late set that is not the one in force at its load time stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('late_row: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(s."key_part_1_" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."staged" AS s
        INNER JOIN temp."late" AS l
            ON l."cust_hk" = s."cust_hk"
           AND l."load_ts" = s."load_ts"
        LEFT JOIN (
            SELECT
                MIN(u."cust_hk") AS "cust_hk",
                MIN(u."load_ts") AS "load_ts",
                COUNT(*) AS "members"
            FROM "target" AS u
            WHERE EXISTS (
                SELECT
                    1 AS "one"
                FROM temp."late" AS l
                WHERE u."cust_hk" = l."cust_hk"
            )
            GROUP BY u."cust_hk", u."load_ts"
        ) AS k
            ON k."cust_hk" = l."cust_hk"
           AND k."load_ts" = l."in_force"
        WHERE (k."members" IS NULL
            OR k."members" <> l."members"
            OR NOT EXISTS (
                SELECT
                    1 AS "one"
                FROM "target" AS t
                WHERE t."cust_hk" = s."cust_hk"
                  AND t."load_ts" = l."in_force"
                  AND t."phone" IS NOT DISTINCT FROM s."phone"
                  AND t."hashdiff" = s."hashdiff"
            ))
        LIMIT 5
    ) AS o
);

-- Members of the newest stored set of each staged key, and of the sets staged after it.
CREATE OR REPLACE TEMP TABLE "members" AS
SELECT
    1 AS "is_stored",
    t."cust_hk",
    t."load_ts",
    t."phone",
    t."hashdiff"
FROM "target" AS t
INNER JOIN temp."newest" AS n
    ON t."cust_hk" = n."cust_hk"
   AND t."load_ts" = n."newest_time"
UNION ALL
SELECT
    0 AS "is_stored",
    s."cust_hk",
    s."load_ts",
    s."phone",
    s."hashdiff"
FROM temp."staged" AS s
LEFT JOIN temp."newest" AS n
    ON n."cust_hk" = s."cust_hk"
WHERE (n."newest_time" IS NULL OR s."load_ts" >= n."newest_time");

-- Each set with the set before it.
CREATE OR REPLACE TEMP TABLE "sets" AS
SELECT
    g."cust_hk",
    g."load_ts",
    g."is_stored",
    g."members",
    LAG(g."load_ts") OVER (PARTITION BY g."cust_hk" ORDER BY g."load_ts", g."is_stored" DESC) AS "previous_time",
    LAG(g."is_stored") OVER (PARTITION BY g."cust_hk" ORDER BY g."load_ts", g."is_stored" DESC) AS "previous_stored",
    LAG(g."members") OVER (PARTITION BY g."cust_hk" ORDER BY g."load_ts", g."is_stored" DESC) AS "previous_members"
FROM (
    SELECT
        MIN(m."cust_hk") AS "cust_hk",
        MIN(m."load_ts") AS "load_ts",
        MIN(m."is_stored") AS "is_stored",
        COUNT(*) AS "members"
    FROM temp."members" AS m
    GROUP BY m."cust_hk", m."load_ts", m."is_stored"
) AS g;

-- Staged sets that are not the same as the set before: another size, or a member without a twin.
CREATE OR REPLACE TEMP TABLE "changed_sets" AS
SELECT
    MIN(x."cust_hk") AS "cust_hk",
    MIN(x."load_ts") AS "load_ts"
FROM temp."sets" AS x
INNER JOIN temp."members" AS m
    ON m."cust_hk" = x."cust_hk"
   AND m."load_ts" = x."load_ts"
   AND m."is_stored" = x."is_stored"
LEFT JOIN temp."members" AS p
    ON p."cust_hk" = x."cust_hk"
   AND p."load_ts" = x."previous_time"
   AND p."is_stored" = x."previous_stored"
   AND p."phone" IS NOT DISTINCT FROM m."phone"
   AND p."hashdiff" = m."hashdiff"
WHERE x."is_stored" = 0
GROUP BY x."cust_hk", x."load_ts"
HAVING (MIN(x."previous_members") IS NULL OR MIN(x."members") <> MIN(x."previous_members") OR COUNT(p."is_stored") < MIN(x."members"));

-- All rows of the sets that changed.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    s."cust_hk",
    s."phone",
    s."hashdiff",
    s."label",
    s."load_ts",
    s."record_source"
FROM temp."staged" AS s
INNER JOIN temp."changed_sets" AS x
    ON s."cust_hk" = x."cust_hk"
   AND s."load_ts" = x."load_ts";

-- What will be inserted.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Keys whose set changed.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."cust_hk") AS BIGINT)
    FROM temp."changes" AS s
);

-- Insert the sets that changed.
INSERT INTO "target" (
    "cust_hk",
    "phone",
    "hashdiff",
    "label",
    "load_ts",
    "record_source"
)
SELECT
    c."cust_hk",
    c."phone",
    c."hashdiff",
    c."label",
    c."load_ts",
    c."record_source"
FROM temp."changes" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."newest";
DROP TABLE temp."late";
DROP TABLE temp."members";
DROP TABLE temp."sets";
DROP TABLE temp."changed_sets";
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
