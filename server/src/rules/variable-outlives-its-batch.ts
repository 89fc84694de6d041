import { indicesOf, indicesWhere } from './analysis/selections.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const variableOutlivesItsBatch: Rule = {
  name: 'variable-outlives-its-batch',
  hazards: ['P09'],
  platforms: tsqlPlatforms,
  severity: 'error',
  fix: 'none',
  summary: 'A variable is used behind the GO that ended its life.',
  why: 'Variables live in one batch, so the server refuses the later batch (error 137).',
  help: 'Declare it again, keep the value in a temporary table, or remove the GO.',
  invalid: [
    { sql: `DECLARE @now datetime2(6) = SYSUTCDATETIME();\nGO\nUPDATE dw.Unit SET SeenAt = @now WHERE UnitNo = 1;` },
  ],
  valid: [{ sql: `DECLARE @now datetime2(6) = SYSUTCDATETIME();\nUPDATE dw.Unit SET SeenAt = @now WHERE UnitNo = 1;` }],
  body(body, context) {
    if (body.owner !== null || body.batches[0] === body.batches.at(-1)) return;
    const declaredIn = new Map<string, Set<number>>();
    for (const at of indicesOf(body, 'declare', 'declare-table')) {
      const statement = body.steps[at]?.statement;
      const batch = body.batches[at] ?? 0;
      const names =
        statement?.kind === 'declare'
          ? statement.variables.map((variable) => variable.name)
          : statement?.kind === 'declare-table'
            ? [statement.name]
            : [];
      for (const name of names) {
        const key = name.toLowerCase();
        declaredIn.set(key, (declaredIn.get(key) ?? new Set()).add(batch));
      }
    }
    if (declaredIn.size === 0) return;
    const reported = new Set<string>();
    for (const index of mentioningIndices(body)) {
      const step = body.steps[index];
      if (step === undefined) continue;
      const batch = body.batches[index] ?? 0;
      for (const { node } of [...step.find('variable'), ...step.find('table-variable')]) {
        const key = node.name.toLowerCase();
        const batches = declaredIn.get(key);
        if (batches === undefined || batches.has(batch) || reported.has(`${key} ${batch}`)) continue;
        if (Math.min(...batches) > batch || step.statement.kind === 'declare-table') continue;
        reported.add(`${key} ${batch}`);
        context.report(step, node, {
          message: `${node.name} ended with the batch that declares it, before the GO above.`,
        });
      }
    }
  },
};

const mentioningIndices = indicesWhere(
  (step) => step.find('variable').length > 0 || step.find('table-variable').length > 0,
);
