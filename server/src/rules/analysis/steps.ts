import { bare, childrenOf, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import type {
  CommonTable,
  CreateFunction,
  CreateProcedure,
  CreateTrigger,
  Expression,
  Kind,
  Loop,
  Node,
  Query,
  Script,
  Select,
  Statement,
  TableSource,
  TryCatch,
  While,
  WriteTarget,
} from '../../syntax/tree.ts';
import { forget, type Keeper, memo } from './memo.ts';
import { makeFlatMap, Succession } from './succession.ts';

/** One thing that a FROM clause, a USING clause or a write target names. */
export interface Source {
  /** Alias, else the last part of the name; '' for a derived table without an alias. */
  readonly alias: string;
  readonly node: TableSource | WriteTarget;
  /** The common table expression that the name means. */
  readonly common: CommonTable | null;
  /** The optional side of an outer join: all of its columns may be NULL. */
  readonly optional: boolean;
  /** Where names inside the source are looked up. */
  readonly outer: Scope | null;
}

/** The sources that an expression can see, innermost first. */
export interface Scope {
  readonly parent: Scope | null;
  readonly sources: readonly Source[];
  readonly commons: readonly CommonTable[];
  /** The write target, which `inserted` and `deleted` stand for. */
  readonly target: Source | null;
}

/** A node with its place in the tree and what it can see. */
interface Place<N extends Node> extends Keeper {
  readonly node: N;
  readonly parent: Place<Node> | null;
  readonly scope: Scope | null;
}

export type Entry<K extends Kind = Kind> = Place<Extract<Node, { kind: K }>>;

/** An IF around a statement. */
interface Guard {
  readonly condition: Expression;
  /** The statement stands in the ELSE part. */
  readonly negated: boolean;
}

/** One statement of a body; IF, WHILE and the like are steps, too, which hold their condition only. */
export interface Step extends Keeper {
  readonly statement: Statement;
  /** The top-level statement that offsets count from. */
  readonly root: Statement;
  readonly guards: readonly Guard[];
  readonly region: 'plain' | 'try' | 'catch';
  readonly tryCatch: TryCatch | null;
  readonly loop: While | Loop | null;
  /** All nodes of a kind in the statement, in the order of the text. */
  find<K extends Kind>(kind: K): readonly Entry<K>[];
  /** The entry of a node of this statement. */
  entry(node: Node): Entry | undefined;
}

type Owner = CreateProcedure | CreateFunction | CreateTrigger;

/** Statements that run one after the other: a procedure's, or all of a file that stand in none. */
export interface Body extends Keeper {
  readonly owner: Owner | null;
  readonly steps: readonly Step[];
  /** For each step the index of its batch. */
  readonly batches: readonly number[];
}

interface RootSteps {
  readonly own: readonly Step[];
  readonly bodies: readonly Body[];
}

/** The top-level statements of a file before and after an edit. */
export const rootSuccession = new Succession<Statement>();
const ownSteps = makeFlatMap(rootSuccession, (root: Statement) => stepsOfRoot(root).own);
const innerBodies = makeFlatMap(rootSuccession, (root: Statement) => stepsOfRoot(root).bodies);

/** The top-level statements of a script; the same list for the same script. */
export const rootsOf = memo((script: Script): readonly Statement[] => unitsOf(script).map((unit) => unit.statement));

/** All bodies of a script: first the file's own statements, then one for each procedure, function and trigger. */
export const bodiesOf = memo((script: Script): readonly Body[] => {
  const roots = rootsOf(script);
  const { values: steps, ends } = ownSteps(roots);
  const batches: number[] = [];
  let root = 0;
  script.batches.forEach((batch, index) => {
    root += batch.units.length;
    for (let end = ends[root - 1] ?? 0; batches.length < end; ) batches.push(index);
  });
  return [{ owner: null, steps, batches, given: null }, ...innerBodies(roots).values];
});

/** The steps of a top-level statement; kept as long as the statement lives, so an edit elsewhere costs nothing. */
export const stepsOfRoot = memo((root: Statement): RootSteps => {
  const bodies: Body[] = [];
  const own = collect([root], { root, guards: [], region: 'plain', tryCatch: null, loop: null }, bodies);
  return { own, bodies };
});

/** Lets go of what was found out about a script that is closed. */
export function forgetScript(script: Script): void {
  for (const { statement } of unitsOf(script)) forget(statement);
}

type Surroundings = Pick<Step, 'root' | 'guards' | 'region' | 'tryCatch' | 'loop'>;

function collect(statements: readonly Statement[], around: Surroundings, bodies: Body[]): Step[] {
  const steps: Step[] = [];
  for (const statement of statements) {
    switch (statement.kind) {
      case 'if': {
        steps.push(makeStep(statement, around));
        const guarded = (negated: boolean): Surroundings => ({
          ...around,
          guards: [...around.guards, { condition: statement.condition, negated }],
        });
        steps.push(...collect([statement.then], guarded(false), bodies));
        if (statement.otherwise !== null) steps.push(...collect([statement.otherwise], guarded(true), bodies));
        break;
      }
      case 'while':
        steps.push(makeStep(statement, around), ...collect([statement.body], { ...around, loop: statement }, bodies));
        break;
      case 'block':
        steps.push(...collect(statement.statements, around, bodies));
        break;
      case 'loop':
        steps.push(makeStep(statement, around), ...collect([statement.body], { ...around, loop: statement }, bodies));
        break;
      case 'case-statement':
        steps.push(makeStep(statement, around));
        for (const { condition, body } of statement.branches) {
          const guards = statement.operand === null ? [...around.guards, { condition, negated: false }] : around.guards;
          steps.push(...collect([body], { ...around, guards }, bodies));
        }
        if (statement.otherwise !== null) steps.push(...collect([statement.otherwise], around, bodies));
        break;
      case 'declare-handler':
        if (statement.body !== null) steps.push(...collect([statement.body], { ...around, region: 'catch' }, bodies));
        break;
      case 'try-catch':
        steps.push(
          ...collect(statement.try, { ...around, region: 'try', tryCatch: statement }, bodies),
          ...collect(statement.catch, { ...around, region: 'catch', tryCatch: statement }, bodies),
        );
        break;
      case 'create-procedure':
      case 'create-function':
      case 'create-trigger': {
        steps.push(makeStep(statement, around));
        const inner = collect(statement.body, { ...around, guards: [], region: 'plain', tryCatch: null }, bodies);
        bodies.push({ owner: statement, steps: inner, batches: inner.map(() => 0), given: null });
        break;
      }
      default:
        steps.push(makeStep(statement, around));
    }
  }
  return steps;
}

/** What of a statement belongs to its own step; the statements inside it are steps of their own. */
function ownNodes(statement: Statement): readonly Node[] {
  switch (statement.kind) {
    case 'if':
    case 'while':
      return [statement.condition];
    case 'loop':
      return [...(statement.query ? [statement.query] : []), ...(statement.until ? [statement.until] : [])];
    case 'case-statement':
      return [
        ...(statement.operand ? [statement.operand] : []),
        ...statement.branches.map(({ condition }) => condition),
      ];
    case 'create-procedure':
    case 'create-trigger':
      return [];
    case 'create-function':
      return [...(statement.query ? [statement.query] : []), ...(statement.expression ? [statement.expression] : [])];
    default:
      return [statement];
  }
}

function makeStep(statement: Statement, around: Surroundings): Step {
  let index: Index | undefined;
  const read = () => {
    index ??= indexNodes(ownNodes(statement));
    return index;
  };
  return {
    ...around,
    statement,
    given: null,
    find: <K extends Kind>(kind: K): readonly Entry<K>[] => read().byKind[kind] ?? nothing,
    entry: (node) => read().byNode.get(node),
  };
}

function isOf<K extends Kind>(entry: Entry, ...kinds: readonly K[]): entry is Entry<K> {
  return (kinds as readonly Kind[]).includes(entry.node.kind);
}

type ByKind = { [K in Kind]?: Entry<K>[] };

interface Index {
  readonly byKind: ByKind;
  readonly byNode: Map<Node, Entry>;
}

const nothing: readonly never[] = [];

interface Pending {
  readonly node: Node;
  readonly parent: Entry | null;
  readonly scope: Scope | null;
}

/** Walks without recursion, so that no nesting can exhaust the stack. */
function indexNodes(roots: readonly Node[]): Index {
  const index: Index = { byKind: {}, byNode: new Map() };
  // An entry goes into the list of its own node's kind, which the types of a union can't follow.
  const lists = index.byKind as Partial<Record<Kind, Entry[]>>;
  const pending: Pending[] = [...roots].reverse().map((node) => ({ node, parent: null, scope: null }));
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { node, parent } = item;
    const scope = scopeInside(node, item.scope);
    const entry: Entry = { node, parent, scope, given: null };
    index.byNode.set(node, entry);
    const list = lists[node.kind];
    if (list === undefined) lists[node.kind] = [entry];
    else list.push(entry);
    const children = childrenOf(node);
    for (let at = children.length - 1; at >= 0; at -= 1) {
      const child = children[at];
      if (child !== undefined)
        pending.push({ node: child, parent: entry, scope: scopeFor(child, node, scope, item.scope) });
    }
  }
  return index;
}

