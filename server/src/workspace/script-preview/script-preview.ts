import type { CatalogTable, TableName } from '../../../../protocol/catalog.ts';
import { isTsql, type PlatformName } from '../../../../protocol/platform.ts';
import type { PreviewPlan } from '../../../../protocol/preview.ts';
import type { Batch } from '../../../../protocol/run.ts';
import { sameIdentifier } from '../../model/names.ts';
import { childrenOf, findAll, lineStartsOf, positionOf, problemsOf, tableNameOf } from '../../syntax/inspect.ts';
import { parse } from '../../syntax/parse.ts';
import type { Node, NodeBase, Script, Statement } from '../../syntax/tree.ts';
import { isHarmless } from '../reads-only.ts';
import { type Effect, NotFollowed } from './effect.ts';
import { effectsOf, emptied, type Reading, type Write } from './effects.ts';
import { dropped, keptEffect, keptResults } from './print.ts';

/** What is known of the tables that a script names. */
export interface KnownTables {
  tableOf(name: TableName): CatalogTable | undefined;
  isView(table: CatalogTable): boolean;
}

/** A preview, or the sentence that says what of the script is not understood. */
export type ScriptPreview =
  | { readonly plan: PreviewPlan; readonly refusal: null }
  | { readonly plan: null; readonly refusal: string };

/**
 * The preview of a script of which only its text is known. Its reads, variables and temporary tables stay as they are;
 * each write becomes a query of the write's own pieces for the rows that it would change, kept in a temporary table of the
 * session. A script whose writes build on each other, or that branches, loops or calls, is refused.
 */
export function previewScript(text: string, platform: PlatformName, tables: KnownTables): ScriptPreview {
  if (platform !== 'duckdb' && !isTsql(platform)) {
    return refused(`a script for ${platform} without a specification in its header can't be previewed`);
  }
  const script = parse(text, { platform });
  const lineStarts = lineStartsOf(text);
  const problem = problemsOf(script)[0];
  if (problem !== undefined) {
    return refused(
      `line ${positionOf(lineStarts, problem.start).line + 1} can't be read: ${problem.message.replace(/\.$/, '')}`,
    );
  }
  const reader = new ScriptReader(script, platform, tables);
  try {
    const plan = reader.plan((offset) => positionOf(lineStarts, offset).line);
    return plan === null ? refused('the script writes to no table') : { plan, refusal: null };
  } catch (error) {
    if (!(error instanceof NotFollowed)) throw error;
    const { line } = positionOf(lineStarts, reader.offset + error.offset);
    return refused(`line ${line + 1}: ${error.message}`);
  }
}

function refused(why: string): ScriptPreview {
  return { plan: null, refusal: `What the script would change is not known before it runs: ${why}.` };
}

class ScriptReader {
  /** Of the statement that is being read, in the file. */
  offset = 0;
  private readonly script: Script;
  private readonly platform: PlatformName;
  private readonly tables: KnownTables;
  private readonly effects: Effect[] = [];
  private readonly written = new Set<CatalogTable>();
  /** Temporary tables and table variables of the script itself, lower case. */
  private readonly own = new Set<string>();
  /** Variables that hold what only the run can tell. */
  private readonly unknown = new Set<string>();
  private pieces: string[] = [];

  constructor(script: Script, platform: PlatformName, tables: KnownTables) {
    this.script = script;
    this.platform = platform;
    this.tables = tables;
  }

  plan(lineOf: (offset: number) => number): PreviewPlan | null {
    const batches: Batch[] = [];
    for (const batch of this.script.batches) {
      const repeat = batch.separator?.repeat ?? 1;
      if (repeat === 0 || batch.units.length === 0) continue;
      this.offset = batch.start;
      if (repeat > 1) throw new NotFollowed(`GO ${repeat} runs a batch more than once`, 0);
      this.pieces = [];
      for (const unit of batch.units) {
        this.offset = unit.offset;
        this.statement(unit.statement);
      }
      if (this.pieces.length > 0) batches.push({ text: this.pieces.join('\n\n'), line: lineOf(batch.start) });
    }
    if (this.effects.length === 0) return null;
    const drops = [...this.own].filter((name) => !name.startsWith('@')).map((name) => dropped(name, this.platform));
    const results = [...drops, keptResults(this.effects, this.platform)].join('\n');
    const last = batches.pop();
    return {
      batches: [...batches, { text: `${last?.text ?? ''}\n\n${results}\n`.trimStart(), line: last?.line ?? 0 }],
    };
  }

