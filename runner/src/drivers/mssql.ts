import { type Connection, Request } from 'tedious';
import type { TableName } from '../../../protocol/catalog.ts';
import type { ConnectionSettings } from '../../../protocol/connection.ts';
import type { CellValue } from '../../../protocol/run.ts';
import type { DescribedTable, ListedTable } from '../../../protocol/runner-process.ts';
import { lineOfCall } from '../commit.ts';
import { describeMssql, listMssql, quoted } from '../describe/mssql.ts';
import { onUncaught } from '../faults.ts';
import { query, queryRows } from '../queries.ts';
import {
  type BatchEnd,
  type BatchHandlers,
  ConnectionError,
  type Driver,
  guardCode,
  type Session,
  type SessionFacts,
  UnreachableError,
} from '../session.ts';
import { connect } from './mssql-connect.ts';
import { productWarnings } from './mssql-product.ts';
import { type ColumnReader, type ColumnShape, columnReader } from './mssql-values.ts';

/** SQL Server, Azure SQL, Synapse and Fabric: one held connection of `tedious`, never a pool. */
export const mssqlDriver: Driver = {
  async open(settings: ConnectionSettings, secret: string | null, signal: AbortSignal): Promise<Session> {
    const session = new MssqlSession(settings);
    await session.connect(secret, signal);
    return session;
  },
};

/** Messages that say "database changed" and "language changed"; the driver tells them by events. */
const unspoken = new Set([5701, 5703]);
/** Milliseconds in which what was read before a loss is heard to its end. */
const afterLoss = 1000;
/** Rows handed over at once. */
const chunkRows = 1000;

/** What a batch's answer said so far. */
interface Running {
  readonly finish: (end: BatchEnd) => void;
  isCancelled: boolean;
  begun: boolean;
  committed: boolean;
  rolledBack: boolean;
  /** A statement that counted rows ended the answer. */
  hasEnded: boolean;
}

