/**
 * The text of a load as pieces: the load is printed once for a table whose columns are marks, one for each class of
 * columns, and the lists that these marks stand in become pieces that any table's columns fill.
 */
import type { CatalogColumn, CatalogTable } from '../../../../protocol/catalog.ts';
import type { Outcome, Problem } from '../../../../protocol/problem.ts';
import type { LoadOptions, LoadSpecification } from '../../../../protocol/specification.ts';
import { makeContext } from '../../load/context.ts';
import { planners } from '../../load/patterns.ts';
import type { LoadPlan } from '../../load/plan.ts';
import { versionColumns } from '../../load/versions/model.ts';
import { sameIdentifier } from '../../model/names.ts';
import type { TsqlPrinter } from '../../sql/tsql.ts';
import { type Hooks, procedureBody } from './tsql.ts';

/** Columns whose text differs in some list: keys and attributes, by what their values are. */
const kinds = ['text', 'ansi', 'long_ansi', 'time', 'binary', 'other'] as const;
export const columnClasses = [...kinds.map((kind) => `key_${kind}` as const), ...kinds];
export type ColumnClass = (typeof columnClasses)[number];

const sampleTypes: Readonly<Record<ColumnClass, string>> = {
  key_text: 'nvarchar(100)',
  key_ansi: 'varchar(100)',
  key_long_ansi: 'varchar(max)',
  key_time: 'datetime2(7)',
  key_binary: 'varbinary(32)',
  key_other: 'int',
  text: 'nvarchar(100)',
  ansi: 'varchar(100)',
  long_ansi: 'varchar(max)',
  time: 'datetime2(7)',
  binary: 'varbinary(32)',
  other: 'int',
};

/** A run of columns in a list: for each column its template, in the order of the table; control columns by name. */
export interface ColumnRun {
  readonly templates: Readonly<Partial<Record<ColumnClass, string>>>;
  readonly controls: Readonly<Record<string, string>>;
  readonly separator: string;
  /** The run begins its list, so no separator stands before its first column. */
  readonly first: boolean;
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'schema' | 'table'; readonly within: 'brackets' | 'literal' }
  | { readonly kind: 'columns'; readonly run: ColumnRun };

const open = '\uE001';
const between = '\uE002';
const after = '\uE003';
const close = '\uE004';
export const markOf = (name: string): string => `\uE005${name}\uE006`;

/** The pieces of the per-table text; null where an option puts column names where no list stands. */
export function dynamicPieces(
  specification: LoadSpecification,
  target: CatalogTable,
  printerWith: (join: (elements: readonly string[], separator: string) => string) => TsqlPrinter,
  hooks: Hooks,
): Outcome<{ readonly pieces: readonly Piece[]; readonly plan: LoadPlan; readonly printer: TsqlPrinter } | null> {
  const controls = controlColumns(specification.options, target);
  const marked = markedTables(specification, target, controls);
  const planner = planners[specification.pattern];
  if (planner === undefined) return { value: null, problems: [] };
  const printer = printerWith((elements, separator) =>
    elements.some((element) => element.includes('\uE005'))
      ? `${open}${elements.join(`${between}${separator}${after}`)}${close}`
      : elements.join(separator),
  );
  const context = makeContext(marked.specification, marked.tables, printer.traits);
  const plan = planner(context);
  const text = procedureBody(plan, printer, specification.shape, hooks);
  const pieces = piecesOf(
    text,
    controls.map((of) => of.name),
  );
  const stray = pieces.some((piece) => piece.kind === 'text' && piece.text.includes('\uE005'));
  const problems: readonly Problem[] = [
    ...context.problems,
    ...(stray
      ? [
          {
            code: 'unsupported',
            severity: 'error',
            message:
              'unsupported: dynamic-procedure with these options: they name single columns; the nearest is form procedure.',
          } as const,
        ]
      : []),
  ];
  if (problems.some(({ severity }) => severity === 'error')) return { value: null, problems };
  return { value: { pieces, plan, printer }, problems };
}

/** Columns of the target that the load keeps up itself, which no stage has to bring. */
export function controlColumns(options: LoadOptions, target: CatalogTable): readonly CatalogColumn[] {
  const names = versionColumns(options);
  const checksum = target.columns.filter((of) => of.role === 'checksum' && of.nullable);
  return target.columns.filter((of) => checksum.includes(of) || names.some((name) => sameIdentifier(name, of.name)));
}

