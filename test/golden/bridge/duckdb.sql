-- mergewright: {"format":1,"version":1,"pattern":"bridge","source":{"database":null,"schema":null,"table":"stage"},"target":{"database":null,"schema":null,"table":"target"},"extra":{"hub":{"database":null,"schema":null,"table":"hub"},"link":{"database":null,"schema":null,"table":"link"},"eff_sat":{"database":null,"schema":null,"table":"eff_sat"}},"platform":"duckdb","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":"9999-12-31 00:00:00","hard_deletes":"ignore","load":"delta","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":[],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["cust_hk","as_of","link_hk"],"target_key":["cust_hk","as_of","link_hk"],"keys":["cust"],"hash_key":{"cust_hk":["cust"],"link_hk":["cust","order_no"]},"as_of":"as_of","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Bridge target: for each key and date the relationships that were in force then.

BEGIN TRANSACTION;

-- One load of this table at a time: a second one meets this table and fails.
CREATE TABLE "target_load_is_running" (one INTEGER);

-- The dates, each once.
CREATE OR REPLACE TEMP TABLE "dates" AS
SELECT DISTINCT
    s."as_of"
FROM "stage" AS s
WHERE s."as_of" IS NOT NULL;

-- Relationships in force at each date, by the newest row loaded by then.
CREATE OR REPLACE TEMP TABLE "effective" AS
SELECT
    e."link_key",
    e."as_of"
FROM (
    SELECT
        r."link_key",
        r."as_of",
        arg_max_null(r."load_time", (r."load_time", r."is_closed")) AS "load_time",
        arg_max_null(r."started", (r."load_time", r."is_closed")) AS "started",
        arg_max_null(r."ended", (r."load_time", r."is_closed")) AS "ended",
        arg_max_null(r."is_closed", (r."load_time", r."is_closed")) AS "is_closed"
    FROM (
        SELECT
            t."link_hk" AS "link_key",
            d."as_of",
            t."load_ts" AS "load_time",
            t."start_ts" AS "started",
            t."end_ts" AS "ended",
            CASE WHEN t."end_ts" IS NULL OR t."end_ts" > d."as_of" THEN 0 ELSE 1 END AS "is_closed"
        FROM "eff_sat" AS t
        INNER JOIN temp."dates" AS d
            ON t."load_ts" <= d."as_of"
    ) AS r
    GROUP BY r."link_key", r."as_of"
) AS e
WHERE (e."started" IS NULL OR e."started" <= e."as_of")
  AND e."is_closed" = 0;

-- The rows that target will hold.
CREATE OR REPLACE TEMP TABLE "built" AS
SELECT
    l."cust_hk",
    l."link_hk",
    e."as_of"
FROM temp."effective" AS e
INNER JOIN "link" AS l
    ON l."link_hk" = e."link_key"
INNER JOIN "hub" AS h
    ON h."cust_hk" = l."cust_hk";

-- How many they are.
SET VARIABLE BuiltRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM temp."built" AS c
);

-- How many rows they replace.
SET VARIABLE FormerRows = (
    SELECT
        CAST(COUNT(*) AS BIGINT)
    FROM "target" AS t
);

-- Replace all rows.
DELETE FROM "target";

INSERT INTO "target" (
    "cust_hk",
    "link_hk",
    "as_of"
)
SELECT
    b."cust_hk",
    b."link_hk",
    b."as_of"
FROM temp."built" AS b;

DROP TABLE "target_load_is_running";
COMMIT;

DROP TABLE temp."dates";
DROP TABLE temp."effective";
DROP TABLE temp."built";

-- What changed.
SELECT
    CAST(getvariable('BuiltRows') AS BIGINT) AS inserted,
    CAST(NULL AS BIGINT) AS updated,
    CAST(NULL AS BIGINT) AS expired,
    CAST(NULL AS BIGINT) AS inactivated,
    CAST(getvariable('FormerRows') AS BIGINT) AS deleted,
    CAST(NULL AS BIGINT) AS unchanged,
    CAST(NULL AS BIGINT) AS skipped;
