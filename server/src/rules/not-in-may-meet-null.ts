import type { InQuery } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { columnName, plainColumn } from './analysis/names.ts';
import { queryRelation } from './analysis/relations.ts';
import type { Step } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const notInMayMeetNull: Rule = {
  name: 'not-in-may-meet-null',
  hazards: ['I03'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'NOT IN reads a subquery whose column may be NULL.',
  why: 'One NULL in the subquery makes NOT IN true for no row at all: nothing is found, inserted or inactivated.',
  help: 'Write NOT EXISTS.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE stg.Item (ItemNo int NULL, Label varchar(50) NULL);`,
      sql: `DELETE FROM dw.Item WHERE ItemNo NOT IN (SELECT ItemNo FROM stg.Item);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Item (ItemNo int NULL, Label varchar(50) NULL);`,
      sql: `DELETE FROM dw.Item WHERE ItemNo NOT IN (SELECT ItemNo FROM stg.Item WHERE ItemNo IS NOT NULL);`,
    },
  ],
  statement(step, context) {
    const writes = ['insert', 'update', 'delete', 'merge'].includes(step.statement.kind);
    for (const { node, scope } of step.find('in-query')) {
      if (!node.not) continue;
      const nullable = queryRelation(node.query, scope, context.tables, []).columns?.[0]?.nullable ?? null;
      const known = nullable !== null;
      if (nullable === false || (!known && !writes)) continue;
      context.report(step, node, {
        message: known
          ? 'The subquery may give NULL, and then this is true for no row.'
          : 'If the subquery gives one NULL, this is true for no row.',
        severity: known ? 'warning' : 'info',
        fixes: existsFix(step, context, node),
      });
    }
  },
};

function existsFix(step: Step, context: RuleContext, node: InQuery): readonly FindingFix[] {
  const { body } = node.query;
  if (body.kind !== 'select' || body.from.length !== 1 || body.groupBy !== null || node.query.with !== null) return [];
  const [from] = body.from;
  const column = body.items.length === 1 && body.items[0] !== undefined ? plainColumn(body.items[0].expression) : null;
  const tested = plainColumn(node.operand);
  if (from?.kind !== 'table' || column === null || tested === null) return [];
  const alias = from.alias?.name ?? 'k';
  // A name without a qualifier would mean the subquery's own column.
  const outer = tested.parts.length > 1 ? context.text(step, tested) : qualified(step, context, node);
  if (outer === null) return [];
  const where = body.where === null ? '' : ` AND (${context.text(step, body.where)})`;
  const text = `NOT EXISTS (SELECT 1 FROM ${context.text(step, from.name)} AS ${alias} WHERE ${alias}.${columnName(column)} = ${outer}${where})`;
  return [{ title: 'Write NOT EXISTS', safe: true, edits: [replace(node, text)] }];
}

function qualified(step: Step, context: RuleContext, node: InQuery): string | null {
  const [source] = step.entry(node)?.scope?.sources ?? [];
  if (source === undefined || source.node.kind !== 'table') return null;
  return `${source.node.alias === null ? context.text(step, source.node.name) : source.alias}.${context.text(step, node.operand)}`;
}
