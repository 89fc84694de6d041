import { isTsql } from '../../../../protocol/platform.ts';
import { bare } from '../../syntax/inspect.ts';
import type { Binary, Call, Expression } from '../../syntax/tree.ts';
import { callName } from './names.ts';
import type { Scope } from './steps.ts';
import type { Tables } from './tables.ts';

const neverNull = new Set([
  'COUNT',
  'COUNT_BIG',
  'ROW_NUMBER',
  'RANK',
  'DENSE_RANK',
  'NTILE',
  'GETDATE',
  'GETUTCDATE',
  'SYSDATETIME',
  'SYSUTCDATETIME',
  'SYSDATETIMEOFFSET',
  'CURRENT_TIMESTAMP',
  'CURRENT_DATE',
  'NOW',
  'NEWID',
  'NEWSEQUENTIALID',
  'UUID',
  'CHECKSUM',
  'BINARY_CHECKSUM',
]);
const firstThatIsNotNull = new Set(['COALESCE', 'ISNULL', 'IFNULL', 'NVL']);

/** True: may be NULL; false: never; null: not known. */
export function nullability(expression: Expression, scope: Scope | null, tables: Tables): boolean | null {
  const inner = bare(expression);
  switch (inner.kind) {
    case 'literal':
      return inner.type === 'null';
    case 'column':
      return tables.column(inner, scope)?.column.nullable ?? null;
    case 'collate':
    case 'unary':
      return nullability(inner.operand, scope, tables);
    case 'cast':
      return inner.function.startsWith('TRY_') ? true : nullability(inner.operand, scope, tables);
    case 'binary':
      return any(operandsOf(inner), scope, tables);
    case 'is-null':
    case 'exists':
    case 'is-distinct':
    case 'next-value':
    case 'interval':
      return false;
    case 'case': {
      const results = inner.branches.map((branch) => branch.then);
      return inner.otherwise === null ? true : any([...results, inner.otherwise], scope, tables);
    }
    case 'call':
      return ofCall(inner, scope, tables);
    default:
      return null;
  }
}

function ofCall(call: Call, scope: Scope | null, tables: Tables): boolean | null {
  const name = callName(call);
  if (neverNull.has(name)) return false;
  if (firstThatIsNotNull.has(name)) {
    const parts = call.arguments.map((argument) => nullability(argument, scope, tables));
    if (parts.includes(false)) return false;
    return parts.every((part) => part === true) ? true : null;
  }
  // T-SQL's CONCAT takes NULL as ''; CONCAT_WS leaves NULL out everywhere but for its separator.
  if (name === 'CONCAT') return isTsql(tables.platform.name) ? false : any(call.arguments, scope, tables);
  if (name === 'CONCAT_WS') return false;
  if (name === 'NULLIF' || name === 'LAG' || name === 'LEAD') return true;
  if (call.over !== null || ['MAX', 'MIN', 'SUM', 'AVG'].includes(name)) return null;
  if (
    ['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'RTRIM', 'HASHBYTES', 'MD5', 'SHA1', 'SHA2', 'SHA256', 'REPLACE'].includes(name)
  ) {
    return any(call.arguments, scope, tables);
  }
  return null;
}

/** The operands of a chain of operations, which may be as long as a hash text of a thousand columns: no call goes down it. */
function operandsOf(chain: Binary): readonly Expression[] {
  const operands: Expression[] = [];
  let left: Expression = chain;
  for (let inner = bare(left); inner.kind === 'binary'; inner = bare(left)) {
    operands.push(inner.right);
    left = inner.left;
  }
  return [left, ...operands.reverse()];
}

/** NULL comes out when any part is NULL. */
function any(parts: readonly Expression[], scope: Scope | null, tables: Tables): boolean | null {
  const each = parts.map((part) => nullability(part, scope, tables));
  if (each.includes(true)) return true;
  return each.every((part) => part === false) ? false : null;
}