class MssqlSession implements Session {
  readonly #settings: ConnectionSettings;
  readonly lost: Promise<string>;
  #connection: Connection | undefined;
  #running: Running | null = null;
  #request: Request | null = null;
  #handlers: BatchHandlers | null = null;
  #lostReason: string | null = null;
  #tellLost: (reason: string) => void = () => undefined;
  #facts: SessionFacts;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    this.#facts = {
      platform: settings.platform,
      server: settings.server,
      database: settings.database,
      login: settings.user,
      about: [],
      warnings: [],
    };
  }

  async connect(secret: string | null, signal: AbortSignal): Promise<void> {
    const connection = await connect(this.#settings, secret, signal, (fresh) => this.#listen(fresh));
    this.#connection = connection;
    const stop = onUncaught((error) => this.#lose(`The server sent something that is no TDS (${error.message}).`));
    // Packets that are read already may still throw after the loss.
    void this.lost.then(() => setTimeout(stop, afterLoss).unref());
    connection.on('error', (error) => this.#lose(lossOf(error)));
    connection.on('end', () => this.#lose('The connection was closed by the server.'));
    const deadline = setTimeout(
      () => this.#lose('The server did not say what it is.'),
      this.#settings.connectTimeoutSeconds * 1000,
    );
    try {
      await this.#readFacts();
    } catch (error) {
      this.#lose('The connection was given up.');
      if (signal.aborted) throw new ConnectionError('Connecting was cancelled.');
      throw new UnreachableError(
        `${this.#settings.server} answered the login but not the first query: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      clearTimeout(deadline);
    }
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get isLost(): boolean {
    return this.#lostReason !== null;
  }

  get inTransaction(): boolean {
    return this.#lostReason === null && this.#connection?.inTransaction === true;
  }

  execute(text: string, handlers: BatchHandlers): Promise<BatchEnd> {
    const connection = this.#connection;
    if (this.#lostReason !== null || connection === undefined)
      return Promise.resolve({ kind: 'lost', reason: this.#lostReason ?? 'Not connected.', sent: false });
    return new Promise((resolve) => {
      const running: Running = {
        finish: resolve,
        isCancelled: false,
        begun: false,
        committed: false,
        rolledBack: false,
        hasEnded: false,
      };
      const wasInTransaction = connection.inTransaction;
      const gather = new RowGatherer(handlers);
      const request = new Request(text, (error) => {
        gather.flush();
        this.#end(running, endOf(running, error, wasInTransaction, connection.inTransaction));
      });
      request.on('columnMetadata', (columns: unknown) => gather.begin(columns));
      request.on('row', (row: unknown) => gather.add(row));
      request.on('done', () => gather.flush());
      request.on('doneInProc', () => gather.flush());
      this.#running = running;
      this.#request = request;
      this.#handlers = handlers;
      connection.execSqlBatch(request);
    });
  }

  cancel(): void {
    if (this.#running === null || this.#request === null) return;
    this.#running.isCancelled = true;
    this.#request.cancel();
  }

  drop(reason: string): void {
    this.#lose(reason);
  }

  async liftLimits(): Promise<boolean> {
    return false;
  }

  async endTransaction(action: 'commit' | 'rollback'): Promise<void> {
    if (this.inTransaction) await query(this, action === 'commit' ? 'COMMIT TRANSACTION' : 'ROLLBACK TRANSACTION');
  }

  async changeDatabase(name: string): Promise<void> {
    await query(this, `USE ${quoted(name)}`);
  }

  tables(): Promise<readonly ListedTable[]> {
    return listMssql(this);
  }

  describe(tables: readonly TableName[]): Promise<readonly DescribedTable[]> {
    return describeMssql(this, tables);
  }

  async close(): Promise<void> {
    this.#lose('The session was closed.');
  }

  /** Before the connection connects: the login says its database too. */
  #listen(connection: Connection): void {
    connection.on('databaseChange', (database) => {
      this.#facts = { ...this.#facts, database };
    });
    connection.on('infoMessage', ({ number, message, lineNumber }) => {
      if (!unspoken.has(number)) this.#handlers?.message(message, lineNumber > 0 ? lineNumber - 1 : null);
    });
    connection.on('errorMessage', ({ number, message, lineNumber, procName }) => {
      const code = guardCode(message) ?? String(number);
      if (procName === '') {
        this.#handlers?.error({ code, message, line: lineNumber > 0 ? lineNumber - 1 : null });
        return;
      }
      const line = this.#request === null ? null : lineOfCall(this.#request.sqlTextOrProcedure ?? '', procName);
      this.#handlers?.error({ code, message: `${message} (procedure ${procName}, line ${lineNumber})`, line });
    });
    // Every token passes here, also those that the driver swallows after a cancel. A COMMIT is told nowhere else.
    connection.debug.token = (token) => this.#watch(token);
  }

  #watch(token: object): void {
    const running = this.#running;
    if (running === null || !('name' in token)) return;
    if (token.name === 'ENVCHANGE' && 'type' in token) {
      if (token.type === 'BEGIN_TXN') running.begun = true;
      if (token.type === 'COMMIT_TXN') running.committed = true;
      if (token.type === 'ROLLBACK_TXN') running.rolledBack = true;
    }
    if (token.name === 'DONE' && 'attention' in token && 'more' in token && 'rowCount' in token)
      running.hasEnded ||= !token.attention && !token.more && token.rowCount !== undefined;
  }

  #end(running: Running, end: BatchEnd): void {
    if (this.#running !== running) return;
    this.#running = null;
    this.#request = null;
    this.#handlers = null;
    if (end.kind === 'lost') this.#lose(end.reason);
    running.finish(end);
  }

  /** The session is gone: what runs ends as lost, and the socket is closed. */
  #lose(reason: string): void {
    if (this.#lostReason !== null) return;
    this.#lostReason = reason;
    const running = this.#running;
    this.#running = null;
    this.#request = null;
    this.#handlers = null;
    this.#connection?.close();
    running?.finish({ kind: 'lost', reason, sent: true });
    this.#tellLost(reason);
  }

  async #readFacts(): Promise<void> {
    const [row = []] = await queryRows(this, factsQuery);
    const [server, database, login, version, edition, product, engine] = row.map((value) => String(value ?? ''));
    const encryption =
      this.#settings.encrypt === 'strict'
        ? 'encrypted (TDS 8)'
        : this.#settings.encrypt === 'true'
          ? 'encrypted'
          : 'not encrypted';
    this.#facts = {
      platform: this.#settings.platform,
      server: server === '' || server === undefined ? this.#settings.server : server,
      database: database ?? null,
      login: login ?? null,
      about: [
        [product?.split('\n')[0]?.trim() ?? '', version ?? '', edition ?? ''].filter((part) => part !== '').join(' · '),
        encryption,
      ].filter((part) => part !== ''),
      warnings: productWarnings(this.#settings.platform, {
        engineEdition: Number(engine ?? 0),
        version: version ?? '',
        host: this.#settings.server ?? '',
      }),
    };
  }
}

/** Says where the session really is; accepted by every member of the family. */
export const factsQuery = `SELECT CAST(SERVERPROPERTY('ServerName') AS nvarchar(256)), DB_NAME(), SUSER_SNAME(),
  CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), CAST(SERVERPROPERTY('Edition') AS nvarchar(128)), @@VERSION,
  CAST(SERVERPROPERTY('EngineEdition') AS int)`;

/** Rows come one by one; they are handed over in chunks. */
class RowGatherer {
  readonly #handlers: BatchHandlers;
  #readers: readonly ColumnReader[] = [];
  #rows: (readonly CellValue[])[] = [];

  constructor(handlers: BatchHandlers) {
    this.#handlers = handlers;
  }

  begin(columns: unknown): void {
    this.flush();
    const shapes = Array.isArray(columns) ? columns.filter(isColumn) : [];
    this.#readers = shapes.map(columnReader);
    this.#handlers.columns(this.#readers.map(({ column }) => column));
  }

  add(row: unknown): void {
    if (!Array.isArray(row)) return;
    this.#rows.push(this.#readers.map(({ read }, index) => read(cellValue(row[index]))));
    if (this.#rows.length >= chunkRows) this.flush();
  }

  flush(): void {
    if (this.#rows.length === 0) return;
    this.#handlers.rows(this.#rows);
    this.#rows = [];
  }
}

function isColumn(value: unknown): value is ColumnShape {
  return typeof value === 'object' && value !== null && 'colName' in value && 'type' in value;
}

function cellValue(cell: unknown): unknown {
  return typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : null;
}

/** How a request ended, by what the driver says and by what its tokens said. */
function endOf(running: Running, error: unknown, wasInTransaction: boolean, isInTransaction: boolean): BatchEnd {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECANCEL' || (running.isCancelled && (error === null || error === undefined || code === 'EREQUEST'))) {
    if (running.committed) return { kind: 'cancelled', effect: 'committed' };
    if (running.begun || running.rolledBack || (wasInTransaction && isInTransaction))
      return { kind: 'cancelled', effect: 'rolled-back' };
    return { kind: 'cancelled', effect: running.hasEnded ? 'committed' : 'partly' };
  }
  if (error === null || error === undefined || code === 'EREQUEST' || error instanceof AggregateError)
    return { kind: 'finished' };
  return { kind: 'lost', reason: lossOf(error), sent: code !== 'EINVALIDSTATE' };
}

function lossOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ETIMEOUT') return 'The server did not acknowledge the cancel, so the connection was dropped.';
  return `The connection was lost (${text.replace(/^Connection lost - /, '')}).`;
}
