import type { TableName } from '../../../protocol/catalog.ts';
import { lastPart, tableNameOf, walk } from '../syntax/inspect.ts';
import type {
  ColumnReference,
  CommonTable,
  Identifier,
  Name,
  Node,
  NodeBase,
  Query,
  QueryBody,
  Star,
  Statement,
  TableSource,
} from '../syntax/tree.ts';
import {
  givesAll,
  givesNothing,
  givesOf,
  outputNamed,
  type QueryGives,
  type QueryOutput,
  underNames,
} from './query-outputs.ts';
import {
  type Access,
  type AliasMention,
  type BareOutput,
  type ColumnMention,
  type Commons,
  type Mention,
  type Scoped,
  type ScopeSource,
  type Sources,
  sourceNamed,
} from './scopes.ts';

/** Finds what the names of a query mean, through its common tables, sources and expressions. */
export abstract class QueryBinder {
  readonly mentions: Mention[] = [];
  readonly aliases: AliasMention[] = [];
  readonly bareOutputs: BareOutput[] = [];
  readonly scopes: Scoped[] = [];
  /** The table of a trigger, whose rows `inserted` and `deleted` hold. */
  protected changed: TableName | null = null;
  /** The common tables of the statement around a write that stands in a FROM. */
  protected around: Commons = new Map();
  protected readonly given = new Map<NodeBase, QueryGives>();

  /** A statement inside of a query: INSERT … FROM (MERGE … OUTPUT …). */
  abstract statement(statement: Statement): void;

  protected query(query: Query, outer: Sources, outerCommons: Commons): void {
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
  protected gives(query: Query, owner: TableName | null, names: readonly Identifier[]): void {
    if (names.length === 0) this.hand(this.given.get(query) ?? givesNothing, owner);
  }

  private hand({ outputs }: QueryGives, owner: TableName | null): void {
    for (const { node, item } of outputs) {
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
          const given = givesOf(body, own);
          this.given.set(body, given);
          this.scopes.push({ node: body, sources: visible, target: null });
          if (body.into !== null) this.hand(given, this.mention(body.into, 'define'));
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
    for (const item of query.orderBy) {
      this.scopes.push({ node: item, sources: [named, ...inside], target: null });
      this.expressions(item, [named, ...inside], commons);
    }
  }

  protected commons(clause: Query['with'], outer: Sources, outerCommons: Commons): Commons {
    if (clause === null) return outerCommons;
    const commons = new Map(outerCommons);
    for (const common of clause.tables) {
      if (clause.recursive || commons.size === outerCommons.size) this.recursion(common, commons);
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
  private recursion({ name, columns, query }: CommonTable, commons: Map<string, ScopeSource>): void {
    // The first branch is bound before the one that reads it again.
    const first = () => underNames(this.givenBy(query.body), columns);
    const source = {
      alias: name.name,
      table: null,
      get query() {
        return first();
      },
      declared: name,
    };
    commons.set(name.name.toLowerCase(), source);
  }

  protected sources(from: readonly TableSource[], outer: Sources, commons: Commons): Sources {
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
          found.push(unnamedSource(source, this.given.get(source.query) ?? givesNothing));
          break;
        case 'table-function':
          this.expressions(source.call, [...found, ...outer], commons);
          found.push(unnamedSource(source, givesNothing));
          break;
        case 'dml-table': {
          const before = this.around;
          this.around = commons;
          this.statement(source.statement);
          this.around = before;
          found.push(unnamedSource(source, givesNothing));
          break;
        }
        case 'join':
          if (source.on !== null) conditions.push(source.on);
          pending.push(source.right, source.left);
          break;
        case 'source-group':
          pending.push(source.source);
          break;
        case 'pivot':
        case 'unpivot': {
          const turned = this.sources([source.source], outer, commons);
          const named = source.kind === 'pivot' ? [...source.aggregates, source.column] : source.columns;
          for (const expression of named) this.expressions(expression, [...turned, ...outer], commons);
          found.push(...turned);
          found.push({ alias: source.alias?.name ?? '', table: null, query: null, declared: source.alias });
          break;
        }
      }
    }
    for (const source of found) this.declare(source);
    for (const condition of conditions) this.expressions(condition, [...found, ...outer], commons);
    return found;
  }

  /** Columns in an expression or clause; queries inside it are bound with the scope around them. */
  protected expressions(
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
      else if (node.kind === 'star') this.star(node, sources);
      return undefined;
    });
  }

  private reference(node: ColumnReference, sources: Sources): void {
    const named = withoutFields(node, sources);
    const identifier = lastPart(named);
    if (identifier.name === '' || identifier.name.startsWith('$')) return;
    const { tables, output } = this.meaningOf(named, sources);
    this.column(identifier, tables, false, output);
  }

  /** `t.*`, and the columns in `* EXCEPT (a)` and `* REPLACE (1 AS a)`. */
  private star({ qualifier, except, replace }: Star, sources: Sources): void {
    const owner = qualifier[qualifier.length - 1];
    const source = owner == null ? undefined : sourceNamed(sources, owner.name);
    if (owner != null && source !== undefined && source.declared !== null)
      this.aliases.push({ node: owner, declared: source.declared, source });
    const meant = owner == null ? sources : source === undefined ? [] : [source];
    for (const node of [...except, ...replace.map(({ alias }) => alias)]) {
      const { tables, output } = unqualified(node.name, meant);
      this.column(node, tables, false, output);
    }
  }

  /** A qualified column belongs to the source of that alias; an unqualified one to any source that may have it. */
  protected meaningOf(node: ColumnReference, sources: Sources): Pick<ColumnMention, 'tables' | 'output'> {
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
    return unqualified(name, sources);
  }

  protected declare(source: ScopeSource): void {
    if (source.declared !== null) this.aliases.push({ node: source.declared, declared: source.declared, source });
  }

  protected mention(node: Name, access: Access): TableName {
    const name = tableNameOf(node);
    if (name.table !== '') this.mentions.push({ kind: 'table', name, access, node });
    return name;
  }

  protected column(
    node: Identifier,
    tables: readonly TableName[],
    written: boolean,
    output: QueryOutput | null = null,
  ): void {
    if (node.name !== '') this.mentions.push({ kind: 'column', column: node.name, tables, written, output, node });
  }
}

function unqualified(name: string, sources: Sources): Pick<ColumnMention, 'tables' | 'output'> {
  for (const { query } of sources) {
    const output = query === null ? undefined : outputNamed(query, name);
    if (output !== undefined) return { tables: [], output };
  }
  const tables = sources.flatMap(({ table, query }) => query?.passes ?? (table === null ? [] : [table]));
  return { tables, output: null };
}

/** `o.address.city` names the column address of o; a table of that name goes before. */
function withoutFields(node: ColumnReference, sources: Sources): ColumnReference {
  const { parts } = node;
  const [first, second] = parts;
  const owner = parts.length > 2 ? parts[parts.length - 2] : null;
  if (first == null || second == null || owner == null || sourceNamed(sources, owner.name) !== undefined) return node;
  return sourceNamed(sources, first.name) === undefined ? node : { ...node, parts: [first, second] };
}

/** A source without a table's name: what it gives is known by its alias and by the columns behind that. */
function unnamedSource(
  { alias, columns }: { readonly alias: Identifier | null; readonly columns: readonly Identifier[] },
  gives: QueryGives,
): ScopeSource {
  return { alias: alias?.name ?? '', table: null, query: underNames(gives, columns), declared: alias };
}
