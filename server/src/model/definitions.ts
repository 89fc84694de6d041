import type { TableName } from '../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../protocol/platform.ts';
import type { Range } from '../../../protocol/position.ts';
import { absoluteRange, lastPart, lineStartsOf, rangeOf, tableNameOf, textOf, unitsOf } from '../syntax/inspect.ts';
import { hasSignsOfTsql } from '../syntax/platform.ts';
import type {
  AlterTable,
  CreateTable,
  Drop,
  NodeBase,
  Option,
  Query,
  Script,
  Statement,
  TableElement,
  Unit,
} from '../syntax/tree.ts';
import { readElements, type Source } from './elements.ts';
import type { ColumnFacts, TableFacts } from './facts.ts';
import { nameFits, sameIdentifier, tableKey } from './names.ts';
import { type QueryColumn, type QueryColumns, readQueryColumns } from './query-columns.ts';
import { bears, fromTable, type TableRename, tableRename, underNewName } from './renames.ts';
import type { SecondReader } from './second-reader.ts';
import { changeOf, columnRename, synonymIn, type TableChange } from './table-changes.ts';

/** A table whose columns follow from a query, another table, or both. */
export interface DerivedDefinition {
  readonly facts: TableFacts;
  readonly columns: QueryColumns;
  /** Columns named in front of the query, `CREATE VIEW v (a, b)`; [] where there are none. */
  readonly names: readonly string[];
  /** Columns in front of the query as they are written, in the order of `names`; a type that is left out is ''. */
  readonly declared: readonly ColumnFacts[];
  /** Text of a query that our own tree could not read to its end, for a second reader; else null. */
  readonly unread: string | null;
  /** How many of its file's changes stand before it: a copy of a table has none of the columns that come later. */
  readonly changesBefore: number;
}

/** What one file defines. Ranges are those of the file; a file's definitions do not depend on any other file. */
export interface FileDefinitions {
  readonly file: string;
  readonly platform: PlatformName;
  readonly tables: readonly TableFacts[];
  readonly derived: readonly DerivedDefinition[];
  readonly changes: readonly TableChange[];
  /** Nothing in the text tells its platform; as T-SQL it is read because texts of no platform are. */
  readonly isNeutral?: true;
}

/**
 * Collects the tables, views and changes that a script defines outside of procedures; temporary tables are left out.
 * What a script makes and drops again (a work table, the lock of a load) is its own and no part of the folder;
 * `definedWhileItRuns` has it, too.
 */
export function readDefinitions(script: Script, file: string): FileDefinitions {
  const { tables, derived, changes, dropped } = readScript(script, file, true);
  const stays = (facts: TableFacts): boolean => !dropped.has(facts);
  const read = {
    file,
    platform: script.platform,
    tables: tables.filter(stays),
    derived: derived.filter(({ facts }) => stays(facts)),
    changes,
  };
  const definesNothing = read.tables.length + read.derived.length + changes.length === 0;
  const isNeutral = isTsql(script.platform) && !definesNothing && !hasSignsOfTsql(script.text);
  return isNeutral ? { ...read, isNeutral } : read;
}

/** What a script's own statements can name: all that it defines, with what it drops before its end, under its first name. */
export function definedWhileItRuns(script: Script, file: string): FileDefinitions {
  const { tables, derived, changes } = readScript(script, file, false);
  return { file, platform: script.platform, tables, derived, changes };
}

/** The tables and views that a script makes and drops again. */
export function droppedAgain(script: Script): Pick<FileDefinitions, 'tables' | 'derived'> {
  if (!unitsOf(script).some(({ statement }) => mayDrop(statement))) return { tables: [], derived: [] };
  const { tables, derived, dropped } = readScript(script, '', true);
  return {
    tables: tables.filter((facts) => dropped.has(facts)),
    derived: derived.filter(({ facts }) => dropped.has(facts)),
  };
}

/** DROP stands at the top, or within what `readStatement` looks into. */
function mayDrop({ kind }: Statement): boolean {
  return kind === 'drop' || kind === 'if' || kind === 'block' || kind === 'try-catch';
}

function readScript(script: Script, file: string, toTheEnd: boolean): DefinitionReader {
  const reader = new DefinitionReader(script, file, toTheEnd);
  for (const unit of unitsOf(script)) reader.readStatement(unit, unit.statement);
  return reader;
}

