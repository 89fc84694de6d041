-- mergewright: {"format":1,"version":1,"pattern":"scd2_day","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"hard_deletes":"new_record","load":"full","max_inactivation_pct":100,"closing":"minus-3-ms","untracked":[],"key_compare":"exact","empty_as_null":false,"open_end":"4000-01-01 00:00:00","scope":[],"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["dept_no","eff_start"],"target_key":["dept_no"],"keys":["dept_no"],"compare":["dept_name","location"],"valid_from":"eff_start","valid_to":"eff_end","valid_from_source":"now","initial_valid_from":"1900-01-01 00:00:00","is_current":"current_yn","current_values":["Y","N"],"inactive_at":"source_inactive","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2 with one version per key and day: a version that began today is rewritten in place.

-- Parameters
-- BatchTime: time of the load (UTC).
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
SET VARIABLE MaxInactivationPct = CAST(100 AS DECIMAL(5,2));
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- A version that begins in this load starts today.
SET VARIABLE VersionStart = CAST(CAST(getvariable('BatchTime') AS DATE) AS TIMESTAMP);

-- Staged rows with a key; rows without one are skipped and counted.
SET VARIABLE measured = (
    SELECT
        {
            AcceptedRows: CAST(COALESCE(SUM(CASE WHEN s."dept_no" IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT),
            SkippedRows: CAST(COALESCE(SUM(CASE WHEN s."dept_no" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
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
            coalesce(nullif(trim(coalesce(left(CAST(MIN(s."dept_no") AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM (
            SELECT
                1 AS "is_staged",
                s."dept_no",
                s."dept_name",
                s."location"
            FROM "stage" AS s
            WHERE s."dept_no" IS NOT NULL
        ) AS s
        GROUP BY s."dept_no"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- An empty delivery inactivates nothing.
SET VARIABLE DetectsAbsence = CAST(CASE WHEN getvariable('AcceptedRows') > 0 THEN 1 ELSE 0 END AS INTEGER);

-- Keys without a current row that have been here before.
CREATE OR REPLACE TEMP TABLE "earlier" AS
SELECT
    1 AS "is_earlier",
    MIN(t."dept_no") AS "dept_no",
    MAX(t."eff_end") AS "previous_end"
FROM "target" AS t
WHERE EXISTS (
    SELECT
        1 AS "one"
    FROM (
        SELECT
            1 AS "is_staged",
            s."dept_no",
            s."dept_name",
            s."location"
        FROM "stage" AS s
        WHERE s."dept_no" IS NOT NULL
    ) AS s
    WHERE s."dept_no" = t."dept_no"
      AND NOT EXISTS (
        SELECT
            1 AS "one"
        FROM "target" AS o
        WHERE o."dept_no" = s."dept_no"
          AND o."eff_end" = CAST('4000-01-01 00:00:00' AS TIMESTAMP)
    )
)
  AND t."eff_end" <> CAST('4000-01-01 00:00:00' AS TIMESTAMP)
GROUP BY t."dept_no";

-- The changes: staged rows against the current row of their key, both ways.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    f."change_kind",
    f."stored_row",
    f."stored_from",
    f."dept_no",
    f."dept_name",
    f."location",
    f."source_inactive",
    f."eff_start",
    f."eff_end",
    f."current_yn",
    f."closed_to"
FROM (
    SELECT
        CASE
            WHEN s."is_staged" IS NULL
                AND t."source_inactive" IS NULL
                AND getvariable('DetectsAbsence') = 1
                AND CAST(t."eff_start" AS DATE) = CAST(getvariable('VersionStart') AS DATE)
                THEN 'absent today'
            WHEN s."is_staged" IS NULL AND t."source_inactive" IS NULL AND getvariable('DetectsAbsence') = 1 THEN 'absent'
            WHEN s."is_staged" IS NULL THEN NULL
            WHEN t."is_stored" IS NULL THEN 'new'
            WHEN CAST(t."eff_start" AS DATE) = CAST(getvariable('VersionStart') AS DATE)
                AND (t."source_inactive" IS NOT NULL
                    OR s."dept_name" IS DISTINCT FROM t."dept_name"
                    OR s."location" IS DISTINCT FROM t."location")
                THEN 'rewritten'
            WHEN t."source_inactive" IS NOT NULL
                OR s."dept_name" IS DISTINCT FROM t."dept_name"
                OR s."location" IS DISTINCT FROM t."location"
                THEN 'changed'
        END AS "change_kind",
        t."stored_row",
        t."eff_start" AS "stored_from",
        CASE WHEN s."is_staged" IS NOT NULL THEN s."dept_no" ELSE t."dept_no" END AS "dept_no",
        CASE WHEN s."is_staged" IS NOT NULL THEN s."dept_name" ELSE t."dept_name" END AS "dept_name",
        CASE WHEN s."is_staged" IS NOT NULL THEN s."location" ELSE t."location" END AS "location",
        CASE WHEN s."is_staged" IS NOT NULL THEN CAST(NULL AS TIMESTAMP) ELSE getvariable('VersionStart') END AS "source_inactive",
        CASE WHEN s."is_staged" IS NOT NULL AND t."is_stored" IS NULL AND e."is_earlier" IS NULL THEN CAST('1900-01-01 00:00:00' AS TIMESTAMP) ELSE getvariable('VersionStart') END AS "eff_start",
        CAST('4000-01-01 00:00:00' AS TIMESTAMP) AS "eff_end",
        'Y' AS "current_yn",
        CAST(getvariable('VersionStart') - INTERVAL 3 MILLISECONDS AS TIMESTAMP) AS "closed_to"
    FROM (
        SELECT
            1 AS "is_staged",
            s."dept_no",
            s."dept_name",
            s."location"
        FROM "stage" AS s
        WHERE s."dept_no" IS NOT NULL
    ) AS s
    FULL JOIN (
        SELECT
            1 AS "is_stored",
            t.rowid AS "stored_row",
            t."dept_no",
            t."dept_name",
            t."location",
            t."source_inactive",
            t."eff_start",
            t."eff_end",
            t."current_yn"
        FROM "target" AS t
        WHERE t."eff_end" = CAST('4000-01-01 00:00:00' AS TIMESTAMP)
    ) AS t
        ON s."dept_no" = t."dept_no"
    LEFT JOIN temp."earlier" AS e
        ON e."dept_no" = s."dept_no"
) AS f
WHERE f."change_kind" IS NOT NULL;

-- What will change.
SET VARIABLE measured = (
    SELECT
        {
            NewKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'new' THEN 1 ELSE 0 END), 0) AS BIGINT),
            ChangedKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'changed' THEN 1 ELSE 0 END), 0) AS BIGINT),
            RewrittenKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'rewritten' THEN 1 ELSE 0 END), 0) AS BIGINT),
            AbsentKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'absent' THEN 1 ELSE 0 END), 0) AS BIGINT),
            AbsentTodayKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'absent today' THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM temp."changes" AS c
);
SET VARIABLE NewKeys = getvariable('measured').NewKeys;
SET VARIABLE ChangedKeys = getvariable('measured').ChangedKeys;
SET VARIABLE RewrittenKeys = getvariable('measured').RewrittenKeys;
SET VARIABLE AbsentKeys = getvariable('measured').AbsentKeys;
SET VARIABLE AbsentTodayKeys = getvariable('measured').AbsentTodayKeys;

-- Open keys that this load speaks about.
SET VARIABLE OpenKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM "target" AS t
    WHERE t."eff_end" = CAST('4000-01-01 00:00:00' AS TIMESTAMP)
      AND t."source_inactive" IS NULL
);

-- More absent keys than the limit allows stop the load: the delivery may be cut.
SET VARIABLE guard = (
    SELECT CASE WHEN ((getvariable('AbsentKeys') + getvariable('AbsentTodayKeys')) * 100) > (getvariable('OpenKeys') * getvariable('MaxInactivationPct')) THEN error('inactivation_threshold: ' || coalesce(left(CAST(getvariable('AbsentKeys') + getvariable('AbsentTodayKeys') AS VARCHAR), 100), 'NULL')
    || ' of '
    || coalesce(left(CAST(getvariable('OpenKeys') AS VARCHAR), 100), 'NULL')
    || ' open keys are absent, more than the limit of '
    || coalesce(left(CAST(getvariable('MaxInactivationPct') AS VARCHAR), 100), 'NULL')
    || ' per cent') END
);

-- A version that would end at or before its own start stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('batch_time_not_after_current: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(nullif(trim(coalesce(left(CAST(c."dept_no" AS VARCHAR), 100), 'NULL'), ' '), ''), '(blank)') AS "offender"
        FROM temp."changes" AS c
        WHERE c."change_kind" IN ('changed', 'absent')
          AND c."eff_start" <= c."stored_from"
        LIMIT 5
    ) AS o
);

-- Close the current version of each key that has a next one or is gone.
UPDATE "target" AS t
SET
    "eff_end" = c."closed_to",
    "current_yn" = 'N'
FROM temp."changes" AS c
WHERE c."change_kind" IN ('changed', 'absent')
  AND t.rowid = c."stored_row";

-- A version that began today is rewritten in place.
UPDATE "target" AS t
SET
    "dept_name" = c."dept_name",
    "location" = c."location",
    "source_inactive" = c."source_inactive"
FROM temp."changes" AS c
WHERE c."change_kind" = 'rewritten'
  AND t.rowid = c."stored_row";

-- A version that began today and is gone bears its inactive date.
UPDATE "target" AS t
SET
    "source_inactive" = c."source_inactive"
FROM temp."changes" AS c
WHERE c."change_kind" = 'absent today'
  AND t.rowid = c."stored_row";

-- Open the next version: new and changed keys, and a marked copy for each key that is gone.
INSERT INTO "target" (
    "dept_no",
    "dept_name",
    "location",
    "source_inactive",
    "eff_start",
    "eff_end",
    "current_yn"
)
SELECT
    c."dept_no",
    c."dept_name",
    c."location",
    c."source_inactive",
    c."eff_start",
    c."eff_end",
    c."current_yn"
FROM temp."changes" AS c
WHERE c."change_kind" IN ('new', 'changed', 'absent');

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."earlier";
DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0
UNION ALL
SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message
WHERE getvariable('DetectsAbsence') = 0;

-- What changed.
SELECT
    CAST(getvariable('NewKeys') + getvariable('ChangedKeys') + getvariable('AbsentKeys') AS BIGINT) AS inserted,
    CAST(getvariable('RewrittenKeys') + getvariable('AbsentTodayKeys') AS BIGINT) AS updated,
    CAST(getvariable('ChangedKeys') + getvariable('AbsentKeys') AS BIGINT) AS expired,
    CAST(getvariable('AbsentKeys') + getvariable('AbsentTodayKeys') AS BIGINT) AS inactivated,
    CAST(0 AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') - getvariable('NewKeys') - getvariable('ChangedKeys') - getvariable('RewrittenKeys') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
