import type { TableName } from '../../../protocol/catalog.ts';
import { lastPart, tableNameOf } from '../syntax/inspect.ts';
import type {
  ColumnReference,
  Conflict,
  Identifier,
  IndexDefinition,
  Insert,
  Merge,
  Output,
  Statement,
  TableElement,
  Unit,
  WriteTarget,
} from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';
import { QueryBinder } from './query-binder.ts';
import {
  type Access,
  type AliasMention,
  type BareOutput,
  type Commons,
  type Mention,
  type Scoped,
  type ScopeSource,
  type Sources,
  sameTable,
} from './scopes.ts';

/** What the names of a statement mean. */
export interface Binding {
  readonly mentions: readonly Mention[];
  readonly aliases: readonly AliasMention[];
  readonly bareOutputs: readonly BareOutput[];
  /** Scopes in the order in which they are bound: those of common tables before that of the statement around them. */
  readonly scopes: readonly Scoped[];
}

const known = new WeakMap<Statement, Binding>();

/** Tells what every name of a statement means; kept as long as the statement is, wherever edits move it. */
export function bindUnit(unit: Unit): Binding {
  const kept = known.get(unit.statement);
  if (kept !== undefined) return kept;
  const binding = bindOnce(unit);
  known.set(unit.statement, binding);
  return binding;
}

/** Lets go of a statement that nobody looks at again: the table of a weak map shrinks only when something is taken out. */
export function forgetUnit(unit: Unit): void {
  known.delete(unit.statement);
}

/** The same for a statement that nobody looks at again, such as those of a folder's index. */
export function bindOnce(unit: Unit): Binding {
  const binder = new Binder();
  binder.statement(unit.statement);
  const { mentions, aliases, bareOutputs, scopes } = binder;
  return { mentions, aliases, bareOutputs, scopes };
}

/** The sources and the target at an offset of the statement; undefined outside of any query or write. */
export function scopeAt(binding: Binding, offset: number): Scoped | undefined {
  let inner: Scoped | undefined;
  // A common table is bound before the write that reads it, in which it stands.
  for (const scope of binding.scopes) {
    const { node } = scope;
    if (offset < node.start || offset > node.end) continue;
    if (inner === undefined || (node.start >= inner.node.start && node.end <= inner.node.end)) inner = scope;
  }
  return inner;
}

