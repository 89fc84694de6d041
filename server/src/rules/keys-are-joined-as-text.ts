import { bare } from '../syntax/inspect.ts';
import type { Expression, InQuery } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import { callOf, columnName, plainColumn } from './analysis/names.ts';
import type { Step } from './analysis/steps.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const keysAreJoinedAsText: Rule = {
  name: 'keys-are-joined-as-text',
  hazards: ['C08', 'H01'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'safe',
  summary: 'Composite keys are compared as one joined text.',
  why: "('7', '12') and ('71', '2') give the same text, so the wrong rows are matched, closed or left out.",
  help: 'Compare each column by itself, with EXISTS or NOT EXISTS for a list of keys.',
  judges: 'part',
  invalid: [
    {
      sql: `UPDATE t SET ValidTo = @now FROM dw.DocLine AS t
WHERE t.ValidTo IS NULL AND CONCAT(t.DocNo, t.LineNumber) IN (SELECT CONCAT(DocNo, LineNumber) FROM stg.DocLine);`,
    },
    { sql: `SELECT a.DocNo FROM dw.Doc AS a JOIN stg.Doc AS b ON CONCAT(a.DocNo, a.Part) = CONCAT(b.DocNo, b.Part);` },
  ],
  valid: [
    {
      sql: `UPDATE t SET ValidTo = @now FROM dw.DocLine AS t
WHERE t.ValidTo IS NULL AND EXISTS (SELECT 1 FROM stg.DocLine AS s WHERE s.DocNo = t.DocNo AND s.LineNumber = t.LineNumber);`,
    },
  ],
  statement(step, context) {
    for (const { node } of step.find('in-query')) {
      const left = joinedColumns(node.operand);
      const { body } = node.query;
      const item = body.kind === 'select' && body.items.length === 1 ? body.items[0] : undefined;
      const right = item === undefined ? null : joinedColumns(item.expression);
      if (left === null || right === null) continue;
      context.report(step, node.operand, {
        message: `The keys ${left.map((part) => context.text(step, part)).join(' and ')} are compared as one text without a delimiter.`,
        fixes: existsFix(step, context, node, left, right),
      });
    }
    for (const { node } of step.find('binary')) {
      if (!['=', '<>', '!='].includes(node.operator)) continue;
      const left = joinedColumns(node.left);
      const right = joinedColumns(node.right);
      if (left === null || right === null || left.length !== right.length) continue;
      const pairs = left.map(
        (part, index) => `${context.text(step, part)} = ${context.text(step, right[index] ?? part)}`,
      );
      const text = `(${pairs.join(' AND ')})`;
      context.report(step, node, {
        message: 'Two keys are compared as joined texts without a delimiter.',
        fixes: [
          {
            title: 'Compare each column',
            safe: true,
            edits: [replace(node, node.operator === '=' ? text : `NOT ${text}`)],
          },
        ],
      });
    }
  },
};

/** The columns of CONCAT(a, b), or null when it is no such text or has a delimiter. */
function joinedColumns(expression: Expression): readonly Expression[] | null {
  const call = callOf(expression, 'CONCAT');
  const parts = call !== null ? call.arguments : plusParts(expression);
  if (parts === null || parts.length < 2) return null;
  return parts.every((part) => plainColumn(unwrapped(part)) !== null) ? parts.map(unwrapped) : null;
}

/** A chain of + counts only where a conversion shows that texts are joined. */
function plusParts(expression: Expression): readonly Expression[] | null {
  const parts: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = bare(next);
    if (inner.kind === 'binary' && (inner.operator === '+' || inner.operator === '||')) {
      pending.push(inner.right, inner.left);
    } else parts.push(inner);
  }
  const pipes = bare(expression);
  const joinsText =
    (pipes.kind === 'binary' && pipes.operator === '||') ||
    parts.some((part) => part.kind === 'cast' && /char|string|text/.test(part.type.text));
  return parts.length > 1 && joinsText ? parts : null;
}

function unwrapped(expression: Expression): Expression {
  let inner = bare(expression);
  while (inner.kind === 'cast') inner = bare(inner.operand);
  const fallback = callOf(inner, 'ISNULL', 'COALESCE', 'TRIM', 'LTRIM', 'RTRIM', 'UPPER', 'LOWER');
  return fallback?.arguments[0] === undefined ? inner : unwrapped(fallback.arguments[0]);
}

function existsFix(
  step: Step,
  context: RuleContext,
  node: InQuery,
  left: readonly Expression[],
  right: readonly Expression[],
): readonly FindingFix[] {
  const { body } = node.query;
  if (body.kind !== 'select' || body.from.length !== 1 || left.length !== right.length) return [];
  const [from] = body.from;
  if (from?.kind !== 'table' || node.query.with !== null || body.groupBy !== null) return [];
  const alias = from.alias?.name ?? 'k';
  const tests = left.map((part, index) => {
    const column = right[index];
    const name = column === undefined ? null : plainColumn(column);
    return `${alias}.${name === null ? '' : columnName(name)} = ${context.text(step, part)}`;
  });
  const where = body.where === null ? tests : [...tests, `(${context.text(step, body.where)})`];
  const text = `${node.not ? 'NOT ' : ''}EXISTS (SELECT 1 FROM ${context.text(step, from.name)} AS ${alias} WHERE ${where.join(' AND ')})`;
  return [{ title: 'Compare each column', safe: true, edits: [replace(node, text)] }];
}
