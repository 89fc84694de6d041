USE [PersistentStaging]
GO
/****** Object:  Table [dbo].[Department]    Script Date: 3/1/2026 7:59:12 AM ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [dbo].[Department](
	[DepartmentID] [int] NOT NULL,
	[DepartmentName] [nvarchar](50) NULL,
	[Location] [nvarchar](50) NULL,
	[ManagerName] [nvarchar](60) NULL,
	[CostCenter] [varchar](10) NULL,
	[Budget] [decimal](12, 2) NULL,
	[SourceInactiveDT] [datetime] NULL,
	[EffectiveStartDT] [datetime] NOT NULL,
	[EffectiveExpireDT] [datetime] NOT NULL,
	[CurrentRowYN] [char](1) NOT NULL,
	[PSInsertDT] [datetime] NOT NULL,
	[CheckSum] [int] NULL,
 CONSTRAINT [PK_Department] PRIMARY KEY CLUSTERED 
(
	[DepartmentID] ASC,
	[EffectiveStartDT] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY]
GO
ALTER TABLE [dbo].[Department] ADD  CONSTRAINT [DF_Department_EffectiveStartDT]  DEFAULT ('1900-01-01') FOR [EffectiveStartDT]
GO
ALTER TABLE [dbo].[Department] ADD  CONSTRAINT [DF_Department_EffectiveExpireDT]  DEFAULT ('4000-01-01') FOR [EffectiveExpireDT]
GO
ALTER TABLE [dbo].[Department] ADD  CONSTRAINT [DF_Department_CurrentRowYN]  DEFAULT ('Y') FOR [CurrentRowYN]
GO
ALTER TABLE [dbo].[Department] ADD  CONSTRAINT [DF_Department_PSInsertDT]  DEFAULT (getdate()) FOR [PSInsertDT]
GO