class Binder extends QueryBinder {
  statement(statement: Statement): void {
    switch (statement.kind) {
      case 'select-statement':
        this.query(statement.query, [], new Map());
        return;
      case 'insert': {
        const commons = this.commons(statement.with, [], this.around);
        const target = this.writeTarget(statement.target, 'insert');
        this.scopes.push({ node: statement, sources: [], target });
        this.targetColumns(statement.columns, target);
        if (statement.source.kind === 'query') this.query(statement.source, [], commons);
        else this.expressions(statement.source, []);
        if (statement.conflict !== null && target !== null) this.conflict(statement, statement.conflict, target);
        this.outputs(statement.output, target);
        return;
      }
      case 'update':
      case 'delete': {
        const commons = this.commons(statement.with, [], this.around);
        const sources = this.sources(statement.from, [], commons);
        const common = this.commonTarget(statement.target, commons, sources);
        const target = common === undefined ? this.writeTarget(statement.target, statement.kind, sources) : null;
        const named = statement.target.kind === 'table' ? (statement.target.alias?.name ?? null) : null;
        const table: Sources =
          target === null ? [] : [{ alias: named ?? target.table, table: target, query: null, declared: null }];
        const own = common === undefined ? table : [common];
        const visible = sources.some((source) => sameTable(source.table, target)) ? sources : [...own, ...sources];
        this.scopes.push({ node: statement, sources: visible, target });
        if (statement.kind === 'update') {
          for (const assignment of statement.assignments) {
            if (assignment.column !== null) this.assigned(assignment.column, target, visible);
            this.expressions(assignment.value, visible, commons);
          }
        }
        if (statement.where !== null) this.expressions(statement.where, visible, commons);
        this.outputs(statement.output, target, [], common);
        return;
      }
      case 'merge':
        this.merge(statement);
        return;
      case 'create-table': {
        const name = this.mention(statement.name, 'define');
        this.elements(statement.elements, name);
        for (const option of statement.options) for (const column of option.columns) this.column(column, [name], false);
        if (statement.query !== null) {
          this.query(statement.query, [], new Map());
          this.gives(statement.query, name, []);
        }
        if (statement.cloneOf !== null) this.mention(statement.cloneOf, 'read');
        return;
      }
      case 'declare-table':
        this.elements(statement.elements, { database: null, schema: null, table: statement.name });
        return;
      case 'alter-table': {
        const name = this.mention(statement.name, 'alter');
        for (const action of statement.actions) {
          if (action.kind === 'add-elements' || action.kind === 'replace-columns') this.elements(action.elements, name);
          else if (action.kind === 'alter-column') this.column(action.column, [name], true);
          else if (action.kind === 'rename-column') this.column(action.from, [name], true);
          else if (action.kind === 'drop-elements') {
            for (const item of action.items)
              if (item.type === 'column' && item.name !== null) this.column(item.name, [name], true);
          }
        }
        return;
      }
      case 'create-index': {
        const name = this.mention(statement.table, 'alter');
        this.index(statement.definition, name);
        return;
      }
      case 'create-view': {
        const name = this.mention(statement.name, 'define');
        for (const column of statement.columns) this.column(column, [name], true);
        this.query(statement.query, [], new Map());
        this.gives(statement.query, name, statement.columns);
        return;
      }
      case 'drop':
        if (/TABLE|VIEW/.test(statement.objectType)) for (const name of statement.names) this.mention(name, 'drop');
        return;
      case 'truncate':
        this.mention(statement.table, 'delete');
        return;
      case 'create-procedure':
        for (const inner of statement.body) this.statement(inner);
        return;
      case 'create-trigger':
        this.changed = statement.table === null ? null : this.mention(statement.table, 'read');
        for (const inner of statement.body) this.statement(inner);
        this.changed = null;
        return;
      case 'create-function':
        if (statement.query !== null) this.query(statement.query, [], new Map());
        for (const inner of statement.body) this.statement(inner);
        return;
      case 'if':
        this.expressions(statement.condition, []);
        this.statement(statement.then);
        if (statement.otherwise !== null) this.statement(statement.otherwise);
        return;
      case 'while':
        this.expressions(statement.condition, []);
        this.statement(statement.body);
        return;
      case 'block':
        for (const inner of statement.statements) this.statement(inner);
        return;
      case 'loop':
        if (statement.query !== null) this.query(statement.query, [], new Map());
        this.statement(statement.body);
        if (statement.until !== null) this.expressions(statement.until, []);
        return;
      case 'case-statement':
        if (statement.operand !== null) this.expressions(statement.operand, []);
        for (const branch of statement.branches) {
          this.expressions(branch.condition, []);
          this.statement(branch.body);
        }
        if (statement.otherwise !== null) this.statement(statement.otherwise);
        return;
      case 'table-load':
        this.mention(statement.target, statement.merges ? 'merge' : 'insert');
        if (statement.source !== null) this.sources([statement.source], [], new Map());
        return;
      case 'declare-handler':
        if (statement.body !== null) this.statement(statement.body);
        return;
      case 'try-catch':
        for (const inner of [...statement.try, ...statement.catch]) this.statement(inner);
        return;
      case 'describe-history':
        this.mention(statement.table, 'read');
        return;
      case 'set-option':
        if (statement.table !== null) this.mention(statement.table, 'read');
        return;
      default:
        this.expressions(statement, []);
    }
  }

  /** The row that is there bears the target's name, and the one that comes is `excluded`. */
  private conflict({ target: written }: Insert, clause: Conflict, table: TableName): void {
    const declared = written.kind === 'table' ? written.alias : null;
    const own = { alias: declared?.name ?? table.table, table, query: null, declared };
    const sources = [own, { alias: 'excluded', table, query: null, declared: null }];
    this.declare(own);
    this.scopes.push({ node: clause, sources: [], target: table });
    for (const node of [...clause.assignments, ...clause.conditions])
      this.scopes.push({ node, sources, target: table });
    for (const column of clause.columns) this.column(column, [table], false);
    for (const { column, value } of clause.assignments) {
      if (column !== null) this.assigned(column, table, sources);
      this.expressions(value, sources);
    }
    for (const condition of clause.conditions) this.expressions(condition, sources);
  }