/** Fills in the columns of views that our own tree could not read, as far as a second reader finds their names. */
export function readAgain(definitions: FileDefinitions, reader: SecondReader): FileDefinitions {
  const derived = definitions.derived.map((definition): DerivedDefinition => {
    const names = definition.unread === null ? null : reader(definition.unread);
    if (names === null) return definition;
    const items = names.map((name): QueryColumn => {
      const known = definition.columns.items.find((item) => item.kind === 'column' && sameIdentifier(item.name, name));
      return known ?? { kind: 'column', name, origin: null, range: null };
    });
    return { ...definition, columns: { items }, unread: null };
  });
  return { ...definitions, derived };
}

/** Temporary tables and table variables that a script makes for itself, wherever it makes them. */
export function isTemporary(name: TableName): boolean {
  return name.table.startsWith('#') || name.table.startsWith('@');
}

const noChange: Omit<TableChange, 'table'> = {
  addColumns: [],
  addKeys: [],
  dropColumns: [],
  dropsAll: false,
  alterColumns: [],
  renameColumns: [],
  defaults: [],
  newName: null,
  synonym: null,
};

/** Where the way back begins in files of migration tools, which drop there what the way forth has made. */
const wayBack = /^[ \t]*--[ \t]*(?:\+(?:goose|migrate)[ \t]+down|migrate:down|\/\/[ \t]*@undo)\b/im;

class DefinitionReader {
  tables: TableFacts[] = [];
  derived: DerivedDefinition[] = [];
  readonly changes: TableChange[] = [];
  /** Of the tables and views: those that the script drops again. */
  readonly dropped = new Set<TableFacts>();
  /** What the script had changed of a table before it dropped it, by the place among its changes. */
  private readonly changesBefore = new Map<TableFacts, ReadonlyMap<number, TableChange>>();
  private readonly backFrom: number;
  private database: string | null = null;
  private readonly lineStarts: readonly number[];
  private readonly script: Script;
  private readonly file: string;
  /** Drops and new names count. */
  private readonly toTheEnd: boolean;

  constructor(script: Script, file: string, toTheEnd: boolean) {
    this.script = script;
    this.file = file;
    this.toTheEnd = toTheEnd;
    this.lineStarts = lineStartsOf(script.text);
    this.backFrom = wayBack.exec(script.text)?.index ?? Number.POSITIVE_INFINITY;
  }

  readStatement(unit: Unit, statement: Statement): void {
    if (unit.offset >= this.backFrom) return;
    switch (statement.kind) {
      case 'use':
        this.database = lastPart(statement.name).name;
        break;
      case 'create-table':
        this.readCreateTable(unit, statement);
        break;
      case 'create-view':
        if (!statement.temporary)
          this.addDerived(unit, statement, tableNameOf(statement.name), statement.query, 'view', {
            names: statement.columns.map((column) => column.name),
            elements: statement.elements,
          });
        break;
      case 'select-statement':
        if (statement.query.body.kind === 'select' && statement.query.body.into !== null) {
          this.addDerived(unit, statement, tableNameOf(statement.query.body.into), statement.query, 'query', {});
        }
        break;
      case 'alter-table':
        this.readAlterTable(unit, statement);
        break;
      case 'execute': {
        if (!isTsql(this.script.platform)) break;
        const rename = columnRename(statement);
        if (rename !== null) this.addChange(rename.table, { renameColumns: [{ from: rename.from, to: rename.to }] });
        else this.rename(tableRename(statement));
        break;
      }
      case 'drop':
        if (this.toTheEnd) this.readDrop(statement);
        break;
      case 'rename': {
        const { from, column, to } = statement;
        if (column === null) this.rename(tableRename(statement));
        else this.addChange(tableNameOf(from), { renameColumns: [{ from: column.name, to: to.name }] });
        break;
      }
      case 'opaque': {
        const found = statement.name.startsWith('CREATE SYNONYM')
          ? synonymIn(textOf(this.script, unit, statement))
          : null;
        if (found !== null) this.addChange(found.table, { synonym: this.qualified(found.synonym) });
        break;
      }
      case 'create-index': {
        const { definition } = statement;
        // An index on expressions has no columns here, and proves nothing of any.
        if (definition.unique && definition.where === null && definition.columns.length > 0) {
          const columns = definition.columns.map((column) => column.name.name);
          this.addChange(tableNameOf(statement.table), { addKeys: [{ kind: 'unique', columns, enforced: true }] });
        }
        break;
      }
      case 'if':
        this.readStatement(unit, statement.then);
        if (statement.otherwise !== null) this.readStatement(unit, statement.otherwise);
        break;
      case 'block':
        for (const inner of statement.statements) this.readStatement(unit, inner);
        break;
      case 'loop':
        this.readStatement(unit, statement.body);
        break;
      case 'case-statement':
        for (const { body } of statement.branches) this.readStatement(unit, body);
        if (statement.otherwise !== null) this.readStatement(unit, statement.otherwise);
        break;
      case 'try-catch':
        for (const inner of statement.try) this.readStatement(unit, inner);
        break;
      default:
        break;
    }
  }

