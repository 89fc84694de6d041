/**
 * A T-SQL server for tests: it executes what the product generates and what a conformance run sends, behind TDS.
 *
 * It knows no more T-SQL than these texts use. What it does not know, and what would depend on the order of rows, is
 * error 49999, which nothing in the text can catch: extend the engine, never work around it. It keeps to the rules that
 * generated code is most likely to break: names and types are bound before a batch runs, as far as its tables are there;
 * comparisons follow collations and ignore trailing blanks; texts have lengths, in bytes of their code page; GROUP BY,
 * conversions, overflow, error classes, doomed transactions, temporary tables of procedures.
 */
import { type Answer, affected, begin, commit, done, error, print, rollback, rows } from '../tds/answers.ts';
import type { Step } from '../tds/reply.ts';
import { startTdsServer, type TdsServer, type TdsServerOptions } from '../tds/server.ts';
import type { SessionState as WireSession } from '../tds/session-state.ts';
import { Database, type ServerFacts } from './database.ts';
import { SqlError } from './errors.ts';
import { runBatch } from './execute.ts';
import { type OutputEvent, SessionState } from './session.ts';

/** The number of errors that say nothing of the text. */
const beyondEngine = 49_999;

export async function startTsqlServer(facts: ServerFacts, options: TdsServerOptions = {}): Promise<TdsServer> {
  const database = new Database(facts);
  const sessions = new Map<WireSession, SessionState>();
  return startTdsServer({
    ...options,
    handler: (request, wire): Answer | undefined => {
      if (request.kind !== 'batch') return undefined;
      if (request.sql.includes("SERVERPROPERTY('ServerName')")) return [itself(wire.database, facts)];
      const session = sessions.get(wire) ?? new SessionState(database);
      sessions.set(wire, session);
      return runBatch(session, request.sql).map(stepOf);
    },
  });
}

function itself(database: string, { version }: ServerFacts): Step {
  const columns = ['server', 'database', 'login', 'version', 'edition', 'product'].map(
    (name) => `${name} nvarchar(128)`,
  );
  return rows(columns, [
    ['TSQL-ENGINE', database, 'loader', String(version), 'Test Edition', 'T-SQL engine of the tests'],
  ]);
}

function stepOf(event: OutputEvent): Step {
  switch (event.kind) {
    case 'rows':
      return rows(event.columns, event.rows, { counted: event.counted });
    case 'count':
      return affected(event.count);
    case 'done':
      return done();
    case 'message':
      return print(event.text);
    case 'begin':
      return begin();
    case 'commit':
      return commit();
    case 'rollback':
      return rollback();
    case 'error': {
      const { error: of } = event;
      if (of instanceof SqlError)
        return error({ number: of.number, class: of.severity, state: of.state, text: of.message });
      return error({
        number: beyondEngine,
        class: 16,
        text: `The T-SQL engine of the tests does not know: ${of.message}`,
      });
    }
  }
}
