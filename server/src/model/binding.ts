import type { TableName } from '../../../protocol/catalog.ts';
import { lastPart, tableNameOf, walk } from '../syntax/inspect.ts';
import type {
  ColumnReference,
  Identifier,
  Merge,
  Name,
  Node,
  NodeBase,
  Output,
  Query,
  QueryBody,
  Statement,
  TableElement,
  TableSource,
  Unit,
  WriteTarget,
} from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';

/** What a mention of a table does to it. */
export type Access = 'define' | 'alter' | 'drop' | 'read' | 'insert' | 'update' | 'delete' | 'merge';

/** A mention of a table in a script. Offsets count from the statement (`Unit`) as those of nodes do. */
export interface TableMention {
  readonly kind: 'table';
  readonly name: TableName;
  readonly access: Access;
  readonly node: Name;
}

/** A mention of a column, with the tables it may belong to; [] when they can't be told. */
export interface ColumnMention {
  readonly kind: 'column';
  readonly column: string;
  readonly tables: readonly TableName[];
  /** A column that is given a value, or defined. */
  readonly written: boolean;
  readonly node: Identifier;
}

export type Mention = TableMention | ColumnMention;

/** One source that names of a query may refer to. */
export interface ScopeSource {
  readonly alias: string;
  /** Null for common tables, derived tables and functions. */
  readonly table: TableName | null;
  /** Output columns of a common or derived table, as far as they are known. */
  readonly columns: readonly string[] | null;
}

/** A node with the sources that are visible in it, innermost first. */
export interface Scoped {
  readonly node: NodeBase;
  readonly sources: readonly ScopeSource[];
  /** The table whose columns a list, SET or INSERT at this place names. */
  readonly target: TableName | null;
}

export interface Binding {
  readonly mentions: readonly Mention[];
  /** Scopes from the outside in. */
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

/** The same for a statement that nobody looks at again, such as those of a folder's index. */
export function bindOnce(unit: Unit): Binding {
  const binder = new Binder();
  binder.statement(unit.statement);
  return { mentions: binder.mentions, scopes: binder.scopes };
}

/** The sources and the target at an offset of the statement; undefined outside of any query or write. */
export function scopeAt(binding: Binding, offset: number): Scoped | undefined {
  return binding.scopes.findLast(({ node }) => node.start <= offset && offset <= node.end);
}

type Sources = readonly ScopeSource[];
type Commons = ReadonlyMap<string, ScopeSource>;

class Binder {
  readonly mentions: Mention[] = [];
  readonly scopes: Scoped[] = [];