  private readCreateTable(unit: Unit, statement: CreateTable): void {
    const name = tableNameOf(statement.name);
    if (statement.temporary || isTemporary(name) || name.table === '') return;
    if (statement.query !== null) {
      this.addDerived(unit, statement, name, statement.query, 'query', {
        names: statement.elements.flatMap((element) =>
          element.kind === 'column-definition' ? [element.name.name] : [],
        ),
        elements: statement.elements,
        options: statement.options,
      });
      return;
    }
    const copied =
      statement.cloneOf ?? statement.elements.find((element) => element.kind === 'like-clause')?.table ?? null;
    if (copied !== null) {
      this.derived.push({
        facts: this.facts(unit, statement, name, statement.options, statement.external ? 'external' : 'table'),
        columns: { items: [{ kind: 'all', table: tableNameOf(copied), except: [] }] },
        names: [],
        declared: [],
        unread: null,
        changesBefore: this.changes.length,
      });
      return;
    }
    const elements = readElements(this.source(unit), statement.elements);
    this.tables.push({
      ...this.facts(unit, statement, name, statement.options, statement.external ? 'external' : 'table'),
      columns: elements.columns,
      keys: elements.keys,
    });
  }

  private addDerived(
    unit: Unit,
    node: NodeBase,
    name: TableName,
    query: Query,
    origin: TableFacts['origin'],
    more: {
      readonly names?: readonly string[];
      readonly elements?: readonly TableElement[];
      readonly options?: readonly Option[];
    },
  ): void {
    if (isTemporary(name) || name.table === '') return;
    const columns = readQueryColumns(query, (found) => this.range(unit, found));
    const elements = readElements(this.source(unit), more.elements ?? []);
    this.derived.push({
      facts: { ...this.facts(unit, node, name, more.options ?? [], origin), keys: elements.keys },
      columns,
      names: more.names ?? [],
      declared: elements.columns,
      unread: origin === 'view' ? this.unread(unit, query, columns) : null,
      changesBefore: this.changes.length,
    });
  }

  /** A view stands alone in its batch, so what recovery took for other statements belongs to it, too. */
  private unread(unit: Unit, query: Query, columns: QueryColumns): string | null {
    const { text, platform, batches } = this.script;
    if (!isTsql(platform) || (columns.items.length > 0 && unit.problems.length === 0)) return null;
    const batch = batches.find(({ start, end }) => start <= unit.offset && unit.offset < end);
    return text.slice(unit.offset + query.start, batch?.end ?? unit.offset + unit.length);
  }

  private readAlterTable(unit: Unit, statement: AlterTable): void {
    const name = tableNameOf(statement.name);
    if (isTemporary(name)) return;
    for (const action of statement.actions) this.addChange(name, changeOf(this.source(unit), action));
    this.rename(tableRename(statement));
  }

  private readDrop({ objectType, names }: Drop): void {
    if (!/TABLE|VIEW/.test(objectType)) return;
    for (const node of names) {
      const name = this.qualified(tableNameOf(node));
      // `temp.t` is not the `t` that the script makes outside of that schema.
      const own = this.ownTables(name).filter((facts) => name.schema === null || facts.name.schema !== null);
      for (const facts of own) this.drop(facts);
    }
  }

  /** What was changed of it is nothing to a table that takes its name. An emptied change keeps its place, which `changesBefore` counts. */
  private drop(facts: TableFacts): void {
    this.dropped.add(facts);
    const emptied = new Map<number, TableChange>();
    for (const [place, change] of this.changes.entries()) {
      if (!this.isOf(change, facts)) continue;
      emptied.set(place, change);
      this.changes[place] = { ...noChange, table: change.table };
    }
    this.changesBefore.set(facts, emptied);
  }

  private bringBack(facts: TableFacts): void {
    this.dropped.delete(facts);
    for (const [place, change] of this.changesBefore.get(facts) ?? []) this.changes[place] = change;
  }

