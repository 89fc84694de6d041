import type { DataType } from '../syntax/tree.ts';
import { insertAt } from './analysis/fixes.ts';
import { factsOf } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { isUnder } from './analysis/steps.ts';
import { type FindingFix, type Rule, tsqlPlatforms } from './engine/rule.ts';

export const textTypeLacksLength: Rule = {
  name: 'text-type-lacks-length',
  hazards: ['H06'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'A text type has no length.',
  why: 'CAST and CONVERT then cut at 30 characters, and a variable or column has room for one: longer values are cut without a message, so different rows look alike.',
  help: 'State the length.',
  judges: 'part',
  invalid: [
    { sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONVERT(varchar, Remark))) AS HashDiff FROM stg.Shop;` },
    { sql: `DECLARE @city varchar = 'Bern';` },
  ],
  valid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONVERT(varchar(4000), Remark))) AS HashDiff FROM stg.Shop;`,
    },
    { sql: `SELECT CONVERT(varchar, GETDATE(), 112) AS Today;` },
  ],
  statement(step, context) {
    const hashes = hashesOf(step);
    for (const entry of step.find('cast')) {
      const { node } = entry;
      if (!isLengthless(node.type)) continue;
      const hashed = hashes.some(({ input }) => node.start >= input.start && node.end <= input.end);
      const compared = isUnder(
        entry,
        (parent) => parent.kind === 'binary' && ['=', '<>', '!='].includes(parent.operator),
      );
      if (!hashed && !compared) continue;
      const facts = factsOf(node.operand, entry.scope, context);
      // Numbers and dates are shorter than 30 characters.
      const short = facts !== null && facts.family !== 'text' && facts.family !== 'binary' && facts.family !== 'other';
      const fits = facts?.family === 'text' && facts.length !== null && facts.length <= 30;
      if (fits) continue;
      context.report(step, node.type, {
        message: `${node.type.text} without a length cuts at 30 characters here.`,
        severity: short || !hashed ? 'info' : 'warning',
        fixes: lengthFix(node.type),
      });
    }
    for (const { node } of step.find('declared-variable')) {
      if (node.type === null || !isLengthless(node.type)) continue;
      context.report(step, node.type, {
        message: `${node.name} has room for one character only.`,
        fixes: lengthFix(node.type),
      });
    }
    if (step.statement.kind !== 'create-procedure') return;
    for (const { type, name } of step.statement.parameters) {
      if (type === null || !isLengthless(type)) continue;
      context.report(step, type, { message: `${name} takes one character only.`, fixes: lengthFix(type) });
    }
  },
};

function isLengthless(type: DataType): boolean {
  return /^n?varchar$/.test(type.text);
}

function lengthFix(type: DataType): readonly FindingFix[] {
  const length = type.text.startsWith('n') ? '(4000)' : '(8000)';
  return [{ title: `Add the length ${length}`, safe: true, edits: [insertAt(type.end, length)] }];
}
