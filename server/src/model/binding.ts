import type { TableName } from '../../../protocol/catalog.ts';
import { lastPart, tableNameOf, walk } from '../syntax/inspect.ts';
import type {
  ColumnReference,
  Identifier,
  IndexDefinition,
  Merge,
  Name,
  Node,
  NodeBase,
  Output,
  Query,
  QueryBody,
  SelectItem,
  Statement,
  TableElement,
  TableSource,
  Unit,
  WriteTarget,
} from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';
import {
  givesAll,
  givesNothing,
  givesOf,
  outputNamed,
  type QueryGives,
  type QueryOutput,
  underNames,
} from './query-outputs.ts';

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
  /** The column of a query of the same statement that it names; null for columns of tables. */
  readonly output: QueryOutput | null;
  readonly node: Identifier;
}

/** A name that a statement gives to a table or query, where it is given and where it is used. */
export interface AliasMention {
  readonly node: Identifier;
  readonly declared: Identifier;
  readonly source: ScopeSource;
}

/** A column that a query gives without naming it anew, to a statement around it or to the columns of a view or table. */
export interface BareOutput {
  readonly node: Identifier;
  readonly item: SelectItem;
  /** Null for a query inside of a statement. */
  readonly owner: TableName | null;
}

export type Mention = TableMention | ColumnMention;

/** One source that names of a query may refer to. */
export interface ScopeSource {
  readonly alias: string;
  /** Null for common tables, derived tables and functions. */
  readonly table: TableName | null;
  /** What a common or derived table gives, as far as it is known. */
  readonly query: QueryGives | null;
  /** Where the name is given; null for tables under their own names. */
  readonly declared: Identifier | null;
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
  readonly aliases: readonly AliasMention[];
  readonly bareOutputs: readonly BareOutput[];
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
  const { mentions, aliases, bareOutputs, scopes } = binder;
  return { mentions, aliases, bareOutputs, scopes };
}

/** The sources and the target at an offset of the statement; undefined outside of any query or write. */
export function scopeAt(binding: Binding, offset: number): Scoped | undefined {
  return binding.scopes.findLast(({ node }) => node.start <= offset && offset <= node.end);
}

type Sources = readonly ScopeSource[];
type Commons = ReadonlyMap<string, ScopeSource>;

class Binder {
  readonly mentions: Mention[] = [];
  readonly aliases: AliasMention[] = [];
  readonly bareOutputs: BareOutput[] = [];
  readonly scopes: Scoped[] = [];
  /** The table of a trigger, whose rows `inserted` and `deleted` hold. */
  private changed: TableName | null = null;
  private readonly given = new Map<NodeBase, QueryGives>();

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
        const own: Sources =
          target === null ? [] : [{ alias: named ?? target.table, table: target, query: null, declared: null }];
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
        for (const option of statement.options) for (const column of option.columns) this.column(column, [name], false);
        if (statement.query !== null) {
          this.query(statement.query, [], new Map());
          this.gives(statement.query, name, []);
        }
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

  private merge(statement: Merge): void {
    const commons = this.commons(statement.with, [], new Map());
    const target = this.writeTarget(statement.target, 'merge');
    const alias = statement.target.kind === 'table' ? (statement.target.alias?.name ?? target?.table ?? '') : '';
    const declared = statement.target.kind === 'table' ? statement.target.alias : null;
    const own: Sources = [{ alias, table: target, query: null, declared }];
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
    this.outputs(statement.output, target, visible);
  }

  private query(query: Query, outer: Sources, outerCommons: Commons): void {
    const commons = this.commons(query.with, outer, outerCommons);
    this.body(query.body, query, outer, commons);
    this.given.set(query, this.givenBy(query.body));
  }

  /** The branches of a UNION give the columns of the first one. */
  private givenBy(body: QueryBody): QueryGives {
    switch (body.kind) {
      case 'set-operation':
        return this.givenBy(body.left);
      case 'query-group':
        return this.given.get(body.query) ?? givesNothing;
      case 'select':
      case 'from-first':
        return this.given.get(body) ?? givesNothing;
      case 'values':
        return givesNothing;
    }
  }

