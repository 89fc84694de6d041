-- mergewright: {"format":1,"version":1,"pattern":"inactivation","source":{"database":null,"schema":"stg","table":"Department"},"target":{"database":null,"schema":"ps","table":"Department"},"platform":"sqlserver","form":"procedure","shape":"separate","options":{"hard_deletes":"new_record","keys":["DepartmentID"],"target_key":["DepartmentID"],"target_identity":["DepartmentID","EffectiveStartDT"],"compare":["DepartmentName","Location"],"valid_from":"EffectiveStartDT","valid_to":"EffectiveExpireDT","is_current":"CurrentRowYN","current_values":["Y","N"],"inactive_at":"SourceInactiveDT","inserted_at":"PSInsertDT","initial_valid_from":"1900-01-01 00:00:00","open_end":"4000-01-01 00:00:00","grain":"day","closing":"minus-3-ms"}}
-- Finds keys that the source no longer delivers.

CREATE OR ALTER PROCEDURE [ps].[Inactivate_Department]
    @BatchTime datetime2(7) = NULL,
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
    SET XACT_ABORT ON;

    IF @BatchTime IS NULL SET @BatchTime = SYSUTCDATETIME();

    -- What the load finds out.
    DECLARE @VersionStart datetime;
    DECLARE @AcceptedRows bigint;
    DECLARE @SkippedRows bigint;
    DECLARE @DetectsAbsence int;
    DECLARE @AbsentKeys bigint;
    DECLARE @AbsentTodayKeys bigint;
    DECLARE @OpenKeys bigint;
    DECLARE @Offenders nvarchar(4000);
    DECLARE @Message nvarchar(2048);
    DECLARE @Lock int;

    BEGIN TRY
        DROP TABLE IF EXISTS #changes;

        BEGIN TRANSACTION;

        -- One load of this table at a time.
        EXEC @Lock = sys.sp_getapplock
            @Resource = N'mergewright ps.Department',
            @LockMode = 'Exclusive',
            @LockOwner = 'Transaction',
            @LockTimeout = 60000;
        IF @Lock < 0
        BEGIN
            THROW 50019, N'concurrent_load: another load of this table is running', 1;
        END;

        -- A version that begins in this load starts today.
        SET @VersionStart = CAST(CAST(@BatchTime AS date) AS datetime);

        -- Staged rows with a key; rows without one are skipped and counted.
        SELECT
            @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN s.[DepartmentID] IS NOT NULL THEN 1 ELSE 0 END AS bigint)), 0),
            @SkippedRows = COALESCE(SUM(CAST(CASE WHEN s.[DepartmentID] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
        FROM [stg].[Department] AS s;

        -- A key that is staged more than once stops the load.
        SET @Offenders = NULL;
        SELECT @Offenders = STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[DepartmentID])), 100), N'NULL') AS [offender]
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
            SET @Message = LEFT(N'duplicate_key: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
            THROW 50010, @Message, 1;
        END;

        -- An empty delivery inactivates nothing.
        SET @DetectsAbsence = CAST(CASE WHEN @AcceptedRows > 0 THEN 1 ELSE 0 END AS int);

        -- The changes: staged rows against the current row of their key, both ways.
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
        INTO #changes
        FROM (
            SELECT
                CASE
                    WHEN s.[is_staged] IS NULL
                        AND t.[SourceInactiveDT] IS NULL
                        AND @DetectsAbsence = 1
                        AND CAST(t.[EffectiveStartDT] AS date) = CAST(@VersionStart AS date)
                        THEN N'absent today'
                    WHEN s.[is_staged] IS NULL AND t.[SourceInactiveDT] IS NULL AND @DetectsAbsence = 1 THEN N'absent'
                END AS [change_kind],
                t.[DepartmentID] AS [stored_DepartmentID],
                t.[EffectiveStartDT] AS [stored_from],
                t.[DepartmentID],
                t.[DepartmentName],
                t.[Location],
                @VersionStart AS [SourceInactiveDT],
                @VersionStart AS [EffectiveStartDT],
                CAST('4000-01-01T00:00:00' AS datetime) AS [EffectiveExpireDT],
                'Y' AS [CurrentRowYN],
                CAST(@BatchTime AS datetime) AS [PSInsertDT],
                t.[CheckSum],
                CAST(DATEADD(millisecond, -3, @VersionStart) AS datetime) AS [closed_to]
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
                WHERE t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime)
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
            @AbsentKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'absent' THEN 1 ELSE 0 END AS bigint)), 0),
            @AbsentTodayKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N'absent today' THEN 1 ELSE 0 END AS bigint)), 0)
        FROM #changes AS c;

        -- Open keys that this load speaks about.
        SELECT
            @OpenKeys = COUNT_BIG(*)
        FROM [ps].[Department] AS t
        WHERE t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime)
          AND t.[SourceInactiveDT] IS NULL;

        -- More absent keys than the limit allows stop the load: the delivery may be cut.
        IF ((@AbsentKeys + @AbsentTodayKeys) * 100) > (@OpenKeys * @MaxInactivationPct)
        BEGIN
            SET @Message = LEFT(N'inactivation_threshold: ' + REPLACE(COALESCE(LEFT(CONVERT(nvarchar(4000), @AbsentKeys + @AbsentTodayKeys), 100), N'NULL')
            + N' of '
            + COALESCE(LEFT(CONVERT(nvarchar(4000), @OpenKeys), 100), N'NULL')
            + N' open keys are absent, more than the limit of '
            + COALESCE(LEFT(CONVERT(nvarchar(4000), @MaxInactivationPct), 100), N'NULL')
            + N' per cent', N'%', N'%' + N'%'), 2000);
            THROW 50016, @Message, 1;
        END;

        -- A version that would end at or before its own start stops the load.
        SET @Offenders = NULL;
        SELECT @Offenders = STRING_AGG(o.[offender], N', ')
        FROM (
            SELECT TOP (5)
                COALESCE(LEFT(CONVERT(nvarchar(4000), c.[DepartmentID]), 100), N'NULL') AS [offender]
            FROM #changes AS c
            WHERE c.[change_kind] = N'absent'
              AND c.[EffectiveStartDT] <= c.[stored_from]
        ) AS o;
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT(N'batch_time_not_after_current: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
            THROW 50017, @Message, 1;
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
            WHERE c.[change_kind] = N'absent'
              AND t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime);

            -- A version that began today and is gone bears its inactive date.
            UPDATE t
            SET
                [SourceInactiveDT] = c.[SourceInactiveDT]
            FROM [ps].[Department] AS t
            INNER JOIN #changes AS c
                ON t.[DepartmentID] = c.[stored_DepartmentID]
               AND t.[EffectiveStartDT] = c.[stored_from]
            WHERE c.[change_kind] = N'absent today'
              AND t.[EffectiveExpireDT] = CAST('4000-01-01T00:00:00' AS datetime);

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
            WHERE c.[change_kind] = N'absent';
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
            SELECT N'null_key' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N'NULL') + N' staged rows without a key were skipped' AS message;
        IF @DetectsAbsence = 0
            SELECT N'empty_stage' AS warning_code, N'the stage is empty: absent keys were not looked for' AS message;

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
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH;
END;
GO
-- Runs [ps].[Inactivate_Department].

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(7) = SYSUTCDATETIME();
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
DECLARE @MaxInactivationPct decimal(5,2) = 20;
-- End of parameters

EXEC [ps].[Inactivate_Department]
    @BatchTime = @BatchTime,
    @MaxInactivationPct = @MaxInactivationPct,
    @Preview = 0;