  /** A new name for a table of this script, or for one of another file. */
  private rename(rename: TableRename | null): void {
    if (rename === null || !this.toTheEnd) return;
    const own = this.ownTables(this.qualified(rename.table)).filter((facts) => !this.dropped.has(facts));
    if (own.length === 0) this.addChange(rename.table, { newName: rename.to });
    for (const facts of own) {
      const renamed = underNewName(facts, rename.to);
      // New rows for a table: it is put together anew by a query and takes the place of the one whose columns are stated.
      const replaced = this.tables.find((table) => bears(table, renamed.name) && table !== facts);
      if (facts.origin === 'query' && replaced !== undefined) {
        if (this.dropped.has(replaced)) this.bringBack(replaced);
        else this.replace(replaced, { ...replaced, name: renamed.name });
        this.drop(facts);
      } else this.replace(facts, renamed);
      this.stays(renamed.name);
    }
  }

  /** A table of another file that had to give up its name for one that takes it: both are the same to everybody else. */
  private stays(name: TableName): void {
    for (const [place, { table, newName }] of this.changes.entries())
      if (newName !== null && nameFits(table, name)) this.changes[place] = { ...noChange, table };
  }

  /** What the script has said of the table so far goes with it, but views go on reading the old name. */
  private replace(facts: TableFacts, renamed: TableFacts): void {
    for (const [place, change] of this.changes.entries())
      if (this.isOf(change, facts)) this.changes[place] = { ...change, table: renamed.name };
    this.tables = this.tables.map((table) => (table === facts ? renamed : table));
    this.derived = this.derived.map((each) => {
      if (each.facts === facts) return { ...each, facts: renamed };
      return each.facts.origin === 'view' ? each : { ...each, columns: fromTable(each.columns, facts, renamed) };
    });
  }

  private isOf({ table, newName }: TableChange, facts: TableFacts): boolean {
    return newName === null && nameFits(table, facts.name) && this.ownTables(table).includes(facts);
  }

  /** The definitions of the table that a name means; a name with parts left open means the only table that it fits. */
  private ownTables(name: TableName): readonly TableFacts[] {
    const defined = [...this.tables, ...this.derived.map((each) => each.facts)];
    const fitting = defined.filter((facts) => nameFits(name, facts.name));
    const keys = new Set(fitting.map((facts) => tableKey(facts.name)));
    const key = keys.size === 1 ? [...keys][0] : tableKey(name);
    return fitting.filter((facts) => tableKey(facts.name) === key);
  }

  private addChange(name: TableName, change: Partial<TableChange>): void {
    this.changes.push({ ...noChange, ...change, table: this.qualified(name) });
  }

  private facts(
    unit: Unit,
    node: NodeBase,
    name: TableName,
    options: readonly Option[],
    origin: TableFacts['origin'],
  ): TableFacts {
    return {
      name: this.qualified(name),
      platform: this.script.platform,
      file: this.file,
      range: this.range(unit, node),
      columns: [],
      keys: [],
      options: readOptions(options),
      origin,
    };
  }

  private qualified(name: TableName): TableName {
    return name.database === null ? { ...name, database: this.database } : name;
  }

  private source(unit: Unit): Source {
    return {
      platform: this.script.platform,
      text: (node) => textOf(this.script, unit, node),
      range: (node) => this.range(unit, node),
    };
  }

  private range(unit: Unit, node: NodeBase): Range {
    return rangeOf(this.lineStarts, absoluteRange(unit, node));
  }
}

/** Options as the catalog names them: `distribution: "hash(patient_id)"`, `index: "clustered columnstore"`. */
function readOptions(options: readonly Option[]): Readonly<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const option of options) {
    const columns = option.columns.map((column) => column.name).join(',');
    const inParentheses = columns === '' ? '' : `(${columns})`;
    const value = option.value?.trim().toLowerCase() ?? '';
    const word = /^[a-z_ ]+/.exec(value)?.[0].trim() ?? '';
    if (option.name === 'HEAP') read['index'] = 'heap';
    else if (/\bINDEX$/.test(option.name)) {
      read['index'] = `${option.name.toLowerCase().replace(/ ?index$/, '')}${inParentheses}`;
    } else if (option.name === 'DISTRIBUTION') read['distribution'] = `${word}${inParentheses}`;
    else {
      const name = option.name.toLowerCase();
      read[name] = columns !== '' ? columns : (option.value?.trim() ?? 'true');
    }
  }
  return read;
}
