-- mergewright: {"format":1,"version":1,"pattern":"scd2_day","source":{"database":"Staging","schema":"dbo","table":"Department"},"target":{"database":"PersistentStaging","schema":"dbo","table":"Department"},"platform":"sqlserver","form":"dynamic-procedure","shape":"separate","options":{"hard_deletes":"new_record","load":"full","closing":"minus-3-ms","keys":["DepartmentID"],"target_key":["DepartmentID"],"target_identity":["DepartmentID","EffectiveStartDT"],"compare":["DepartmentName","Location"],"valid_from":"EffectiveStartDT","valid_to":"EffectiveExpireDT","is_current":"CurrentRowYN","current_values":["Y","N"],"inactive_at":"SourceInactiveDT","inserted_at":"PSInsertDT","initial_valid_from":"1900-01-01 00:00:00","open_end":"4000-01-01 00:00:00"}}
-- Type 2 with one version per key and day: a version that began today is rewritten in place.

CREATE OR ALTER PROCEDURE [dbo].[Load_Table]
    @SchemaName sysname,
    @TableName sysname,
    @BatchTime datetime2(7) = NULL,
    @MaxInactivationPct decimal(5,2) = 20,
    @Preview bit = 0,
    @Debug bit = 0,
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

    DECLARE @Sql nvarchar(max) = N'';
    DECLARE @NewLine nchar(1) = NCHAR(10);
    DECLARE @Schema nvarchar(260) = REPLACE(@SchemaName, N']', N']]');
    DECLARE @Table nvarchar(260) = REPLACE(@TableName, N']', N']]');
    DECLARE @Missing nvarchar(2000);

    -- Columns and primary key of the table, from the catalog.
    DROP TABLE IF EXISTS #columns;
    SELECT
        col.name AS name,
        REPLACE(col.name, N']', N']]') AS escaped,
        col.column_id AS position,
        CASE WHEN col.name IN (N'SourceInactiveDT', N'EffectiveStartDT', N'EffectiveExpireDT', N'CurrentRowYN', N'PSInsertDT', N'CheckSum') THEN 1 ELSE 0 END AS is_control,
        CASE WHEN pk.column_id IS NOT NULL AND col.name <> N'EffectiveStartDT' THEN N'key_' ELSE N'' END
            + CASE
                WHEN typ.name IN (N'nchar', N'nvarchar') THEN N'text'
                WHEN typ.name IN (N'char', N'varchar') AND col.max_length BETWEEN 1 AND 4000 THEN N'ansi'
                WHEN typ.name IN (N'char', N'varchar') THEN N'long_ansi'
                WHEN typ.name IN (N'binary', N'varbinary') THEN N'binary'
                WHEN typ.name IN (N'date', N'time', N'datetime', N'datetime2', N'smalldatetime', N'datetimeoffset') THEN N'time'
                ELSE N'other'
            END AS class
    INTO #columns
    FROM [PersistentStaging].sys.tables AS tab
    INNER JOIN [PersistentStaging].sys.schemas AS sch
        ON sch.schema_id = tab.schema_id
    INNER JOIN [PersistentStaging].sys.columns AS col
        ON col.object_id = tab.object_id
    INNER JOIN [PersistentStaging].sys.types AS typ
        ON typ.user_type_id = col.system_type_id
    LEFT JOIN (
        SELECT
            ixc.object_id,
            ixc.column_id
        FROM [PersistentStaging].sys.indexes AS ix
        INNER JOIN [PersistentStaging].sys.index_columns AS ixc
            ON ixc.object_id = ix.object_id
           AND ixc.index_id = ix.index_id
        WHERE ix.is_primary_key = 1
    ) AS pk
        ON pk.object_id = col.object_id
       AND pk.column_id = col.column_id
    WHERE sch.name = @SchemaName
      AND tab.name = @TableName
      AND col.is_computed = 0
      AND col.is_identity = 0;

    IF NOT EXISTS (SELECT 1 FROM #columns WHERE class LIKE N'key[_]%' AND is_control = 0)
    BEGIN
        THROW 50022, N'no_key: the table is not there, or its primary key has no column beside the start', 1;
    END;

    -- Every column but those that the load keeps up itself must be staged.
    SELECT @Missing = COALESCE(@Missing + N', ', N'') + c.name
    FROM #columns AS c
    WHERE c.is_control = 0
      AND NOT EXISTS (
        SELECT 1
        FROM [Staging].sys.tables AS tab
        INNER JOIN [Staging].sys.schemas AS sch
            ON sch.schema_id = tab.schema_id
        INNER JOIN [Staging].sys.columns AS col
            ON col.object_id = tab.object_id
        WHERE sch.name = @SchemaName
          AND tab.name = @TableName
          AND col.name = c.name COLLATE DATABASE_DEFAULT
      );
    IF @Missing IS NOT NULL
    BEGIN
        SET @Missing = N'missing_column: the stage has no ' + REPLACE(@Missing, N'%', N'%%');
        THROW 50023, @Missing, 1;
    END;

    -- The statement of the per-table procedure, piece by piece.

    SET @Sql = @Sql
        + N'SET NOCOUNT ON;' + @NewLine
        + N'SET XACT_ABORT ON;' + @NewLine
        + N'' + @NewLine
        + N'IF @BatchTime IS NULL SET @BatchTime = SYSUTCDATETIME();' + @NewLine
        + N'' + @NewLine
        + N'-- What the load finds out.' + @NewLine
        + N'DECLARE @VersionStart datetime;' + @NewLine
        + N'DECLARE @AcceptedRows bigint;' + @NewLine
        + N'DECLARE @SkippedRows bigint;' + @NewLine
        + N'DECLARE @DetectsAbsence int;' + @NewLine
        + N'DECLARE @NewKeys bigint;' + @NewLine
        + N'DECLARE @ChangedKeys bigint;' + @NewLine
        + N'DECLARE @RewrittenKeys bigint;' + @NewLine
        + N'DECLARE @AbsentKeys bigint;' + @NewLine
        + N'DECLARE @AbsentTodayKeys bigint;' + @NewLine
        + N'DECLARE @OpenKeys bigint;' + @NewLine
        + N'DECLARE @Offenders nvarchar(4000);' + @NewLine
        + N'DECLARE @Message nvarchar(2048);' + @NewLine
        + N'DECLARE @Lock int;' + @NewLine
        + N'' + @NewLine
        + N'BEGIN TRY' + @NewLine
        + N'    DROP TABLE IF EXISTS #earlier;' + @NewLine
        + N'    DROP TABLE IF EXISTS #changes;' + @NewLine
        + N'' + @NewLine
        + N'    BEGIN TRANSACTION;' + @NewLine
        + N'' + @NewLine
        + N'    -- One load of this table at a time.' + @NewLine
        + N'    EXEC @Lock = sys.sp_getapplock' + @NewLine
        + N'        @Resource = N''mergewright PersistentStaging.';

    SET @Sql = @Sql + REPLACE(@SchemaName, N'''', N'''''');

    SET @Sql = @Sql
        + N'.';

    SET @Sql = @Sql + REPLACE(@TableName, N'''', N'''''');

    SET @Sql = @Sql
        + N''',' + @NewLine
        + N'        @LockMode = ''Exclusive'',' + @NewLine
        + N'        @LockOwner = ''Transaction'',' + @NewLine
        + N'        @LockTimeout = 60000;' + @NewLine
        + N'    IF @Lock < 0' + @NewLine
        + N'    BEGIN' + @NewLine
        + N'        THROW 50019, N''concurrent_load: another load of this table is running'', 1;' + @NewLine
        + N'    END;' + @NewLine
        + N'' + @NewLine
        + N'    -- A version that begins in this load starts today.' + @NewLine
        + N'    SET @VersionStart = CAST(CAST(@BatchTime AS date) AS datetime);' + @NewLine
        + N'' + @NewLine
        + N'    -- Staged rows with a key; rows without one are skipped and counted.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        @AcceptedRows = COALESCE(SUM(CAST(CASE WHEN ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N' AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] IS NOT NULL'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N' THEN 1 ELSE 0 END AS bigint)), 0),' + @NewLine
        + N'        @SkippedRows = COALESCE(SUM(CAST(CASE WHEN ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N' OR ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] IS NULL'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N' THEN 1 ELSE 0 END AS bigint)), 0)' + @NewLine
        + N'    FROM [Staging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS s;' + @NewLine
        + N'' + @NewLine
        + N'    -- A key that is staged more than once stops the load.' + @NewLine
        + N'    SET @Offenders = NULL;' + @NewLine
        + N'    SELECT @Offenders = STRING_AGG(o.[offender], N'', '')' + @NewLine
        + N'    FROM (' + @NewLine
        + N'        SELECT TOP (5)' + @NewLine
        + N'            ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N' + N''/'' + ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[' + c.escaped + N'])) COLLATE DATABASE_DEFAULT, 100), N''NULL''), N''''), N''(blank)'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[' + c.escaped + N']), 121), 100), N''NULL'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_binary') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[' + c.escaped + N']), 1), 100), N''NULL'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), MIN(s.[' + c.escaped + N'])), 100), N''NULL'')'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N' AS [offender]' + @NewLine
        + N'        FROM (' + @NewLine
        + N'            SELECT' + @NewLine
        + N'                1 AS [is_staged]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'                ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'                ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'            FROM [Staging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS s' + @NewLine
        + N'            WHERE ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'              AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] IS NOT NULL'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        ) AS s' + @NewLine
        + N'        GROUP BY ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N', ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        HAVING COUNT_BIG(*) > 1' + @NewLine
        + N'    ) AS o;' + @NewLine
        + N'    IF @Offenders IS NOT NULL' + @NewLine
        + N'    BEGIN' + @NewLine
        + N'        SET @Message = LEFT(N''duplicate_key: '' + REPLACE(@Offenders, N''%'', N''%'' + N''%''), 2000);' + @NewLine
        + N'        THROW 50010, @Message, 1;' + @NewLine
        + N'    END;' + @NewLine
        + N'' + @NewLine
        + N'    -- An empty delivery inactivates nothing.' + @NewLine
        + N'    SET @DetectsAbsence = CAST(CASE WHEN @AcceptedRows > 0 THEN 1 ELSE 0 END AS int);' + @NewLine
        + N'' + @NewLine
        + N'    -- Keys without a current row that have been here before.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        1 AS [is_earlier]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'        ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'        ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'MIN(t.[' + c.escaped + N']) AS [' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N',' + @NewLine
        + N'        MAX(t.[EffectiveExpireDT]) AS [previous_end]' + @NewLine
        + N'    INTO #earlier' + @NewLine
        + N'    FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'    WHERE EXISTS (' + @NewLine
        + N'        SELECT' + @NewLine
        + N'            1 AS [one]' + @NewLine
        + N'        FROM (' + @NewLine
        + N'            SELECT' + @NewLine
        + N'                1 AS [is_staged]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'                ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'                ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'            FROM [Staging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS s' + @NewLine
        + N'            WHERE ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'              AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] IS NOT NULL'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        ) AS s' + @NewLine
        + N'        WHERE ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'          AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] = t.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] = t.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'          AND NOT EXISTS (' + @NewLine
        + N'            SELECT' + @NewLine
        + N'                1 AS [one]' + @NewLine
        + N'            FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS o' + @NewLine
        + N'            WHERE ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'              AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'o.[' + c.escaped + N'] = s.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'o.[' + c.escaped + N'] = s.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'              AND o.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime)' + @NewLine
        + N'        )' + @NewLine
        + N'    )' + @NewLine
        + N'      AND t.[EffectiveExpireDT] <> CAST(''4000-01-01T00:00:00'' AS datetime)' + @NewLine
        + N'    GROUP BY ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N', ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N';' + @NewLine
        + N'' + @NewLine
        + N'    -- The changes: staged rows against the current row of their key, both ways.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        f.[change_kind]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'        ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'        ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'f.[stored_' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N',' + @NewLine
        + N'        f.[stored_from]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'        ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'        ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'f.[' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N'f.[SourceInactiveDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveStartDT' THEN CAST(N'' AS nvarchar(max)) + N'f.[EffectiveStartDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveExpireDT' THEN CAST(N'' AS nvarchar(max)) + N'f.[EffectiveExpireDT]'
                    WHEN c.is_control = 1 AND c.name = N'CurrentRowYN' THEN CAST(N'' AS nvarchar(max)) + N'f.[CurrentRowYN]'
                    WHEN c.is_control = 1 AND c.name = N'PSInsertDT' THEN CAST(N'' AS nvarchar(max)) + N'f.[PSInsertDT]'
                    WHEN c.is_control = 1 AND c.name = N'CheckSum' THEN CAST(N'' AS nvarchar(max)) + N'f.[CheckSum]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N',' + @NewLine
        + N'        f.[closed_to]' + @NewLine
        + N'    INTO #changes' + @NewLine
        + N'    FROM (' + @NewLine
        + N'        SELECT' + @NewLine
        + N'            CASE' + @NewLine
        + N'                WHEN s.[is_staged] IS NULL' + @NewLine
        + N'                    AND t.[SourceInactiveDT] IS NULL' + @NewLine
        + N'                    AND @DetectsAbsence = 1' + @NewLine
        + N'                    AND CAST(t.[EffectiveStartDT] AS date) = CAST(@VersionStart AS date)' + @NewLine
        + N'                    THEN N''absent today''' + @NewLine
        + N'                WHEN s.[is_staged] IS NULL AND t.[SourceInactiveDT] IS NULL AND @DetectsAbsence = 1 THEN N''absent''' + @NewLine
        + N'                WHEN s.[is_staged] IS NULL THEN NULL' + @NewLine
        + N'                WHEN t.[is_stored] IS NULL THEN N''new''' + @NewLine
        + N'                WHEN CAST(t.[EffectiveStartDT] AS date) = CAST(@VersionStart AS date)' + @NewLine
        + N'                    AND (t.[SourceInactiveDT] IS NOT NULL';

    SET @Sql = @Sql + COALESCE(N'' + NCHAR(10) + N'                        OR ' + (
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'                        OR ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'text') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> t.[' + c.escaped + N'] COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'ansi') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> CONVERT(nvarchar(4000), t.[' + c.escaped + N']) COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> CONVERT(nvarchar(max), t.[' + c.escaped + N']) COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> t.[' + c.escaped + N'] OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N')' + @NewLine
        + N'                    THEN N''rewritten''' + @NewLine
        + N'                WHEN t.[SourceInactiveDT] IS NOT NULL';

    SET @Sql = @Sql + COALESCE(N'' + NCHAR(10) + N'                    OR ' + (
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'                    OR ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'text') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> t.[' + c.escaped + N'] COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'ansi') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> CONVERT(nvarchar(4000), t.[' + c.escaped + N']) COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> CONVERT(nvarchar(max), t.[' + c.escaped + N']) COLLATE Latin1_General_100_BIN2 OR DATALENGTH(s.[' + c.escaped + N']) <> DATALENGTH(t.[' + c.escaped + N']) OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                    WHEN c.is_control = 0 AND c.class IN (N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'(s.[' + c.escaped + N'] <> t.[' + c.escaped + N'] OR (s.[' + c.escaped + N'] IS NULL AND t.[' + c.escaped + N'] IS NOT NULL) OR (s.[' + c.escaped + N'] IS NOT NULL AND t.[' + c.escaped + N'] IS NULL))'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'                    THEN N''changed''' + @NewLine
        + N'            END AS [change_kind]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'            ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'            ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] AS [stored_' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N',' + @NewLine
        + N'            t.[EffectiveStartDT] AS [stored_from]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'            ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'            ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'text', N'ansi', N'long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'CASE WHEN s.[is_staged] IS NOT NULL THEN s.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT ELSE t.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT END AS [' + c.escaped + N']'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'CASE WHEN s.[is_staged] IS NOT NULL THEN s.[' + c.escaped + N'] ELSE t.[' + c.escaped + N'] END AS [' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N'CASE WHEN s.[is_staged] IS NOT NULL THEN CAST(NULL AS datetime) ELSE @VersionStart END AS [SourceInactiveDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveStartDT' THEN CAST(N'' AS nvarchar(max)) + N'CASE WHEN s.[is_staged] IS NOT NULL AND t.[is_stored] IS NULL AND e.[is_earlier] IS NULL THEN CAST(''1900-01-01T00:00:00'' AS datetime) ELSE @VersionStart END AS [EffectiveStartDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveExpireDT' THEN CAST(N'' AS nvarchar(max)) + N'CAST(''4000-01-01T00:00:00'' AS datetime) AS [EffectiveExpireDT]'
                    WHEN c.is_control = 1 AND c.name = N'CurrentRowYN' THEN CAST(N'' AS nvarchar(max)) + N'''Y'' AS [CurrentRowYN]'
                    WHEN c.is_control = 1 AND c.name = N'PSInsertDT' THEN CAST(N'' AS nvarchar(max)) + N'CAST(@BatchTime AS datetime) AS [PSInsertDT]'
                    WHEN c.is_control = 1 AND c.name = N'CheckSum' THEN CAST(N'' AS nvarchar(max)) + N'CASE WHEN s.[is_staged] IS NOT NULL THEN CAST(NULL AS int) ELSE t.[CheckSum] END AS [CheckSum]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N',' + @NewLine
        + N'            CAST(DATEADD(millisecond, -3, @VersionStart) AS datetime) AS [closed_to]' + @NewLine
        + N'        FROM (' + @NewLine
        + N'            SELECT' + @NewLine
        + N'                1 AS [is_staged]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'                ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'                ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'            FROM [Staging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS s' + @NewLine
        + N'            WHERE ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'              AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] IS NOT NULL'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        ) AS s' + @NewLine
        + N'        FULL JOIN (' + @NewLine
        + N'            SELECT' + @NewLine
        + N'                1 AS [is_stored]';

    SET @Sql = @Sql + COALESCE(N',' + NCHAR(10) + N'                ' + (
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'                ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N't.[SourceInactiveDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveStartDT' THEN CAST(N'' AS nvarchar(max)) + N't.[EffectiveStartDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveExpireDT' THEN CAST(N'' AS nvarchar(max)) + N't.[EffectiveExpireDT]'
                    WHEN c.is_control = 1 AND c.name = N'CurrentRowYN' THEN CAST(N'' AS nvarchar(max)) + N't.[CurrentRowYN]'
                    WHEN c.is_control = 1 AND c.name = N'PSInsertDT' THEN CAST(N'' AS nvarchar(max)) + N't.[PSInsertDT]'
                    WHEN c.is_control = 1 AND c.name = N'CheckSum' THEN CAST(N'' AS nvarchar(max)) + N't.[CheckSum]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'            FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'            WHERE t.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime)' + @NewLine
        + N'        ) AS t' + @NewLine
        + N'            ON ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'           AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] = t.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N's.[' + c.escaped + N'] = t.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        LEFT JOIN #earlier AS e' + @NewLine
        + N'            ON ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'           AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'e.[' + c.escaped + N'] = s.[' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'e.[' + c.escaped + N'] = s.[' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'    ) AS f' + @NewLine
        + N'    WHERE f.[change_kind] IS NOT NULL;' + @NewLine
        + N'' + @NewLine
        + N'    -- What will change.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        @NewKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N''new'' THEN 1 ELSE 0 END AS bigint)), 0),' + @NewLine
        + N'        @ChangedKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N''changed'' THEN 1 ELSE 0 END AS bigint)), 0),' + @NewLine
        + N'        @RewrittenKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N''rewritten'' THEN 1 ELSE 0 END AS bigint)), 0),' + @NewLine
        + N'        @AbsentKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N''absent'' THEN 1 ELSE 0 END AS bigint)), 0),' + @NewLine
        + N'        @AbsentTodayKeys = COALESCE(SUM(CAST(CASE WHEN c.[change_kind] = N''absent today'' THEN 1 ELSE 0 END AS bigint)), 0)' + @NewLine
        + N'    FROM #changes AS c;' + @NewLine
        + N'' + @NewLine
        + N'    -- Open keys that this load speaks about.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        @OpenKeys = COUNT_BIG(*)' + @NewLine
        + N'    FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'    WHERE t.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime)' + @NewLine
        + N'      AND t.[SourceInactiveDT] IS NULL;' + @NewLine
        + N'' + @NewLine
        + N'    -- More absent keys than the limit allows stop the load: the delivery may be cut.' + @NewLine
        + N'    IF ((@AbsentKeys + @AbsentTodayKeys) * 100) > (@OpenKeys * @MaxInactivationPct)' + @NewLine
        + N'    BEGIN' + @NewLine
        + N'        SET @Message = LEFT(N''inactivation_threshold: '' + REPLACE(COALESCE(LEFT(CONVERT(nvarchar(4000), @AbsentKeys + @AbsentTodayKeys), 100), N''NULL'')' + @NewLine
        + N'        + N'' of ''' + @NewLine
        + N'        + COALESCE(LEFT(CONVERT(nvarchar(4000), @OpenKeys), 100), N''NULL'')' + @NewLine
        + N'        + N'' open keys are absent, more than the limit of ''' + @NewLine
        + N'        + COALESCE(LEFT(CONVERT(nvarchar(4000), @MaxInactivationPct), 100), N''NULL'')' + @NewLine
        + N'        + N'' per cent'', N''%'', N''%'' + N''%''), 2000);' + @NewLine
        + N'        THROW 50016, @Message, 1;' + @NewLine
        + N'    END;' + @NewLine
        + N'' + @NewLine
        + N'    -- A version that would end at or before its own start stops the load.' + @NewLine
        + N'    SET @Offenders = NULL;' + @NewLine
        + N'    SELECT @Offenders = STRING_AGG(o.[offender], N'', '')' + @NewLine
        + N'    FROM (' + @NewLine
        + N'        SELECT TOP (5)' + @NewLine
        + N'            ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N' + N''/'' + ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(NULLIF(COALESCE(LEFT(CONVERT(nvarchar(4000), c.[' + c.escaped + N']) COLLATE DATABASE_DEFAULT, 100), N''NULL''), N''''), N''(blank)'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), c.[' + c.escaped + N'], 121), 100), N''NULL'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_binary') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), c.[' + c.escaped + N'], 1), 100), N''NULL'')'
                    WHEN c.is_control = 0 AND c.class IN (N'key_other') THEN CAST(N'' AS nvarchar(max)) + N'COALESCE(LEFT(CONVERT(nvarchar(4000), c.[' + c.escaped + N']), 100), N''NULL'')'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N' AS [offender]' + @NewLine
        + N'        FROM #changes AS c' + @NewLine
        + N'        WHERE c.[change_kind] IN (N''changed'', N''absent'')' + @NewLine
        + N'          AND c.[EffectiveStartDT] <= c.[stored_from]' + @NewLine
        + N'    ) AS o;' + @NewLine
        + N'    IF @Offenders IS NOT NULL' + @NewLine
        + N'    BEGIN' + @NewLine
        + N'        SET @Message = LEFT(N''batch_time_not_after_current: '' + REPLACE(@Offenders, N''%'', N''%'' + N''%''), 2000);' + @NewLine
        + N'        THROW 50017, @Message, 1;' + @NewLine
        + N'    END;' + @NewLine
        + N'' + @NewLine
        + N'    IF @Preview = 0' + @NewLine
        + N'    BEGIN' + @NewLine
        + N'        -- Close the current version of each key that has a next one or is gone.' + @NewLine
        + N'        UPDATE t' + @NewLine
        + N'        SET' + @NewLine
        + N'            [EffectiveExpireDT] = c.[closed_to],' + @NewLine
        + N'            [CurrentRowYN] = ''N''' + @NewLine
        + N'        FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'        INNER JOIN #changes AS c' + @NewLine
        + N'            ON ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'           AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'           AND t.[EffectiveStartDT] = c.[stored_from]' + @NewLine
        + N'        WHERE c.[change_kind] IN (N''changed'', N''absent'')' + @NewLine
        + N'          AND t.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime);' + @NewLine
        + N'' + @NewLine
        + N'        -- A version that began today is rewritten in place.' + @NewLine
        + N'        UPDATE t' + @NewLine
        + N'        SET' + @NewLine
        + N'            ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'            ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'[' + c.escaped + N'] = c.[' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N'[SourceInactiveDT] = c.[SourceInactiveDT]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'        INNER JOIN #changes AS c' + @NewLine
        + N'            ON ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'           AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'           AND t.[EffectiveStartDT] = c.[stored_from]' + @NewLine
        + N'        WHERE c.[change_kind] = N''rewritten''' + @NewLine
        + N'          AND t.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime);' + @NewLine
        + N'' + @NewLine
        + N'        -- A version that began today and is gone bears its inactive date.' + @NewLine
        + N'        UPDATE t' + @NewLine
        + N'        SET' + @NewLine
        + N'            [SourceInactiveDT] = c.[SourceInactiveDT]' + @NewLine
        + N'        FROM [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] AS t' + @NewLine
        + N'        INNER JOIN #changes AS c' + @NewLine
        + N'            ON ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N'' + NCHAR(10) + N'           AND ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N'] COLLATE DATABASE_DEFAULT'
                    WHEN c.is_control = 0 AND c.class IN (N'key_time', N'key_binary', N'key_other') THEN CAST(N'' AS nvarchar(max)) + N't.[' + c.escaped + N'] = c.[stored_' + c.escaped + N']'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'           AND t.[EffectiveStartDT] = c.[stored_from]' + @NewLine
        + N'        WHERE c.[change_kind] = N''absent today''' + @NewLine
        + N'          AND t.[EffectiveExpireDT] = CAST(''4000-01-01T00:00:00'' AS datetime);' + @NewLine
        + N'' + @NewLine
        + N'        -- Open the next version: new and changed keys, and a marked copy for each key that is gone.' + @NewLine
        + N'        INSERT INTO [PersistentStaging].[';

    SET @Sql = @Sql + @Schema;

    SET @Sql = @Sql
        + N'].[';

    SET @Sql = @Sql + @Table;

    SET @Sql = @Sql
        + N'] (' + @NewLine
        + N'            ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'            ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'[' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N'[SourceInactiveDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveStartDT' THEN CAST(N'' AS nvarchar(max)) + N'[EffectiveStartDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveExpireDT' THEN CAST(N'' AS nvarchar(max)) + N'[EffectiveExpireDT]'
                    WHEN c.is_control = 1 AND c.name = N'CurrentRowYN' THEN CAST(N'' AS nvarchar(max)) + N'[CurrentRowYN]'
                    WHEN c.is_control = 1 AND c.name = N'PSInsertDT' THEN CAST(N'' AS nvarchar(max)) + N'[PSInsertDT]'
                    WHEN c.is_control = 1 AND c.name = N'CheckSum' THEN CAST(N'' AS nvarchar(max)) + N'[CheckSum]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        )' + @NewLine
        + N'        SELECT' + @NewLine
        + N'            ';

    SET @Sql = @Sql + COALESCE((
        SELECT STRING_AGG(r.text, N',' + NCHAR(10) + N'            ') WITHIN GROUP (ORDER BY r.position)
        FROM (
            SELECT
                CASE
                    WHEN c.is_control = 0 AND c.class IN (N'key_text', N'key_ansi', N'key_long_ansi', N'key_time', N'key_binary', N'key_other', N'text', N'ansi', N'long_ansi', N'time', N'binary', N'other') THEN CAST(N'' AS nvarchar(max)) + N'c.[' + c.escaped + N']'
                    WHEN c.is_control = 1 AND c.name = N'SourceInactiveDT' THEN CAST(N'' AS nvarchar(max)) + N'c.[SourceInactiveDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveStartDT' THEN CAST(N'' AS nvarchar(max)) + N'c.[EffectiveStartDT]'
                    WHEN c.is_control = 1 AND c.name = N'EffectiveExpireDT' THEN CAST(N'' AS nvarchar(max)) + N'c.[EffectiveExpireDT]'
                    WHEN c.is_control = 1 AND c.name = N'CurrentRowYN' THEN CAST(N'' AS nvarchar(max)) + N'c.[CurrentRowYN]'
                    WHEN c.is_control = 1 AND c.name = N'PSInsertDT' THEN CAST(N'' AS nvarchar(max)) + N'c.[PSInsertDT]'
                    WHEN c.is_control = 1 AND c.name = N'CheckSum' THEN CAST(N'' AS nvarchar(max)) + N'c.[CheckSum]'
                END AS text,
                c.position
            FROM #columns AS c
        ) AS r
    ), N'');

    SET @Sql = @Sql
        + N'' + @NewLine
        + N'        FROM #changes AS c' + @NewLine
        + N'        WHERE c.[change_kind] IN (N''new'', N''changed'', N''absent'');' + @NewLine
        + N'    END;' + @NewLine
        + N'' + @NewLine
        + N'    COMMIT TRANSACTION;' + @NewLine
        + N'' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        @InsertedRows = @NewKeys + @ChangedKeys + @AbsentKeys,' + @NewLine
        + N'        @UpdatedRows = @RewrittenKeys + @AbsentTodayKeys,' + @NewLine
        + N'        @ExpiredRows = @ChangedKeys + @AbsentKeys,' + @NewLine
        + N'        @InactivatedRows = @AbsentKeys + @AbsentTodayKeys,' + @NewLine
        + N'        @DeletedRows = 0,' + @NewLine
        + N'        @UnchangedRows = @AcceptedRows - @NewKeys - @ChangedKeys - @RewrittenKeys,' + @NewLine
        + N'        @SkippedStageRows = @SkippedRows;' + @NewLine
        + N'' + @NewLine
        + N'    DROP TABLE IF EXISTS #earlier;' + @NewLine
        + N'    DROP TABLE IF EXISTS #changes;' + @NewLine
        + N'' + @NewLine
        + N'    -- What was left out.' + @NewLine
        + N'    IF @SkippedRows > 0' + @NewLine
        + N'        SELECT N''null_key'' AS warning_code, COALESCE(LEFT(CONVERT(nvarchar(4000), @SkippedRows), 100), N''NULL'') + N'' staged rows without a key were skipped'' AS message;' + @NewLine
        + N'    IF @DetectsAbsence = 0' + @NewLine
        + N'        SELECT N''empty_stage'' AS warning_code, N''the stage is empty: absent keys were not looked for'' AS message;' + @NewLine
        + N'' + @NewLine
        + N'    -- What changed.' + @NewLine
        + N'    SELECT' + @NewLine
        + N'        CAST(@NewKeys + @ChangedKeys + @AbsentKeys AS bigint) AS inserted,' + @NewLine
        + N'        CAST(@RewrittenKeys + @AbsentTodayKeys AS bigint) AS updated,' + @NewLine
        + N'        CAST(@ChangedKeys + @AbsentKeys AS bigint) AS expired,' + @NewLine
        + N'        CAST(@AbsentKeys + @AbsentTodayKeys AS bigint) AS inactivated,' + @NewLine
        + N'        CAST(0 AS bigint) AS deleted,' + @NewLine
        + N'        CAST(@AcceptedRows - @NewKeys - @ChangedKeys - @RewrittenKeys AS bigint) AS unchanged,' + @NewLine
        + N'        CAST(@SkippedRows AS bigint) AS skipped;' + @NewLine
        + N'END TRY' + @NewLine
        + N'BEGIN CATCH' + @NewLine
        + N'    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;' + @NewLine
        + N'    THROW;' + @NewLine
        + N'END CATCH;';

    IF @Debug = 1
    BEGIN
        -- PRINT cuts at 4,000 characters, so the text goes out line by line.
        DECLARE @From bigint = 1;
        DECLARE @To bigint;
        WHILE @From <= LEN(@Sql)
        BEGIN
            SET @To = CHARINDEX(@NewLine, @Sql, @From);
            IF @To = 0 SET @To = LEN(@Sql) + 1;
            PRINT SUBSTRING(@Sql, @From, @To - @From);
            SET @From = @To + 1;
        END;
        RETURN;
    END;

    EXEC sys.sp_executesql @Sql,
        N'@BatchTime datetime2(7), @MaxInactivationPct decimal(5,2), @Preview bit, @InsertedRows bigint OUTPUT, @UpdatedRows bigint OUTPUT, @ExpiredRows bigint OUTPUT, @InactivatedRows bigint OUTPUT, @DeletedRows bigint OUTPUT, @UnchangedRows bigint OUTPUT, @SkippedStageRows bigint OUTPUT',
        @BatchTime = @BatchTime,
        @MaxInactivationPct = @MaxInactivationPct,
        @Preview = @Preview,
        @InsertedRows = @InsertedRows OUTPUT,
        @UpdatedRows = @UpdatedRows OUTPUT,
        @ExpiredRows = @ExpiredRows OUTPUT,
        @InactivatedRows = @InactivatedRows OUTPUT,
        @DeletedRows = @DeletedRows OUTPUT,
        @UnchangedRows = @UnchangedRows OUTPUT,
        @SkippedStageRows = @SkippedStageRows OUTPUT;
END;
GO
-- Runs [dbo].[Load_Table] for one table.

-- Parameters
-- BatchTime: time of the load (UTC).
DECLARE @BatchTime datetime2(7) = SYSUTCDATETIME();
-- MaxInactivationPct: highest share of the open keys, in per cent, that one run may inactivate.
DECLARE @MaxInactivationPct decimal(5,2) = 20;
-- End of parameters

EXEC [dbo].[Load_Table]
    @SchemaName = N'dbo',
    @TableName = N'Department',
    @BatchTime = @BatchTime,
    @MaxInactivationPct = @MaxInactivationPct;
