import { bare } from '../syntax/inspect.ts';
import type { Binary, Expression } from '../syntax/tree.ts';
import { anyDifferent, replace } from './analysis/fixes.ts';
import { hasLegacyHash } from './analysis/house.ts';
import { callName, callOf } from './analysis/names.ts';
import { type Entry, isUnder, type Step } from './analysis/steps.ts';
import type { FindingFix, Rule, RuleContext } from './engine/rule.ts';

const checksums = ['CHECKSUM', 'BINARY_CHECKSUM', 'CHECKSUM_AGG'];

export const checksumMissesChanges: Rule = {
  name: 'checksum-misses-changes',
  hazards: ['C03'],
  platforms: ['sqlserver', 'azuresql', 'synapse'],
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Changes are found by CHECKSUM or BINARY_CHECKSUM.',
  why: 'The value has 32 bits, so different rows share one and their change is lost; BINARY_CHECKSUM ignores some types and all but the first 255 characters of nvarchar(max), and CHECKSUM ignores case.',
  help: "Compare the columns null-safely, or use HASHBYTES('SHA2_256', …) over delimited values.",
  judges: 'part',
  invalid: [
    {
      sql: `UPDATE t SET Label = s.Label FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo
WHERE BINARY_CHECKSUM(s.Label, s.Size) <> BINARY_CHECKSUM(t.Label, t.Size);`,
    },
  ],
  valid: [
    {
      sql: `UPDATE t SET Label = s.Label FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo
WHERE EXISTS (SELECT s.Label, s.Size EXCEPT SELECT t.Label, t.Size);`,
    },
    { sql: `SELECT TOP (5) UnitNo FROM dw.Unit ORDER BY ABS(CHECKSUM(NEWID())) % 100;` },
  ],
  statement(step, context) {
    if (hasLegacyHash(step, context, ['binary-checksum'])) return;
    const writes = ['merge', 'update', 'insert', 'delete', 'create-table'].includes(step.statement.kind);
    const seen = new Set<Binary>();
    for (const entry of step.find('call')) {
      const { node } = entry;
      if (!checksums.includes(callName(node)) || isSpreading(entry)) continue;
      const comparison = comparisonAbove(entry);
      if (comparison !== null) {
        if (seen.has(comparison)) continue;
        seen.add(comparison);
      }
      context.report(step, comparison ?? node, {
        message: `${callName(node)} gives one 32-bit value to many different rows, so some changes are not seen.`,
        severity: writes || comparison !== null ? 'warning' : 'info',
        fixes: comparison === null ? [] : compareColumns(step, context, comparison),
      });
    }
  },
};

/** Random order, buckets and locks: nothing is compared. */
function isSpreading(entry: Entry<'call'>): boolean {
  if (entry.node.arguments.some((argument) => callOf(argument, 'NEWID') !== null)) return true;
  return isUnder(
    entry,
    (node) =>
      (node.kind === 'binary' && node.operator === '%') ||
      (node.kind === 'call' && ['ABS', 'RAND'].includes(callName(node))) ||
      node.kind === 'order-item',
  );
}

function comparisonAbove(entry: Entry): Binary | null {
  const node = entry.parent?.node;
  return node?.kind === 'binary' && ['<>', '!=', '='].includes(node.operator) ? node : null;
}

function compareColumns(step: Step, context: RuleContext, node: Binary): readonly FindingFix[] {
  if (node.operator === '=') return [];
  const left = argumentsOf(node.left);
  const right = argumentsOf(node.right);
  if (left.length === 0 || left.length !== right.length) return [];
  const pairs = left.map((argument, index): readonly [string, string] => [
    context.text(step, argument),
    context.text(step, right[index] ?? argument),
  ]);
  return [{ title: 'Compare the columns', safe: false, edits: [replace(node, anyDifferent(context.platform, pairs))] }];
}

function argumentsOf(expression: Expression): readonly Expression[] {
  const call = callOf(expression, 'CHECKSUM', 'BINARY_CHECKSUM');
  const list = call?.arguments ?? [];
  return list.some((argument) => bare(argument).kind === 'star') ? [] : list;
}
