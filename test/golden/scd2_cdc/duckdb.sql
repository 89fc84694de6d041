-- mergewright: {"format":1,"version":1,"pattern":"scd2_cdc","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":["D"],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id","start_at"],"target_key":["id"],"keys":["id"],"sequence_by":"seq","op_column":"op","compare":["name"],"valid_from":"start_at","valid_to":"end_at","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2 from a change feed: replays all events of the staged keys.

-- Parameters
-- BatchTime: time of the load (UTC).
SET VARIABLE BatchTime = CAST(now() AT TIME ZONE 'UTC' AS TIMESTAMP);
-- End of parameters

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- The events that this load has seen; late and repeated ones are told by it.
CREATE TABLE IF NOT EXISTS "target_events" (
    "id" INTEGER,
    "name" VARCHAR,
    "event_sequence" BIGINT NOT NULL,
    "event_kind" VARCHAR NOT NULL
);

-- Events that can't be replayed: without a key, or without a sequence.
SET VARIABLE measured = (
    SELECT
        {
            EventsWithoutKey: CAST(COALESCE(SUM(CASE WHEN CASE WHEN s."id" IS NULL THEN 1 ELSE 0 END = 1 THEN 1 ELSE 0 END), 0) AS BIGINT),
            EventsWithoutSequence: CAST(COALESCE(SUM(CASE WHEN s."seq" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT),
            SkippedRows: CAST(COALESCE(SUM(CASE WHEN CASE WHEN s."id" IS NULL THEN 1 ELSE 0 END = 1 OR s."seq" IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM "stage" AS s
);
SET VARIABLE EventsWithoutKey = getvariable('measured').EventsWithoutKey;
SET VARIABLE EventsWithoutSequence = getvariable('measured').EventsWithoutSequence;
SET VARIABLE SkippedRows = getvariable('measured').SkippedRows;

-- An event without a key stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN getvariable('EventsWithoutKey') > 0 THEN error('null_key: ' || coalesce(left(CAST(getvariable('EventsWithoutKey') AS VARCHAR), 100), 'NULL') || ' events have no id') END
);

-- An event without a sequence stops the load.
SET VARIABLE guard = (
    SELECT CASE WHEN getvariable('EventsWithoutSequence') > 0 THEN error('null_sequence: ' || coalesce(left(CAST(getvariable('EventsWithoutSequence') AS VARCHAR), 100), 'NULL') || ' events have no seq') END
);

-- The staged events; one that is staged twice counts once.
CREATE OR REPLACE TEMP TABLE "incoming" AS
SELECT DISTINCT
    s."id",
    s."name",
    s."seq" AS "event_sequence",
    CASE WHEN s."op" = 'D' THEN 'delete' ELSE 'upsert' END AS "event_kind"
FROM "stage" AS s
WHERE CASE WHEN s."id" IS NULL THEN 1 ELSE 0 END = 0
  AND s."seq" IS NOT NULL;

-- Keys with events, and whether all rows are to be emptied.
SET VARIABLE measured = (
    SELECT
        {
            StagedKeys: CAST(COALESCE(SUM(CASE WHEN k."is_key_" = 1 THEN 1 ELSE 0 END), 0) AS BIGINT),
            Truncates: CAST(COALESCE(SUM(CASE WHEN k."is_key_" = 0 THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM (
        SELECT
            MAX(CASE WHEN i."event_kind" = 'truncate' THEN 0 ELSE 1 END) AS "is_key_"
        FROM temp."incoming" AS i
        GROUP BY i."id"
    ) AS k
);
SET VARIABLE StagedKeys = getvariable('measured').StagedKeys;
SET VARIABLE Truncates = getvariable('measured').Truncates;

-- Every event of these keys so far.
CREATE OR REPLACE TEMP TABLE "history" AS
SELECT
    e."id",
    e."name",
    e."event_sequence",
    e."event_kind"
FROM "target_events" AS e
WHERE (EXISTS (
    SELECT
        1 AS "one"
    FROM temp."incoming" AS i
    WHERE i."id" = e."id"
)
    OR getvariable('Truncates') > 0
    OR e."event_kind" = 'truncate')
UNION ALL
SELECT
    n."id",
    n."name",
    n."event_sequence",
    n."event_kind"
FROM temp."incoming" AS n
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target_events" AS e
    WHERE e."id" IS NOT DISTINCT FROM n."id"
      AND e."name" IS NOT DISTINCT FROM n."name"
      AND e."event_sequence" IS NOT DISTINCT FROM n."event_sequence"
      AND e."event_kind" IS NOT DISTINCT FROM n."event_kind"
);

-- Two contents of a key under one sequence stop the load, unless a delete settles it.
SET VARIABLE guard = (
    SELECT CASE WHEN count(*) > 0 THEN error('ambiguous_sequence: ' || string_agg(o.offender, ', ' ORDER BY o.offender)) END
    FROM (
        SELECT
            coalesce(left(CAST(MIN(h."id") AS VARCHAR), 100), 'NULL') AS "offender"
        FROM temp."history" AS h
        GROUP BY h."id", h."event_sequence"
        HAVING COALESCE(SUM(CASE WHEN h."event_kind" = 'upsert' THEN 1 ELSE 0 END), 0) > 1
          AND COALESCE(SUM(CASE WHEN h."event_kind" = 'upsert' THEN 1 ELSE 0 END), 0) = COUNT(*)
        LIMIT 5
    ) AS o
);

-- The states of each key along its sequence; a delete goes before an upsert of the same sequence.
CREATE OR REPLACE TEMP TABLE "states" AS
SELECT
    r."id",
    r."name",
    r."event_sequence",
    r."event_kind"
FROM (
    SELECT
        h."id",
        h."name",
        h."event_sequence",
        h."event_kind",
        ROW_NUMBER() OVER (PARTITION BY h."id", h."event_sequence" ORDER BY CASE WHEN h."event_kind" = 'delete' THEN 0 ELSE 1 END, h."name") AS "rank_no_",
        m."last_truncate_"
    FROM temp."history" AS h
    CROSS JOIN (
        SELECT
            MAX(h."event_sequence") AS "last_truncate_"
        FROM temp."history" AS h
        WHERE h."event_kind" = 'truncate'
    ) AS m
    WHERE h."event_kind" <> 'truncate'
) AS r
WHERE r."rank_no_" = 1
  AND (r."last_truncate_" IS NULL OR r."event_sequence" >= r."last_truncate_");

-- The states in runs of equal tracked values.
CREATE OR REPLACE TEMP TABLE "runs" AS
SELECT
    u."id",
    u."name",
    u."event_sequence",
    u."event_kind",
    u."is_bound_",
    u."run_no_",
    ROW_NUMBER() OVER (PARTITION BY u."id", u."run_no_" ORDER BY u."event_sequence" DESC) AS "from_last_"
FROM (
    SELECT
        b."id",
        b."name",
        b."event_sequence",
        b."event_kind",
        b."is_bound_",
        SUM(b."is_bound_") OVER (PARTITION BY b."id" ORDER BY b."event_sequence") AS "run_no_"
    FROM (
        SELECT
            p."id",
            p."name",
            p."event_sequence",
            p."event_kind",
            CASE
                WHEN (p."event_kind" = 'upsert'
                    AND (p."kind_before_" IS NULL
                        OR p."kind_before_" <> 'upsert'
                        OR p."name" IS DISTINCT FROM p."before_1_"))
                    OR p."event_kind" <> 'upsert'
                    THEN 1
                ELSE 0
            END AS "is_bound_"
        FROM (
            SELECT
                s."id",
                s."name",
                s."event_sequence",
                s."event_kind",
                LAG(s."event_kind") OVER (PARTITION BY s."id" ORDER BY s."event_sequence") AS "kind_before_",
                LAG(s."name") OVER (PARTITION BY s."id" ORDER BY s."event_sequence") AS "before_1_"
            FROM temp."states" AS s
        ) AS p
    ) AS b
) AS u;

-- The versions that follow from them.
CREATE OR REPLACE TEMP TABLE "wanted" AS
SELECT
    v."id",
    v."name",
    v."event_sequence" AS "starts_at_",
    v."ends_at_"
FROM (
    SELECT
        r."id",
        r."name",
        r."event_sequence",
        r."event_kind",
        r."run_no_",
        LEAD(r."event_sequence") OVER (PARTITION BY r."id" ORDER BY r."event_sequence") AS "ends_at_"
    FROM temp."runs" AS r
    WHERE r."is_bound_" = 1
) AS v
WHERE v."event_kind" = 'upsert';

-- The changes: what shall be there against what is stored, for these keys.
CREATE OR REPLACE TEMP TABLE "changes" AS
SELECT
    f."change_kind",
    f."stored_row",
    f."changed_id",
    f."id",
    f."name",
    f."start_at",
    f."end_at"
FROM (
    SELECT
        CASE
            WHEN t."is_stored_" IS NULL THEN 'new'
            WHEN w."is_wanted_" IS NULL THEN 'gone'
            WHEN t."end_at" IS NULL AND w."ends_at_" IS NOT NULL THEN 'closed'
            WHEN w."name" IS DISTINCT FROM t."name"
                OR w."ends_at_" IS DISTINCT FROM t."end_at"
                THEN 'changed'
        END AS "change_kind",
        t."stored_row",
        COALESCE(w."id", t."id") AS "changed_id",
        w."id",
        w."name",
        w."starts_at_" AS "start_at",
        w."ends_at_" AS "end_at"
    FROM (
        SELECT
            1 AS "is_wanted_",
            x."id",
            x."name",
            x."starts_at_",
            x."ends_at_"
        FROM temp."wanted" AS x
    ) AS w
    FULL JOIN (
        SELECT
            1 AS "is_stored_",
            t.rowid AS "stored_row",
            t."id",
            t."name",
            t."start_at",
            t."end_at"
        FROM "target" AS t
        WHERE (EXISTS (
            SELECT
                1 AS "one"
            FROM temp."incoming" AS i
            WHERE i."id" = t."id"
        )
            OR getvariable('Truncates') > 0)
    ) AS t
        ON w."id" = t."id"
       AND w."starts_at_" = t."start_at"
) AS f
WHERE f."change_kind" IS NOT NULL;

-- What will change.
SET VARIABLE measured = (
    SELECT
        {
            NewRows: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'new' THEN 1 ELSE 0 END), 0) AS BIGINT),
            ClosedRows: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'closed' THEN 1 ELSE 0 END), 0) AS BIGINT),
            ChangedRows: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'changed' THEN 1 ELSE 0 END), 0) AS BIGINT),
            GoneRows: CAST(COALESCE(SUM(CASE WHEN c."change_kind" = 'gone' THEN 1 ELSE 0 END), 0) AS BIGINT)
        }
    FROM temp."changes" AS c
);
SET VARIABLE NewRows = getvariable('measured').NewRows;
SET VARIABLE ClosedRows = getvariable('measured').ClosedRows;
SET VARIABLE ChangedRows = getvariable('measured').ChangedRows;
SET VARIABLE GoneRows = getvariable('measured').GoneRows;