/** A derived table sees what its statement sees, not its neighbours, unless it is applied to them. */
function scopeFor(child: Node, parent: Node, scope: Scope | null, outer: Scope | null): Scope | null {
  if (child.kind === 'query' && parent.kind === 'insert') return outerCommons(scope);
  if (child.kind === 'derived-table' && !child.lateral && parent.kind === 'select') return outer;
  return scope;
}

/** An INSERT's query sees the statement's common tables, not its target. */
function outerCommons(scope: Scope | null): Scope | null {
  return scope === null ? null : { ...scope, sources: [] };
}

function scopeInside(node: Node, outer: Scope | null): Scope | null {
  const commons = 'with' in node && node.with !== null ? node.with.tables : [];
  const base: Scope | null =
    commons.length > 0 ? { parent: outer, sources: [], commons, target: outer?.target ?? null } : outer;
  switch (node.kind) {
    case 'query':
      return base;
    case 'select':
      return node.from.length === 0 && base !== null ? base : selectScope(node, base);
    case 'insert': {
      const target = sourceOf(node.target, base, false);
      return { parent: base, sources: [target], commons: [], target };
    }
    case 'update':
    case 'delete': {
      const sources = node.from.flatMap((source) => flatten(source, base, false));
      const target = writeTarget(node.target, sources, base);
      return {
        parent: base,
        sources: sources.includes(target) ? sources : [target, ...sources],
        commons: [],
        target,
      };
    }
    case 'merge': {
      const target = sourceOf(node.target, base, false);
      const sources = node.source === null ? [] : flatten(node.source, base, false);
      return { parent: base, sources: [target, ...sources], commons: [], target };
    }
    default:
      return base;
  }
}

