import type { Call, Node } from '../syntax/tree.ts';
import { insertAt, replace } from './analysis/fixes.ts';
import { clockReads, isClock } from './analysis/flow.ts';
import { memo } from './analysis/memo.ts';
import { callName } from './analysis/names.ts';
import { indexIn, indicesWhere, stepsWith } from './analysis/selections.ts';
import { tablesIn } from './analysis/sides.ts';
import type { Body, Step } from './analysis/steps.ts';
import { type VariableFact, variablesOf } from './analysis/variables.ts';
import { type FindingFix, type Rule, tsqlPlatforms } from './engine/rule.ts';

export const clockIsReadTwice: Rule = {
  name: 'clock-is-read-twice',
  hazards: ['T04'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Statements that write one table read the clock each for itself.',
  why: 'The time at which versions are closed differs from the time at which the new ones start, so there are holes or overlaps.',
  help: 'Read the clock once into a variable and use that in all statements.',
  invalid: [
    {
      sql: `SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE t SET ValidTo = SYSUTCDATETIME(), IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);
INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, IsCurrent)
SELECT s.MemberNo, s.Tier, SYSUTCDATETIME(), 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);
COMMIT TRANSACTION;`,
    },
  ],
  valid: [
    {
      sql: `SET XACT_ABORT ON;
DECLARE @now datetime2(6) = SYSUTCDATETIME();
BEGIN TRANSACTION;
UPDATE t SET ValidTo = @now, IsCurrent = 0
FROM dw.DimTier AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo
WHERE t.IsCurrent = 1 AND EXISTS (SELECT s.Tier EXCEPT SELECT t.Tier);
INSERT INTO dw.DimTier (MemberNo, Tier, ValidFrom, IsCurrent)
SELECT s.MemberNo, s.Tier, @now, 1 FROM stg.Tier AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.DimTier AS t WHERE t.MemberNo = s.MemberNo AND t.IsCurrent = 1);
COMMIT TRANSACTION;`,
    },
  ],
  body(body, context) {
    const first = new Map<string, Step>();
    const reads: { readonly step: Step; readonly node: Call }[] = [];
    const repeated: { readonly step: Step; readonly node: Node }[] = [];
    if (readingIndices(body).length === 0) return;
    const variables = variablesOf(body);
    const steps = stepsWith(body, 'insert', 'update', 'merge');
    for (const step of steps) {
      if (step.region === 'catch' || step.loop !== null) continue;
      if (!['insert', 'update', 'merge'].includes(step.statement.kind)) continue;
      const clocks = clockReads(step);
      const [read] = clocks;
      const name = targetName(step);
      if (read === undefined) {
        // The variable that another statement of the table uses was read from the clock, too.
        const shared = step.find('variable').some(({ node }) => fromClock(variables.get(node.name.toLowerCase())));
        if (shared && name !== null && !first.has(name)) first.set(name, step);
        continue;
      }
      for (const node of clocks) reads.push({ step, node });
      if (name === null) continue;
      if (first.has(name)) repeated.push({ step, node: read });
      else first.set(name, step);
    }
    for (const { step, node } of repeated) {
      context.report(step, node, {
        message: 'The clock is read again here, later than in the statement before that writes the same table.',
        fixes: node === repeated[0]?.node ? fixFor(body, reads) : [],
      });
    }
  },
};

const readingIndices = indicesWhere(
  (step) => clockReads(step).length > 0 && ['insert', 'update', 'merge'].some((kind) => step.statement.kind === kind),
);

function fromClock(variable: VariableFact | undefined): boolean {
  return variable?.values.some(({ value }) => isClock(value)) ?? false;
}

const targetName = memo((step: Step): string | null => {
  for (const kind of ['merge', 'update', 'insert'] as const) {
    const target = step.find(kind)[0]?.scope?.target;
    if (target != null) return [...tablesIn(target.node)][0] ?? null;
  }
  return null;
});

/** One variable before the first statement that reads the clock. */
function fixFor(body: Body, reads: readonly { readonly step: Step; readonly node: Call }[]): readonly FindingFix[] {
  const [first] = reads;
  if (first === undefined) return [];
  const batch = body.batches[indexIn(body, first.step)];
  const sameBatch = reads.every(({ step }) => body.batches[indexIn(body, step)] === batch);
  const sameClock = reads.every(({ node }) => callName(node) === callName(first.node));
  const taken = variablesOf(body);
  const name = ['@now', '@load_time', '@batch_time'].find((candidate) => !taken.has(candidate));
  if (!sameBatch || !sameClock || name === undefined || first.step.guards.length > 0) return [];
  const type = /^SYS/.test(callName(first.node)) ? 'datetime2(7)' : 'datetime';
  return [
    {
      title: `Read the clock once into ${name}`,
      safe: false,
      edits: [
        {
          ...insertAt(
            first.step.statement.start,
            `DECLARE ${name} ${type} = ${callName(first.node)}${callName(first.node) === 'CURRENT_TIMESTAMP' ? '' : '()'};\n`,
          ),
          step: first.step,
        },
        ...reads.map(({ step, node }) => ({ ...replace(node, name), step })),
      ],
    },
  ];
}
