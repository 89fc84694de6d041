-- mergewright: {"format":1,"version":1,"pattern":"scd2_cdc","source":{"database":null,"schema":"dbo","table":"stage"},"target":{"database":null,"schema":"dbo","table":"target"},"extra":{},"platform":"synapse","form":"script","shape":"separate","options":{"untracked":[],"untracked_mode":"keep_old","compare_mode":"exact","key_compare":"exact","empty_as_null":false,"grain":"load","closing":"half-open","open_end":null,"hard_deletes":"ignore","scope":[],"on_empty_stage":"apply","max_inactivation_pct":100,"hwm":false,"idempotent_rerun":false,"auto_end_dating":false,"type0_fill_null_once":false,"op_derived":false,"insert_only":false,"ignore_null_updates":false,"same_ts_conflict":"insert_all","ghost":{"enabled":false},"delete_values":["D"],"truncate_values":[],"type1":[],"type1_scope":"all","end_offset":"0","target_identity":["id","start_at"],"target_key":["id"],"keys":["id"],"sequence_by":"seq","op_column":"op","compare":["name"],"valid_from":"start_at","valid_to":"end_at","hash_rules":{"algorithm":"sha256","delimiter":"||","null_token":"^^","trim":false,"case":"as_is","empty_as_null":false,"column_order":"declared","escape":false,"trailing_nulls":"kept","prefix":""}}}
-- Type 2 from a change feed: replays all events of the staged keys.

SET NOCOUNT ON;
SET XACT_ABORT ON;

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(7) = SYSUTCDATETIME();
-- End of parameters

-- What the load finds out.
DECLARE @EventsWithoutKey bigint;
DECLARE @EventsWithoutSequence bigint;
DECLARE @SkippedRows bigint;
DECLARE @StagedKeys bigint;
DECLARE @Truncates bigint;
DECLARE @NewRows bigint;
DECLARE @ClosedRows bigint;
DECLARE @ChangedRows bigint;
DECLARE @GoneRows bigint;
DECLARE @ChangedKeys bigint;
DECLARE @Offenders nvarchar(4000);
DECLARE @Message nvarchar(2048);
DECLARE @RowsBefore bigint;
DECLARE @RowsNow bigint;