function selectScope(select: Select, outer: Scope | null): Scope {
  return {
    parent: outer,
    sources: select.from.flatMap((source) => flatten(source, outer, false)),
    commons: [],
    target: null,
  };
}

/** The source that UPDATE and DELETE write to: `UPDATE t … FROM dw.D AS t` names it by its alias. */
function writeTarget(node: WriteTarget, sources: readonly Source[], outer: Scope | null): Source {
  const own = sourceOf(node, outer, false);
  if (node.kind !== 'table' || node.alias !== null) return own;
  const name = tableNameOf(node.name);
  const byAlias =
    node.name.parts.length === 1
      ? sources.find((source) => source.alias.toLowerCase() === name.table.toLowerCase())
      : undefined;
  const byName = sources.find((source) => {
    if (source.node.kind !== 'table') return false;
    const other = tableNameOf(source.node.name);
    return (
      other.table.toLowerCase() === name.table.toLowerCase() &&
      (other.schema ?? '').toLowerCase() === (name.schema ?? '').toLowerCase()
    );
  });
  return byAlias ?? byName ?? own;
}

function flatten(source: TableSource, outer: Scope | null, optional: boolean): readonly Source[] {
  switch (source.kind) {
    case 'join': {
      const { type, left, right } = source;
      const leftOptional = optional || type === 'right' || type === 'full';
      const rightOptional = optional || type === 'left' || type === 'full' || type === 'outer-apply';
      return [...flatten(left, outer, leftOptional), ...flatten(right, outer, rightOptional)];
    }
    case 'source-group':
      return flatten(source.source, outer, optional);
    case 'pivot':
    case 'unpivot':
      return [{ alias: source.alias?.name ?? '', node: source, common: null, optional, outer }];
    default:
      return [sourceOf(source, outer, optional)];
  }
}

