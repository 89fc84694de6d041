-- mergewright: {"format":1,"version":1,"pattern":"satellite","source":{"database":null,"schema":"StageEmedsys","table":"Dev_Patient_"},"target":{"database":null,"schema":"raw","table":"SatPatientAddressEMED_TEST"},"platform":"synapse","form":"procedure","shape":"separate","options":{"keys":["patient_id"],"target_key":["PatientKey"],"hash_key":{"PatientKey":["patient_id","@SourceSystem"]},"hashdiff":{"HashDiff":["address1","address2","city","state","zip"]},"load_ts":"LoadDate","record_source":"RecordSource","parameters":{"LoadProcess":"LoadProcess","RecordSource":"RecordSource"},"hash_rules":{"preset":"legacy-concat"}}}
-- Satellite SatPatientAddressEMED_TEST from Dev_Patient_: inserts a version where a key's content
-- differs from its latest version.

IF OBJECT_ID(N'[raw].[Load_SatPatientAddressEMED_TEST]', N'P') IS NOT NULL DROP PROCEDURE [raw].[Load_SatPatientAddressEMED_TEST];
GO
CREATE PROCEDURE [raw].[Load_SatPatientAddressEMED_TEST]
    @BatchTime datetime2(7),
    @LoadProcess varchar(255),
    @RecordSource varchar(255),
    @SourceSystem varchar(255),
    @Preview bit,
    @InsertedRows bigint OUTPUT,
    @UpdatedRows bigint OUTPUT,
    @ExpiredRows bigint OUTPUT,
    @InactivatedRows bigint OUTPUT,
    @DeletedRows bigint OUTPUT,
    @UnchangedRows bigint OUTPUT,
    @SkippedStageRows bigint OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF @BatchTime IS NULL SET @BatchTime = SYSUTCDATETIME();

    -- What the load finds out.
    DECLARE @SkippedRows bigint;
    DECLARE @AcceptedRows bigint;
    DECLARE @NewRows bigint;
    DECLARE @ChangedKeys bigint;
    DECLARE @Offenders nvarchar(4000);
    DECLARE @Message nvarchar(2048);
    DECLARE @RowsBefore bigint;
    DECLARE @RowsNow bigint;

    BEGIN TRY
        IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
        IF OBJECT_ID('tempdb..#candidates') IS NOT NULL DROP TABLE #candidates;
        IF OBJECT_ID('tempdb..#sequence') IS NOT NULL DROP TABLE #sequence;
        IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;

        -- There is no lock for a load here; rows that another one adds or removes meanwhile stop this one.
        SET @RowsBefore = (
            SELECT
                COUNT_BIG(*)
            FROM [raw].[SatPatientAddressEMED_TEST] AS t
        );

        -- Rows without a key are left out and counted.
        SET @SkippedRows = (
            SELECT
                COALESCE(SUM(CAST(CASE WHEN s.[patient_id] IS NULL THEN 1 ELSE 0 END AS bigint)), 0)
            FROM [StageEmedsys].[Dev_Patient_] AS s
        );

        -- Staged rows with a key: what they are compared by.
        CREATE TABLE #staged
        WITH (DISTRIBUTION = ROUND_ROBIN)
        AS
        SELECT
            LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(888), (CONVERT(nvarchar(41), CONVERT(decimal(10,0), s.[patient_id])) + COALESCE(CONVERT(nvarchar(255), @SourceSystem), N'')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [PatientKey],
            CAST(@BatchTime AS datetime) AS [LoadDate],
            LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(309), (N'0'
                + COALESCE(CONVERT(nvarchar(30), s.[address1]), N'')
                + COALESCE(CONVERT(nvarchar(30), s.[address2]), N'')
                + COALESCE(CONVERT(nvarchar(30), s.[city]), N'')
                + COALESCE(CONVERT(nvarchar(2), s.[state]), N'')
                + COALESCE(CONVERT(nvarchar(10), s.[zip]), N'')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [HashDiff],
            s.[patient_id] AS [key_part_1_]
        FROM [StageEmedsys].[Dev_Patient_] AS s
        WHERE s.[patient_id] IS NOT NULL;

        -- Distinct keys in the stage.
        SET @AcceptedRows = (
            SELECT
                COUNT_BIG(DISTINCT s.[PatientKey])
            FROM #staged AS s
        );

        -- Staged keys with a row that is not their latest version; of the satellite only the versions of
        -- staged keys are read.
        CREATE TABLE #candidates
        WITH (DISTRIBUTION = ROUND_ROBIN)
        AS
        SELECT
            MIN(r.[PatientKey]) AS [PatientKey],
            MAX(r.[latest_time_]) AS [latest_time_],
            MAX(r.[latest_content_]) AS [latest_content_]
        FROM (
            SELECT
                s.[PatientKey],
                l.[latest_time_],
                l.[latest_content_]
            FROM #staged AS s
            LEFT JOIN (
                SELECT
                    r.[PatientKey],
                    r.[latest_time_],
                    r.[latest_content_]
                FROM (
                    SELECT
                        t.[PatientKey],
                        t.[LoadDate] AS [latest_time_],
                        t.[HashDiff] AS [latest_content_],
                        ROW_NUMBER() OVER (PARTITION BY t.[PatientKey] ORDER BY t.[LoadDate] DESC) AS [recency]
                    FROM [raw].[SatPatientAddressEMED_TEST] AS t
                    WHERE EXISTS (
                        SELECT
                            1 AS [one]
                        FROM #staged AS s
                        WHERE t.[PatientKey] = s.[PatientKey]
                    )
                ) AS r
                WHERE r.[recency] = 1
            ) AS l
                ON l.[PatientKey] = s.[PatientKey]
            WHERE (l.[latest_time_] IS NULL
                OR (s.[HashDiff] <> l.[latest_content_] OR (s.[HashDiff] IS NULL AND l.[latest_content_] IS NOT NULL) OR (s.[HashDiff] IS NOT NULL AND l.[latest_content_] IS NULL))
                OR s.[LoadDate] < l.[latest_time_])
        ) AS r
        GROUP BY r.[PatientKey];

        -- All staged rows of these keys; what is said twice for one load date counts once.
        CREATE TABLE #sequence
        WITH (DISTRIBUTION = ROUND_ROBIN)
        AS
        SELECT
            r.[PatientKey],
            r.[LoadDate],
            r.[LoadProcess],
            r.[RecordSource],
            r.[HashDiff],
            r.[Address1],
            r.[Address2],
            r.[City],
            r.[State],
            r.[Zip],
            r.[key_part_1_],
            r.[latest_time_],
            r.[latest_content_]
        FROM (
            SELECT
                s.[PatientKey],
                s.[LoadDate],
                s.[LoadProcess],
                s.[RecordSource],
                s.[HashDiff],
                s.[Address1],
                s.[Address2],
                s.[City],
                s.[State],
                s.[Zip],
                s.[key_part_1_],
                k.[latest_time_],
                k.[latest_content_],
                ROW_NUMBER() OVER (PARTITION BY s.[PatientKey], s.[LoadDate], s.[HashDiff] ORDER BY CONVERT(nvarchar(64), s.[PatientKey]) COLLATE Latin1_General_100_BIN2, s.[LoadDate], CONVERT(nvarchar(255), s.[LoadProcess]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(255), s.[RecordSource]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(64), s.[HashDiff]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(30), s.[Address1]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(30), s.[Address2]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(30), s.[City]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(2), s.[State]) COLLATE Latin1_General_100_BIN2, CONVERT(nvarchar(10), s.[Zip]) COLLATE Latin1_General_100_BIN2) AS [repeat_no_]
            FROM (
                SELECT
                    LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(888), (CONVERT(nvarchar(41), CONVERT(decimal(10,0), s.[patient_id])) + COALESCE(CONVERT(nvarchar(255), @SourceSystem), N'')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [PatientKey],
                    CAST(@BatchTime AS datetime) AS [LoadDate],
                    @LoadProcess AS [LoadProcess],
                    @RecordSource AS [RecordSource],
                    LOWER(CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(varchar(309), (N'0'
                        + COALESCE(CONVERT(nvarchar(30), s.[address1]), N'')
                        + COALESCE(CONVERT(nvarchar(30), s.[address2]), N'')
                        + COALESCE(CONVERT(nvarchar(30), s.[city]), N'')
                        + COALESCE(CONVERT(nvarchar(2), s.[state]), N'')
                        + COALESCE(CONVERT(nvarchar(10), s.[zip]), N'')) COLLATE Latin1_General_100_BIN2_UTF8)), 2)) AS [HashDiff],
                    s.[address1] AS [Address1],
                    s.[address2] AS [Address2],
                    s.[city] AS [City],
                    s.[state] AS [State],
                    s.[zip] AS [Zip],
                    s.[patient_id] AS [key_part_1_]
                FROM [StageEmedsys].[Dev_Patient_] AS s
                WHERE s.[patient_id] IS NOT NULL
                  AND EXISTS (
                    SELECT
                        1 AS [one]
                    FROM #staged AS n
                    INNER JOIN #candidates AS k
                        ON k.[PatientKey] = n.[PatientKey]
                    WHERE n.[key_part_1_] = s.[patient_id]
                )
            ) AS s
            INNER JOIN #candidates AS k
                ON k.[PatientKey] = s.[PatientKey]
        ) AS r
        WHERE r.[repeat_no_] = 1;

        -- Two contents of a key for one load date stop the load.
        SET @Offenders = NULL;
        SET @Offenders = (
            SELECT STRING_AGG(o.[offender], N', ')
            FROM (
                SELECT TOP (5)
                    COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[key_part_1_])), 100), N'NULL') AS [offender]
                FROM #sequence AS s
                GROUP BY s.[PatientKey], s.[LoadDate]
                HAVING COUNT_BIG(*) > 1
            ) AS o
        );
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT(N'same_timestamp_conflict: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
            THROW 50014, @Message, 1;
        END;

        -- Another content than the stored one of this load date stops the load.
        SET @Offenders = NULL;
        SET @Offenders = (
            SELECT STRING_AGG(o.[offender], N', ')
            FROM (
                SELECT TOP (5)
                    COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_1_]), 100), N'NULL') AS [offender]
                FROM #sequence AS s
                WHERE s.[LoadDate] <= s.[latest_time_]
                  AND EXISTS (
                    SELECT
                        1 AS [one]
                    FROM [raw].[SatPatientAddressEMED_TEST] AS t
                    WHERE t.[PatientKey] = s.[PatientKey]
                      AND t.[LoadDate] = s.[LoadDate]
                )
                  AND NOT EXISTS (
                    SELECT
                        1 AS [one]
                    FROM [raw].[SatPatientAddressEMED_TEST] AS t
                    WHERE t.[PatientKey] = s.[PatientKey]
                      AND t.[LoadDate] = s.[LoadDate]
                      AND (t.[HashDiff] = s.[HashDiff] OR (t.[HashDiff] IS NULL AND s.[HashDiff] IS NULL))
                )
            ) AS o
        );
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT(N'same_timestamp_conflict: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
            THROW 50014, @Message, 1;
        END;

        -- A row older than the latest version of its key stops the load, unless it says what was stored for
        -- its time.
        SET @Offenders = NULL;
        SET @Offenders = (
            SELECT STRING_AGG(o.[offender], N', ')
            FROM (
                SELECT TOP (5)
                    COALESCE(LEFT(CONVERT(nvarchar(4000), s.[key_part_1_]), 100), N'NULL') AS [offender]
                FROM #sequence AS s
                WHERE s.[LoadDate] < s.[latest_time_]
                  AND NOT EXISTS (
                    SELECT
                        1 AS [one]
                    FROM [raw].[SatPatientAddressEMED_TEST] AS t
                    WHERE t.[PatientKey] = s.[PatientKey]
                      AND t.[LoadDate] <= s.[LoadDate]
                      AND (t.[HashDiff] = s.[HashDiff] OR (t.[HashDiff] IS NULL AND s.[HashDiff] IS NULL))
                      AND NOT EXISTS (
                        SELECT
                            1 AS [one]
                        FROM [raw].[SatPatientAddressEMED_TEST] AS u
                        WHERE u.[PatientKey] = s.[PatientKey]
                          AND u.[LoadDate] > t.[LoadDate]
                          AND u.[LoadDate] <= s.[LoadDate]
                    )
                )
            ) AS o
        );
        IF @Offenders IS NOT NULL
        BEGIN
            SET @Message = LEFT(N'late_row: ' + REPLACE(@Offenders, N'%', N'%' + N'%'), 2000);
            THROW 50018, @Message, 1;
        END;

        -- The changes: rows whose content is not that of the version before them.
        CREATE TABLE #changes
        WITH (DISTRIBUTION = ROUND_ROBIN)
        AS
        SELECT
            r.[PatientKey],
            r.[LoadDate],
            r.[LoadProcess],
            r.[RecordSource],
            r.[HashDiff],
            r.[Address1],
            r.[Address2],
            r.[City],
            r.[State],
            r.[Zip]
        FROM (
            SELECT
                s.[PatientKey],
                s.[LoadDate],
                s.[LoadProcess],
                s.[RecordSource],
                s.[HashDiff],
                s.[Address1],
                s.[Address2],
                s.[City],
                s.[State],
                s.[Zip],
                s.[latest_content_],
                LAG(s.[HashDiff]) OVER (PARTITION BY s.[PatientKey] ORDER BY s.[LoadDate], CONVERT(nvarchar(64), s.[HashDiff]) COLLATE Latin1_General_100_BIN2) AS [content_before_],
                ROW_NUMBER() OVER (PARTITION BY s.[PatientKey] ORDER BY s.[LoadDate], CONVERT(nvarchar(64), s.[HashDiff]) COLLATE Latin1_General_100_BIN2) AS [position_]
            FROM #sequence AS s
            WHERE (s.[latest_time_] IS NULL OR s.[LoadDate] > s.[latest_time_])
        ) AS r
        WHERE ((r.[position_] = 1
            AND (r.[HashDiff] <> r.[latest_content_] OR (r.[HashDiff] IS NULL AND r.[latest_content_] IS NOT NULL) OR (r.[HashDiff] IS NOT NULL AND r.[latest_content_] IS NULL)))
            OR (r.[position_] > 1
                AND (r.[HashDiff] <> r.[content_before_] OR (r.[HashDiff] IS NULL AND r.[content_before_] IS NOT NULL) OR (r.[HashDiff] IS NOT NULL AND r.[content_before_] IS NULL))));

        -- What will be inserted.
        SET @NewRows = (
            SELECT
                COUNT_BIG(*)
            FROM #changes AS c
        );

        -- Keys with a new version.
        SET @ChangedKeys = (
            SELECT
                COUNT_BIG(DISTINCT s.[PatientKey])
            FROM #changes AS s
        );

        BEGIN TRANSACTION;

        SET @RowsNow = (
            SELECT
                COUNT_BIG(*)
            FROM [raw].[SatPatientAddressEMED_TEST] AS t
        );
        IF @RowsNow <> @RowsBefore
        BEGIN
            THROW 50019, N'concurrent_load: another load of this table has run meanwhile', 1;
        END;

        IF @Preview = 0
        BEGIN
            -- Insert the versions.
            INSERT INTO [raw].[SatPatientAddressEMED_TEST] (
                [PatientKey],
                [LoadDate],
                [LoadProcess],
                [RecordSource],
                [HashDiff],
                [Address1],
                [Address2],
                [City],
                [State],
                [Zip]
            )
            SELECT
                c.[PatientKey],
                c.[LoadDate],
                c.[LoadProcess],
                c.[RecordSource],
                c.[HashDiff],
                c.[Address1],
                c.[Address2],
                c.[City],
                c.[State],
                c.[Zip]
            FROM #changes AS c;
        END;

        COMMIT TRANSACTION;

        SELECT
            @InsertedRows = @NewRows,
            @UpdatedRows = NULL,
            @ExpiredRows = NULL,
            @InactivatedRows = NULL,
            @DeletedRows = NULL,
            @UnchangedRows = @AcceptedRows - @ChangedKeys,
            @SkippedStageRows = @SkippedRows;

        IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
        IF OBJECT_ID('tempdb..#candidates') IS NOT NULL DROP TABLE #candidates;
        IF OBJECT_ID('tempdb..#sequence') IS NOT NULL DROP TABLE #sequence;
        IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;

        -- What was left out.
        IF @SkippedRows > 0
            SELECT N'null_key' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N'NULL') + N' staged rows without a key were skipped' AS message;

        -- What changed.
        SELECT
            CAST(@NewRows AS bigint) AS inserted,
            CAST(NULL AS bigint) AS updated,
            CAST(NULL AS bigint) AS expired,
            CAST(NULL AS bigint) AS inactivated,
            CAST(NULL AS bigint) AS deleted,
            CAST(@AcceptedRows - @ChangedKeys AS bigint) AS unchanged,
            CAST(@SkippedRows AS bigint) AS skipped;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        IF OBJECT_ID('tempdb..#staged') IS NOT NULL DROP TABLE #staged;
        IF OBJECT_ID('tempdb..#candidates') IS NOT NULL DROP TABLE #candidates;
        IF OBJECT_ID('tempdb..#sequence') IS NOT NULL DROP TABLE #sequence;
        IF OBJECT_ID('tempdb..#changes') IS NOT NULL DROP TABLE #changes;
        THROW;
    END CATCH;
