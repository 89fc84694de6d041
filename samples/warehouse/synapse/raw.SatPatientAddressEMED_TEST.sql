/****** Object:  Table [raw].[SatPatientAddressEMED_TEST]    Script Date: 3/1/2026 8:16:03 AM ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO

CREATE TABLE [raw].[SatPatientAddressEMED_TEST]
(
	[PatientKey] [varchar](64) NOT NULL,
	[LoadDate] [datetime] NOT NULL,
	[LoadProcess] [varchar](255) NOT NULL,
	[RecordSource] [varchar](255) NOT NULL,
	[HashDiff] [varchar](64) NOT NULL,
	[Address1] [varchar](30) NULL,
	[Address2] [varchar](30) NULL,
	[City] [varchar](30) NULL,
	[State] [varchar](2) NULL,
	[Zip] [varchar](10) NULL
)
WITH
(
	DISTRIBUTION = HASH ( [PatientKey] ),
	CLUSTERED COLUMNSTORE INDEX
)
GO
