import { bare } from '../syntax/inspect.ts';
import type { Call, Cast } from '../syntax/tree.ts';
import { insertAt, replace } from './analysis/fixes.ts';
import { callName } from './analysis/names.ts';
import type { Step } from './analysis/steps.ts';
import { type Rule, type RuleContext, tsqlPlatforms } from './engine/rule.ts';

const bytes: Readonly<Record<string, number>> = { MD5: 16, SHA: 20, SHA1: 20, SHA2_256: 32, SHA2_512: 64 };

export const hashResultHasWrongType: Rule = {
  name: 'hash-result-has-wrong-type',
  hazards: ['H14'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The result of HASHBYTES is kept in a type that does not fit it.',
  why: 'HASHBYTES gives varbinary(8000), and a table made from it keeps that width; converted to text without style 2 it becomes unreadable bytes, and a short type cuts it.',
  help: "Cast to binary of the digest's size, or convert to char of twice that size with style 2.",
  judges: 'part',
  invalid: [
    { sql: `SELECT ShopNo, HASHBYTES('SHA2_256', City) AS HashDiff INTO #hashed FROM stg.Shop;` },
    { sql: `SELECT CONVERT(char(32), HASHBYTES('SHA2_256', City), 2) AS HashDiff FROM stg.Shop;` },
  ],
  valid: [
    { sql: `SELECT ShopNo, CAST(HASHBYTES('SHA2_256', City) AS binary(32)) AS HashDiff INTO #hashed FROM stg.Shop;` },
    { sql: `SELECT CONVERT(char(64), HASHBYTES('SHA2_256', City), 2) AS HashDiff FROM stg.Shop;` },
  ],
  statement(step, context) {
    for (const { node, parent } of step.find('call')) {
      if (callName(node) !== 'HASHBYTES') continue;
      const size = digestSize(node);
      const outer = parent?.node;
      if (outer?.kind === 'cast' && size !== null) checkCast(step, context, node, outer, size);
      else if (outer?.kind === 'select-item' && size !== null) checkItem(step, context, node, size);
    }
  },
};

function digestSize(call: Call): number | null {
  const [first] = call.arguments;
  const algorithm = first === undefined ? null : bare(first);
  return algorithm?.kind === 'literal' ? (bytes[algorithm.value.toUpperCase()] ?? null) : null;
}

function checkCast(step: Step, context: RuleContext, call: Call, cast: Cast, size: number): void {
  const text = /^n?(?:var)?char(?:\((\d+|max)\))?$/.exec(cast.type.text);
  const binary = /^(?:var)?binary(?:\((\d+|max)\))?$/.exec(cast.type.text);
  const value = context.text(step, call);
  if (text !== null) {
    const length = text[1] === 'max' ? Number.POSITIVE_INFINITY : Number(text[1] ?? 30);
    if (cast.style === null) {
      context.report(step, cast, {
        message: 'Converted to text without style 2, the digest becomes unreadable bytes of the code page.',
        fixes: [
          {
            title: 'Convert with style 2',
            safe: false,
            edits: [replace(cast, `CONVERT(char(${size * 2}), ${value}, 2)`)],
          },
        ],
      });
    } else if (length < size * 2) {
      context.report(step, cast.type, {
        message: `${cast.type.text} cuts the ${size * 2} hexadecimal digits of the digest.`,
        fixes: [{ title: `Use char(${size * 2})`, safe: false, edits: [replace(cast.type, `char(${size * 2})`)] }],
      });
    }
  } else if (binary !== null && binary[1] !== undefined && binary[1] !== 'max' && Number(binary[1]) < size) {
    context.report(step, cast.type, {
      message: `${cast.type.text} cuts the ${size} bytes of the digest.`,
      fixes: [{ title: `Use binary(${size})`, safe: false, edits: [replace(cast.type, `binary(${size})`)] }],
    });
  }
}

/** A bare HASHBYTES in a select list: a table made from it gets varbinary(8000). */
function checkItem(step: Step, context: RuleContext, call: Call, size: number): void {
  const { statement } = step;
  if (statement.kind === 'insert' || statement.kind === 'merge' || statement.kind === 'update') return;
  const makesTable =
    statement.kind === 'create-table' ||
    (statement.kind === 'select-statement' &&
      statement.query.body.kind === 'select' &&
      statement.query.body.into !== null);
  context.report(step, call, {
    message: `HASHBYTES gives varbinary(8000) where ${size} bytes are meant.`,
    severity: makesTable ? 'warning' : 'info',
    fixes: [
      {
        title: `Cast to binary(${size})`,
        safe: false,
        edits: [insertAt(call.start, 'CAST('), insertAt(call.end, ` AS binary(${size}))`)],
      },
    ],
  });
}