END;
GO
-- Runs [raw].[Load_SatPatientAddressEMED_TEST].

-- Parameters
-- BatchTime: fills LoadDate.
DECLARE @BatchTime datetime2(7) = SYSUTCDATETIME();
-- LoadProcess: fills LoadProcess.
DECLARE @LoadProcess varchar(255) = NULL;
-- RecordSource: fills RecordSource.
DECLARE @RecordSource varchar(255) = NULL;
-- SourceSystem: goes into the hash key.
DECLARE @SourceSystem varchar(255) = NULL;
-- End of parameters

DECLARE @InsertedRows bigint;
DECLARE @UpdatedRows bigint;
DECLARE @ExpiredRows bigint;
DECLARE @InactivatedRows bigint;
DECLARE @DeletedRows bigint;
DECLARE @UnchangedRows bigint;
DECLARE @SkippedStageRows bigint;

EXEC [raw].[Load_SatPatientAddressEMED_TEST]
    @BatchTime = @BatchTime,
    @LoadProcess = @LoadProcess,
    @RecordSource = @RecordSource,
    @SourceSystem = @SourceSystem,
    @Preview = 0,
    @InsertedRows = @InsertedRows OUTPUT,
    @UpdatedRows = @UpdatedRows OUTPUT,
    @ExpiredRows = @ExpiredRows OUTPUT,
    @InactivatedRows = @InactivatedRows OUTPUT,
    @DeletedRows = @DeletedRows OUTPUT,
    @UnchangedRows = @UnchangedRows OUTPUT,
    @SkippedStageRows = @SkippedStageRows OUTPUT;