function sourceOf(node: TableSource | WriteTarget, outer: Scope | null, optional: boolean): Source {
  const alias = 'alias' in node ? (node.alias?.name ?? null) : null;
  if (node.kind === 'table') {
    const name = tableNameOf(node.name);
    const common = node.name.parts.length === 1 ? findCommon(name.table, outer) : null;
    return { alias: alias ?? name.table, node, common, optional, outer };
  }
  if (node.kind === 'table-variable') return { alias: alias ?? node.name, node, common: null, optional, outer };
  return { alias: alias ?? '', node, common: null, optional, outer };
}

function findCommon(name: string, scope: Scope | null): CommonTable | null {
  for (let at = scope; at !== null; at = at.parent) {
    const found = at.commons.find((common) => common.name.name.toLowerCase() === name.toLowerCase());
    if (found !== undefined) return found;
  }
  return null;
}

/** The SELECTs of a query: one, or those that a set operation joins. */
export function selectsOf(query: Query): readonly Select[] {
  const found: Select[] = [];
  const pending: Query['body'][] = [query.body];
  for (let body = pending.pop(); body !== undefined; body = pending.pop()) {
    if (body.kind === 'select') found.push(body);
    else if (body.kind === 'set-operation') pending.push(body.right, body.left);
    else if (body.kind === 'query-group') pending.push(body.query.body);
  }
  return found;
}

/** The scope inside a query's only SELECT, its common tables included; null for set operations and VALUES. */
export function scopeOfQuery(
  query: Query,
  outer: Scope | null,
): { readonly select: Select; readonly scope: Scope } | null {
  const base = scopeInside(query, outer);
  if (query.body.kind === 'query-group') return scopeOfQuery(query.body.query, base);
  return query.body.kind === 'select' ? { select: query.body, scope: selectScope(query.body, base) } : null;
}

/** True when an entry stands, at any depth, under a node that fits. */
export function isUnder(entry: Entry, fits: (node: Node) => boolean): boolean {
  for (let at = entry.parent; at !== null; at = at.parent) if (fits(at.node)) return true;
  return false;
}

/** The nearest entry above that fits. */
export function ancestor<K extends Kind>(entry: Entry, ...kinds: readonly K[]): Entry<K> | null {
  for (let at = entry.parent; at !== null; at = at.parent) {
    if (isOf(at, ...kinds)) return at;
  }
  return null;
}

/** The conditions that hold together: an AND chain taken apart, null gives none. */
export function conjuncts(expression: Expression | null): readonly Expression[] {
  return expression === null ? [] : chain(expression, 'AND');
}

/** The alternatives of an OR chain. */
export function disjuncts(expression: Expression): readonly Expression[] {
  return chain(expression, 'OR');
}

function chain(expression: Expression, operator: string): readonly Expression[] {
  const operands: Expression[] = [];
  const pending: Expression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const inner = bare(next);
    if (inner.kind === 'binary' && inner.operator === operator) pending.push(inner.right, inner.left);
    else operands.push(inner);
  }
  return operands;
}
