import type { TableName } from '../../../protocol/catalog.ts';
import { bare, lastPart } from '../syntax/inspect.ts';
import type { Identifier, Select, SelectItem } from '../syntax/tree.ts';
import { sameIdentifier } from './names.ts';
import type { ScopeSource } from './scopes.ts';

/** A column that a query gives to what stands around it. */
export interface QueryOutput {
  readonly name: string;
  /** Where it gets its name: an alias, the column itself, or a list of columns around the query. */
  readonly node: Identifier;
  /** Null where a list of columns names it. */
  readonly item: SelectItem | null;
}

/** What a query gives. */
export interface QueryGives {
  readonly outputs: readonly QueryOutput[];
  /** Tables all of whose columns it hands on by `*`. */
  readonly passes: readonly TableName[];
}

export const givesNothing: QueryGives = { outputs: [], passes: [] };

/** What one SELECT gives, from the sources of its own FROM. */
export function givesOf(select: Select, sources: readonly ScopeSource[]): QueryGives {
  const outputs: QueryOutput[] = [];
  const passes: TableName[] = [];
  for (const item of select.items) {
    const expression = bare(item.expression);
    if (item.alias !== null) outputs.push({ name: item.alias.name, node: item.alias, item });
    else if (expression.kind === 'column') {
      const node = lastPart(expression);
      outputs.push({ name: node.name, node, item });
    } else if (expression.kind === 'star') {
      const qualifier = expression.qualifier.at(-1)?.name;
      for (const source of sources) {
        if (qualifier !== undefined && !sameIdentifier(source.alias, qualifier)) continue;
        const given = all(source);
        const { except } = expression;
        outputs.push(...given.outputs.filter(({ name }) => !except.some((left) => sameIdentifier(left.name, name))));
        passes.push(...given.passes);
      }
    }
  }
  return { outputs, passes };
}

/** What `SELECT *` over some sources gives. */
export function givesAll(sources: readonly ScopeSource[]): QueryGives {
  const given = sources.map(all);
  return { outputs: given.flatMap((each) => each.outputs), passes: given.flatMap((each) => each.passes) };
}

function all({ table, query }: ScopeSource): QueryGives {
  return query ?? { outputs: [], passes: table === null ? [] : [table] };
}

/** The same under the names of a list, `WITH c (a, b) AS …`; a list that is empty changes nothing. */
export function underNames(given: QueryGives, names: readonly Identifier[]): QueryGives {
  if (names.length === 0) return given;
  return { outputs: names.map((node) => ({ name: node.name, node, item: null })), passes: [] };
}

export function outputNamed({ outputs }: QueryGives, name: string): QueryOutput | undefined {
  return outputs.find((output) => sameIdentifier(output.name, name));
}
