import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import type { Batch } from '../../../../protocol/run.ts';
import { findAll, tableNameOf } from '../../syntax/inspect.ts';
import type { Node, NodeBase, Output, Statement } from '../../syntax/tree.ts';
import { checkedKeys, checksOf } from './checks.ts';
import { type Effect, NotFollowed, type NumberedEffect, type Reading } from './effect.ts';
import { imageChanged, imageMade, imageName } from './images.ts';
import { addedRows } from './inserts.ts';
import { outputRows } from './outputs.ts';
import { OwnTables } from './own-tables.ts';
import { planOf } from './plan.ts';
import { keptEffect, quoted } from './print.ts';
import type { KnownProcedure } from './procedures.ts';
import { edited, editsOf, namedTables } from './rewrite.ts';
import { demandImage, untold } from './unknowns.ts';
import { columnName, knownTable, positional } from './values.ts';

/** What is known of the tables that a script names. */
export interface KnownTables {
  tableOf(name: TableName): CatalogTable | undefined;
  isView(table: CatalogTable): boolean;
  /** Procedures of the workspace that the script may call, and those that they call; absent: none is known. */
  readonly procedures?: readonly KnownProcedure[];
}

/** What a preview sends so far in the place of a script: kept statements, the rows of its writes, images of its tables. */
export class PreviewDraft {
  /** Tables that the script goes on with after it wrote to them, and that have no image in this reading. */
  readonly wanted = new Set<CatalogTable>();
  /** Tables that the script makes for itself. */
  readonly own = new OwnTables();
  /** Variables that hold what only the run can tell. */
  readonly unknown = new Set<string>();
  /** Where nodes count from: the file, or a text that stands for a piece of it. */
  frame: { readonly text: string; readonly offset: number };
  /** What @@ROWCOUNT counts: the effects of the write just before, or a kept statement; null elsewhere. */
  counted: readonly NumberedEffect[] | 'kept' | null = null;
  /** Conditions of IF around the statement that is being read. */
  gates: readonly string[] = [];
  /** The statements of the batch that is being read. */
  pieces: string[] = [];
  readonly platform: PlatformName;
  private readonly tables: KnownTables;
  private readonly imaged: ReadonlySet<CatalogTable>;
  private readonly images = new Map<CatalogTable, string>();
  private readonly effects: Effect[] = [];
  private readonly written = new Set<CatalogTable>();
  private hasChecks = false;

  constructor(text: string, platform: PlatformName, tables: KnownTables, imaged: ReadonlySet<CatalogTable>) {
    this.platform = platform;
    this.tables = tables;
    this.imaged = imaged;
    this.frame = { text, offset: 0 };
  }

  /** The preview that sends these batches; null where the script writes nothing. */
  plan(batches: readonly Batch[]): PreviewPlan | null {
    const { effects, own, hasChecks } = this;
    const images = [...this.images.values()];
    return effects.length === 0 ? null : planOf(batches, { effects, images, own: own.names, hasChecks }, this.platform);
  }

  /** Sees to the image of a table that is about to be written. */
  prepare(table: CatalogTable, name: NodeBase, isInsert = false): void {
    if (this.imaged.has(table)) {
      if (this.images.has(table)) return;
      const image = imageName(this.images.size, this.platform);
      this.images.set(table, image);
      this.pieces.push(imageMade(image, table, this.source(name.start, name.end), this.platform));
    } else if (this.written.has(table) && !isInsert) this.wanted.add(table);
  }

  /** Writes down the rows of a write, with their checks, and changes the images of their tables. */
  add(effects: readonly Effect[], meeting: Parameters<typeof checksOf>[1]): readonly NumberedEffect[] {
    const gated = effects.map((effect) => ({ ...effect, gates: this.gates }));
    const numbered = gated.map((effect): NumberedEffect => {
      const number = this.effects.length;
      this.pieces.push(keptEffect(effect, number, this.platform));
      this.effects.push(effect);
      return [number, effect];
    });
    const checks = checksOf(numbered, meeting, this.platform);
    this.pieces.push(...checks);
    this.hasChecks ||= checks.length > 0;
    for (const [number, effect] of numbered) {
      const image = this.images.get(effect.table);
      if (image !== undefined) this.pieces.push(imageChanged(image, effect, number, this.platform));
      // New rows are the same whatever was written to their table before, though their keys may not be.
      else if (this.written.has(effect.table) && checkedKeys(gated).length > 0) this.wanted.add(effect.table);
    }
    for (const { table } of gated) this.written.add(table);
    this.counted = numbered;
    return numbered;
  }

