import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PanelActions, RunPanel } from '../../client/src/panel/run-panel.ts';
import { RunHistory } from '../../client/src/runs/history.ts';
import type { LoadTarget } from '../../client/src/runs/load-target.ts';
import { RunController } from '../../client/src/runs/run-controller.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { ExecutableLoad } from '../../protocol/requests.ts';
import type { RunError } from '../../protocol/run.ts';
import { doneResult, executable, FakeServer, fakeConnections, RecordedPage, ScriptedPrompts } from './fakes.ts';

const target: LoadTarget = { kind: 'text', uri: 'file:///w/a.sql', text: 'INSERT', line: 0, title: 'a.sql' };
const prod = {
  name: 'Prod',
  platform: 'sqlserver',
  server: 'dwh01',
  database: 'DW',
  user: 'loader',
  environment: 'prod',
  protected: true,
};

/** What the panel leaves to the extension; a test puts in what it wants to see called. */
const idle: PanelActions = {
  cancel: () => undefined,
  rerun: () => undefined,
  changeParameters: () => undefined,
  openSql: () => undefined,
  openFindOut: () => undefined,
  openChecksScript: () => undefined,
  endTransaction: () => undefined,
  searchKeys: () => undefined,
  chooseKey: () => undefined,
  saveMapping: () => undefined,
  copy: () => undefined,
  save: () => undefined,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mergewright-run-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function setUp(load: ExecutableLoad = executable(), ...answers: readonly unknown[]) {
  const prompts = new ScriptedPrompts(...answers);
  const parts = fakeConnections(prompts);
  const page = new RecordedPage();
  const history = new RunHistory(join(folder, 'history.jsonl'), () => 100);
  const server = new FakeServer({
    'mergewright/executable': ({ parameters }) => ({
      load: {
        ...load,
        missingParameters: load.parameters.flatMap(({ name, value, isRequired }) =>
          isRequired === true && (parameters[name] ?? value) === null ? [name] : [],
        ),
        parameters: load.parameters.map((parameter) => ({
          ...parameter,
          value: parameters[parameter.name] ?? parameter.value,
        })),
      },
      problems: [],
    }),
  });
  const shown: (readonly RunError[])[] = [];
  const panel = new RunPanel(page, () => history.entries());
  const runs = new RunController({
    ...parts,
    server,
    prompts,
    history,
    panel,
    problems: { show: (_, errors) => shown.push(errors), clear: () => undefined },
    notifyAfterSeconds: () => 10,
    sqlcmdVariables: (uri) => uri === target.uri,
  });
  return { ...parts, prompts, page, panel, history, server, runs, shown };
}

describe('a run', () => {
  test('sends the text of its connection, shows its counts and is written down', async () => {
    const { runs, page, history, server, sessions } = setUp();
    const result = await runs.start('run', target);
    expect(result?.status).toBe('done');
    expect(server.requests[0]?.params).toMatchObject({ platform: 'duckdb', text: 'INSERT', sqlcmdVariables: true });
    expect(sessions.opened[0]?.session.jobs).toMatchObject([
      { mode: 'run', batches: [{ text: 'INSERT INTO t SELECT 1' }] },
    ]);
    expect(page.run).toMatchObject({ status: 'done', counts: { inserted: 2 } });
    expect(await history.entries()).toMatchObject([{ status: 'done', counts: { inserted: 2 } }]);
  });

  test('a preview sends the preview, never the load', async () => {
    const { runs, sessions } = setUp();
    await runs.start('preview', target);
    expect(sessions.opened[0]?.session.jobs).toMatchObject([{ mode: 'preview', batches: [{ text: 'SELECT 1' }] }]);
  });

  test('a load that cannot be previewed says why', async () => {
    const { runs, prompts, sessions } = setUp(executable({ preview: null, previewRefusal: 'it runs dynamic SQL.' }));
    await runs.start('preview', target);
    expect(prompts.said).toEqual(['No preview: it runs dynamic SQL.']);
    expect(sessions.opened).toEqual([]);
  });

  test('its history entry is on disk before the first batch is sent', async () => {
    const { runs, history, sessions } = setUp();
    let seen: unknown;
    sessions.prepare = (session) => {
      session.end = async () => {
        seen = await history.entries();
        return doneResult;
      };
    };
    await runs.start('run', target);
    expect(seen).toMatchObject([{ status: null, title: 'a.sql' }]);
  });

  test('the session of a document is held for its next run, and a lost one is said to be replaced', async () => {
    const { runs, page, sessions } = setUp();
    await runs.start('run', target);
    await runs.start('run', target);
    expect(sessions.opened).toHaveLength(1);
    const first = sessions.opened[0]?.session;
    if (first !== undefined) first.isLost = true;
    await runs.start('run', target);
    expect(sessions.opened).toHaveLength(2);
    expect(page.run?.notes).toEqual(['The session before was lost; this run started a new one.']);
  });

  test('one run at a time each document', async () => {
    const { runs, prompts, sessions } = setUp();
    let finish: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    sessions.prepare = (session) => {
      session.end = async () => {
        await gate;
        return doneResult;
      };
    };
    const first = runs.start('run', target);
    await expect.poll(() => sessions.opened.length).toBe(1);
    await runs.start('run', target);
    expect(prompts.said.join()).toContain('still going on');
    runs.cancel();
    expect(sessions.opened[0]?.session.isCancelled).toBe(true);
    finish();
    await first;
    expect(runs.running).toBe(0);
  });

  test('an engine that cannot be reached fails the run and leaves the panel usable', async () => {
    const { runs, page, sessions, workbench } = setUp();
    sessions.open = () => Promise.reject(new Error('connection refused'));
    await runs.start('run', target);
    expect(page.run).toMatchObject({
      state: 'finished',
      status: 'failed',
      errors: [{ message: 'connection refused' }],
    });
    expect(workbench.contexts.get('mergewright.running')).toBe(false);
  });

  test('errors of a text go to its document, those of a selection to its own lines', async () => {
    const { runs, sessions, shown } = setUp();
    const error = { code: '208', message: 'Invalid object', batch: 0, line: 7 };
    sessions.prepare = (session) => {
      session.end = () => ({ ...doneResult, status: 'failed', counts: unknownCounts, error });
    };
    await runs.start('run', { ...target, line: 5 });
    expect(sessions.opened[0]?.session.jobs[0]?.batches[0]?.line).toBe(5);
    expect(shown).toEqual([[error]]);
  });
});

describe('a run whose end nobody saw', () => {
  const lost = { ...doneResult, status: 'unknown', counts: unknownCounts } as const;
  const unknownRun = (load: ExecutableLoad) => {
    const parts = setUp(load);
    parts.sessions.prepare = (session) => {
      session.end = () => lost;
    };
    return parts;
  };

  test('has no counts, and opens the query that finds out', async () => {
    const { runs, page, panel, history } = unknownRun(executable({ findOut: 'SELECT 1 AS newest' }));
    const opened: string[] = [];
    panel.connect({ ...idle, openFindOut: (query) => opened.push(query) });
    await runs.start('run', target);
    expect(page.run).toMatchObject({ status: 'unknown', counts: null, canFindOut: true });
    page.ask({ kind: 'find-out' });
    expect(opened).toEqual([
      expect.stringMatching(/^-- The run began at \d{4}-\d\d-\d\d [\d:]{8} UTC by the clock .*\nSELECT 1 AS newest$/),
    ]);
    expect(await history.entries()).toMatchObject([{ status: 'unknown', counts: null }]);
  });

  test('has none where nobody can tell what was written, and no run of another end has one', async () => {
    const procedure = unknownRun(executable({ findOut: null }));
    await procedure.runs.start('run', target);
    expect(procedure.page.run).toMatchObject({ status: 'unknown', canFindOut: false });
    const done = setUp(executable({ findOut: 'SELECT 1 AS newest' }));
    await done.runs.start('run', target);
    expect(done.page.run).toMatchObject({ status: 'done', canFindOut: false });
  });
});

describe('a transaction that a run left open', () => {
  const leftOpen = async () => {
    const parts = setUp();
    parts.sessions.prepare = (session) => {
      session.end = () => {
        session.openTransaction = true;
        return doneResult;
      };
    };
    await parts.runs.start('run', target);
    const session = parts.sessions.opened[0]?.session;
    if (session === undefined) throw new Error('no session');
    expect(parts.page.run?.openTransaction).toBe(true);
    return { ...parts, session };
  };

  test('is committed once, and the buttons go', async () => {
    const { runs, page, session } = await leftOpen();
    await Promise.all([runs.endTransaction('commit'), runs.endTransaction('rollback')]);
    expect(session.ended).toEqual(['commit']);
    expect(page.run).toMatchObject({ openTransaction: false, notes: ['The transaction was committed.'] });
  });

  test('that could not be ended keeps its buttons', async () => {
    const { runs, page, session } = await leftOpen();
    session.endTransaction = () => Promise.reject(new Error('deadlock'));
    await expect(runs.endTransaction('commit')).rejects.toThrow('deadlock');
    expect(page.run).toMatchObject({ openTransaction: true, notes: [] });
  });

  test('and that the connection took with it has none, and it is said', async () => {
    const { runs, page, session, connections } = await leftOpen();
    connections.onChange(() => runs.sessionsChanged());
    session.isLost = true;
    connections.refresh();
    expect(page.run).toMatchObject({
      openTransaction: false,
      notes: ['The connection is closed: the server has rolled back the transaction that was open.'],
    });
  });

  test('is no longer offered when a later run ended it', async () => {
    const { runs, page, session } = await leftOpen();
    session.end = () => {
      session.openTransaction = false;
      return doneResult;
    };
    await runs.start('run', target);
    expect(page.run?.openTransaction).toBe(false);
    await runs.endTransaction('rollback');
    expect(session.ended).toEqual([]);
  });

  test('keeps its session when the document is closed', async () => {
    const { runs, page, session } = await leftOpen();
    await runs.documentClosed(target.uri);
    expect(session.isClosed).toBe(false);
    expect(page.run?.openTransaction).toBe(true);
  });
});

describe('a dry run', () => {
  test('sends the text of the load to be rolled back, and is written down as what it is', async () => {
    const { runs, page, history, sessions } = setUp(executable({ dryRunRefusal: null }));
    await runs.start('dry-run', target);
    expect(sessions.opened[0]?.session.jobs).toEqual([
      { mode: 'run', batches: [{ text: 'INSERT INTO t SELECT 1', line: 0 }], isDryRun: true },
    ]);
    expect(page.run).toMatchObject({ mode: 'dry-run', status: 'done', canDryRun: true });
    expect(await history.entries()).toMatchObject([{ mode: 'dry-run', status: 'done' }]);
  });

  test('of a text that would end its transaction is refused in words, and not offered', async () => {
    const refusal = 'A dry run refuses EXEC, since what it runs may commit: EXEC dw.Load';
    const { runs, page, prompts, sessions } = setUp(executable({ dryRunRefusal: refusal }));
    await runs.start('dry-run', target);
    expect(prompts.said).toEqual([refusal]);
    expect(sessions.opened).toEqual([]);
    await runs.start('run', target);
    expect(page.run).toMatchObject({ status: 'done', canDryRun: false });
  });

  test('asks on a protected connection', async () => {
    const { runs, settings, sessions, prompts } = setUp(executable({ dryRunRefusal: null }), 'pw', false);
    settings.user = [prod];
    settings.name = 'Prod';
    await runs.start('dry-run', target);
    expect(prompts.asked.at(-1)).toMatch(
      /^Run and roll back on the protected connection "Prod"\?[\s\S]*ROLLBACK after it/,
    );
    expect(sessions.opened[0]?.session.jobs).toEqual([]);
  });

  test('is no way around a read-only connection', async () => {
    const { runs, settings, sessions, prompts } = setUp(executable({ dryRunRefusal: null }));
    settings.user = [{ ...prod, readOnly: true }];
    settings.name = 'Prod';
    await runs.start('dry-run', target);
    expect(prompts.said.join()).toContain('read-only');
    expect(sessions.opened).toEqual([]);
  });
});

describe('what stands before a run', () => {
  test('an untrusted workspace runs nothing', async () => {
    const { runs, workbench, server, prompts } = setUp();
    workbench.isTrustedNow = false;
    await runs.start('run', target);
    expect(server.requests).toEqual([]);
    expect(prompts.said.join()).toContain('trusted');
  });

  test('a protected connection asks with server, database, login, environment, parameters and SQL', async () => {
    const parameter = { name: 'LoadProcess', type: 'varchar(255)', value: 'nightly', description: '' };
    const { runs, prompts, settings, vault, connections, sessions, page } = setUp(
      executable({ parameters: [parameter] }),
      'pw',
      false,
    );
    settings.user = [prod];
    settings.name = 'Prod';
    await runs.start('run', target);
    const question = prompts.asked.at(-1) ?? '';
    for (const part of ['"Prod"', 'dwh01', 'DW', 'loader', 'prod', 'LoadProcess = nightly', 'INSERT INTO t SELECT 1']) {
      expect(question).toContain(part);
    }
    expect(sessions.opened[0]?.session.jobs).toEqual([]);
    expect(page.run?.status).toBe('cancelled');
    expect([...vault.secrets.values()]).toEqual(['pw']);
    expect(connections.isConnected(target.uri)).toBe(true);
  });

  test('yes to the question runs it; a preview does not ask', async () => {
    const { runs, settings, sessions } = setUp(executable(), 'pw', true);
    settings.user = [prod];
    settings.name = 'Prod';
    await runs.start('preview', target);
    await runs.start('run', target);
    expect(sessions.opened[0]?.session.jobs.map((job) => job.mode)).toEqual(['preview', 'run']);
  });

  test('a read-only connection refuses what is not proved to be a read', async () => {
    const { runs, settings, sessions, prompts } = setUp();
    settings.user = [{ ...prod, readOnly: true }];
    settings.name = 'Prod';
    await runs.start('run', target);
    expect(sessions.opened).toEqual([]);
    expect(prompts.said.join()).toContain('read-only');
  });

  test('a parameter without a value is asked for, and remembered', async () => {
    const parameter = { name: 'LoadProcess', type: 'varchar(255)', value: null, description: 'Name of the process' };
    const { runs, prompts, page } = setUp(
      executable({ parameters: [parameter] }),
      'LoadProcess',
      'nightly',
      'Use these values',
    );
    await runs.start('run', target);
    expect(page.run?.parameters).toMatchObject([{ name: 'LoadProcess', value: 'nightly' }]);
    await runs.start('run', target);
    expect(prompts.asked).toHaveLength(3);
  });

  test('a parameter that must have a value is asked for until it has one, and nothing is sent before', async () => {
    const parameter = { name: 'RecordSource', type: 'varchar(20)', value: null, description: '', isRequired: true };
    const { runs, prompts, sessions } = setUp(
      executable({ parameters: [parameter] }),
      'Use these values',
      'RecordSource',
      'EMED',
      'Use these values',
    );
    await runs.start('preview', target);
    expect(prompts.said.join()).toContain('Nothing was sent: RecordSource must have a value');
    expect(sessions.opened).toEqual([]);
    await runs.start('preview', target);
    expect(sessions.opened[0]?.session.jobs.map((job) => job.mode)).toEqual(['preview']);
  });
});

describe('a document that is closed', () => {
  test('takes its session with it, and a later run opens another', async () => {
    const { runs, sessions, connections } = setUp();
    await runs.start('run', target);
    await runs.documentClosed(target.uri);
    expect(sessions.opened[0]?.session.isClosed).toBe(true);
    expect(connections.isConnected(target.uri)).toBe(false);
    await runs.start('run', target);
    expect(sessions.opened).toHaveLength(2);
  });

  test('leaves the session of a run that is going on alone', async () => {
    const { runs, sessions } = setUp();
    sessions.prepare = (session) => {
      session.end = async () => {
        await runs.documentClosed(target.uri);
        expect(session.isClosed).toBe(false);
        return doneResult;
      };
    };
    expect((await runs.start('run', target))?.status).toBe('done');
  });
});
