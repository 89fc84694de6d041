import { totalmem } from 'node:os';
import {
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBResult,
  ResultReturnType,
  StatementType,
} from '@duckdb/node-api';
import type { TableName } from '../../../protocol/catalog.ts';
import type { ConnectionSettings } from '../../../protocol/connection.ts';
import type { DescribedTable, ListedTable } from '../../../protocol/runner-process.ts';
import { memoryFile } from '../connection-text.ts';
import { describeDuckdb, listDuckdb } from '../describe/duckdb.ts';
import {
  type BatchEnd,
  type BatchHandlers,
  type Driver,
  type EngineError,
  guardCode,
  type Session,
  type SessionFacts,
} from '../session.ts';
import { type OpenFile, openFile, quoted } from './duckdb-files.ts';
import { cellOf, typeName } from './duckdb-values.ts';

/** The embedded engine: a database file, or one in memory that ends with its session. */
export const duckdbDriver: Driver = {
  async open(settings: ConnectionSettings): Promise<Session> {
    const file = settings.file ?? memoryFile;
    const opened = await openFile(file, settings.isReadOnly);
    try {
      const connection = await opened.connect();
      const session = new DuckdbSession(opened, connection);
      await session.prepare();
      return session;
    } catch (error) {
      opened.release();
      throw error;
    }
  },
};

/** Milliseconds between two interrupts. */
const interruptInterval = 50;

/**
 * Runs a text statement by statement, as the engine itself splits it. Statements that succeed begin and end transactions,
 * so whether one is open is known without a query.
 */
class DuckdbSession implements Session {
  readonly #file: OpenFile;
  readonly #connection: DuckDBConnection;
  /** The database of the file itself, beside the attached ones. */
  #main = '';
  #database = '';
  #version = '';
  #isLimited: boolean;
  #isRunning = false;
  #ended: Promise<BatchEnd> | undefined;
  #isCancelled = false;
  #interrupts: NodeJS.Timeout | undefined;
  #isClosed = false;
  #dropped: string | null = null;
  #commits = 0;
  #writes = 0;
  readonly lost: Promise<string>;
  #tellLost: (reason: string) => void = () => undefined;
  inTransaction = false;

  constructor(file: OpenFile, connection: DuckDBConnection) {
    this.#file = file;
    this.#connection = connection;
    this.#isLimited = file.hasMemoryLimit;
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
  }

  async prepare(): Promise<void> {
    await this.#connection.run("SET TimeZone = 'UTC'");
    await this.#readDatabase();
    this.#main = this.#database;
    const version = await this.#connection.runAndReadAll('SELECT version()');
    this.#version = String(version.getRows()[0]?.[0] ?? '');
  }

  get facts(): SessionFacts {
    return {
      platform: 'duckdb',
      server: null,
      database: this.#database,
      login: null,
      about: [`DuckDB ${this.#version}`, 'embedded, no network'],
      warnings: [],
    };
  }

  get isLost(): boolean {
    return this.#isClosed;
  }

  execute(text: string, handlers: BatchHandlers): Promise<BatchEnd> {
    const end = this.#execute(text, handlers);
    this.#ended = end;
    return end;
  }

