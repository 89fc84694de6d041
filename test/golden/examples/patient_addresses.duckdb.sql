-- mergewright: {"format":1,"version":1,"pattern":"satellite","source":{"database":null,"schema":"StageEmedsys","table":"Dev_Patient_"},"target":{"database":null,"schema":"raw","table":"SatPatientAddressEMED_TEST"},"platform":"duckdb","form":"script","shape":"separate","options":{"keys":["patient_id"],"target_key":["PatientKey"],"hash_key":{"PatientKey":["patient_id","@SourceSystem"]},"hashdiff":{"HashDiff":["address1","address2","city","state","zip"]},"load_ts":"LoadDate","record_source":"RecordSource","parameters":{"LoadProcess":"LoadProcess","RecordSource":"RecordSource"},"hash_rules":{"preset":"legacy-concat"}}}
-- Satellite SatPatientAddressEMED_TEST from Dev_Patient_: inserts a version where a key's content
-- differs from its latest version.

-- Parameters
-- BatchTime: fills LoadDate.
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- LoadProcess: fills LoadProcess.
SET VARIABLE LoadProcess = CAST(NULL AS VARCHAR);
-- RecordSource: fills RecordSource.
SET VARIABLE RecordSource = CAST(NULL AS VARCHAR);
-- SourceSystem: goes into the hash key.
SET VARIABLE SourceSystem = CAST(NULL AS VARCHAR);
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "raw"."SatPatientAddressEMED_TEST_load_is_running" (one INTEGER);

-- Rows without a key are left out and counted.
SET VARIABLE SkippedRows = (
    SELECT
        CAST(COALESCE(SUM(CASE WHEN s."patient_id" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
    FROM "StageEmedsys"."Dev_Patient_" AS s
);

-- Staged rows with a key: what they are compared by.
CREATE OR REPLACE TEMP TABLE "staged" AS
SELECT
    sha256(CAST(CAST(s."patient_id" AS DECIMAL(38,0)) AS VARCHAR) || COALESCE(CAST(getvariable('SourceSystem') AS VARCHAR), '')) AS "PatientKey",
    CAST(getvariable('BatchTime') AS TIMESTAMP) AS "LoadDate",
    sha256('0'
        || COALESCE(s."address1", '')
        || COALESCE(s."address2", '')
        || COALESCE(s."city", '')
        || COALESCE(s."state", '')
        || COALESCE(s."zip", '')) AS "HashDiff",
    s."patient_id" AS "key_part_1_"
FROM "StageEmedsys"."Dev_Patient_" AS s
WHERE s."patient_id" IS NOT NULL;

-- Distinct keys in the stage.
SET VARIABLE AcceptedRows = (
    SELECT
        CAST(COUNT(DISTINCT s."PatientKey") AS BIGINT)
    FROM temp."staged" AS s
);

-- Staged keys with a row that is not their latest version; of the satellite only the versions of
-- staged keys are read.
CREATE OR REPLACE TEMP TABLE "candidates" AS
SELECT
    MIN(r."PatientKey") AS "PatientKey",
    MAX(r."latest_time_") AS "latest_time_",
    MAX(r."latest_content_") AS "latest_content_"
FROM (
    SELECT
        s."PatientKey",
        l."latest_time_",
        l."latest_content_"
    FROM temp."staged" AS s
    LEFT JOIN (
        SELECT
            r."PatientKey",
            max(r."latest_time_") AS "latest_time_",
            arg_max_null(r."latest_content_", r."latest_time_") AS "latest_content_"
        FROM (
            SELECT
                t."PatientKey",
                t."LoadDate" AS "latest_time_",
                t."HashDiff" AS "latest_content_"
            FROM "raw"."SatPatientAddressEMED_TEST" AS t
            WHERE EXISTS (
                SELECT
                    1 AS "one"
                FROM temp."staged" AS s
                WHERE t."PatientKey" = s."PatientKey"
            )
        ) AS r
        GROUP BY r."PatientKey"
    ) AS l
        ON l."PatientKey" = s."PatientKey"
    WHERE (l."latest_time_" IS NULL
        OR s."HashDiff" IS DISTINCT FROM l."latest_content_"
        OR s."LoadDate" < l."latest_time_")
) AS r
GROUP BY r."PatientKey";

-- All staged rows of these keys; what is said twice for one load date counts once.
CREATE OR REPLACE TEMP TABLE "sequence" AS
SELECT
    r."PatientKey",
    r."LoadDate",
    r."LoadProcess",
    r."RecordSource",
    r."HashDiff",
    r."Address1",
    r."Address2",
    r."City",
    r."State",
    r."Zip",
    r."key_part_1_",
    r."latest_time_",
    r."latest_content_"
FROM (
    SELECT
        s."PatientKey",
        s."LoadDate",
        s."LoadProcess",
        s."RecordSource",
        s."HashDiff",
        s."Address1",
        s."Address2",
        s."City",
        s."State",
        s."Zip",
        s."key_part_1_",
        k."latest_time_",
        k."latest_content_",
        ROW_NUMBER() OVER (PARTITION BY s."PatientKey", s."LoadDate", s."HashDiff" ORDER BY s."PatientKey", s."LoadDate", s."LoadProcess", s."RecordSource", s."HashDiff", s."Address1", s."Address2", s."City", s."State", s."Zip") AS "repeat_no_"
    FROM (
        SELECT
            sha256(CAST(CAST(s."patient_id" AS DECIMAL(38,0)) AS VARCHAR) || COALESCE(CAST(getvariable('SourceSystem') AS VARCHAR), '')) AS "PatientKey",
            CAST(getvariable('BatchTime') AS TIMESTAMP) AS "LoadDate",
            getvariable('LoadProcess') AS "LoadProcess",
            getvariable('RecordSource') AS "RecordSource",
            sha256('0'
                || COALESCE(s."address1", '')
                || COALESCE(s."address2", '')
                || COALESCE(s."city", '')
                || COALESCE(s."state", '')
                || COALESCE(s."zip", '')) AS "HashDiff",
            s."address1" AS "Address1",
            s."address2" AS "Address2",
            s."city" AS "City",
            s."state" AS "State",
            s."zip" AS "Zip",
            s."patient_id" AS "key_part_1_"
        FROM "StageEmedsys"."Dev_Patient_" AS s
        WHERE s."patient_id" IS NOT NULL
          AND EXISTS (
            SELECT
                1 AS "one"
            FROM temp."staged" AS n
            INNER JOIN temp."candidates" AS k
                ON k."PatientKey" = n."PatientKey"
            WHERE n."key_part_1_" = s."patient_id"
        )
    ) AS s
    INNER JOIN temp."candidates" AS k
        ON k."PatientKey" = s."PatientKey"
) AS r
WHERE r."repeat_no_" = 1;

-- Two contents of a key for one load date stop the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('same_timestamp_conflict: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(MIN(s."key_part_1_") AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."sequence" AS s
        GROUP BY s."PatientKey", s."LoadDate"
        HAVING COUNT(*) > 1
        LIMIT 5
    ) AS o
);

-- Another content than the stored one of this load date stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('same_timestamp_conflict: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(s."key_part_1_" AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."sequence" AS s
        WHERE s."LoadDate" <= s."latest_time_"
          AND EXISTS (
            SELECT
                1 AS "one"
            FROM "raw"."SatPatientAddressEMED_TEST" AS t
            WHERE t."PatientKey" = s."PatientKey"
              AND t."LoadDate" = s."LoadDate"
        )
          AND NOT EXISTS (
            SELECT
                1 AS "one"
            FROM "raw"."SatPatientAddressEMED_TEST" AS t
            WHERE t."PatientKey" = s."PatientKey"
              AND t."LoadDate" = s."LoadDate"
              AND t."HashDiff" IS NOT DISTINCT FROM s."HashDiff"
        )
        LIMIT 5
    ) AS o
);

-- A row older than the latest version of its key stops the load, unless it says what was stored for
-- its time.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('late_row: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(s."key_part_1_" AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."sequence" AS s
        WHERE s."LoadDate" < s."latest_time_"
          AND NOT EXISTS (
            SELECT
                1 AS "one"
            FROM "raw"."SatPatientAddressEMED_TEST" AS t
            WHERE t."PatientKey" = s."PatientKey"
              AND t."LoadDate" <= s."LoadDate"
              AND t."HashDiff" IS NOT DISTINCT FROM s."HashDiff"
              AND NOT EXISTS (
                SELECT
                    1 AS "one"
                FROM "raw"."SatPatientAddressEMED_TEST" AS u
                WHERE u."PatientKey" = s."PatientKey"
                  AND u."LoadDate" > t."LoadDate"
                  AND u."LoadDate" <= s."LoadDate"
            )
        )
        LIMIT 5
    ) AS o
);

