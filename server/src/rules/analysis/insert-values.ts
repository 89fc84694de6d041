import type { Expression, Identifier, NodeBase } from '../../syntax/tree.ts';
import { memo } from './memo.ts';
import { columnName } from './names.ts';
import { type Scope, type Source, type Step, selectsOf } from './steps.ts';

/** One value on its way into a column. */
export interface WrittenValue {
  readonly column: string;
  /** Where the column is named. */
  readonly at: NodeBase;
  readonly value: Expression;
  readonly scope: Scope | null;
  readonly target: Source;
  readonly by: 'insert' | 'set';
}

/** Every column that a step writes, with its value: INSERT … SELECT or VALUES, SET, and the branches of a MERGE. */
export const writtenValues = memo((step: Step): readonly WrittenValue[] => {
  const found: WrittenValue[] = [];
  for (const { node, scope } of step.find('insert')) {
    const target = scope?.target;
    if (target == null || node.source.kind !== 'query') continue;
    if (node.source.body.kind === 'values') {
      for (const row of node.source.body.rows) add(found, node.columns, row.items, scope, target);
      continue;
    }
    for (const select of selectsOf(node.source)) {
      const inside = step.entry(select)?.scope ?? null;
      add(
        found,
        node.columns,
        select.items.map((item) => item.expression),
        inside,
        target,
      );
    }
  }
  for (const { node, scope } of step.find('merge-insert')) {
    if (scope?.target != null) add(found, node.columns, node.values, scope, scope.target);
  }
  for (const { node, scope } of step.find('assignment')) {
    if (node.column === null || scope?.target == null || node.operator !== '=') continue;
    found.push({
      column: columnName(node.column),
      at: node.column,
      value: node.value,
      scope,
      target: scope.target,
      by: 'set',
    });
  }
  return found;
});

function add(
  found: WrittenValue[],
  columns: readonly Identifier[],
  values: readonly Expression[],
  scope: Scope | null,
  target: Source,
): void {
  if (columns.length !== values.length) return;
  columns.forEach((column, index) => {
    const value = values[index];
    if (value !== undefined) found.push({ column: column.name, at: column, value, scope, target, by: 'insert' });
  });
}
