import type { TableName } from '../../../protocol/catalog.ts';
import type { Range } from '../../../protocol/position.ts';
import { bindUnit } from '../model/binding.ts';
import { formatTableName } from '../model/names.ts';
import { spoken } from '../model/roles.ts';
import { absoluteRange, lastPart, tableNameOf, unitsOf } from '../syntax/inspect.ts';
import type { Name, Statement, Unit, WriteTarget } from '../syntax/tree.ts';
import { type DocumentView, type Location, rangeAt, tableNamed } from './view.ts';

export interface OutlineSymbol {
  readonly name: string;
  readonly detail: string;
  readonly kind: 'table' | 'view' | 'column' | 'procedure' | 'function' | 'load';
  readonly range: Range;
  /** The name, inside `range`. */
  readonly selection: Range;
  readonly children: readonly OutlineSymbol[];
}

/** What a document defines and loads: tables with their columns, views, procedures with the writes inside, writes. */
export function documentSymbols(view: DocumentView): readonly OutlineSymbol[] {
  return unitsOf(view.script).flatMap((unit) => symbolsOf(view, unit, unit.statement));
}

function symbolsOf(view: DocumentView, unit: Unit, statement: Statement): readonly OutlineSymbol[] {
  const range = rangeAt(view, absoluteRange(unit, statement));
  const named = (name: Name) => ({
    name: formatTableName(tableNameOf(name)) || '?',
    range,
    selection: rangeAt(view, absoluteRange(unit, lastPart(name))),
  });
  const inside = (statements: readonly Statement[]) => statements.flatMap((inner) => symbolsOf(view, unit, inner));
  switch (statement.kind) {
    case 'create-table': {
      const children = statement.elements.flatMap((element): readonly OutlineSymbol[] =>
        element.kind === 'column-definition'
          ? [
              {
                name: element.name.name || '?',
                detail: element.type?.text ?? '',
                kind: 'column',
                range: rangeAt(view, absoluteRange(unit, element)),
                selection: rangeAt(view, absoluteRange(unit, element.name)),
                children: [],
              },
            ]
          : [],
      );
      const table = tableNamed(view, tableNameOf(statement.name));
      return [
        { ...named(statement.name), detail: table === undefined ? '' : spoken(table.role), kind: 'table', children },
      ];
    }
    case 'create-view':
      return [{ ...named(statement.name), detail: '', kind: 'view', children: [] }];
    case 'create-procedure':
      return [{ ...named(statement.name), detail: '', kind: 'procedure', children: inside(statement.body) }];
    case 'create-function':
      return [{ ...named(statement.name), detail: '', kind: 'function', children: inside(statement.body) }];
    case 'table-load': {
      const word = statement.merges ? 'AUTO CDC' : 'COPY';
      return [
        {
          ...named(statement.target),
          name: `${word} ${named(statement.target).name}`,
          detail: '',
          kind: 'load',
          children: [],
        },
      ];
    }
    case 'merge':
    case 'insert':
    case 'update':
    case 'delete':
      return writeSymbol(view, unit, statement.target, statement.kind.toUpperCase(), range);
    case 'if':
      return inside(statement.otherwise === null ? [statement.then] : [statement.then, statement.otherwise]);
    case 'while':
      return inside([statement.body]);
    case 'block':
      return inside(statement.statements);
    case 'loop':
      return inside([statement.body]);
    case 'case-statement':
      return inside([...statement.branches.map(({ body }) => body), ...(statement.otherwise?.statements ?? [])]);
    case 'declare-handler':
      return statement.body === null ? [] : inside([statement.body]);
    case 'try-catch':
      return inside([...statement.try, ...statement.catch]);
    default:
      return [];
  }
}

function writeSymbol(
  view: DocumentView,
  unit: Unit,
  target: WriteTarget,
  word: string,
  range: Range,
): readonly OutlineSymbol[] {
  if (target.kind !== 'table' && target.kind !== 'table-variable') return [];
  const name = target.kind === 'table' ? formatTableName(writtenTable(unit, target.name)) : target.name;
  const selection = rangeAt(view, absoluteRange(unit, target.kind === 'table' ? lastPart(target.name) : target));
  return [{ name: `${word} ${name || '?'}`, detail: '', kind: 'load', range, selection, children: [] }];
}

/** `UPDATE t … FROM dw.Sat AS t` writes dw.Sat. */
function writtenTable(unit: Unit, node: Name): TableName {
  const mention = bindUnit(unit).mentions.find((each) => each.kind === 'table' && each.node === node);
  return mention?.kind === 'table' ? mention.name : tableNameOf(node);
}

export interface FolderSymbol {
  readonly name: string;
  readonly detail: string;
  readonly kind: 'table' | 'procedure';
  readonly location: Location;
}

/** Tables and procedures of the folder whose names hold the letters of the query in their order. */
export function folderSymbols(folder: DocumentView['folder'], query: string, limit = 200): readonly FolderSymbol[] {
  const letters = query.toLowerCase();
  const found: FolderSymbol[] = [];
  const add = (symbol: FolderSymbol): void => {
    if (found.length < limit && holdsInOrder(symbol.name.toLowerCase(), letters)) found.push(symbol);
  };
  for (const { name, role, file, range } of folder.catalog.tables)
    add({ name: formatTableName(name), detail: spoken(role), kind: 'table', location: { file, range } });
  for (const { name, file, range } of folder.procedures())
    add({ name: formatTableName(name), detail: 'procedure', kind: 'procedure', location: { file, range } });
  return found;
}

function holdsInOrder(text: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const found = text.indexOf(letter, from);
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}