  statement(statement: Statement): void {
    switch (statement.kind) {
      case 'select-statement':
        this.query(statement.query, [], new Map());
        return;
      case 'insert': {
        const commons = this.commons(statement.with, [], new Map());
        const target = this.writeTarget(statement.target, 'insert');
        this.scopes.push({ node: statement, sources: [], target });
        this.targetColumns(statement.columns, target);
        if (statement.source.kind === 'query') this.query(statement.source, [], commons);
        else this.expressions(statement.source, []);
        this.outputs(statement.output, target);
        return;
      }
      case 'update':
      case 'delete': {
        const commons = this.commons(statement.with, [], new Map());
        const sources = this.sources(statement.from, [], commons);
        const target = this.writeTarget(statement.target, statement.kind, sources);
        const named = statement.target.kind === 'table' ? (statement.target.alias?.name ?? null) : null;
        const own: Sources = target === null ? [] : [{ alias: named ?? target.table, table: target, columns: null }];
        const visible = sources.some((source) => sameTable(source.table, target)) ? sources : [...own, ...sources];
        this.scopes.push({ node: statement, sources: visible, target });
        if (statement.kind === 'update') {
          for (const assignment of statement.assignments) {
            if (assignment.column !== null) this.assigned(assignment.column, target, visible);
            this.expressions(assignment.value, visible, commons);
          }
        }
        if (statement.where !== null) this.expressions(statement.where, visible, commons);
        this.outputs(statement.output, target);
        return;
      }
      case 'merge':
        this.merge(statement);
        return;
      case 'create-table': {
        const name = this.mention(statement.name, 'define');
        this.elements(statement.elements, name);
        if (statement.query !== null) this.query(statement.query, [], new Map());
        if (statement.cloneOf !== null) this.mention(statement.cloneOf, 'read');
        return;
      }
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
        for (const column of statement.definition.columns) this.column(column.name, [name], false);
        for (const column of statement.definition.include) this.column(column, [name], false);
        return;
      }
      case 'create-view':
        this.mention(statement.name, 'define');
        this.query(statement.query, [], new Map());
        return;
      case 'drop':
        if (/TABLE|VIEW/.test(statement.objectType)) for (const name of statement.names) this.mention(name, 'drop');
        return;
      case 'truncate':
        this.mention(statement.table, 'delete');
        return;
      case 'create-procedure':
      case 'create-trigger':
        for (const inner of statement.body) this.statement(inner);
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

  private merge(statement: Merge): void {
    const commons = this.commons(statement.with, [], new Map());
    const target = this.writeTarget(statement.target, 'merge');
    const alias = statement.target.kind === 'table' ? (statement.target.alias?.name ?? target?.table ?? '') : '';
    const own: Sources = [{ alias, table: target, columns: null }];
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
    this.outputs(statement.output, target, visible);
  }

  private query(query: Query, outer: Sources, outerCommons: Commons): void {
    const commons = this.commons(query.with, outer, outerCommons);
    this.body(query.body, query, outer, commons);
  }

  private body(first: QueryBody, query: Query, outer: Sources, commons: Commons): void {
    const pending: QueryBody[] = [first];
    for (let body = pending.pop(); body !== undefined; body = pending.pop()) {
      switch (body.kind) {
        case 'set-operation':
          pending.push(body.right, body.left);
          break;
        case 'query-group':
          this.query(body.query, outer, commons);
          break;
        case 'from-first':
          this.sources(body.from, outer, commons);
          break;
        case 'values':
          for (const row of body.rows) this.expressions(row, outer, commons);
          break;
        case 'select': {
          const { from } = body;
          const visible = [...this.sources(from, outer, commons), ...outer];
          this.scopes.push({ node: body, sources: visible, target: null });
          if (body.into !== null) this.mention(body.into, 'define');
          this.expressions(body, visible, commons, new Set<Node>(from));
          break;
        }
      }
    }
    const outputs =
      first.kind === 'select' ? [{ alias: '', table: null, columns: [] }, ...(this.scopes.at(-1)?.sources ?? [])] : [];
    for (const item of query.orderBy) this.expressions(item, outputs, commons);
  }

  private commons(clause: Query['with'], outer: Sources, outerCommons: Commons): Commons {
    if (clause === null) return outerCommons;
    const commons = new Map(outerCommons);
    for (const common of clause.tables) {
      if (clause.recursive || commons.size === outerCommons.size) this.recursion(common.name, commons);
      this.query(common.query, outer, commons);
      const columns =
        common.columns.length > 0 ? common.columns.map((column) => column.name) : outputNames(common.query.body);
      commons.set(common.name.name.toLowerCase(), { alias: common.name.name, table: null, columns });
    }
    return commons;
  }

  /** A common table may read itself, with or without the word RECURSIVE. */
  private recursion(name: Identifier, commons: Map<string, ScopeSource>): void {
    commons.set(name.name.toLowerCase(), { alias: name.name, table: null, columns: null });
  }

  private sources(from: readonly TableSource[], outer: Sources, commons: Commons): Sources {
    const found: ScopeSource[] = [];
    const conditions: Node[] = [];
    const pending = [...from].reverse();
    for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
      switch (source.kind) {
        case 'table': {
          const name = tableNameOf(source.name);
          const common = name.schema === null ? commons.get(name.table.toLowerCase()) : undefined;
          if (common === undefined) this.mention(source.name, 'read');
          found.push({
            alias: source.alias?.name ?? name.table,
            table: common === undefined ? name : null,
            columns: common?.columns ?? null,
          });
          break;
        }
        case 'table-variable':
          found.push({
            alias: source.alias?.name ?? source.name,
            table: { database: null, schema: null, table: source.name },
            columns: null,
          });
          break;
        case 'derived-table':
          this.query(source.query, source.lateral ? [...found, ...outer] : outer, commons);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            columns:
              source.columns.length > 0 ? source.columns.map((column) => column.name) : outputNames(source.query.body),
          });
          break;
        case 'table-function':
          this.expressions(source.call, [...found, ...outer], commons);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            columns: source.columns.length > 0 ? source.columns.map((column) => column.name) : null,
          });
          break;
        case 'dml-table':
          this.statement(source.statement);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            columns: source.columns.map((column) => column.name),
          });
          break;
        case 'join':
          if (source.on !== null) conditions.push(source.on);
          pending.push(source.right, source.left);
          break;
        case 'source-group':
          pending.push(source.source);
          break;
        case 'pivot':
        case 'unpivot':
          pending.push(source.source);
          found.push({ alias: source.alias?.name ?? '', table: null, columns: null });
          break;
      }
    }
    for (const condition of conditions) this.expressions(condition, [...found, ...outer], commons);
    return found;
  }

  /** Columns in an expression or clause; queries inside it are bound with the scope around them. */
  private expressions(
    root: Node,
    sources: Sources,
    commons: Commons = new Map(),
    without: ReadonlySet<Node> = new Set(),
  ): void {
    walk(root, (node) => {
      if (without.has(node)) return false;
      if (node.kind === 'query') {
        this.query(node, sources, commons);
        return false;
      }
      if (node.kind === 'column') this.reference(node, sources);
      return undefined;
    });
  }

  private reference(node: ColumnReference, sources: Sources): void {
    const identifier = lastPart(node);
    if (identifier.name === '' || identifier.name.startsWith('$')) return;
    this.column(identifier, tablesOf(node, sources), false);
  }

  private assigned(node: ColumnReference, target: TableName | null, sources: Sources): void {
    const qualified = node.parts.length > 1 ? tablesOf(node, sources) : [];
    this.column(lastPart(node), qualified.length > 0 || target === null ? qualified : [target], true);
  }

  private targetColumns(columns: readonly Identifier[], target: TableName | null): void {
    for (const column of columns) this.column(column, target === null ? [] : [target], true);
  }

  private outputs(outputs: readonly Output[], target: TableName | null, sources: Sources = []): void {
    const rows: Sources = ['inserted', 'deleted'].map((alias) => ({ alias, table: target, columns: null }));
    for (const output of outputs) {
      for (const item of output.items) this.expressions(item, [...rows, ...sources]);
      if (output.into?.kind === 'table') {
        const into = this.mention(output.into.name, 'insert');
        this.targetColumns(output.intoColumns, into);
      }
    }
  }

  private elements(elements: readonly TableElement[], table: TableName): void {
    for (const element of elements) {
      const constraints =
        element.kind === 'column-definition' ? element.constraints : element.kind === 'constraint' ? [element] : [];
      if (element.kind === 'column-definition') this.column(element.name, [table], true);
      for (const constraint of constraints) {
        for (const column of constraint.columns) this.column(column.name, [table], false);
        if (constraint.references === null) continue;
        const other = this.mention(constraint.references.table, 'read');
        for (const column of constraint.references.columns) this.column(column, [other], false);
      }
    }
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

  private mention(node: Name, access: Access): TableName {
    const name = tableNameOf(node);
    if (name.table !== '') this.mentions.push({ kind: 'table', name, access, node });
    return name;
  }

  private column(node: Identifier, tables: readonly TableName[], written: boolean): void {
    if (node.name !== '') this.mentions.push({ kind: 'column', column: node.name, tables, written, node });
  }
}