  /** OUTPUT … INTO is an INSERT of the rows that the write went through. */
  writeOutput(output: Output, effects: readonly NumberedEffect[]): void {
    const { into } = output;
    if (into === null || effects.length === 0) return;
    const rows = outputRows(effects, this.platform);
    const columns = output.intoColumns.map(({ name }) => name);
    if (into.kind === 'table-variable' || this.own.has(tableNameOf(into.name))) {
      const name = into.kind === 'table-variable' ? into.name : this.source(into.name.start, into.name.end);
      const list =
        columns.length === 0 ? '' : ` (${columns.map((column) => quoted(column, this.platform)).join(', ')})`;
      this.pieces.push(`INSERT INTO ${name}${list}\n${rows};`);
      return;
    }
    const reading = this.reading(output);
    const table = knownTable(into.name, reading);
    this.prepare(table, into.name, true);
    const filled =
      columns.length > 0 ? columns.map((name) => columnName(table, name, output)) : positional(table, reading);
    const written = this.source(into.name.start, into.name.end);
    this.add([addedRows({ table, columns: filled, written, query: rows, with: '' }, false, reading)], null);
  }

  /** Refuses what asks for a count that only the run can tell. */
  demandKnown(node: Node): void {
    const count = untold(node, this.counted !== null);
    if (count !== undefined) throw new NotFollowed(`${count.text} is not known before the run`, count.start);
  }

  /** A statement that reads what an earlier one of the script has written reads its image. */
  demandReadable(node: Node, target: Node | null = null): void {
    const lost = findAll(node, 'variable').find(({ name }) => this.unknown.has(name.toLowerCase()));
    if (lost !== undefined) throw new NotFollowed(`${lost.name} is not known before the run`, lost.start);
    if (this.written.size === 0) return;
    for (const reference of namedTables(node)) {
      const name = tableNameOf(reference.name);
      const table = reference === target || this.own.has(name) ? undefined : this.tables.tableOf(name);
      if (table === undefined) continue;
      if (this.tables.isView(table)) {
        throw new NotFollowed(`the view ${name.table} may show what the script wrote before`, reference.start);
      }
      if (!this.written.has(table)) continue;
      demandImage(reference, table, node);
      if (!this.imaged.has(table)) this.wanted.add(table);
    }
  }

  /** Keeps a statement that reads, or writes to temporary tables only. */
  keep(statement: Statement): void {
    const text = this.statementText(statement);
    // A declaration holds for the whole batch; only its value could depend on the branch, and no one else reads it.
    const isGated = this.gates.length > 0 && statement.kind !== 'declare';
    this.pieces.push(isGated ? `IF ${this.gates.join(' AND ')}\n${text}` : text);
  }

  /** A statement as it is sent. */
  statementText(statement: Statement): string {
    return `${this.reading(statement).slice(statement.start, statement.end).replace(/;\s*$/, '')};`;
  }

  /** The text as the script has it, by offsets of the statement that is being read. */
  source(start: number, end: number): string {
    const { text, offset } = this.frame;
    return text.slice(offset + start, offset + end);
  }

  /** How a node reads once what was written before is found in images. */
  reading(node: Node): Reading {
    const { platform, tables, frame, counted } = this;
    const source = (start: number, end: number) => this.source(start, end);
    const tableOf = (name: TableName) => tables.tableOf(name);
    const imageOf = (table: CatalogTable) => this.images.get(table) ?? null;
    const isOwnName = (name: TableName) => this.own.has(name);
    const stand = { platform, tableOf, imageOf, isOwnName, source, counted: counted === 'kept' ? null : counted };
    const edits = editsOf(node, stand);
    const slice = (start: number, end: number) => edited(frame.text, frame.offset, start, end, edits);
    return { platform, slice, source, tableOf, imageOf };
  }
}
