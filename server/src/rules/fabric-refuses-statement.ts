import type { ColumnDefinition } from '../syntax/tree.ts';
import { replace } from './analysis/fixes.ts';
import type { FindingFix, Rule } from './engine/rule.ts';

const replacements: Readonly<Record<string, (size: string) => string>> = {
  nvarchar: (size) => `varchar${size}`,
  nchar: (size) => `char${size}`,
  datetime: () => 'datetime2(3)',
  smalldatetime: () => 'datetime2(0)',
  datetimeoffset: () => 'datetime2(6)',
  money: () => 'decimal(19, 4)',
  smallmoney: () => 'decimal(10, 4)',
  tinyint: () => 'smallint',
  text: () => 'varchar(max)',
  ntext: () => 'varchar(max)',
  xml: () => 'varchar(max)',
  image: () => 'varbinary(max)',
};

export const fabricRefusesStatement: Rule = {
  name: 'fabric-refuses-statement',
  hazards: ['M28'],
  platforms: ['fabric'],
  severity: 'error',
  fix: 'unsafe',
  summary: 'A statement or column type is not part of the Fabric Warehouse surface.',
  why: 'The warehouse refuses the statement.',
  help: 'Use the type or statement that the warehouse offers instead.',
  invalid: [
    { platform: 'fabric', sql: `CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label nvarchar(50) NULL);` },
    { platform: 'fabric', sql: `SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;` },
  ],
  valid: [{ platform: 'fabric', sql: `CREATE TABLE dw.Unit (UnitNo int NOT NULL, Label varchar(50) NULL);` }],
  statement(step, context) {
    const { statement } = step;
    if (statement.kind === 'create-table') {
      for (const element of statement.elements) {
        if (element.kind === 'column-definition') {
          const problem = typeProblem(element);
          if (problem !== null && element.type !== null) {
            context.report(step, element.type, { message: problem.message, fixes: problem.fixes });
          }
        } else if (
          element.kind === 'constraint' &&
          element.enforced &&
          ['primary-key', 'unique', 'foreign-key'].includes(element.type)
        ) {
          context.report(step, element, { message: 'Fabric takes keys only as NOT ENFORCED.' });
        }
      }
    }
    if (statement.kind === 'create-trigger') {
      context.report(step, statement.name, { message: 'Fabric has no triggers.' });
    }
    if (statement.kind === 'set-option') {
      const refused = statement.names.find((name) => name === 'ROWCOUNT' || name === 'TRANSACTION ISOLATION LEVEL');
      if (refused !== undefined)
        context.report(step, statement, { message: `SET ${refused} is not supported on Fabric.` });
    }
    for (const { node } of step.find('query')) {
      if (node.forClause !== null && /^FOR XML/.test(node.forClause.name)) {
        context.report(step, node.forClause, { message: 'FOR XML is not supported on Fabric.' });
      }
    }
  },
};

function typeProblem(
  column: ColumnDefinition,
): { readonly message: string; readonly fixes: readonly FindingFix[] } | null {
  const { type } = column;
  if (type === null) return null;
  const [base = ''] = type.text.split('(');
  const size = type.text.slice(base.length);
  const other = replacements[base];
  if (other !== undefined) {
    const text = other(size);
    return {
      message: `Fabric has no column type ${base}; use ${text}.`,
      fixes: [{ title: `Use ${text}`, safe: false, edits: [replace(type, text)] }],
    };
  }
  if ((base === 'datetime2' || base === 'time') && (size === '' || size === '(7)')) {
    return {
      message: `Fabric stores at most six digits of a second; use ${base}(6).`,
      fixes: [{ title: `Use ${base}(6)`, safe: false, edits: [replace(type, `${base}(6)`)] }],
    };
  }
  return null;
}