/** A qualified column belongs to the source of that alias; an unqualified one to any source that may have it. */
function tablesOf(node: ColumnReference, sources: Sources): readonly TableName[] {
  const qualifier = node.parts.length > 1 ? node.parts.at(-2)?.name : undefined;
  const name = lastPart(node).name;
  if (qualifier !== undefined) {
    const source =
      sources.find(({ alias }) => sameIdentifier(alias, qualifier)) ??
      sources.find(({ table }) => table !== null && sameIdentifier(table.table, qualifier));
    return source === undefined || source.table === null ? [] : [source.table];
  }
  if (sources.some(({ columns }) => columns?.some((column) => sameIdentifier(column, name)) === true)) return [];
  return sources.flatMap(({ table }) => (table === null ? [] : [table]));
}

function sameTable(left: TableName | null, right: TableName | null): boolean {
  return left !== null && right !== null && sameIdentifier(left.table, right.table) && left.schema === right.schema;
}

/** Names of a query's output columns; null where a star hides them. */
function outputNames(body: QueryBody): readonly string[] | null {
  if (body.kind === 'set-operation') return outputNames(body.left);
  if (body.kind === 'query-group') return outputNames(body.query.body);
  if (body.kind !== 'select') return null;
  const names = body.items.map((item) => {
    if (item.alias !== null) return item.alias.name;
    return item.expression.kind === 'column' ? lastPart(item.expression).name : null;
  });
  return names.some((name, index) => name === null && body.items[index]?.expression.kind === 'star')
    ? null
    : names.filter((name) => name !== null);
}
