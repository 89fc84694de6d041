import type { CatalogTable } from '../../../../protocol/catalog.ts';
import type { PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import type { Batch } from '../../../../protocol/run.ts';
import { nameFits } from '../../model/names.ts';
import { childrenOf, findAll, problemsOf, tableNameOf, unitsOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { DmlTable, Execute, If, Node, NodeBase, Script, Statement } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { allButLast, isEnding, isFailureTest, isGuard, isTemporary, lastOf } from './branches.ts';
import { targetReference } from './changes.ts';
import { type KnownTables, PreviewDraft } from './draft.ts';
import { NotFollowed, type NumberedEffect, type Write } from './effect.ts';
import { effectsOf } from './effects.ts';
import { emptied } from './inserts.ts';
import { keptOutput, outputNames, outputRows } from './outputs.ts';
import { quoted } from './print.ts';
import { calledText, givenBack, type KnownProcedure } from './procedures.ts';
import { throughQuery } from './through-query.ts';
import { untold } from './unknowns.ts';
import { isUpsert, upsertAsMerge } from './upserts.ts';
import { knownTable } from './values.ts';

/** Procedures that call each other are followed so deep. */
const deepestCall = 16;

/** Reads a script from its beginning to its end and writes down what a preview sends in its place. */
export class ScriptReader {
  /** Of the statement that is being read, in the file. */
  offset = 0;
  private readonly script: Script;
  private readonly tables: KnownTables;
  private readonly draft: PreviewDraft;
  private conditions = 0;
  /** Procedures that the script itself has made, the last one first. */
  private made: readonly KnownProcedure[] = [];
  private calls = 0;
  private depth = 0;
  /** Conditions around the batch or procedure as a whole. */
  private outerGates = 0;
  /** The batch or procedure has returned. */
  private hasReturned = false;

  constructor(script: Script, platform: PlatformName, tables: KnownTables, imaged: ReadonlySet<CatalogTable>) {
    this.script = script;
    this.tables = tables;
    this.draft = new PreviewDraft(script.text, platform, tables, imaged);
  }

  /** Tables that the script goes on with after it wrote to them, and that have no image in this reading. */
  get wanted(): ReadonlySet<CatalogTable> {
    return this.draft.wanted;
  }

  /** The batches of the preview; null where the script writes nothing. Throws `NotFollowed`. */
  plan(lineOf: (offset: number) => number): PreviewPlan | null {
    const batches: Batch[] = [];
    for (const batch of this.script.batches) {
      const repeat = batch.separator?.repeat ?? 1;
      if (repeat === 0 || batch.units.length === 0) continue;
      this.offset = batch.start;
      if (repeat > 1) throw new NotFollowed(`GO ${repeat} runs a batch more than once`, 0);
      this.draft.pieces = [];
      this.draft.gates = [];
      this.hasReturned = false;
      for (const unit of batch.units) {
        this.offset = unit.offset;
        this.draft.frame = { text: this.script.text, offset: unit.offset };
        this.statement(unit.statement);
      }
      if (this.draft.pieces.length > 0)
        batches.push({ text: this.draft.pieces.join('\n\n'), line: lineOf(batch.start) });
    }
    return this.draft.plan(batches);
  }

  private statement(statement: Statement): void {
    if (this.hasReturned) return;
    // Only the statement right behind a write finds its count.
    const { counted } = this.draft;
    this.follow(statement);
    if (this.draft.counted === counted && counted !== null) this.draft.counted = null;
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
        if (statement.table === null) this.draft.keep(statement);
        return;
      case 'declare-table':
        this.draft.own.add(statement.name);
        this.draft.pieces.push(this.draft.statementText(statement));
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
        this.draft.demandReadable(statement);
        if (statement.query !== null && !isHarmless(statement.query)) break;
        this.draft.own.add(tableNameOf(statement.name).table);
        this.draft.keep(statement);
        return;
      case 'if':
        this.branch(statement);
        return;
      case 'drop':
        if (!this.drop(statement)) break;
        return;
      case 'use':
        this.draft.keep(statement);
        return;
      case 'truncate':
        if (this.draft.own.has(tableNameOf(statement.table))) this.draft.keep(statement);
        else {
          this.draft.prepare(knownTable(statement.table, this.draft.reading(statement)), statement.table);
          this.draft.add([emptied(statement.table, this.draft.reading(statement))], null);
        }
        return;
      case 'create-procedure':
        this.made = [{ procedure: statement, ...this.draft.frame }, ...this.made];
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
      case 'while':
        throw new NotFollowed('WHILE goes round as often as the run decides, which is not followed', statement.start);
      default:
        break;
    }
    throw new NotFollowed(
      `${spoken(this.draft.source(statement.start, statement.end))} is not followed`,
      statement.start,
    );
  }

  private write(write: Write): void {
    const nested = findAll(write, 'dml-table')[0];
    if (nested !== undefined) {
      this.writeInside(write, nested);
      return;
    }
    this.draft.demandReadable(write, write.kind === 'insert' ? write.target : null);
    if (
      write.kind === 'insert' &&
      write.target.kind === 'table' &&
      isUpsert(write) &&
      !this.draft.own.isTarget(write)
    ) {
      const table = knownTable(write.target.name, this.draft.reading(write));
      this.readInstead(
        upsertAsMerge(write, table, ({ start, end }) => this.draft.source(start, end)),
        write,
      );
      return;
    }
    if (this.draft.own.isTarget(write)) {
      const leaks = write.output.some(
        ({ into }) => into?.kind === 'table' && !this.draft.own.has(tableNameOf(into.name)),
      );
      if (leaks || !isHarmlessInside(write)) throw new NotFollowed('a part of it may do more than read', write.start);
      this.draft.keep(write);
      this.draft.counted = 'kept';
      return;
    }
    const into = keptOutput(write.output, false);
    const effects = this.effectsOf(write, into !== undefined);
    if (into === undefined) return;
    const { counted } = this.draft;
    this.draft.writeOutput(into, effects);
    this.draft.counted = counted;
  }

  private effectsOf(write: Write, outputs: boolean): readonly NumberedEffect[] {
    const isChange = write.kind === 'update' || write.kind === 'delete';
    const named = isChange
      ? (throughQuery(write, this.draft.platform)?.inner ?? targetReference(write, this.draft.reading(write)))
      : null;
    const target = named ?? write.target;
    if (target.kind === 'table') {
      const table = this.tables.tableOf(tableNameOf(target.name));
      if (table !== undefined) this.draft.prepare(table, target.name, write.kind === 'insert');
    }
    const { effects, meeting } = effectsOf(write, outputs, this.draft.reading(write));
    return this.draft.add(effects, meeting);
  }

  /** `INSERT … SELECT … FROM (MERGE … OUTPUT …) AS m`: the inner write goes first, its rows take its place. */
  private writeInside(write: Write, nested: DmlTable): void {
    const inner = nested.statement;
    const output = keptOutput(inner.output, true);
    if (output === undefined) throw new NotFollowed('a write inside FROM gives no rows without OUTPUT', inner.start);
    this.draft.demandReadable(inner, inner.kind === 'insert' ? inner.target : null);
    const effects = this.effectsOf(inner, true);
    const table = effects[0]?.[1].table;
    const names =
      nested.columns.length > 0 || table === undefined
        ? nested.columns.map(({ name }) => name)
        : outputNames(output, table);
    const list = names.map((name) => quoted(name, this.draft.platform)).join(', ');
    const alias = quoted(nested.alias?.name ?? 'changes', this.draft.platform);
    const rows = `(\n${outputRows(effects, this.draft.platform)}\n) AS ${alias} (${list})`;
    const { text, offset } = this.draft.frame;
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
      const words = spoken(this.draft.source(call.start, call.end));
      throw new NotFollowed(
        `${words} is not followed: the text of the procedure is not known in this folder`,
        call.start,
      );
    }
    this.draft.demandReadable(call);
    this.draft.demandKnown(call);
    this.calls += 1;
    const text = calledText(call, known, this.calls, ({ start, end }) => this.draft.source(start, end));
    const { outerGates } = this;
    const { gates } = this.draft;
    this.outerGates = gates.length;
    this.depth += 1;
    this.readInstead(text, call);
    this.depth -= 1;
    this.draft.gates = gates;
    this.outerGates = outerGates;
    this.hasReturned = false;
    this.draft.counted = null;
    for (const name of givenBack(call)) this.draft.unknown.add(name.toLowerCase());
  }

  /** Reads a text in place of a statement, at whose line everything is that is said of it. */
  private readInstead(text: string, statement: NodeBase): void {
    const script = parse(text, { platform: this.draft.platform });
    const problem = problemsOf(script)[0];
    if (problem !== undefined) throw new NotFollowed(problem.message.replace(/\.$/, ''), statement.start);
    const { frame } = this.draft;
    try {
      for (const unit of unitsOf(script)) {
        this.draft.frame = { text, offset: unit.offset };
        this.statement(unit.statement);
      }
    } catch (error) {
      throw error instanceof NotFollowed ? new NotFollowed(error.message, statement.start) : error;
    } finally {
      this.draft.frame = frame;
    }
  }

  /** Reads are left out unless they give a variable a value or fill a temporary table. */
  private select(statement: Extract<Statement, { kind: 'select-statement' }>): void {
    const into = findAll(statement, 'select').find((each) => each.into !== null)?.into ?? null;
    if (into !== null) {
      const name = tableNameOf(into);
      if (!isTemporary(name)) throw new NotFollowed('SELECT … INTO makes a table', statement.start);
      this.draft.demandReadable(statement);
      this.draft.own.add(name.table);
      this.draft.keep(statement);
      this.draft.counted = 'kept';
      return;
    }
    if (findAll(statement, 'select-item').some((item) => item.assigns !== null)) this.keepRead(statement);
  }

  /** IF becomes a variable that the writes of its branches ask. */
  private branch(statement: If): void {
    const { condition, otherwise } = statement;
    if (isFailureTest(condition) && otherwise === null && isEnding(statement.then)) return;
    if (isGuard(statement.then) && otherwise === null && this.draft.gates.length === 0) {
      this.keepRead(statement, condition);
      return;
    }
    this.draft.demandReadable(condition);
    this.draft.demandKnown(condition);
    if (!isHarmless(condition)) throw new NotFollowed('a part of it may do more than read', condition.start);
    this.conditions += 1;
    const variable = `@mergewright_if_${this.conditions}`;
    const text = this.draft.reading(condition).slice(condition.start, condition.end);
    this.draft.pieces.push(`DECLARE ${variable} bit = CASE WHEN ${text} THEN 1 ELSE 0 END;`);
    this.draft.counted = null;
    const { gates } = this.draft;
    const end = lastOf(statement.then);
    const returns = findAll(statement, 'return').find((each) => each !== end);
    if (returns !== undefined) throw new NotFollowed('RETURN under several conditions is not followed', returns.start);
    if (end?.kind === 'return' && gates.length > this.outerGates)
      throw new NotFollowed('RETURN under several conditions is not followed', end.start);
    this.draft.gates = [...gates, `${variable} = 1`];
    if (end?.kind === 'return') this.statements(allButLast(statement.then));
    else this.statement(statement.then);
    this.draft.gates = [...gates, `${variable} = 0`];
    if (otherwise !== null) this.statement(otherwise);
    // What follows an IF that returns happens only when it did not.
    if (end?.kind !== 'return') this.draft.gates = gates;
  }

  private statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.statement(statement);
  }

  private keepRead(statement: Statement, read: Node = statement): void {
    this.draft.demandReadable(read);
    if (!isHarmless(read)) throw new NotFollowed('a part of it may do more than read', statement.start);
    const count = untold(read, this.draft.counted !== null);
    if (count === undefined) this.draft.keep(statement);
    else if (statement.kind !== 'set-variable' && statement.kind !== 'select-statement') {
      throw new NotFollowed(`${count.text} is not known before the run`, count.start);
    } else
      for (const { name } of findAll(statement, 'variable'))
        if (!name.startsWith('@@')) this.draft.unknown.add(name.toLowerCase());
  }

  /** Keeps a DROP of temporary tables; false when it drops anything else. */
  private drop(statement: Extract<Statement, { kind: 'drop' }>): boolean {
    const names = statement.names.map(tableNameOf);
    if (!names.every((name) => isTemporary(name) || this.draft.own.has(name))) return false;
    for (const { table } of names) this.draft.own.delete(table);
    this.draft.keep(statement);
    return true;
  }
}

function isHarmlessInside(write: Write): boolean {
  return childrenOf(write).every(isHarmless);
}

function spoken(text: string): string {
  const words = text.trim().split(/\s+/).slice(0, 3).join(' ');
  return words.length <= 40 ? words : `${words.slice(0, 40)}…`;
}
