import { betweenReadsTwoVersions } from './between-reads-two-versions.ts';
import { bySourceBranchReadsSource } from './by-source-branch-reads-source.ts';
import { bySourceBranchRewritesTable } from './by-source-branch-rewrites-table.ts';
import { catchSwallowsError } from './catch-swallows-error.ts';
import { changeFeedIsOff } from './change-feed-is-off.ts';
import { checksumMissesChanges } from './checksum-misses-changes.ts';
import { clockIsReadTwice } from './clock-is-read-twice.ts';
import { closeAndOpenLackTransaction } from './close-and-open-lack-transaction.ts';
import { closingUpdateTouchesHistory } from './closing-update-touches-history.ts';
import { columnIsNotInTable } from './column-is-not-in-table.ts';
import { columnListsDisagree } from './column-lists-disagree.ts';
import { comparisonEquatesNullWithValue } from './comparison-equates-null-with-value.ts';
import { comparisonMissesNull } from './comparison-misses-null.ts';
import { comparisonReadsAllVersions } from './comparison-reads-all-versions.ts';
import { comparisonUsesFloat } from './comparison-uses-float.ts';
import { comparisonUsesIncomparableType } from './comparison-uses-incomparable-type.ts';
import { composableMergeMeetsConstraint } from './composable-merge-meets-constraint.ts';
import { concatWsSkipsNull } from './concat-ws-skips-null.ts';
import { cteFollowsUnterminatedStatement } from './cte-follows-unterminated-statement.ts';
import { datetimeRoundsEnd } from './datetime-rounds-end.ts';
import { deltaStarFollowsSource } from './delta-star-follows-source.ts';
import { deltaStarWritesHelperColumn } from './delta-star-writes-helper-column.ts';
import { dynamicSqlLacksQuotename } from './dynamic-sql-lacks-quotename.ts';
import type { Rule } from './engine/rule.ts';
import { fabricRefusesStatement } from './fabric-refuses-statement.ts';
import { generatedScriptIsStale } from './generated-script-is-stale.ts';
import { hashDateLacksStyle } from './hash-date-lacks-style.ts';
import { hashDelimiterMayBeData } from './hash-delimiter-may-be-data.ts';
import { hashDependsOnSession } from './hash-depends-on-session.ts';
import { hashEquatesNullAndEmpty } from './hash-equates-null-and-empty.ts';
import { hashInputIsCut } from './hash-input-is-cut.ts';
import { hashLacksDelimiter } from './hash-lacks-delimiter.ts';
import { hashListDiffersFromTable } from './hash-list-differs-from-table.ts';
import { hashMixesTextTypes } from './hash-mixes-text-types.ts';
import { hashNumberLosesDigits } from './hash-number-loses-digits.ts';
import { hashResultHasWrongType } from './hash-result-has-wrong-type.ts';
import { hashdiffHoldsLoadColumns } from './hashdiff-holds-load-columns.ts';
import { hashdiffIsNormalised } from './hashdiff-is-normalised.ts';
import { inactivationCrossesSources } from './inactivation-crosses-sources.ts';
import { inactivationLacksShareLimit } from './inactivation-lacks-share-limit.ts';
import { inactivationLacksStageGuard } from './inactivation-lacks-stage-guard.ts';
import { insertLeavesColumnOut } from './insert-leaves-column-out.ts';
import { insertSelectsStar } from './insert-selects-star.ts';
import { insertWritesGeneratedColumn } from './insert-writes-generated-column.ts';
import { intervalEndsOneUnitEarly } from './interval-ends-one-unit-early.ts';
import { isnullCutsPlaceholder } from './isnull-cuts-placeholder.ts';
import { joinedTextTurnsNull } from './joined-text-turns-null.ts';
import { keysAreJoinedAsText } from './keys-are-joined-as-text.ts';
import { lateRowClosesNewerVersion } from './late-row-closes-newer-version.ts';
import { localClockSetsValidity } from './local-clock-sets-validity.ts';
import { mergeBranchIsUnreachable } from './merge-branch-is-unreachable.ts';
import { mergeBySourceLacksStageGuard } from './merge-by-source-lacks-stage-guard.ts';
import { mergeBySourceReadsPart } from './merge-by-source-reads-part.ts';
import { mergeBySourceTouchesHistory } from './merge-by-source-touches-history.ts';
import { mergeInsertNamesNoColumns } from './merge-insert-names-no-columns.ts';
import { mergeJoinsOnPartOfKey } from './merge-joins-on-part-of-key.ts';
import { mergeKeyMayBeNull } from './merge-key-may-be-null.ts';
import { mergeLacksHoldlock } from './merge-lacks-holdlock.ts';
import { mergeLacksSemicolon } from './merge-lacks-semicolon.ts';
import { mergeLosesChangedVersion } from './merge-loses-changed-version.ts';
import { mergeOnTestsTarget } from './merge-on-tests-target.ts';
import { mergeReadsAllPartitions } from './merge-reads-all-partitions.ts';
import { mergeRowcountIsATotal } from './merge-rowcount-is-a-total.ts';
import { mergeSourceChangesBetweenReads } from './merge-source-changes-between-reads.ts';
import { mergeSourceRepeatsKeys } from './merge-source-repeats-keys.ts';
import { mergeTargetHintIsRefused } from './merge-target-hint-is-refused.ts';
import { mergeTargetIsSpecial } from './merge-target-is-special.ts';
import { mergeTargetsFilteredRows } from './merge-targets-filtered-rows.ts';
import { mergeUpdatesTwice } from './merge-updates-twice.ts';
import { mergeUpdatesUnchangedRows } from './merge-updates-unchanged-rows.ts';
import { mergeUsesTop } from './merge-uses-top.ts';
import { metadataLookupLacksSchema } from './metadata-lookup-lacks-schema.ts';
import { nameListIsCut } from './name-list-is-cut.ts';
import { notInMayMeetNull } from './not-in-may-meet-null.ts';
import { nullBusinessKeyIsHashed } from './null-business-key-is-hashed.ts';
import { nullMergeKeyInsertsUnchanged } from './null-merge-key-inserts-unchanged.ts';
import { openEndIsMixed } from './open-end-is-mixed.ts';
import { outputMeetsTrigger } from './output-meets-trigger.ts';
import { returningKeyStaysClosed } from './returning-key-stays-closed.ts';
import { rolledBackOutputIsRead } from './rolled-back-output-is-read.ts';
import { rowChoiceHasTies } from './row-choice-has-ties.ts';
import { rowcountIsReadLate } from './rowcount-is-read-late.ts';
import { setOptionsAreOff } from './set-options-are-off.ts';
import { setWritesGeneratedColumn } from './set-writes-generated-column.ts';
import { sha2LacksLength } from './sha2-lacks-length.ts';
import { sourceIsReadWithNolock } from './source-is-read-with-nolock.ts';
import { storedHashMayBeNull } from './stored-hash-may-be-null.ts';
import { subtractionIsRoundedAway } from './subtraction-is-rounded-away.ts';
import { synapseMergeInsertsUnhashed } from './synapse-merge-inserts-unhashed.ts';
import { synapseRefusesSyntax } from './synapse-refuses-syntax.ts';
import { synapseTransactionBreaks } from './synapse-transaction-breaks.ts';
import { synapseUpdateJoins } from './synapse-update-joins.ts';
import { tableLacksKey } from './table-lacks-key.ts';
import { textIsAddedToNumber } from './text-is-added-to-number.ts';
import { textTypeLacksLength } from './text-type-lacks-length.ts';
import { throwFollowsUnterminatedStatement } from './throw-follows-unterminated-statement.ts';
import { tombstoneLosesAttributes } from './tombstone-loses-attributes.ts';
import { tombstoneRepeatsEveryRun } from './tombstone-repeats-every-run.ts';
import { trackedColumnIsNotCompared } from './tracked-column-is-not-compared.ts';
import { transactionLacksXactAbort } from './transaction-lacks-xact-abort.ts';
import { unenforcedKeyIsTrusted } from './unenforced-key-is-trusted.ts';
import { updateMayPickAnyRow } from './update-may-pick-any-row.ts';
import { validityKeyIsADate } from './validity-key-is-a-date.ts';
import { variableOutlivesItsBatch } from './variable-outlives-its-batch.ts';
import { writeNarrowsType } from './write-narrows-type.ts';

