-- SYNTAX TEST "source.sql" "what the injection adds to any grammar for SQL"

-- mergewright: {"format":1}
-- <-- comment.line.double-dash.sql punctuation.definition.comment.sql
-- ^^^^^^^^^^^ keyword.other.mergewright
--              ^^^^^^^^^^^^ meta.specification.mergewright

-- mergewright-disable-next-line merge-lacks-holdlock: one writer only
-- ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ keyword.other.mergewright
--                               ^^^^^^^^^^^^^^^^^^^^ entity.name.tag.rule.mergewright

  SELECT 1 -- mergewright-disable-line
--            ^^^^^^^^^^^^^^^^^^^^^^^^ keyword.other.mergewright

go 5
-- <-- keyword.control.batch.sql
-- ^ constant.numeric.sql

  GO -- done
--^^ keyword.control.batch.sql

:setvar Schema "$(Env)_stg"
-- <- meta.preprocessor.sqlcmd.sql punctuation.definition.preprocessor.sql
--^^^^^ keyword.control.directive.sqlcmd.sql
--              ^^^^^^ variable.other.sqlcmd.sql

SELECT 'in $(Schema)' FROM $(Schema).t
--         ^^^^^^^^^ string.quoted.single.sql variable.other.sqlcmd.sql
--                         ^^^^^^^^^ variable.other.sqlcmd.sql

WHEN NOT MATCHED BY SOURCE THEN
-- <-- keyword.other.merge.sql
-- ^^^^^^^^^^^^^^^^^^^^^^^ keyword.other.merge.sql

/* GO
   $(NotHere) */
-- ^^^^^^^^^^ comment.block.sql - variable.other.sqlcmd.sql

SELECT 'GO
go' FROM t
--^ string.quoted.single.sql - keyword.control.batch.sql
