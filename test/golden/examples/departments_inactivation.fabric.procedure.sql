-- mergewright: {"format":1,"version":1,"pattern":"inactivation","source":{"database":null,"schema":"stg","table":"Department"},"target":{"database":null,"schema":"ps","table":"Department"},"platform":"fabric","form":"procedure","shape":"separate","options":{"hard_deletes":"new_record","keys":["DepartmentID"],"target_key":["DepartmentID"],"target_identity":["DepartmentID","EffectiveStartDT"],"compare":["DepartmentName","Location"],"valid_from":"EffectiveStartDT","valid_to":"EffectiveExpireDT","is_current":"CurrentRowYN","current_values":["Y","N"],"inactive_at":"SourceInactiveDT","inserted_at":"PSInsertDT","initial_valid_from":"1900-01-01 00:00:00","open_end":"4000-01-01 00:00:00","grain":"day","closing":"minus-3-ms"}}
-- Finds keys that the source no longer delivers.

CREATE OR ALTER PROCEDURE [ps].[Inactivate_Department]
    @BatchTime datetime2(6) = NULL,
    @MaxInactivationPct decimal(5,2) = 20,
    @Preview bit = 0,
    @InsertedRows bigint = NULL OUTPUT,
    @UpdatedRows bigint = NULL OUTPUT,
    @ExpiredRows bigint = NULL OUTPUT,
    @InactivatedRows bigint = NULL OUTPUT,
    @DeletedRows bigint = NULL OUTPUT,
    @UnchangedRows bigint = NULL OUTPUT,
    @SkippedStageRows bigint = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;

    IF @BatchTime IS NULL SET @BatchTime = SYSUTCDATETIME();

    -- What the load finds out.
    DECLARE @VersionStart datetime2(3);
    DECLARE @AcceptedRows bigint;
    DECLARE @SkippedRows bigint;
    DECLARE @DetectsAbsence int;
    DECLARE @AbsentKeys bigint;
    DECLARE @AbsentTodayKeys bigint;
    DECLARE @OpenKeys bigint;
    DECLARE @Offenders varchar(4000);
    DECLARE @Message varchar(2048);
    DECLARE @RowsBefore bigint;
    DECLARE @RowsNow bigint;

    BEGIN TRY
        DROP TABLE IF EXISTS #changes;

        -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
        SELECT
            @RowsBefore = COUNT_BIG(*)
        FROM [ps].[Department] AS t;

        -- A version that begins in this load starts today.
        SET @VersionStart = CAST(CAST(@BatchTime AS date) AS datetime2(3));

        -- Staged rows with a key; rows without one are skipped and counted.
        SELECT
            @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN s.[DepartmentID] IS NOT NULL THEN 1 ELSE 0 END AS bigint)), 0),
            @SkippedRows = COALESCE(SUM(CAST(CASE WHEN s.[DepartmentID] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [stg].[Department] AS s;

        -- A key that is staged more than once stops the load.
        SET @Offenders = NULL;
        SELECT @Offenders = STRING_AGG(o.[offender], ', ')
        FROM (
            SELECT TOP (5)
                COALESCE(LEFT(CONVERT(varchar(8000), MIN(s.[DepartmentID])), 100), 'NULL') AS [offender]
            FROM (
                SELECT
                    1 AS [is_staged],
                    s.[DepartmentID],
                    s.[DepartmentName],
                    s.[Location]
                FROM [stg].[Department] AS s
                WHERE s.[DepartmentID] IS NOT NULL
            ) AS s
            GROUP BY s.[DepartmentID]
            HAVING COUNT_BIG(*) > 1
        ) AS o;
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT('duplicate_key: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
            THROW 50010, @Message, 1;
        END;

        -- An empty delivery inactivates nothing.
        SET @DetectsAbsence = CAST(CASE WHEN @AcceptedRows > 0 THEN 1 ELSE 0 END AS int);

        -- The changes: staged rows against the current row of their key, both ways.
        CREATE TABLE #changes
        WITH (DISTRIBUTION = ROUND_ROBIN)
        AS
        SELECT
            f.[change_kind],
            f.[stored_DepartmentID],
            f.[stored_from],
            f.[DepartmentID],
            f.[DepartmentName],
            f.[Location],
            f.[SourceInactiveDT],
            f.[EffectiveStartDT],
            f.[EffectiveExpireDT],
            f.[CurrentRowYN],
            f.[PSInsertDT],
            f.[CheckSum],
            f.[closed_to]
        FROM (
            SELECT
                CASE
                    WHEN s.[is_staged] IS NULL
                        AND t.[SourceInactiveDT] IS NULL
                        AND @DetectsAbsence = 1
                        AND CAST(t.[EffectiveStartDT] AS date) = CAST(@VersionStart AS date)
                        THEN 'absent today'
                    WHEN s.[is_staged] IS NULL AND t.[SourceInactiveDT] IS NULL AND @DetectsAbsence = 1 THEN 'absent'
                END AS [change_kind],
                t.[DepartmentID] AS [stored_DepartmentID],
                t.[EffectiveStartDT] AS [stored_from],
                t.[DepartmentID],
                t.[DepartmentName],
                t.[Location],
                @VersionStart AS [SourceInactiveDT],
                @VersionStart AS [EffectiveStartDT],
                CAST('4000-01-01T00:00:00' AS datetime2(3)) AS [EffectiveExpireDT],
                'Y' AS [CurrentRowYN],
                CAST(@BatchTime AS datetime2(3)) AS [PSInsertDT],
                t.[CheckSum],
                CAST(DATEADD(millisecond, -3, @VersionStart) AS datetime2(3)) AS [closed_to]
            FROM (
                SELECT
                    1 AS [is_stored],
                    t.[DepartmentID],
                    t.[DepartmentName],
                    t.[Location],
                    t.[SourceInactiveDT],
                    t.[EffectiveStartDT],
                    t.[EffectiveExpireDT],
                    t.[CurrentRowYN],
                    t.[PSInsertDT],
                    t.[CheckSum]
                FROM [ps].[Department] AS t
                WHERE t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime2(3))
            ) AS t
            LEFT JOIN (
                SELECT
                    1 AS [is_staged],
                    s.[DepartmentID],
                    s.[DepartmentName],
                    s.[Location]
                FROM [stg].[Department] AS s
                WHERE s.[DepartmentID] IS NOT NULL
            ) AS s
                ON s.[DepartmentID] = t.[DepartmentID]
        ) AS f
        WHERE f.[change_kind] IS NOT NULL;

        -- What will change.
        SELECT
            @AbsentKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'absent' THEN 1 ELSE 0 END AS bigint)), 0),
            @AbsentTodayKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = 'absent today' THEN 1 ELSE 0 END AS bigint)), 0)
        FROM #changes AS c;

        -- Open keys that this load speaks about.
        SELECT
            @OpenKeys = COUNT_BIG(*)
        FROM [ps].[Department] AS t
        WHERE t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime2(3))
          AND t.[SourceInactiveDT] IS NULL;

        -- More absent keys than the limit allows stop the load: the delivery may be cut.
        IF ((@AbsentKeys + @AbsentTodayKeys) * 100) > (@OpenKeys * @MaxInactivationPct)
        BEGIN
            SET @Message = LEFT('inactivation_threshold: ' + REPLACE(COALESCE(LEFT(CONVERT(varchar(8000), @AbsentKeys + @AbsentTodayKeys), 100), 'NULL')
            + ' of '
            + COALESCE(LEFT(CONVERT(varchar(8000), @OpenKeys), 100), 'NULL')
            + ' open keys are absent, more than the limit of '
            + COALESCE(LEFT(CONVERT(varchar(8000), @MaxInactivationPct), 100), 'NULL')
            + ' per cent', '%', '%' + '%'), 2000);
            THROW 50016, @Message, 1;
        END;

        -- A version that would end at or before its own start stops the load.
        SET @Offenders = NULL;
        SELECT @Offenders = STRING_AGG(o.[offender], ', ')
        FROM (
            SELECT TOP (5)
                COALESCE(LEFT(CONVERT(varchar(8000), c.[DepartmentID]), 100), 'NULL') AS [offender]
            FROM #changes AS c
            WHERE c.[change_kind] = 'absent'
              AND c.[EffectiveStartDT] <= c.[stored_from]
        ) AS o;
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT('batch_time_not_after_current: ' + REPLACE(@Offenders, '%', '%' + '%'), 2000);
            THROW 50017, @Message, 1;
        END;

        BEGIN TRANSACTION;

        SELECT
            @RowsNow = COUNT_BIG(*)
        FROM [ps].[Department] AS t;
        IF @RowsNow <> @RowsBefore
        BEGIN
            THROW 50019, 'concurrent_load: another load of this table has run meanwhile', 1;
        END;

        IF @Preview = 0
        BEGIN
            -- Close the current version of each key that has a next one or is gone.
            UPDATE t
            SET
                [EffectiveExpireDT] = c.[closed_to],
                [CurrentRowYN] = 'N'
            FROM [ps].[Department] AS t
            INNER JOIN #changes AS c
                ON t.[DepartmentID] = c.[stored_DepartmentID]
               AND t.[EffectiveStartDT] = c.[stored_from]
            WHERE c.[change_kind] = 'absent'
              AND t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime2(3));

            -- A version that began today and is gone bears its inactive date.
            UPDATE t
            SET
                [SourceInactiveDT] = c.[SourceInactiveDT]
            FROM [ps].[Department] AS t
            INNER JOIN #changes AS c
                ON t.[DepartmentID] = c.[stored_DepartmentID]
               AND t.[EffectiveStartDT] = c.[stored_from]
            WHERE c.[change_kind] = 'absent today'
              AND t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime2(3));

            -- Open a marked copy for each key that is gone.
            INSERT INTO [ps].[Department] (
                [DepartmentID],
                [DepartmentName],
                [Location],
                [SourceInactiveDT],
                [EffectiveStartDT],
                [EffectiveExpireDT],
                [CurrentRowYN],
                [PSInsertDT],
                [CheckSum]
            )
            SELECT
                c.[DepartmentID],
                c.[DepartmentName],
                c.[Location],
                c.[SourceInactiveDT],
                c.[EffectiveStartDT],
                c.[EffectiveExpireDT],
                c.[CurrentRowYN],
                c.[PSInsertDT],
                c.[CheckSum]
            FROM #changes AS c
            WHERE c.[change_kind] = 'absent';
        END;

        COMMIT TRANSACTION;

        SELECT
            @InsertedRows = @AbsentKeys,
            @UpdatedRows = @AbsentTodayKeys,
            @ExpiredRows = @AbsentKeys,
            @InactivatedRows = @AbsentKeys + @AbsentTodayKeys,
            @DeletedRows = 0,
            @UnchangedRows = @AcceptedRows,
            @SkippedStageRows = @SkippedRows;

        DROP TABLE IF EXISTS #changes;

        -- What was left out.
        IF @SkippedRows > 0
            SELECT 'null_key' AS warning_code, COALESCE(LEFT(CONVERT(varchar(8000), @SkippedRows), 100), 'NULL') + ' staged rows without a key were skipped' AS message;
        IF @DetectsAbsence = 0
            SELECT 'empty_stage' AS warning_code, 'the stage is empty: absent keys were not looked for' AS message;

        -- What changed.
        SELECT
            CAST(@AbsentKeys AS bigint) AS inserted,
            CAST(@AbsentTodayKeys AS bigint) AS updated,
            CAST(@AbsentKeys AS bigint) AS expired,
            CAST(@AbsentKeys + @AbsentTodayKeys AS bigint) AS inactivated,
            CAST(0 AS bigint) AS deleted,
            CAST(@AcceptedRows AS bigint) AS unchanged,
            CAST(@SkippedRows AS bigint) AS skipped;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        DROP TABLE IF EXISTS #changes;
        THROW;
    END CATCH;
END;
GO
-- Runs [ps].[Inactivate_Department].

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(6) = SYSUTCDATETIME();
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
DECLARE @MaxInactivationPct decimal(5,2) = 20;
-- End of parameters

EXEC [ps].[Inactivate_Department]
    @BatchTime = @BatchTime,
    @MaxInactivationPct = @MaxInactivationPct,
    @Preview = 0;
