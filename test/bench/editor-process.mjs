// A language server process with a client, what the benchmarks type into it, and how their rows are judged.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import { bare, judged, percentile } from './machine.mjs';

const server = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'server.cjs');

/** A server process with a client; `options` are Node's. */
export function launch(options = []) {
  const child = spawn(process.execPath, [...options, server, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const waiting = new Map();
  connection.onNotification('mergewright/indexing', (params) => waiting.get('indexing')?.(params));
  connection.onRequest(() => null);
  connection.listen();
  return {
    child,
    connection,
    indexed: new Promise((resolve) => waiting.set('indexing', resolve)),
    async initialize(root) {
      const uri = root === undefined ? null : pathToFileURL(root).href;
      const workspaceFolders = uri === null ? null : [{ uri, name: 'bench' }];
      const capabilities = { textDocument: { diagnostic: {} } };
      await connection.sendRequest('initialize', {
        processId: process.pid,
        rootUri: uri,
        workspaceFolders,
        capabilities,
      });
      await connection.sendNotification('initialized', {});
    },
    open: (uri, text) =>
      connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId: 'sql', version: 1, text },
      }),
    async stop() {
      connection.dispose();
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** Load statements that name the same tables as people's scripts do: about 60 bytes each. */
export function script(statements) {
  const lines = [
    'CREATE TABLE stg.Patient (patient_id int, city varchar(30), zip varchar(10))',
    'GO',
    'CREATE TABLE dw.Patient (patient_id int NOT NULL PRIMARY KEY, city varchar(30), zip varchar(10))',
    'GO',
  ];
  lines.push(
    ...plainStatements(statements),
    'MERGE dw.Patient WITH (HOLDLOCK) AS t USING stg.Patient AS s ON t.patient_id = s.patient_id',
    'WHEN MATCHED THEN UPDATE SET city = s.city;',
  );
  return lines.join('\n');
}

export function plainStatements(count) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? `UPDATE dw.Patient SET city = 'C${index}' WHERE patient_id = ${index};`
      : `DELETE FROM dw.Patient WHERE patient_id = ${index};`,
  );
}

/** Types and deletes one character, asking for diagnostics after each. */
export async function keystrokes(editor, uri, line, times) {
  let version = 1;
  return timed(times, (round) => {
    const typed = round % 2 === 0;
    const range = { start: { line, character: 0 }, end: { line, character: typed ? 0 : 1 } };
    version += 1;
    void editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ range, text: typed ? ' ' : '' }],
    });
    return editor.connection.sendRequest('textDocument/diagnostic', { textDocument: { uri } });
  });
}

/** Milliseconds of each round, after a tenth of them as a warm-up. */
export async function timed(rounds, work) {
  const times = [];
  const warmUp = Math.ceil(rounds / 5);
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const started = performance.now();
    await work(round);
    if (round >= warmUp) times.push(performance.now() - started);
  }
  return times;
}

/** The 95th percentile beside the same percentile of an empty request, which is what pipe and scheduler cost here. */
export function limitRow(name, times, floor, budget) {
  const ours = percentile(times, 0.95);
  const reference = floor === null ? bare : percentile(floor, 0.95);
  const own = floor === null ? ours : Math.max(0, ours - reference);
  return {
    name: `${name}, p95`,
    unit: 'ms',
    ours,
    reference,
    referenceName: floor === null ? 'bare Node' : 'an empty request',
    ratio: ours / reference,
    budget: `${budget} ms`,
    ...judged(own, budget),
  };
}
