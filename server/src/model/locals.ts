import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { absoluteRange, lineStartsOf, rangeOf, tableNameOf, textOf, unitsOf, walk } from '../syntax/inspect.ts';
import type { Node, NodeBase, Script, Statement, TableElement, Unit } from '../syntax/tree.ts';
import { droppedAgain, isTemporary } from './definitions.ts';
import { readElements } from './elements.ts';
import { nameFits, sameIdentifier } from './names.ts';
import { readQueryColumns } from './query-columns.ts';

/** A temporary table or table variable of a script, with the columns that are known of it. */
export interface LocalTable {
  readonly name: TableName;
  readonly range: Range;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly nullable: boolean;
    readonly range: Range;
  }[];
}

/** Statements that make no temporary table; ranges of the others move with the text before them. */
const without = new WeakSet<Statement>();

/** The temporary tables and table variables that a script makes, inside procedures, too. */
export function localTables(script: Script): readonly LocalTable[] {
  const lineStarts = lineStartsOf(script.text);
  return unitsOf(script).flatMap((unit) => {
    if (without.has(unit.statement)) return [];
    const found = readUnit(script, unit, lineStarts);
    if (found.length === 0) without.add(unit.statement);
    return found;
  });
}

/** Finds a local table by name: a temporary one, or one that the script makes and drops again. */
export function localTable(script: Script, name: TableName): LocalTable | undefined {
  if (!isTemporary(name)) return ownTables(script).find((table) => nameFits(name, table.name));
  return localTables(script).findLast((table) => sameIdentifier(table.name.table, name.table));
}

const owned = new WeakMap<Script, readonly LocalTable[]>();

function ownTables(script: Script): readonly LocalTable[] {
  const known = owned.get(script);
  if (known !== undefined) return known;
  const { tables, derived } = droppedAgain(script);
  const made = [
    ...tables,
    ...derived.map(({ facts: { name, range }, columns }) => ({ name, range, columns: outputColumns(columns, range) })),
  ];
  owned.set(script, made);
  return made;
}

function readUnit(script: Script, unit: Unit, lineStarts: readonly number[]): readonly LocalTable[] {
  const found: LocalTable[] = [];
  const range = (node: NodeBase) => rangeOf(lineStarts, absoluteRange(unit, node));
  const fromElements = (name: TableName, node: NodeBase, elements: readonly TableElement[]): void => {
    const source = { platform: script.platform, text: (part: NodeBase) => textOf(script, unit, part), range };
    found.push({ name, range: range(node), columns: readElements(source, elements).columns });
  };
  walk(unit.statement, (node: Node) => {
    if (node.kind === 'create-table' && (node.temporary || isTemporary(tableNameOf(node.name)))) {
      if (node.query === null) fromElements(tableNameOf(node.name), node, node.elements);
      else
        found.push({
          name: tableNameOf(node.name),
          range: range(node),
          columns: outputColumns(readQueryColumns(node.query, range), range(node)),
        });
    } else if (node.kind === 'declare-table') {
      fromElements({ database: null, schema: null, table: node.name }, node, node.elements);
    } else if (
      node.kind === 'query' &&
      node.body.kind === 'select' &&
      node.body.into !== null &&
      isTemporary(tableNameOf(node.body.into))
    ) {
      found.push({
        name: tableNameOf(node.body.into),
        range: range(node),
        columns: outputColumns(readQueryColumns(node, range), range(node)),
      });
    }
  });
  return found;
}

function outputColumns(columns: ReturnType<typeof readQueryColumns>, whole: Range): LocalTable['columns'] {
  return columns.items.flatMap((item) =>
    item.kind === 'column'
      ? [
          {
            name: item.name,
            type: item.origin?.kind === 'type' ? item.origin.type : '',
            nullable: true,
            range: item.range ?? whole,
          },
        ]
      : [],
  );
}
