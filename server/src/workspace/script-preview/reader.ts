import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import type { Batch } from '../../../../protocol/run.ts';
import { nameFits } from '../../model/names.ts';
import { childrenOf, findAll, problemsOf, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { DmlTable, Execute, If, Node, NodeBase, Output, Script, Statement } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { allButLast, isEnding, isFailureTest, isGuard, isTemporary, lastOf } from './branches.ts';
import { targetReference } from './changes.ts';
import { checkedKeys, checksOf } from './checks.ts';
import { type Effect, NotFollowed, type NumberedEffect, type Reading, type Write } from './effect.ts';
import { effectsOf } from './effects.ts';
import { imageChanged, imageMade, imageName } from './images.ts';
import { addedRows, emptied } from './inserts.ts';
import { keptOutput, outputNames, outputRows } from './outputs.ts';
import { OwnTables } from './own-tables.ts';
import { planOf } from './plan.ts';
import { keptEffect, quoted } from './print.ts';
import { calledText, givenBack, type KnownProcedure } from './procedures.ts';
import { edited, editsOf, namedTables } from './rewrite.ts';
import { demandImage, untold } from './unknowns.ts';
import { isUpsert, upsertAsMerge } from './upserts.ts';
import { columnName, knownTable, positional } from './values.ts';

/** What is known of the tables that a script names. */
export interface KnownTables {
  tableOf(name: TableName): CatalogTable | undefined;
  isView(table: CatalogTable): boolean;
  /** Procedures of the workspace that the script may call, and those that they call; absent: none is known. */
  readonly procedures?: readonly KnownProcedure[];
}

/** Procedures that call each other are followed so deep. */
const deepestCall = 16;

/** Reads a script from its beginning to its end and writes down what a preview sends in its place. */
export class ScriptReader {
  /** Of the statement that is being read, in the file. */
  offset = 0;
  /** Tables that the script goes on with after it wrote to them, and that have no image in this reading. */
  readonly wanted = new Set<CatalogTable>();
  private readonly script: Script;
  private readonly platform: PlatformName;
  private readonly tables: KnownTables;
  private readonly imaged: ReadonlySet<CatalogTable>;
  /** Where nodes count from: the file, or a text that stands for a piece of it. */
  private frame: { readonly text: string; readonly offset: number };
  private readonly images = new Map<CatalogTable, string>();
  private readonly effects: Effect[] = [];
  private readonly written = new Set<CatalogTable>();
  private readonly own = new OwnTables();
  /** Variables that hold what only the run can tell. */
  private readonly unknown = new Set<string>();
  /** What @@ROWCOUNT counts: the effects of the write just before, or a kept statement; null elsewhere. */
  private counted: readonly NumberedEffect[] | 'kept' | null = null;
  /** Conditions of IF around the statement that is being read. */
  private gates: readonly string[] = [];
  private conditions = 0;
  /** Procedures that the script itself has made, the last one first. */
  private made: readonly KnownProcedure[] = [];
  private calls = 0;
  private depth = 0;
  /** Conditions around the batch or procedure as a whole. */
  private outerGates = 0;
  /** The batch or procedure has returned. */
  private hasReturned = false;
  private hasChecks = false;
  private pieces: string[] = [];

  constructor(script: Script, platform: PlatformName, tables: KnownTables, imaged: ReadonlySet<CatalogTable>) {
    this.script = script;
    this.platform = platform;
    this.tables = tables;
    this.imaged = imaged;
    this.frame = { text: script.text, offset: 0 };
  }

  /** The batches of the preview; null where the script writes nothing. Throws `NotFollowed`. */
  plan(lineOf: (offset: number) => number): PreviewPlan | null {
    const batches: Batch[] = [];
    for (const batch of this.script.batches) {
      const repeat = batch.separator?.repeat ?? 1;
      if (repeat === 0 || batch.units.length === 0) continue;
      this.offset = batch.start;
      if (repeat > 1) throw new NotFollowed(`GO ${repeat} runs a batch more than once`, 0);
      this.pieces = [];
      this.gates = [];
      this.hasReturned = false;
      for (const unit of batch.units) {
        this.offset = unit.offset;
        this.frame = { text: this.script.text, offset: unit.offset };
        this.statement(unit.statement);
      }
      if (this.pieces.length > 0) batches.push({ text: this.pieces.join('\n\n'), line: lineOf(batch.start) });
    }
    const images = [...this.images.values()];
    return this.effects.length === 0
      ? null
      : planOf(
          batches,
          { effects: this.effects, images, own: this.own.names, hasChecks: this.hasChecks },
          this.platform,
        );
  }

  private statement(statement: Statement): void {
    if (this.hasReturned) return;
    // Only the statement right behind a write finds its count.
    const { counted } = this;
    this.follow(statement);
    if (this.counted === counted && counted !== null) this.counted = null;
  }

  private follow(statement: Statement): void {
    switch (statement.kind) {
      case 'insert':
      case 'update':
      case 'delete':
      case 'merge':
        this.write(statement);
        return;
      case 'block':
        for (const inner of statement.statements) this.statement(inner);
        return;
      case 'try-catch':
        // CATCH is where a failed run ends up; a preview writes nothing that could be taken back.
        for (const inner of statement.try) this.statement(inner);
        return;
      case 'transaction':
        if (statement.action === 'rollback')
          throw new NotFollowed('ROLLBACK takes back what was written', statement.start);
        return;
      case 'opaque':
        if (/^(BEGIN|START|COMMIT|END)( TRANSACTION| WORK)?$/.test(statement.name)) return;
        throw new NotFollowed(`${statement.name} is not followed`, statement.start);
      case 'set-option':
        if (statement.table === null) this.keep(statement);
        return;
      case 'declare-table':
        this.own.add(statement.name);
        this.pieces.push(this.statementText(statement));
        return;
      case 'declare':
      case 'set-variable':
        this.keepRead(statement);
        return;
      case 'select-statement':
        this.select(statement);
        return;
      case 'create-table':
        if (!statement.temporary && !isTemporary(tableNameOf(statement.name))) break;
        this.demandReadable(statement);
        if (statement.query !== null && !isHarmless(statement.query)) break;
        this.own.add(tableNameOf(statement.name).table);
        this.keep(statement);
        return;
      case 'if':
        this.branch(statement);
        return;
      case 'drop':
        if (!this.drop(statement)) break;
        return;
      case 'use':
        this.keep(statement);
        return;
      case 'truncate':
        if (this.own.has(tableNameOf(statement.table))) this.keep(statement);
        else {
          this.prepare(knownTable(statement.table, this.reading(statement)), statement.table);
          this.add([emptied(statement.table, this.reading(statement))], null);
        }
        return;
      case 'create-procedure':
        this.made = [{ procedure: statement, ...this.frame }, ...this.made];
        return;
      case 'execute':
        this.call(statement);
        return;
      case 'return':
        this.hasReturned = true;
        return;
      case 'print':
      case 'empty':
        return;
      default:
        break;
    }
    throw new NotFollowed(`${spoken(this.source(statement.start, statement.end))} is not followed`, statement.start);
  }

  private write(write: Write): void {
    const nested = findAll(write, 'dml-table')[0];
    if (nested !== undefined) {
      this.writeInside(write, nested);
      return;
    }
    this.demandReadable(write, write.kind === 'insert' ? write.target : null);
    if (write.kind === 'insert' && write.target.kind === 'table' && isUpsert(write) && !this.own.isTarget(write)) {
      const table = knownTable(write.target.name, this.reading(write));
      this.readInstead(
        upsertAsMerge(write, table, ({ start, end }) => this.source(start, end)),
        write,
      );
      return;
    }
    if (this.own.isTarget(write)) {
      const leaks = write.output.some(({ into }) => into?.kind === 'table' && !this.own.has(tableNameOf(into.name)));
      if (leaks || !isHarmlessInside(write)) throw new NotFollowed('a part of it may do more than read', write.start);
      this.keep(write);
      this.counted = 'kept';
      return;
    }
    const into = keptOutput(write.output, false);
    const effects = this.effectsOf(write, into !== undefined);
    if (into === undefined) return;
    const { counted } = this;
    this.writeOutput(into, effects);
    this.counted = counted;
  }

  private effectsOf(write: Write, outputs: boolean): readonly NumberedEffect[] {
    const named =
      write.kind === 'update' || write.kind === 'delete' ? targetReference(write, this.reading(write)) : null;
    const target = named ?? write.target;
    if (target.kind === 'table') {
      const table = this.tables.tableOf(tableNameOf(target.name));
      if (table !== undefined) this.prepare(table, target.name, write.kind === 'insert');
    }
    const { effects, meeting } = effectsOf(write, outputs, this.reading(write));
    return this.add(effects, meeting);
  }

  /** Sees to the image of a table that is about to be written. */
  private prepare(table: CatalogTable, name: NodeBase, isInsert = false): void {
    if (this.imaged.has(table)) {
      if (this.images.has(table)) return;
      const image = imageName(this.images.size, this.platform);
      this.images.set(table, image);
      this.pieces.push(imageMade(image, table, this.source(name.start, name.end), this.platform));
    } else if (this.written.has(table) && !isInsert) this.wanted.add(table);
  }

  private add(effects: readonly Effect[], meeting: Parameters<typeof checksOf>[1]): readonly NumberedEffect[] {
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
  private writeOutput(output: Output, effects: readonly NumberedEffect[]): void {
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

  /** `INSERT … SELECT … FROM (MERGE … OUTPUT …) AS m`: the inner write goes first, its rows take its place. */
  private writeInside(write: Write, nested: DmlTable): void {
    const inner = nested.statement;
    const output = keptOutput(inner.output, true);
    if (output === undefined) throw new NotFollowed('a write inside FROM gives no rows without OUTPUT', inner.start);
    this.demandReadable(inner, inner.kind === 'insert' ? inner.target : null);
    const effects = this.effectsOf(inner, true);
    const table = effects[0]?.[1].table;
    const names =
      nested.columns.length > 0 || table === undefined
        ? nested.columns.map(({ name }) => name)
        : outputNames(output, table);
    const list = names.map((name) => quoted(name, this.platform)).join(', ');
    const alias = quoted(nested.alias?.name ?? 'changes', this.platform);
    const rows = `(\n${outputRows(effects, this.platform)}\n) AS ${alias} (${list})`;
    const { text, offset } = this.frame;
    const replaced = `${text.slice(offset + write.start, offset + nested.start)}${rows}${text.slice(offset + nested.end, offset + write.end)}`;
    this.readInstead(replaced, write);
  }

  /** EXEC of a procedure whose text is known stands for its statements. */
  private call(call: Execute): void {
    const { procedure } = call;
    const known =
      procedure?.kind !== 'name'
        ? undefined
        : [...this.made, ...(this.tables.procedures ?? [])].find((each) =>
            nameFits(tableNameOf(procedure), tableNameOf(each.procedure.name)),
          );
    if (known === undefined || this.depth >= deepestCall) {
      const words = spoken(this.source(call.start, call.end));
      throw new NotFollowed(
        `${words} is not followed: the text of the procedure is not known in this folder`,
        call.start,
      );
    }
    this.demandReadable(call);
    this.demandKnown(call);
    this.calls += 1;
    const text = calledText(call, known, this.calls, ({ start, end }) => this.source(start, end));
    const { gates, outerGates } = this;
    this.outerGates = gates.length;
    this.depth += 1;
    this.readInstead(text, call);
    this.depth -= 1;
    this.gates = gates;
    this.outerGates = outerGates;
    this.hasReturned = false;
    this.counted = null;
    for (const name of givenBack(call)) this.unknown.add(name.toLowerCase());
  }

  /** Reads a text in place of a statement, at whose line everything is that is said of it. */
  private readInstead(text: string, statement: NodeBase): void {
    const script = parse(text, { platform: this.platform });
    const problem = problemsOf(script)[0];
    if (problem !== undefined) throw new NotFollowed(problem.message.replace(/\.$/, ''), statement.start);
    const { frame } = this;
    try {
      for (const unit of unitsOf(script)) {
        this.frame = { text, offset: unit.offset };
        this.statement(unit.statement);
      }
    } catch (error) {
      throw error instanceof NotFollowed ? new NotFollowed(error.message, statement.start) : error;
    } finally {
      this.frame = frame;
    }
  }

  /** Reads are left out unless they give a variable a value or fill a temporary table. */
  private select(statement: Extract<Statement, { kind: 'select-statement' }>): void {
    const into = findAll(statement, 'select').find((each) => each.into !== null)?.into ?? null;
    if (into !== null) {
      const name = tableNameOf(into);
      if (!isTemporary(name)) throw new NotFollowed('SELECT … INTO makes a table', statement.start);
      this.demandReadable(statement);
      this.own.add(name.table);
      this.keep(statement);
      this.counted = 'kept';
      return;
    }
    if (findAll(statement, 'select-item').some((item) => item.assigns !== null)) this.keepRead(statement);
  }

  /** IF becomes a variable that the writes of its branches ask. */
  private branch(statement: If): void {
    const { condition, otherwise } = statement;
    if (isFailureTest(condition) && otherwise === null && isEnding(statement.then)) return;
    if (isGuard(statement.then) && otherwise === null && this.gates.length === 0) {
      this.keepRead(statement, condition);
      return;
    }
    this.demandReadable(condition);
    this.demandKnown(condition);
    if (!isHarmless(condition)) throw new NotFollowed('a part of it may do more than read', condition.start);
    this.conditions += 1;
    const variable = `@mergewright_if_${this.conditions}`;
    const text = this.reading(condition).slice(condition.start, condition.end);
    this.pieces.push(`DECLARE ${variable} bit = CASE WHEN ${text} THEN 1 ELSE 0 END;`);
    this.counted = null;
    const { gates } = this;
    const end = lastOf(statement.then);
    const returns = findAll(statement, 'return').find((each) => each !== end);
    if (returns !== undefined) throw new NotFollowed('RETURN under several conditions is not followed', returns.start);
    if (end?.kind === 'return' && gates.length > this.outerGates)
      throw new NotFollowed('RETURN under several conditions is not followed', end.start);
    this.gates = [...gates, `${variable} = 1`];
    if (end?.kind === 'return') this.statements(allButLast(statement.then));
    else this.statement(statement.then);
    this.gates = [...gates, `${variable} = 0`];
    if (otherwise !== null) this.statement(otherwise);
    // What follows an IF that returns happens only when it did not.
    if (end?.kind !== 'return') this.gates = gates;
  }

  private statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.statement(statement);
  }

  private keepRead(statement: Statement, read: Node = statement): void {
    this.demandReadable(read);
    if (!isHarmless(read)) throw new NotFollowed('a part of it may do more than read', statement.start);
    const count = untold(read, this.counted !== null);
    if (count === undefined) this.keep(statement);
    else if (statement.kind !== 'set-variable' && statement.kind !== 'select-statement') {
      throw new NotFollowed(`${count.text} is not known before the run`, count.start);
    } else
      for (const { name } of findAll(statement, 'variable'))
        if (!name.startsWith('@@')) this.unknown.add(name.toLowerCase());
  }

  private demandKnown(node: Node): void {
    const count = untold(node, this.counted !== null);
    if (count !== undefined) throw new NotFollowed(`${count.text} is not known before the run`, count.start);
  }

  /** A statement that reads what an earlier one of the script has written reads its image. */
  private demandReadable(node: Node, target: Node | null = null): void {
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

  /** Keeps a DROP of temporary tables; false when it drops anything else. */
  private drop(statement: Extract<Statement, { kind: 'drop' }>): boolean {
    const names = statement.names.map(tableNameOf);
    if (!names.every((name) => isTemporary(name) || this.own.has(name))) return false;
    for (const { table } of names) this.own.delete(table);
    this.keep(statement);
    return true;
  }

  /** Keeps a statement that reads, or writes to temporary tables only. */
  private keep(statement: Statement): void {
    const text = this.statementText(statement);
    // A declaration holds for the whole batch; only its value could depend on the branch, and no one else reads it.
    const isGated = this.gates.length > 0 && statement.kind !== 'declare';
    this.pieces.push(isGated ? `IF ${this.gates.join(' AND ')}\n${text}` : text);
  }

  private statementText(statement: Statement): string {
    return `${this.reading(statement).slice(statement.start, statement.end).replace(/;\s*$/, '')};`;
  }

  private source(start: number, end: number): string {
    const { text, offset } = this.frame;
    return text.slice(offset + start, offset + end);
  }

  private reading(node: Node): Reading {
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

function isHarmlessInside(write: Write): boolean {
  return childrenOf(write).every(isHarmless);
}

function spoken(text: string): string {
  const words = text.trim().split(/\s+/).slice(0, 3).join(' ');
  return words.length <= 40 ? words : `${words.slice(0, 40)}…`;
}