-- Keys that change.
SET VARIABLE ChangedKeys = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM (
        SELECT
            COUNT(*) AS "rows"
        FROM temp."changes" AS c
        GROUP BY c."changed_id"
    ) AS k
);

-- Events that were not seen before.
CREATE OR REPLACE TEMP TABLE "new_events" AS
SELECT
    n."id",
    n."name",
    n."event_sequence",
    n."event_kind"
FROM temp."incoming" AS n
WHERE NOT EXISTS (
    SELECT
        1 AS "one"
    FROM "target_events" AS e
    WHERE e."id" IS NOT DISTINCT FROM n."id"
      AND e."name" IS NOT DISTINCT FROM n."name"
      AND e."event_sequence" IS NOT DISTINCT FROM n."event_sequence"
      AND e."event_kind" IS NOT DISTINCT FROM n."event_kind"
);

-- Rows whose end or values follow from the events otherwise than they are stored.
UPDATE "target" AS t
SET
    "name" = c."name",
    "end_at" = c."end_at"
FROM temp."changes" AS c
WHERE c."change_kind" IN ('closed', 'changed')
  AND t.rowid = c."stored_row";

-- Rows that the events do not bear out.
DELETE FROM "target" AS t
USING temp."changes" AS c
WHERE c."change_kind" = 'gone'
  AND t.rowid = c."stored_row";

-- Rows that the events add.
INSERT INTO "target" (
    "id",
    "name",
    "start_at",
    "end_at"
)
SELECT
    c."id",
    c."name",
    c."start_at",
    c."end_at"
FROM temp."changes" AS c
WHERE c."change_kind" = 'new';

-- Remember the events.
INSERT INTO "target_events" (
    "id",
    "name",
    "event_sequence",
    "event_kind"
)
SELECT
    c."id",
    c."name",
    c."event_sequence",
    c."event_kind"
FROM temp."new_events" AS c;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."incoming";
DROP TABLE temp."history";
DROP TABLE temp."states";
DROP TABLE temp."runs";
DROP TABLE temp."wanted";
DROP TABLE temp."changes";
DROP TABLE temp."new_events";

-- What changed.
SELECT
    CAST(getvariable('NewRows') AS BIGINT) AS inserted,
    CAST(getvariable('ChangedRows') AS BIGINT) AS updated,
    CAST(getvariable('ClosedRows') AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(getvariable('GoneRows') AS BIGINT) AS deleted,
    CAST(getvariable('StagedKeys') - getvariable('ChangedKeys') AS BIGINT) AS unchanged,
    CAST(0 AS BIGINT) AS skipped;