  /** The columns that a query gives to a view or table, or to a statement around it (null), unless a list names them. */
  private gives(query: Query, owner: TableName | null, names: readonly Identifier[]): void {
    if (names.length > 0) return;
    for (const { node, item } of this.given.get(query)?.outputs ?? []) {
      if (item === null) continue;
      if (item.alias === null) this.bareOutputs.push({ node, item, owner });
      else if (owner !== null) this.column(node, [owner], true);
    }
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
          this.given.set(body, givesAll(this.sources(body.from, outer, commons)));
          break;
        case 'values':
          for (const row of body.rows) this.expressions(row, outer, commons);
          break;
        case 'select': {
          const { from } = body;
          const own = this.sources(from, outer, commons);
          const visible = [...own, ...outer];
          this.given.set(body, givesOf(body, own));
          this.scopes.push({ node: body, sources: visible, target: null });
          if (body.into !== null) {
            const into = this.mention(body.into, 'define');
            for (const { node, item } of this.given.get(body)?.outputs ?? []) {
              if (item === null) continue;
              if (item.alias === null) this.bareOutputs.push({ node, item, owner: into });
              else this.column(node, [into], true);
            }
          }
          this.expressions(body, visible, commons, new Set<Node>(from));
          break;
        }
      }
    }
    if (first.kind !== 'select') {
      for (const item of query.orderBy) this.expressions(item, [], commons);
      return;
    }
    // ORDER BY means a new name of the list before any column of that name.
    const aliased = this.given.get(first)?.outputs.filter(({ item }) => item?.alias != null) ?? [];
    const named: ScopeSource = { alias: '', table: null, query: { outputs: aliased, passes: [] }, declared: null };
    const inside = this.scopes.findLast(({ node }) => node === first)?.sources ?? [];
    for (const item of query.orderBy) this.expressions(item, [named, ...inside], commons);
  }

  private commons(clause: Query['with'], outer: Sources, outerCommons: Commons): Commons {
    if (clause === null) return outerCommons;
    const commons = new Map(outerCommons);
    for (const common of clause.tables) {
      if (clause.recursive || commons.size === outerCommons.size) this.recursion(common.name, commons);
      this.query(common.query, outer, commons);
      this.gives(common.query, null, common.columns);
      const query = underNames(this.given.get(common.query) ?? givesNothing, common.columns);
      const source = { alias: common.name.name, table: null, query, declared: common.name };
      this.declare(source);
      commons.set(common.name.name.toLowerCase(), source);
    }
    return commons;
  }

  /** A common table may read itself, with or without the word RECURSIVE. */
  private recursion(name: Identifier, commons: Map<string, ScopeSource>): void {
    commons.set(name.name.toLowerCase(), { alias: name.name, table: null, query: null, declared: name });
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
          const changed = name.schema === null && /^(?:inserted|deleted)$/i.test(name.table) ? this.changed : null;
          if (changed !== null) {
            found.push({
              alias: source.alias?.name ?? name.table,
              table: changed,
              query: null,
              declared: source.alias ?? lastPart(source.name),
            });
            break;
          }
          if (common === undefined) this.mention(source.name, 'read');
          else if (common.declared !== null)
            this.aliases.push({ node: lastPart(source.name), declared: common.declared, source: common });
          found.push({
            alias: source.alias?.name ?? name.table,
            table: common === undefined ? name : null,
            query: common?.query ?? null,
            declared: source.alias ?? common?.declared ?? null,
          });
          break;
        }
        case 'table-variable':
          found.push({
            alias: source.alias?.name ?? source.name,
            table: { database: null, schema: null, table: source.name },
            query: null,
            declared: source.alias,
          });
          break;
        case 'derived-table':
          this.query(source.query, source.lateral ? [...found, ...outer] : outer, commons);
          this.gives(source.query, null, source.columns);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            query: underNames(this.given.get(source.query) ?? givesNothing, source.columns),
            declared: source.alias,
          });
          break;
        case 'table-function':
          this.expressions(source.call, [...found, ...outer], commons);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            query: underNames(givesNothing, source.columns),
            declared: source.alias,
          });
          break;
        case 'dml-table':
          this.statement(source.statement);
          found.push({
            alias: source.alias?.name ?? '',
            table: null,
            query: underNames(givesNothing, source.columns),
            declared: source.alias,
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
          found.push({ alias: source.alias?.name ?? '', table: null, query: null, declared: source.alias });
          break;
      }
    }
    for (const source of found) this.declare(source);
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
    const { tables, output } = this.meaningOf(node, sources);
    this.column(identifier, tables, false, output);
  }

  /** A qualified column belongs to the source of that alias; an unqualified one to any source that may have it. */
  private meaningOf(node: ColumnReference, sources: Sources): Pick<ColumnMention, 'tables' | 'output'> {
    const qualifier = node.parts.length > 1 ? node.parts.at(-2) : undefined;
    const { name } = lastPart(node);
    if (qualifier != null) {
      const source = sourceNamed(sources, qualifier.name);
      if (source === undefined) return { tables: [], output: null };
      if (source.declared !== null) this.aliases.push({ node: qualifier, declared: source.declared, source });
      if (source.query === null) return { tables: source.table === null ? [] : [source.table], output: null };
      const output = outputNamed(source.query, name) ?? null;
      return { tables: output === null ? source.query.passes : [], output };
    }
    for (const { query } of sources) {
      const output = query === null ? undefined : outputNamed(query, name);
      if (output !== undefined) return { tables: [], output };
    }
    const tables = sources.flatMap(({ table, query }) => query?.passes ?? (table === null ? [] : [table]));
    return { tables, output: null };
  }

  private declare(source: ScopeSource): void {
    if (source.declared !== null) this.aliases.push({ node: source.declared, declared: source.declared, source });
  }

  private assigned(node: ColumnReference, target: TableName | null, sources: Sources): void {
    const { tables, output } =
      node.parts.length > 1 || target === null ? this.meaningOf(node, sources) : { tables: [], output: null };
    this.column(lastPart(node), tables.length > 0 || target === null ? tables : [target], true, output);
  }

  private targetColumns(columns: readonly Identifier[], target: TableName | null): void {
    for (const column of columns) this.column(column, target === null ? [] : [target], true);
  }

  private outputs(outputs: readonly Output[], target: TableName | null, sources: Sources = []): void {
    const rows: Sources = ['inserted', 'deleted'].map((alias) => ({
      alias,
      table: target,
      query: null,
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

  private mention(node: Name, access: Access): TableName {
    const name = tableNameOf(node);
    if (name.table !== '') this.mentions.push({ kind: 'table', name, access, node });
    return name;
  }

  private column(
    node: Identifier,
    tables: readonly TableName[],
    written: boolean,
    output: QueryOutput | null = null,
  ): void {
    if (node.name !== '') this.mentions.push({ kind: 'column', column: node.name, tables, written, output, node });
  }
}

function sourceNamed(sources: Sources, name: string): ScopeSource | undefined {
  return (
    sources.find(({ alias }) => sameIdentifier(alias, name)) ??
    sources.find(({ table }) => table !== null && sameIdentifier(table.table, name))
  );
}

function sameTable(left: TableName | null, right: TableName | null): boolean {
  return left !== null && right !== null && sameIdentifier(left.table, right.table) && left.schema === right.schema;
}