  private statement(statement: Statement): void {
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
        this.own.add(statement.name.toLowerCase());
        this.keep(statement);
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
        this.own.add(tableNameOf(statement.name).table.toLowerCase());
        this.keep(statement);
        return;
      case 'if':
        if (!isGuard(statement.then) || statement.otherwise !== null) break;
        this.keepRead(statement, statement.condition);
        return;
      case 'drop':
        if (!this.drop(statement)) break;
        return;
      case 'use':
        this.keep(statement);
        return;
      case 'truncate':
        this.truncate(statement);
        return;
      case 'print':
      case 'empty':
        return;
      default:
        break;
    }
    throw new NotFollowed(`${spoken(this.text(statement))} is not followed`, statement.start);
  }

  private write(write: Write): void {
    // New rows are the same whatever was written to their table before, as long as their query does not read it.
    this.demandReadable(write, write.kind === 'insert' ? write.target : null);
    if (this.isOwn(write)) {
      const leaks = write.output.some(({ into }) => into?.kind === 'table' && !this.isOwnName(tableNameOf(into.name)));
      if (leaks || !isHarmlessInside(write)) throw new NotFollowed('a part of it may do more than read', write.start);
      this.keep(write);
      return;
    }
    for (const effect of effectsOf(write, this.reading())) this.add(effect);
  }

  private truncate(statement: Extract<Statement, { kind: 'truncate' }>): void {
    if (this.isOwnName(tableNameOf(statement.table))) this.keep(statement);
    else this.add(emptied(statement.table, this.reading(), this.written));
  }

  private add(effect: Effect): void {
    this.pieces.push(keptEffect(effect, this.effects.length, this.platform));
    this.effects.push(effect);
    this.written.add(effect.table);
  }

  /** Reads are left out unless they give a variable a value or fill a temporary table. */
  private select(statement: Extract<Statement, { kind: 'select-statement' }>): void {
    const into = findAll(statement, 'select').find((each) => each.into !== null)?.into ?? null;
    if (into !== null) {
      const name = tableNameOf(into);
      if (!isTemporary(name)) throw new NotFollowed('SELECT … INTO makes a table', statement.start);
      this.demandReadable(statement);
      this.own.add(name.table.toLowerCase());
      this.keep(statement);
      return;
    }
    if (findAll(statement, 'select-item').some((item) => item.assigns !== null)) this.keepRead(statement);
  }

  private keepRead(statement: Statement, read: Node = statement): void {
    this.demandReadable(read);
    if (!isHarmless(read)) throw new NotFollowed('a part of it may do more than read', statement.start);
    const count = findAll(read, 'variable').find(({ name }) => /^@@(rowcount|identity)$/i.test(name));
    if (count === undefined) this.keep(statement);
    else if (statement.kind !== 'set-variable' && statement.kind !== 'select-statement') {
      throw new NotFollowed(`${count.name} is not known before the run`, count.start);
    } else
      for (const { name } of findAll(statement, 'variable'))
        if (!name.startsWith('@@')) this.unknown.add(name.toLowerCase());
  }

  /** A statement that reads what an earlier one of the script has written would see other rows in the preview. */
  private demandReadable(node: Node, target: Node | null = null): void {
    const lost = findAll(node, 'variable').find(({ name }) => this.unknown.has(name.toLowerCase()));
    if (lost !== undefined) throw new NotFollowed(`${lost.name} is not known before the run`, lost.start);
    if (this.written.size === 0) return;
    for (const reference of findAll(node, 'table')) {
      const name = tableNameOf(reference.name);
      if (reference === target || this.isOwnName(name)) continue;
      const table = this.tables.tableOf(name);
      if (table === undefined) continue;
      if (this.written.has(table)) {
        throw new NotFollowed(`it builds on what the script wrote to ${name.table} before`, reference.start);
      }
      if (this.tables.isView(table)) {
        throw new NotFollowed(`the view ${name.table} may show what the script wrote before`, reference.start);
      }
    }
  }

  private isOwn(write: Write): boolean {
    const { target } = write;
    if (target.kind === 'table-variable') return this.own.has(target.name.toLowerCase());
    if (target.kind !== 'table') return false;
    // A name may also be an alias of FROM or a common table.
    const aliases = [...findAll(write, 'table'), ...findAll(write, 'derived-table'), ...findAll(write, 'common-table')];
    const { table } = tableNameOf(target.name);
    const isAlias = aliases.some((each) => {
      const alias = each.kind === 'common-table' ? each.name : each.alias;
      return each !== target && alias !== null && sameIdentifier(alias.name, table);
    });
    return !isAlias && this.isOwnName(tableNameOf(target.name));
  }

  private isOwnName({ schema, table }: TableName): boolean {
    return (schema === null || table.startsWith('#')) && this.own.has(table.toLowerCase());
  }

  /** Keeps a DROP of temporary tables; false when it drops anything else. */
  private drop(statement: Extract<Statement, { kind: 'drop' }>): boolean {
    const names = statement.names.map(tableNameOf);
    if (!names.every((name) => isTemporary(name) || this.isOwnName(name))) return false;
    for (const { table } of names) this.own.delete(table.toLowerCase());
    this.keep(statement);
    return true;
  }

  private keep(statement: Statement): void {
    this.pieces.push(`${this.text(statement).replace(/;\s*$/, '')};`);
  }

  private text(node: NodeBase): string {
    return this.script.text.slice(this.offset + node.start, this.offset + node.end);
  }

  private reading(): Reading {
    const { offset, script, platform, tables } = this;
    return {
      platform,
      slice: (start, end) => script.text.slice(offset + start, offset + end),
      tableOf: (name) => tables.tableOf(name),
    };
  }
}

/** `IF … THROW`, `IF OBJECT_ID('tempdb..#t') IS NOT NULL DROP TABLE #t`: they stop a preview, or clear its way. */
function isGuard(statement: Statement): boolean {
  switch (statement.kind) {
    case 'throw':
    case 'raiserror':
    case 'print':
      return isHarmless(statement);
    case 'drop':
      return statement.names.every((name) => isTemporary(tableNameOf(name)));
    case 'block':
      return statement.statements.every(isGuard);
    default:
      return false;
  }
}

function isHarmlessInside(write: Write): boolean {
  return childrenOf(write).every(isHarmless);
}

function isTemporary({ table }: TableName): boolean {
  return table.startsWith('#') && !table.startsWith('##');
}

function spoken(text: string): string {
  const words = text.trim().split(/\s+/).slice(0, 3).join(' ');
  return words.length <= 40 ? words : `${words.slice(0, 40)}…`;
}
