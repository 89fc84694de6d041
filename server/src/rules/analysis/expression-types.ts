import { isTsql } from '../../../../protocol/platform.ts';
import { bare } from '../../syntax/inspect.ts';
import type { Binary, Expression } from '../../syntax/tree.ts';
import { callName } from './names.ts';
import type { Scope } from './steps.ts';
import type { Tables } from './tables.ts';

const clocks: Readonly<Record<string, string>> = {
  GETDATE: 'datetime',
  GETUTCDATE: 'datetime',
  CURRENT_TIMESTAMP: 'datetime',
  SYSDATETIME: 'datetime2(7)',
  SYSUTCDATETIME: 'datetime2(7)',
  SYSDATETIMEOFFSET: 'datetimeoffset(7)',
  CURRENT_DATE: 'date',
  HASHBYTES: 'varbinary(8000)',
  NEWID: 'uniqueidentifier',
  ROW_NUMBER: 'bigint',
  CHECKSUM: 'int',
  BINARY_CHECKSUM: 'int',
  LEN: 'int',
  DATEDIFF: 'int',
  YEAR: 'int',
  MONTH: 'int',
  DAY: 'int',
  DATENAME: 'nvarchar(30)',
  FORMAT: 'nvarchar(4000)',
};
const asFirstArgument = new Set([
  'ISNULL',
  'UPPER',
  'LOWER',
  'LTRIM',
  'RTRIM',
  'TRIM',
  'REPLACE',
  'SUBSTRING',
  'LEFT',
  'RIGHT',
  'NULLIF',
  'MAX',
  'MIN',
  'LAG',
  'LEAD',
  'FIRST_VALUE',
  'LAST_VALUE',
  'ABS',
]);

/** Type of an expression as the catalog writes types; null when it is not known. Rules of T-SQL; elsewhere an estimate. */
export function typeOf(expression: Expression, scope: Scope | null, tables: Tables): string | null {
  const inner = bare(expression);
  switch (inner.kind) {
    case 'column':
      return tables.column(inner, scope)?.column.type ?? null;
    case 'cast':
      return inner.type.text;
    case 'collate':
      return typeOf(inner.operand, scope, tables);
    case 'literal':
      return literalType(inner.type, inner.value);
    case 'call': {
      const name = callName(inner);
      const known = isTsql(tables.platform.name) || name === 'ROW_NUMBER' ? clocks[name] : undefined;
      if (known !== undefined) return known;
      const [first] = inner.arguments;
      if (asFirstArgument.has(name) && first !== undefined) return typeOf(first, scope, tables);
      if (name === 'COALESCE') return firstKnown(inner.arguments, scope, tables);
      if (name === 'DATEADD') return inner.arguments[2] ? typeOf(inner.arguments[2], scope, tables) : null;
      if (name === 'CONCAT' || name === 'CONCAT_WS')
        return concatType(inner.arguments.map((argument) => typeOf(argument, scope, tables)));
      return null;
    }
    case 'binary':
      return joinedType(inner, scope, tables);
    case 'case':
      return firstKnown(
        inner.branches.map((branch) => branch.then),
        scope,
        tables,
      );
    default:
      return null;
  }
}

/** Texts joined by an operator, from the first to the last: a hash text may be a chain of a thousand of them. */
function joinedType(chain: Binary, scope: Scope | null, tables: Tables): string | null {
  const rights: Expression[] = [];
  let first: Expression = chain;
  for (let inner = bare(first); inner.kind === 'binary'; inner = bare(first)) {
    if (inner.operator !== '+' && inner.operator !== '||') break;
    rights.push(inner.right);
    first = inner.left;
  }
  if (rights.length === 0) return null;
  let type = typeOf(first, scope, tables);
  for (const right of rights.reverse()) {
    const next = type === null ? null : typeOf(right, scope, tables);
    if (type === null || next === null || !isText(type) || !isText(next)) return null;
    type = concatType([type, next]);
  }
  return type;
}

function isText(type: string): boolean {
  return /^n?(var)?char|^n?text|^string|^sysname/.test(type);
}

function literalType(type: string, value: string): string | null {
  if (type === 'string') return `varchar(${Math.max(1, value.length)})`;
  if (type === 'national') return `nvarchar(${Math.max(1, value.length)})`;
  if (type === 'number') return /^\d+$/.test(value) ? 'int' : /e/i.test(value) ? 'float' : 'decimal(18,4)';
  return null;
}

function firstKnown(expressions: readonly Expression[], scope: Scope | null, tables: Tables): string | null {
  for (const expression of expressions) {
    const type = typeOf(expression, scope, tables);
    if (type !== null) return type;
  }
  return null;
}

/** nvarchar where any part is, max where any part is, else the sum of the lengths that are known. */
function concatType(types: readonly (string | null)[]): string | null {
  let length = 0;
  let unicode = false;
  let max = false;
  let known = true;
  for (const type of types) {
    if (type === null) {
      known = false;
      continue;
    }
    if (/^n(var)?char|^sysname/.test(type)) unicode = true;
    if (type.includes('(max)')) max = true;
    length += isText(type) ? Number(/\((\d+)\)/.exec(type)?.[1] ?? 1) : 40;
  }
  if (!known && !unicode) return null;
  const name = unicode ? 'nvarchar' : 'varchar';
  return max ? `${name}(max)` : `${name}(${Math.min(length, unicode ? 4000 : 8000)})`;
}