-- The changes: rows whose content is not that of the version before them.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    r."PatientKey",
    r."LoadDate",
    r."LoadProcess",
    r."RecordSource",
    r."HashDiff",
    r."Address1",
    r."Address2",
    r."City",
    r."State",
    r."Zip"
FROM (
    SELECT
        s."PatientKey",
        s."LoadDate",
        s."LoadProcess",
        s."RecordSource",
        s."HashDiff",
        s."Address1",
        s."Address2",
        s."City",
        s."State",
        s."Zip",
        s."latest_content_",
        LAG(s."HashDiff") OVER (PARTITION BY s."PatientKey" ORDER BY s."LoadDate", s."HashDiff") AS "content_before_",
        ROW_NUMBER() OVER (PARTITION BY s."PatientKey" ORDER BY s."LoadDate", s."HashDiff") AS "position_"
    FROM temp."sequence" AS s
    WHERE (s."latest_time_" IS NULL OR s."LoadDate" > s."latest_time_")
) AS r
WHERE ((r."position_" = 1
    AND r."HashDiff" IS DISTINCT FROM r."latest_content_")
    OR (r."position_" > 1
        AND r."HashDiff" IS DISTINCT FROM r."content_before_"));

-- What will be inserted.
SET VARIABLE NewRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."changes" AS c
);

-- Keys with a new version.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(DISTINCT s."PatientKey") AS BIGINT)
    FROM temp."changes" AS s
);

-- Insert the versions.
INSERT INTO "raw"."SatPatientAddressEMED_TEST" (
    "PatientKey",
    "LoadDate",
    "LoadProcess",
    "RecordSource",
    "HashDiff",
    "Address1",
    "Address2",
    "City",
    "State",
    "Zip"
)
SELECT
    c."PatientKey",
    c."LoadDate",
    c."LoadProcess",
    c."RecordSource",
    c."HashDiff",
    c."Address1",
    c."Address2",
    c."City",
    c."State",
    c."Zip"
FROM temp."changes" AS c;

DROP TABLE "raw"."SatPatientAddressEMED_TEST_load_is_running";
COMMIT;

DROP TABLE temp."staged";
DROP TABLE temp."candidates";
DROP TABLE temp."sequence";
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