BEGIN TRY
    IF OBJECT_ID('tempdb..#incoming') IS NOT NULL DROP TABLE #incoming;
    IF OBJECT_ID('tempdb..#history') IS NOT NULL DROP TABLE #history;
    IF OBJECT_ID('tempdb..#states') IS NOT NULL DROP TABLE #states;
    IF OBJECT_ID('tempdb..#runs') IS NOT NULL DROP TABLE #runs;
    IF OBJECT_ID('tempdb..#wanted') IS NOT NULL DROP TABLE #wanted;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    IF OBJECT_ID('tempdb..#new_events') IS NOT NULL DROP TABLE #new_events;

    -- The events that this load has seen; late and repeated ones are told by it.
    IF OBJECT_ID(N'[dbo].[target_events]', N'U') IS NULL
        CREATE TABLE [dbo].[target_events] (
            [id] int NULL,
            [name] nvarchar(100) NULL,
            [event_sequence] bigint NOT NULL,
            [event_kind] varchar(20) NOT NULL
        );

    -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
    SET @RowsBefore = (
        SELECT
            COUNT_BIG(*)
        FROM [dbo].[target] AS t
    );

    -- Events that can't be replayed: without a key, or without a sequence.
    SELECT
        @EventsWithoutKey = COALESCE(SUM(CAST(CASE WHEN CASE WHEN s.[id] IS NULL THEN 1 ELSE 0 END = 1 THEN 1 ELSE 0 END AS bigint)), 0),
        @EventsWithoutSequence = COALESCE(SUM(CAST(CASE WHEN s.[seq] IS NULL THEN 1 ELSE 0 END AS bigint)), 0),
        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN CASE WHEN s.[id] IS NULL THEN 1 ELSE 0 END = 1 OR s.[seq] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
    FROM [dbo].[stage] AS s;

    -- An event without a key stops the load.
    IF @EventsWithoutKey > 0
    BEGIN
        SET @Message = LEFT(N'null_key: ' + REPLACE(COALESCE(LEFT(CONVERT(nvarchar(4000), @EventsWithoutKey), 100), N'NULL') + N' events have no id', N'%', N'%' + N'%'), 2000);
        THROW 50011, @Message, 1;
    END;

    -- An event without a sequence stops the load.
    IF @EventsWithoutSequence > 0
    BEGIN
        SET @Message = LEFT(N'null_sequence: ' + REPLACE(COALESCE(LEFT(CONVERT(nvarchar(4000), @EventsWithoutSequence), 100), N'NULL') + N' events have no seq', N'%', N'%' + N'%'), 2000);
        THROW 50012, @Message, 1;
    END;

    -- The staged events; one that is staged twice counts once.
    CREATE TABLE #incoming
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        d.[id],
        MIN(d.[name]) AS [name],
        d.[event_sequence],
        MIN(d.[event_kind]) AS [event_kind]
    FROM (
        SELECT
            s.[id],
            s.[name],
            s.[seq] AS [event_sequence],
            CASE WHEN s.[op] = N'D' THEN 'delete' ELSE 'upsert' END AS [event_kind]
        FROM [dbo].[stage] AS s
        WHERE CASE WHEN s.[id] IS NULL THEN 1 ELSE 0 END = 0
          AND s.[seq] IS NOT NULL
    ) AS d
    GROUP BY d.[id], d.[name] COLLATE Latin1_General_100_BIN2, DATALENGTH(d.[name]), d.[event_sequence], CONVERT(nvarchar(20), d.[event_kind]) COLLATE Latin1_General_100_BIN2, DATALENGTH(d.[event_kind]);

    -- Keys with events, and whether all rows are to be emptied.
    SELECT
        @StagedKeys = COALESCE(SUM(CAST(CASE WHEN k.[is_key_] = 1 THEN 1 ELSE 0 END AS bigint)), 0),
        @Truncates = COALESCE(SUM(CAST(CASE WHEN k.[is_key_] = 0 THEN 1 ELSE 0 END AS bigint)), 0)
    FROM (
        SELECT
            MAX(CASE WHEN i.[event_kind] = N'truncate' THEN 0 ELSE 1 END) AS [is_key_]
        FROM #incoming AS i
        GROUP BY i.[id]
    ) AS k;

    -- Every event of these keys so far.
    CREATE TABLE #history
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        e.[id],
        e.[name],
        e.[event_sequence],
        e.[event_kind]
    FROM [dbo].[target_events] AS e
    WHERE (EXISTS (
        SELECT
            1 AS [one]
        FROM #incoming AS i
        WHERE i.[id] = e.[id]
    )
        OR @Truncates > 0
        OR e.[event_kind] = N'truncate')
    UNION ALL
    SELECT
        n.[id],
        n.[name],
        n.[event_sequence],
        n.[event_kind]
    FROM #incoming AS n
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target_events] AS e
        WHERE (e.[id] = n.[id] OR (e.[id] IS NULL AND n.[id] IS NULL))
          AND ((e.[name] = n.[name] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(e.[name]) = DATALENGTH(n.[name])) OR (e.[name] IS NULL AND n.[name] IS NULL))
          AND (e.[event_sequence] = n.[event_sequence] OR (e.[event_sequence] IS NULL AND n.[event_sequence] IS NULL))
          AND ((e.[event_kind] = CONVERT(nvarchar(4000), n.[event_kind]) COLLATE Latin1_General_100_BIN2 AND DATALENGTH(e.[event_kind]) = DATALENGTH(n.[event_kind])) OR (e.[event_kind] IS NULL AND n.[event_kind] IS NULL))
    );

    -- Two contents of a key under one sequence stop the load, unless a delete settles it.
    SET @Offenders = NULL;
    SET @Offenders = (
        SELECT STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(h.[id])), 100), N'NULL') AS [offender]
            FROM #history AS h
            GROUP BY h.[id], h.[event_sequence]
            HAVING COALESCE(SUM(CAST(CASE WHEN h.[event_kind] = N'upsert' THEN 1 ELSE 0 END AS bigint)), 0) > 1
              AND COALESCE(SUM(CAST(CASE WHEN h.[event_kind] = N'upsert' THEN 1 ELSE 0 END AS bigint)), 0) = COUNT_BIG(*)
        ) AS o
    );
    IF @Offenders IS NOT NULL
    BEGIN
        SET @Message = LEFT(N'ambiguous_sequence: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
        THROW 50013, @Message, 1;
    END;

    -- The states of each key along its sequence; a delete goes before an upsert of the same sequence.
    CREATE TABLE #states
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        r.[id],
        r.[name],
        r.[event_sequence],
        r.[event_kind]
    FROM (
        SELECT
            h.[id],
            h.[name],
            h.[event_sequence],
            h.[event_kind],
            ROW_NUMBER() OVER (PARTITION BY h.[id], h.[event_sequence] ORDER BY CASE WHEN h.[event_kind] = N'delete' THEN 0 ELSE 1 END, h.[name] COLLATE Latin1_General_100_BIN2) AS [rank_no_],
            m.[last_truncate_]
        FROM #history AS h
        CROSS JOIN (
            SELECT
                MAX(h.[event_sequence]) AS [last_truncate_]
            FROM #history AS h
            WHERE h.[event_kind] = N'truncate'
        ) AS m
        WHERE h.[event_kind] <> N'truncate'
    ) AS r
    WHERE r.[rank_no_] = 1
      AND (r.[last_truncate_] IS NULL OR r.[event_sequence] >= r.[last_truncate_]);

    -- The states in runs of equal tracked values.
    CREATE TABLE #runs
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        u.[id],
        u.[name],
        u.[event_sequence],
        u.[event_kind],
        u.[is_bound_],
        u.[run_no_],
        ROW_NUMBER() OVER (PARTITION BY u.[id], u.[run_no_] ORDER BY u.[event_sequence] DESC) AS [from_last_]
    FROM (
        SELECT
            b.[id],
            b.[name],
            b.[event_sequence],
            b.[event_kind],
            b.[is_bound_],
            SUM(b.[is_bound_]) OVER (PARTITION BY b.[id] ORDER BY b.[event_sequence]) AS [run_no_]
        FROM (
            SELECT
                p.[id],
                p.[name],
                p.[event_sequence],
                p.[event_kind],
                CASE
                    WHEN (p.[event_kind] = N'upsert'
                        AND (p.[kind_before_] IS NULL
                            OR p.[kind_before_] <> N'upsert'
                            OR (p.[name] <> p.[before_1_] COLLATE Latin1_General_100_BIN2 OR DATALENGTH(p.[name]) <> DATALENGTH(p.[before_1_]) OR (p.[name] IS NULL AND p.[before_1_] IS NOT NULL) OR (p.[name] IS NOT NULL AND p.[before_1_] IS NULL))))
                        OR p.[event_kind] <> N'upsert'
                        THEN 1
                    ELSE 0
                END AS [is_bound_]
            FROM (
                SELECT
                    s.[id],
                    s.[name],
                    s.[event_sequence],
                    s.[event_kind],
                    LAG(s.[event_kind]) OVER (PARTITION BY s.[id] ORDER BY s.[event_sequence]) AS [kind_before_],
                    LAG(s.[name]) OVER (PARTITION BY s.[id] ORDER BY s.[event_sequence]) AS [before_1_]
                FROM #states AS s
            ) AS p
        ) AS b
    ) AS u;

    -- The versions that follow from them.
    CREATE TABLE #wanted
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        v.[id],
        v.[name],
        v.[event_sequence] AS [starts_at_],
        v.[ends_at_]
    FROM (
        SELECT
            r.[id],
            r.[name],
            r.[event_sequence],
            r.[event_kind],
            r.[run_no_],
            LEAD(r.[event_sequence]) OVER (PARTITION BY r.[id] ORDER BY r.[event_sequence]) AS [ends_at_]
        FROM #runs AS r
        WHERE r.[is_bound_] = 1
    ) AS v
    WHERE v.[event_kind] = N'upsert';

    -- The changes: what shall be there against what is stored, for these keys.
    CREATE TABLE #changes
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        f.[change_kind],
        f.[stored_id],
        f.[stored_from],
        f.[changed_id],
        f.[id],
        f.[name],
        f.[start_at],
        f.[end_at]
    FROM (
        SELECT
            CASE
                WHEN t.[is_stored_] IS NULL THEN N'new'
                WHEN w.[is_wanted_] IS NULL THEN N'gone'
                WHEN t.[end_at] IS NULL AND w.[ends_at_] IS NOT NULL THEN N'closed'
                WHEN (w.[name] <> t.[name] COLLATE Latin1_General_100_BIN2 OR DATALENGTH(w.[name]) <> DATALENGTH(t.[name]) OR (w.[name] IS NULL AND t.[name] IS NOT NULL) OR (w.[name] IS NOT NULL AND t.[name] IS NULL))
                    OR (w.[ends_at_] <> t.[end_at] OR (w.[ends_at_] IS NULL AND t.[end_at] IS NOT NULL) OR (w.[ends_at_] IS NOT NULL AND t.[end_at] IS NULL))
                    THEN N'changed'
            END AS [change_kind],
            t.[id] AS [stored_id],
            t.[start_at] AS [stored_from],
            COALESCE(w.[id], t.[id]) AS [changed_id],
            w.[id],
            w.[name],
            w.[starts_at_] AS [start_at],
            w.[ends_at_] AS [end_at]
        FROM (
            SELECT
                1 AS [is_wanted_],
                x.[id],
                x.[name],
                x.[starts_at_],
                x.[ends_at_]
            FROM #wanted AS x
        ) AS w
        FULL JOIN (
            SELECT
                1 AS [is_stored_],
                t.[id],
                t.[name],
                t.[start_at],
                t.[end_at]
            FROM [dbo].[target] AS t
            WHERE (EXISTS (
                SELECT
                    1 AS [one]
                FROM #incoming AS i
                WHERE i.[id] = t.[id]
            )
                OR @Truncates > 0)
        ) AS t
            ON w.[id] = t.[id]
           AND w.[starts_at_] = t.[start_at]
    ) AS f
    WHERE f.[change_kind] IS NOT NULL;

    -- What will change.
    SELECT
        @NewRows = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'new' THEN 1 ELSE 0 END AS bigint)), 0),
        @ClosedRows = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'closed' THEN 1 ELSE 0 END AS bigint)), 0),
        @ChangedRows = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'changed' THEN 1 ELSE 0 END AS bigint)), 0),
        @GoneRows = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'gone' THEN 1 ELSE 0 END AS bigint)), 0)
    FROM #changes AS c;

    -- Keys that change.
    SET @ChangedKeys = (
        SELECT
            COUNT_BIG(*)
        FROM (
            SELECT
                COUNT_BIG(*) AS [rows]
            FROM #changes AS c
            GROUP BY c.[changed_id]
        ) AS k
    );

    -- Events that were not seen before.
    CREATE TABLE #new_events
    WITH (DISTRIBUTION = ROUND_ROBIN)
    AS
    SELECT
        n.[id],
        n.[name],
        n.[event_sequence],
        n.[event_kind]
    FROM #incoming AS n
    WHERE NOT EXISTS (
        SELECT
            1 AS [one]
        FROM [dbo].[target_events] AS e
        WHERE (e.[id] = n.[id] OR (e.[id] IS NULL AND n.[id] IS NULL))
          AND ((e.[name] = n.[name] COLLATE Latin1_General_100_BIN2 AND DATALENGTH(e.[name]) = DATALENGTH(n.[name])) OR (e.[name] IS NULL AND n.[name] IS NULL))
          AND (e.[event_sequence] = n.[event_sequence] OR (e.[event_sequence] IS NULL AND n.[event_sequence] IS NULL))
          AND ((e.[event_kind] = CONVERT(nvarchar(4000), n.[event_kind]) COLLATE Latin1_General_100_BIN2 AND DATALENGTH(e.[event_kind]) = DATALENGTH(n.[event_kind])) OR (e.[event_kind] IS NULL AND n.[event_kind] IS NULL))
    );

    BEGIN TRANSACTION;

    SET @RowsNow = (
        SELECT
            COUNT_BIG(*)
        FROM [dbo].[target] AS t
    );
    IF @RowsNow <> @RowsBefore
    BEGIN
        THROW 50019, N'concurrent_load: another load of this table has run meanwhile', 1;
    END;

    -- Rows whose end or values follow from the events otherwise than they are stored.
    UPDATE [dbo].[target]
    SET
        [name] = c.[name],
        [end_at] = c.[end_at]
    FROM #changes AS c
    WHERE [target].[id] = c.[stored_id]
      AND [target].[start_at] = c.[stored_from]
      AND c.[change_kind] IN (N'closed', N'changed');

    -- Rows that the events do not bear out.
    DELETE FROM [dbo].[target]
    WHERE EXISTS (
        SELECT 1
        FROM #changes AS c
        WHERE [target].[id] = c.[stored_id]
          AND [target].[start_at] = c.[stored_from]
          AND c.[change_kind] = N'gone'
    );

    -- Rows that the events add.
    INSERT INTO [dbo].[target] (
        [id],
        [name],
        [start_at],
        [end_at]
    )
    SELECT
        c.[id],
        c.[name],
        c.[start_at],
        c.[end_at]
    FROM #changes AS c
    WHERE c.[change_kind] = N'new';

    -- Remember the events.
    INSERT INTO [dbo].[target_events] (
        [id],
        [name],
        [event_sequence],
        [event_kind]
    )
    SELECT
        c.[id],
        c.[name],
        c.[event_sequence],
        c.[event_kind]
    FROM #new_events AS c;

    COMMIT TRANSACTION;

    IF OBJECT_ID('tempdb..#incoming') IS NOT NULL DROP TABLE #incoming;
    IF OBJECT_ID('tempdb..#history') IS NOT NULL DROP TABLE #history;
    IF OBJECT_ID('tempdb..#states') IS NOT NULL DROP TABLE #states;
    IF OBJECT_ID('tempdb..#runs') IS NOT NULL DROP TABLE #runs;
    IF OBJECT_ID('tempdb..#wanted') IS NOT NULL DROP TABLE #wanted;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    IF OBJECT_ID('tempdb..#new_events') IS NOT NULL DROP TABLE #new_events;

    -- What changed.
    SELECT
        CAST(@NewRows AS bigint) AS inserted,
        CAST(@ChangedRows AS bigint) AS updated,
        CAST(@ClosedRows AS bigint) AS expired,
        CAST(NULL AS bigint) AS inactivated,
        CAST(@GoneRows AS bigint) AS deleted,
        CAST(@StagedKeys - @ChangedKeys AS bigint) AS unchanged,
        CAST(0 AS bigint) AS skipped;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    IF OBJECT_ID('tempdb..#incoming') IS NOT NULL DROP TABLE #incoming;
    IF OBJECT_ID('tempdb..#history') IS NOT NULL DROP TABLE #history;
    IF OBJECT_ID('tempdb..#states') IS NOT NULL DROP TABLE #states;
    IF OBJECT_ID('tempdb..#runs') IS NOT NULL DROP TABLE #runs;
    IF OBJECT_ID('tempdb..#wanted') IS NOT NULL DROP TABLE #wanted;
    IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
    IF OBJECT_ID('tempdb..#new_events') IS NOT NULL DROP TABLE #new_events;
    THROW;
END CATCH;