  private merge(statement: Merge): void {
    const commons = this.commons(statement.with, [], this.around);
    const common = this.commonTarget(statement.target, commons, []);
    const target = common === undefined ? this.writeTarget(statement.target, 'merge') : null;
    const alias = statement.target.kind === 'table' ? (statement.target.alias?.name ?? target?.table ?? '') : '';
    const declared = statement.target.kind === 'table' ? statement.target.alias : null;
    const own: Sources = [common ?? { alias, table: target, query: null, declared }];
    if (own[0] !== undefined) this.declare(own[0]);
    const source = statement.source === null ? [] : this.sources([statement.source], [], commons);
    const visible = [...own, ...source];
    this.scopes.push({ node: statement, sources: visible, target });
    if (statement.on !== null) this.expressions(statement.on, visible, commons);
    for (const branch of statement.branches) {
      if (branch.condition !== null) this.expressions(branch.condition, visible, commons);
      if (branch.action?.kind === 'merge-update') {
        for (const assignment of branch.action.assignments) {
          if (assignment.column !== null) this.assigned(assignment.column, target, visible);
          this.expressions(assignment.value, visible, commons);
        }
      } else if (branch.action?.kind === 'merge-insert') {
        this.targetColumns(branch.action.columns, target);
        for (const value of branch.action.values) this.expressions(value, source, commons);
      }
    }
    this.outputs(statement.output, target, visible, common);
  }

  /** `WITH c AS (SELECT … FROM t) DELETE FROM c`: a write through a common table. */
  private commonTarget(target: WriteTarget, commons: Commons, sources: Sources): ScopeSource | undefined {
    if (target.kind !== 'table') return undefined;
    const name = tableNameOf(target.name);
    const common = name.schema === null ? commons.get(name.table.toLowerCase()) : undefined;
    if (common === undefined || sources.some(({ alias }) => sameIdentifier(alias, name.table))) return undefined;
    if (common.declared !== null)
      this.aliases.push({ node: lastPart(target.name), declared: common.declared, source: common });
    const { alias } = target;
    return alias === null ? common : { ...common, alias: alias.name, declared: alias };
  }

  private assigned(node: ColumnReference, target: TableName | null, sources: Sources): void {
    const { tables, output } =
      node.parts.length > 1 || target === null ? this.meaningOf(node, sources) : { tables: [], output: null };
    this.column(lastPart(node), tables.length > 0 || target === null ? tables : [target], true, output);
  }

  private targetColumns(columns: readonly Identifier[], target: TableName | null): void {
    for (const column of columns) this.column(column, target === null ? [] : [target], true);
  }

  private outputs(
    outputs: readonly Output[],
    target: TableName | null,
    sources: Sources = [],
    common: ScopeSource | undefined = undefined,
  ): void {
    const rows: Sources = ['inserted', 'deleted'].map((alias) => ({
      alias,
      table: target,
      query: common?.query ?? null,
      declared: null,
    }));
    for (const output of outputs) {
      for (const item of output.items) this.expressions(item, [...rows, ...sources]);
      if (output.into !== null) this.targetColumns(output.intoColumns, this.writeTarget(output.into, 'insert'));
    }
  }

  private elements(elements: readonly TableElement[], table: TableName): void {
    const own: Sources = [{ alias: table.table, table, query: null, declared: null }];
    for (const element of elements) {
      const constraints =
        element.kind === 'column-definition' ? element.constraints : element.kind === 'constraint' ? [element] : [];
      if (element.kind === 'column-definition') {
        this.column(element.name, [table], true);
        if (element.computed !== null) this.expressions(element.computed, own);
      } else if (element.kind === 'index-definition') this.index(element, table);
      for (const constraint of constraints) {
        for (const column of constraint.columns) this.column(column.name, [table], false);
        if (constraint.forColumn !== null) this.column(constraint.forColumn, [table], false);
        if (constraint.expression !== null) this.expressions(constraint.expression, own);
        if (constraint.references === null) continue;
        const other = this.mention(constraint.references.table, 'read');
        for (const column of constraint.references.columns) this.column(column, [other], false);
      }
    }
  }

  private index({ columns, include, where }: IndexDefinition, table: TableName): void {
    for (const column of columns) this.column(column.name, [table], false);
    for (const column of include) this.column(column, [table], false);
    if (where !== null) this.expressions(where, [{ alias: table.table, table, query: null, declared: null }]);
  }

  /** The table that a write means: through an alias of its FROM, or by name. */
  private writeTarget(target: WriteTarget, access: Access, sources: Sources = []): TableName | null {
    if (target.kind === 'table-variable') return { database: null, schema: null, table: target.name };
    if (target.kind !== 'table') return null;
    const name = tableNameOf(target.name);
    const aliased =
      name.schema === null ? sources.find((source) => sameIdentifier(source.alias, name.table)) : undefined;
    if (aliased !== undefined) {
      if (aliased.table !== null) this.mentions.push({ kind: 'table', name: aliased.table, access, node: target.name });
      return aliased.table;
    }
    return this.mention(target.name, access);
  }
}
