-- mergewright: {"format":1,"version":1,"pattern":"inactivation","source":{"database":null,"schema":"stg","table":"Department"},"target":{"database":null,"schema":"ps","table":"Department"},"platform":"duckdb","form":"script","shape":"merge","options":{"hard_deletes":"new_record","keys":["DepartmentID"],"target_key":["DepartmentID"],"target_identity":["DepartmentID","EffectiveStartDT"],"compare":["DepartmentName","Location"],"valid_from":"EffectiveStartDT","valid_to":"EffectiveExpireDT","is_current":"CurrentRowYN","current_values":["Y","N"],"inactive_at":"SourceInactiveDT","inserted_at":"PSInsertDT","initial_valid_from":"1900-01-01 00:00:00","open_end":"4000-01-01 00:00:00","grain":"day","closing":"minus-3-ms"}}
-- Finds keys that the source no longer delivers.

-- Parameters
-- BatchTime: time of the load (UTC).
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
SET VARIABLE MaxInactivationPct = CAST(20 AS DECIMAL(5,2));
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "ps"."Department_load_is_running" (one INTEGER);

-- A version that begins in this load starts today.
SET VARIABLE VersionStart = CAST(CAST(getvariable('BatchTime') AS DATE) AS TIMESTAMP);

-- Staged rows with a key; rows without one are skipped and counted.
SET VARIABLE measured = (
    SELECT
        {
            AcceptedRows: CAST(COALESCE(SUM(CASE WHEN s."DepartmentID" IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT),
            SkippedRows: CAST(COALESCE(SUM(CASE WHEN s."DepartmentID" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM "stg"."Department" AS s
);
SET VARIABLE AcceptedRows = getvariable('measured').AcceptedRows;
SET VARIABLE SkippedRows = getvariable('measured').SkippedRows;

-- A key that is staged more than once stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('duplicate_key: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(MIN(s."DepartmentID") AS VARCHAR), 100), 'NULL') AS "offender"
        FROM (
            SELECT
                1 AS "is_staged",
                s."DepartmentID",
                s."DepartmentName",
                s."Location"
            FROM "stg"."Department" AS s
            WHERE s."DepartmentID" IS NOT NULL
        ) AS s
        GROUP BY s."DepartmentID"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- An empty delivery inactivates nothing.
SET VARIABLE DetectsAbsence = CAST(CASE WHEN getvariable('AcceptedRows') > 0 THEN 1 ELSE 0 END AS INTEGER);

-- The changes: staged rows against the current row of their key, both ways.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    f."change_kind",
    f."stored_row",
    f."stored_from",
    f."DepartmentID",
    f."DepartmentName",
    f."Location",
    f."SourceInactiveDT",
    f."EffectiveStartDT",
    f."EffectiveExpireDT",
    f."CurrentRowYN",
    f."PSInsertDT",
    f."CheckSum",
    f."closed_to"
FROM (
    SELECT
        CASE
            WHEN s."is_staged" IS NULL
                AND t."SourceInactiveDT" IS NULL
                AND getvariable('DetectsAbsence') = 1
                AND CAST(t."EffectiveStartDT" AS DATE) = CAST(getvariable('VersionStart') AS DATE)
                THEN 'absent today'
            WHEN s."is_staged" IS NULL AND t."SourceInactiveDT" IS NULL AND getvariable('DetectsAbsence') = 1 THEN 'absent'
        END AS "change_kind",
        t."stored_row",
        t."EffectiveStartDT" AS "stored_from",
        t."DepartmentID",
        t."DepartmentName",
        t."Location",
        getvariable('VersionStart') AS "SourceInactiveDT",
        getvariable('VersionStart') AS "EffectiveStartDT",
        CAST('4000-01-01 00:00:00' AS TIMESTAMP) AS "EffectiveExpireDT",
        'Y' AS "CurrentRowYN",
        CAST(getvariable('BatchTime') AS TIMESTAMP) AS "PSInsertDT",
        t."CheckSum",
        CAST(getvariable('VersionStart') - INTERVAL 3 MILLISECONDS AS TIMESTAMP) AS "closed_to"
    FROM (
        SELECT
            1 AS "is_stored",
            t.rowid AS "stored_row",
            t."DepartmentID",
            t."DepartmentName",
            t."Location",
            t."SourceInactiveDT",
            t."EffectiveStartDT",
            t."EffectiveExpireDT",
            t."CurrentRowYN",
            t."PSInsertDT",
            t."CheckSum"
        FROM "ps"."Department" AS t
        WHERE t."EffectiveExpireDT" = CAST('4000-01-01 00:00:00' AS TIMESTAMP)
    ) AS t
    LEFT JOIN (
        SELECT
            1 AS "is_staged",
            s."DepartmentID",
            s."DepartmentName",
            s."Location"
        FROM "stg"."Department" AS s
        WHERE s."DepartmentID" IS NOT NULL
    ) AS s
        ON s."DepartmentID" = t."DepartmentID"
) AS f
WHERE f."change_kind" IS NOT NULL;

-- What will change.
SET VARIABLE measured = (
    SELECT
        {
            AbsentKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'absent' THEN 1 ELSE 0 END), 0) AS BIGINT),
            AbsentTodayKeys: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'absent today' THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM temp."changes" AS c
);
SET VARIABLE AbsentKeys = getvariable('measured').AbsentKeys;
SET VARIABLE AbsentTodayKeys = getvariable('measured').AbsentTodayKeys;

-- Open keys that this load speaks about.
SET VARIABLE OpenKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM "ps"."Department" AS t
    WHERE t."EffectiveExpireDT" = CAST('4000-01-01 00:00:00' AS TIMESTAMP)
      AND t."SourceInactiveDT" IS NULL
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
            coalesce(left(CAST(c."DepartmentID" AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."changes" AS c
        WHERE c."change_kind" = 'absent'
          AND c."EffectiveStartDT" <= c."stored_from"
        LIMIT 5
    ) AS o
);

-- Close the current version of each key that has a next one or is gone. A version that began today
-- and is gone bears its inactive date. Open a marked copy for each key that is gone.
MERGE INTO "ps"."Department" AS t
USING (
    SELECT
        c."stored_row",
        c."change_kind",
        c."closed_to",
        c."SourceInactiveDT",
        c."DepartmentID",
        c."DepartmentName",
        c."Location",
        c."EffectiveStartDT",
        c."EffectiveExpireDT",
        c."CurrentRowYN",
        c."PSInsertDT",
        c."CheckSum"
    FROM temp."changes" AS c
    WHERE (c."change_kind" = 'absent' OR c."change_kind" = 'absent today')
    UNION ALL
    SELECT
        CAST(NULL AS BIGINT) AS "stored_row",
        c."change_kind",
        c."closed_to",
        c."SourceInactiveDT",
        c."DepartmentID",
        c."DepartmentName",
        c."Location",
        c."EffectiveStartDT",
        c."EffectiveExpireDT",
        c."CurrentRowYN",
        c."PSInsertDT",
        c."CheckSum"
    FROM temp."changes" AS c
    WHERE c."change_kind" = 'absent'
) AS c
    ON t.rowid = c."stored_row"
WHEN MATCHED THEN
    UPDATE SET
        "EffectiveExpireDT" = CASE WHEN c."change_kind" = 'absent' THEN c."closed_to" ELSE t."EffectiveExpireDT" END,
        "CurrentRowYN" = CASE WHEN c."change_kind" = 'absent' THEN 'N' ELSE t."CurrentRowYN" END,
        "SourceInactiveDT" = CASE WHEN c."change_kind" = 'absent today' THEN c."SourceInactiveDT" ELSE t."SourceInactiveDT" END
WHEN NOT MATCHED THEN
    INSERT (
        "DepartmentID",
        "DepartmentName",
        "Location",
        "SourceInactiveDT",
        "EffectiveStartDT",
        "EffectiveExpireDT",
        "CurrentRowYN",
        "PSInsertDT",
        "CheckSum"
    )
    VALUES (
        c."DepartmentID",
        c."DepartmentName",
        c."Location",
        c."SourceInactiveDT",
        c."EffectiveStartDT",
        c."EffectiveExpireDT",
        c."CurrentRowYN",
        c."PSInsertDT",
        c."CheckSum"
    );

DROP TABLE "ps"."Department_load_is_running";
COMMIT;

DROP TABLE temp."changes";

-- What was left out.
SELECT 'null_key' AS warning_code, coalesce(left(CAST(getvariable('SkippedRows') AS VARCHAR), 100), 'NULL') || ' staged rows without a key were skipped' AS message
WHERE getvariable('SkippedRows') > 0
UNION ALL
SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message
WHERE getvariable('DetectsAbsence') = 0;

-- What changed.
SELECT
    CAST(getvariable('AbsentKeys') AS BIGINT) AS inserted,
    CAST(getvariable('AbsentTodayKeys') AS BIGINT) AS updated,
    CAST(getvariable('AbsentKeys') AS BIGINT) AS expired,
    CAST(getvariable('AbsentKeys') + getvariable('AbsentTodayKeys') AS BIGINT) AS inactivated,
    CAST(0 AS BIGINT) AS deleted,
    CAST(getvariable('AcceptedRows') AS BIGINT) AS unchanged,
    CAST(getvariable('SkippedRows') AS BIGINT) AS skipped;