  async #execute(text: string, handlers: BatchHandlers): Promise<BatchEnd> {
    if (this.#isClosed) return { kind: 'lost', reason: this.#dropped ?? 'The session is closed.', sent: false };
    this.#isCancelled = false;
    this.#commits = 0;
    this.#writes = 0;
    this.#isRunning = true;
    const wasInTransaction = this.inTransaction;
    try {
      await this.#runAll(text, handlers);
      return this.#isCancelled ? this.#cancelled(wasInTransaction) : { kind: 'finished' };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#dropped !== null) return { kind: 'lost', reason: this.#dropped, sent: true };
      if (this.#isCancelled && /^INTERRUPT Error/i.test(message)) return this.#cancelled(wasInTransaction);
      handlers.error(engineError(message));
      return { kind: 'finished' };
    } finally {
      this.#isRunning = false;
      clearInterval(this.#interrupts);
      this.#interrupts = undefined;
    }
  }

  /** An interrupt that comes before a statement has begun is forgotten by the engine, so it is repeated until the end. */
  cancel(): void {
    if (!this.#isRunning) return;
    this.#isCancelled = true;
    this.#connection.interrupt();
    this.#interrupts ??= setInterval(() => this.#connection.interrupt(), interruptInterval);
  }

  drop(reason: string): void {
    this.#dropped = reason;
    this.cancel();
  }

  /** The share of the machine's memory that the engine itself would take. RESET would change what it shows only. */
  async liftLimits(): Promise<boolean> {
    if (!this.#isLimited) return false;
    this.#isLimited = false;
    await this.#connection.run(`SET memory_limit = '${Math.floor((totalmem() * 0.8) / 2 ** 20)}MiB'`);
    return true;
  }

  async endTransaction(action: 'commit' | 'rollback'): Promise<void> {
    if (!this.inTransaction) return;
    await this.#connection.run(action === 'commit' ? 'COMMIT' : 'ROLLBACK');
    this.inTransaction = false;
  }

  async changeDatabase(name: string): Promise<void> {
    await this.#connection.run(`USE ${quoted(name)}`);
    await this.#readDatabase();
  }

  tables(): Promise<readonly ListedTable[]> {
    return listDuckdb(this, this.#main);
  }

  describe(tables: readonly TableName[]): Promise<readonly DescribedTable[]> {
    return describeDuckdb(this, this.#main, tables);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The engine must not lose a connection under a running statement.
    if (this.#isRunning) this.drop('The session was closed.');
    await this.#ended;
    if (this.inTransaction) await this.#connection.run('ROLLBACK').catch(() => undefined);
    this.#connection.closeSync();
    this.#file.release();
    this.#tellLost(this.#dropped ?? 'The session was closed.');
  }

  async #runAll(text: string, handlers: BatchHandlers): Promise<void> {
    if (isBlank(text)) return;
    const statements = await this.#connection.extractStatements(text);
    for (let index = 0; index < statements.count && !this.#isCancelled; index += 1) {
      const statement = await statements.prepare(index);
      try {
        await this.#run(statement, handlers);
      } finally {
        statement.destroySync();
      }
    }
  }

  async #run(statement: DuckDBPreparedStatement, handlers: BatchHandlers): Promise<void> {
    const type = statement.statementType;
    let result: DuckDBResult;
    try {
      result = await statement.stream();
      if (result.returnType === ResultReturnType.QUERY_RESULT) await hand(result, handlers);
    } catch (error) {
      // A commit that fails has rolled its transaction back.
      if (type === StatementType.TRANSACTION && String(error).includes('Failed to commit')) this.inTransaction = false;
      throw error;
    }
    if (type === StatementType.TRANSACTION) {
      this.inTransaction = !this.inTransaction;
      if (!this.inTransaction) this.#commits += 1;
    } else if (type !== StatementType.SELECT) this.#writes += 1;
    if (type === StatementType.SET || type === StatementType.LOGICAL_PLAN) await this.#readDatabase();
  }

  #cancelled(wasInTransaction: boolean): BatchEnd {
    if (this.#commits > 0) return { kind: 'cancelled', effect: 'committed' };
    const isPartly = !wasInTransaction && !this.inTransaction && this.#writes > 0;
    return { kind: 'cancelled', effect: isPartly ? 'partly' : 'rolled-back' };
  }

  async #readDatabase(): Promise<void> {
    const reader = await this.#connection.runAndReadAll('SELECT current_database()').catch(() => undefined);
    this.#database = String(reader?.getRows()[0]?.[0] ?? this.#database);
  }
}

async function hand(result: DuckDBResult, handlers: BatchHandlers): Promise<void> {
  const types = result.columnTypes();
  handlers.columns(
    result.columnNames().map((name, index) => ({ name, type: typeName(types[index] ?? result.columnType(index)) })),
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    handlers.rows(chunk.getRows().map((row) => row.map(cellOf)));
  }
}

function isBlank(text: string): boolean {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').replace(/[\s;]/g, '') === '';
}

/** The engine's message without the prefix that `error()` gets, and without the excerpt that shows the line. */
function engineError(text: string): EngineError {
  const message = text.replace(/^Failed to extract statements: /, '');
  const line = /\n\s*LINE (\d+):/.exec(message)?.[1];
  const [summary = message] = message.split(/\n\s*LINE \d+:/);
  const [, name = 'engine', rest = summary] = /^([A-Za-z][A-Za-z ]*? Error): ([\s\S]*)$/.exec(summary) ?? [];
  const own = (name === 'Invalid Input Error' ? rest : summary).trim().replace(/\s*\n\s*/g, ' ');
  const shown = takenLock(name, own) ?? own;
  return { code: guardCode(shown) ?? name, message: shown, line: line === undefined ? null : Number(line) - 1 };
}

/**
 * What a load says that meets the lock of another one: the lock is a table, so the engine speaks of its name only, once
 * another transaction has made it (a conflict) or it stands there (it exists). Null for all other errors.
 */
function takenLock(name: string, message: string): string | null {
  if (!/^Catalog Error$|^TransactionContext Error$/.test(name) || !/already exists|conflict on create/.test(message))
    return null;
  const [, target] = /(?:["\0]|\\0)([^"\\\0]+)_load_is_running"/.exec(message) ?? [];
  if (target === undefined) return null;
  return `concurrent_load: a load of ${target} is running, or one that was ended has left its lock; where none is running, drop the table ${target}_load_is_running`;
}
