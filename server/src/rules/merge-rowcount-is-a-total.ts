import { indicesOf } from './analysis/selections.ts';
import type { Body, Step } from './analysis/steps.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

const partNames = /insert|updat|delet|expire|chang|\bins|\bupd|\bdel|@ins|@upd|@del|new/i;

export const mergeRowcountIsATotal: Rule = {
  name: 'merge-rowcount-is-a-total',
  hazards: ['M20'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'none',
  summary: '@@ROWCOUNT after a MERGE is taken for the number of rows of one action.',
  why: 'It counts inserts, updates and deletes together; Synapse counts each updated row twice.',
  help: 'Write OUTPUT $action INTO a table variable and count by action.',
  invalid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);
DECLARE @inserted int = @@ROWCOUNT;`,
    },
  ],
  valid: [
    {
      sql: `MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND EXISTS (SELECT s.Label EXCEPT SELECT t.Label) THEN UPDATE SET Label = s.Label
WHEN NOT MATCHED THEN INSERT (UnitNo, Label) VALUES (s.UnitNo, s.Label);
IF @@ROWCOUNT = 0 PRINT 'nothing to do';`,
    },
  ],
  body(body, context) {
    for (const index of indicesOf(body, 'merge')) {
      const statement = body.steps[index]?.statement;
      const after = body.steps[index + 1];
      if (statement?.kind !== 'merge' || after === undefined) continue;
      const actions = new Set(statement.branches.map(({ action }) => action?.kind));
      if (actions.size < 2) continue;
      const read = after.find('variable').find(({ node }) => node.name.toUpperCase() === '@@ROWCOUNT');
      if (read === undefined || isCompared(read.parent?.node.kind)) continue;
      context.report(after, read.node, {
        message: `@@ROWCOUNT is the total of all ${actions.size} actions of the MERGE.`,
        severity: isTakenForPart(body, index + 1, after) ? 'warning' : 'info',
      });
    }
  },
};

/** `IF @@ROWCOUNT = 0` asks whether anything happened, which the total answers. */
function isCompared(kind: string | undefined): boolean {
  return kind === 'binary';
}

/** The variable's name, or a text printed soon after, speaks of one action. */
function isTakenForPart(body: Body, index: number, after: Step): boolean {
  const names = variableNames(after);
  if (names.some((name) => partNames.test(name))) return true;
  return body.steps.slice(index, index + 4).some((step) => {
    const uses = step.find('variable').some(({ node }) => names.includes(node.name.toLowerCase()));
    const texts = [...step.find('literal')].map(({ node }) => node.value).join(' ');
    const aliases = step
      .find('select-item')
      .map(({ node }) => node.alias?.name ?? '')
      .join(' ');
    return (uses || step === after) && partNames.test(`${texts} ${aliases}`);
  });
}

function variableNames(step: Step): readonly string[] {
  const { statement } = step;
  if (statement.kind === 'declare') return statement.variables.map((variable) => variable.name.toLowerCase());
  if (statement.kind === 'set-variable') return [statement.variable.name.toLowerCase()];
  return step
    .find('select-item')
    .flatMap(({ node }) => (node.assigns === null ? [] : [node.assigns.name.toLowerCase()]));
}