/** Every rule, in the order of their names: a new rule is a new file and a line here. */
export const rules: readonly Rule[] = [
  betweenReadsTwoVersions,
  bySourceBranchReadsSource,
  bySourceBranchRewritesTable,
  catchSwallowsError,
  changeFeedIsOff,
  checksumMissesChanges,
  clockIsReadTwice,
  closeAndOpenLackTransaction,
  closingUpdateTouchesHistory,
  columnIsNotInTable,
  columnListsDisagree,
  comparisonEquatesNullWithValue,
  comparisonMissesNull,
  comparisonReadsAllVersions,
  comparisonUsesFloat,
  comparisonUsesIncomparableType,
  composableMergeMeetsConstraint,
  concatWsSkipsNull,
  cteFollowsUnterminatedStatement,
  datetimeRoundsEnd,
  deltaStarFollowsSource,
  deltaStarWritesHelperColumn,
  dynamicSqlLacksQuotename,
  fabricRefusesStatement,
  generatedScriptIsStale,
  hashDateLacksStyle,
  hashDelimiterMayBeData,
  hashDependsOnSession,
  hashEquatesNullAndEmpty,
  hashInputIsCut,
  hashLacksDelimiter,
  hashListDiffersFromTable,
  hashMixesTextTypes,
  hashNumberLosesDigits,
  hashResultHasWrongType,
  hashdiffHoldsLoadColumns,
  hashdiffIsNormalised,
  inactivationCrossesSources,
  inactivationLacksShareLimit,
  inactivationLacksStageGuard,
  insertLeavesColumnOut,
  insertSelectsStar,
  insertWritesGeneratedColumn,
  intervalEndsOneUnitEarly,
  isnullCutsPlaceholder,
  joinedTextTurnsNull,
  keysAreJoinedAsText,
  lateRowClosesNewerVersion,
  localClockSetsValidity,
  mergeBranchIsUnreachable,
  mergeBySourceLacksStageGuard,
  mergeBySourceReadsPart,
  mergeBySourceTouchesHistory,
  mergeInsertNamesNoColumns,
  mergeJoinsOnPartOfKey,
  mergeKeyMayBeNull,
  mergeLacksHoldlock,
  mergeLacksSemicolon,
  mergeLosesChangedVersion,
  mergeOnTestsTarget,
  mergeReadsAllPartitions,
  mergeRowcountIsATotal,
  mergeSourceChangesBetweenReads,
  mergeSourceRepeatsKeys,
  mergeTargetHintIsRefused,
  mergeTargetIsSpecial,
  mergeTargetsFilteredRows,
  mergeUpdatesTwice,
  mergeUpdatesUnchangedRows,
  mergeUsesTop,
  metadataLookupLacksSchema,
  nameListIsCut,
  notInMayMeetNull,
  nullBusinessKeyIsHashed,
  nullMergeKeyInsertsUnchanged,
  openEndIsMixed,
  outputMeetsTrigger,
  returningKeyStaysClosed,
  rolledBackOutputIsRead,
  rowChoiceHasTies,
  rowcountIsReadLate,
  setOptionsAreOff,
  setWritesGeneratedColumn,
  sha2LacksLength,
  sourceIsReadWithNolock,
  storedHashMayBeNull,
  subtractionIsRoundedAway,
  synapseMergeInsertsUnhashed,
  synapseRefusesSyntax,
  synapseTransactionBreaks,
  synapseUpdateJoins,
  tableLacksKey,
  textIsAddedToNumber,
  textTypeLacksLength,
  throwFollowsUnterminatedStatement,
  tombstoneLosesAttributes,
  tombstoneRepeatsEveryRun,
  trackedColumnIsNotCompared,
  transactionLacksXactAbort,
  unenforcedKeyIsTrusted,
  updateMayPickAnyRow,
  validityKeyIsADate,
  variableOutlivesItsBatch,
  writeNarrowsType,
];
