// Speaks the runner's side of the process protocol; what it does is told by the text of a batch.
const facts = {
  name: 'Stub',
  platform: 'duckdb',
  server: null,
  database: 'main',
  login: null,
  environment: 'embedded',
  isProtected: false,
  isReadOnly: false,
};
const description = { facts, about: ['stub'], isLost: false, openTransaction: false };
const counts = {
  inserted: 1,
  updated: null,
  expired: null,
  inactivated: null,
  deleted: null,
  unchanged: null,
  skipped: null,
};
const result = { status: 'done', counts, batches: [], warnings: [], error: null, elapsedMs: 1 };
const running = new Map();
const end = (id, change) =>
  process.send({
    kind: 'answer',
    id,
    value: { result: { ...result, ...change }, notes: [], openTransaction: false, description },
  });

process.on('message', (message) => {
  const { kind, id, session, params } = message;
  const answer = (value) => process.send({ kind: 'answer', id, value });
  if (kind === 'connect') {
    if (params.settings.name === 'refused') process.send({ kind: 'error', id, message: 'Login failed for user u.' });
    else answer({ ...description, facts: { ...facts, login: params.secret } });
  } else if (kind === 'run') {
    const [{ text }] = params.batches;
    if (text === 'die before') process.kill(process.pid, 'SIGKILL');
    process.send({ kind: 'event', session, event: { kind: 'batch-started', index: 0, of: 1, text } });
    if (text === 'die') setTimeout(() => process.kill(process.pid, 'SIGKILL'), 20);
    else if (text === 'wait') running.set(session, id);
    else end(id, {});
  } else if (kind === 'cancel') {
    end(running.get(session), { status: 'cancelled' });
  } else if (kind === 'changeDatabase') {
    answer({ ...description, facts: { ...facts, database: params.database } });
    process.send({ kind: 'session', session, description: { ...description, facts: { ...facts, database: 'told' } } });
  } else if (kind === 'query') {
    process.send({ kind: 'error', id, message: 'no such table' });
  } else answer(null);
});
