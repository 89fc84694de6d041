/****** Object:  Table [StageEmedsys].[Dev_Patient_]    Script Date: 3/1/2026 8:15:22 AM ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO

CREATE TABLE [StageEmedsys].[Dev_Patient_]
(
	[patient_id] [decimal](10, 0) NULL,
	[address1] [varchar](30) NULL,
	[address2] [varchar](30) NULL,
	[city] [varchar](30) NULL,
	[state] [varchar](2) NULL,
	[zip] [varchar](10) NULL
)
WITH
(
	DISTRIBUTION = HASH ( [patient_id] ),
	CLUSTERED COLUMNSTORE INDEX
)
GO