function markedTables(specification: LoadSpecification, target: CatalogTable, controls: readonly CatalogColumn[]) {
  const sample = target.columns[0];
  const range = sample?.range ?? target.range;
  const columns = columnClasses.map(
    (name): CatalogColumn => ({
      name: markOf(name),
      type: sampleTypes[name],
      nullable: true,
      role: 'attribute',
      identity: false,
      computed: false,
      default: null,
      collation: null,
      range,
    }),
  );
  const keys = columnClasses.filter((name) => name.startsWith('key_')).map(markOf);
  const compare = columnClasses.filter((name) => !name.startsWith('key_')).map(markOf);
  const named = (database: string | null) => ({ database, schema: markOf('schema'), table: markOf('table') });
  const options: LoadOptions = {
    ...specification.options,
    keys,
    target_key: keys,
    compare,
    untracked: [],
    mapping: {},
  };
  const marked: LoadSpecification = {
    ...specification,
    source: named(specification.source.database),
    target: named(specification.target.database),
    options,
  };
  const plain = controls.map((of) => ({ ...of, default: null }));
  return {
    specification: marked,
    tables: {
      source: { ...target, name: marked.source, columns },
      target: { ...target, name: marked.target, columns: [...columns, ...plain] },
      extra: {},
    },
  };
}

// --- from marked text to pieces

function piecesOf(text: string, controls: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = text;
  for (;;) {
    const start = rest.indexOf(open);
    if (start < 0) break;
    pieces.push(...plainPieces(rest.slice(0, start)));
    const end = closing(rest, start);
    pieces.push(...listPieces(rest.slice(start + 1, end), controls));
    rest = rest.slice(end + 1);
  }
  pieces.push(...plainPieces(rest));
  return joinedTexts(pieces);
}

function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    if (text[at] === close) depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** Names of the table stand in brackets, or in a text literal. */
function plainPieces(text: string): readonly Piece[] {
  return text.split(/(\uE005(?:schema|table)\uE006)/).map((part, index, all): Piece => {
    if (index % 2 === 0) return { kind: 'text', text: part };
    const within = all[index - 1]?.endsWith('[') === true ? 'brackets' : 'literal';
    return { kind: part.includes('schema') ? 'schema' : 'table', within };
  });
}

interface Element {
  readonly text: string;
  readonly class: ColumnClass | null;
  readonly control: string | null;
}

function listPieces(list: string, controls: readonly string[]): readonly Piece[] {
  const { elements, separator } = splitList(list, controls);
  const pieces: Piece[] = [];
  let run: Element[] = [];
  let started = false;
  const flush = (): void => {
    if (run.length === 0) return;
    const templates = Object.fromEntries(
      run.flatMap((of) => (of.class === null ? [] : [[of.class, unmarked(of.text)]])),
    );
    const named = Object.fromEntries(run.flatMap((of) => (of.control === null ? [] : [[of.control, of.text]])));
    pieces.push({ kind: 'columns', run: { templates, controls: named, separator, first: !started } });
    started = true;
    run = [];
  };
  for (const element of elements) {
    const repeats = run.some((of) => of.class !== null && of.class === element.class);
    const belongs = element.class !== null || (element.control !== null && run.length > 0);
    if (repeats || !belongs) flush();
    if (belongs) {
      run.push(element);
      continue;
    }
    pieces.push(...(started ? [{ kind: 'text', text: separator } as const] : []), ...piecesOf(element.text, controls));
    started = true;
  }
  flush();
  return pieces;
}

function unmarked(text: string): string {
  return text.replaceAll(/\uE005(?!schema|table)\w+\uE006/g, markOf('column'));
}

function splitList(
  list: string,
  controls: readonly string[],
): { readonly elements: readonly Element[]; readonly separator: string } {
  const texts: string[] = [];
  let separator = '';
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at += 1) {
    const letter = list[at];
    if (letter === open) depth += 1;
    if (letter === close) depth -= 1;
    if (depth > 0) continue;
    if (letter === between) {
      texts.push(list.slice(start, at));
      start = at + 1;
    } else if (letter === after) {
      separator = list.slice(start, at);
      start = at + 1;
    }
  }
  texts.push(list.slice(start));
  const isCommaList = separator.startsWith(',') || separator.startsWith('\n,');
  return {
    separator,
    elements: texts.map((text): Element => {
      const marks = new Set([...text.matchAll(/\uE005(\w+)\uE006/g)].map((match) => match[1]));
      const found = columnClasses.find((name) => marks.size === 1 && marks.has(name));
      const last = /\[((?:[^\]]|\]\])*)\]$/.exec(text)?.[1] ?? null;
      const control = isCommaList && marks.size === 0 && last !== null && controls.includes(last) ? last : null;
      return { text, class: text.includes(open) ? null : (found ?? null), control };
    }),
  };
}

function joinedTexts(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + piece.text };
    else if (piece.kind !== 'text' || piece.text !== '') joined.push(piece);
  }
  return joined;
}
