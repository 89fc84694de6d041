// The language server over stdio as an editor drives it: start, keystrokes, requests, large files, folders, memory.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import { bare, bareStart, feelSpeed, judged, median, percentile } from './machine.mjs';

const server = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'server.cjs');

const require = createRequire(import.meta.url);

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    return [
      ...(await startRows()),
      ...(await keystrokeRows()),
      ...(await largeRows()),
      ...(await folderRows(join(folder, 'files'))),
      ...(await tableRows(join(folder, 'tables'))),
      ...(await generateRows(join(folder, 'wide'))),
      ...(await memoryRows(join(folder, 'heap.txt'))),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The parsers from npm, with the milliseconds that they take for a script: each reads it from its start, as whatever is
 * built on it has to at every key. The generated one gets a tenth of the statements, times ten.
 */
async function rivalsOf(statements) {
  const { parse, Dialect } = await import('@polyglot-sql/sdk');
  const { Parser } = require('node-sql-parser/build/transactsql.js');
  const { SQLDialect, antlr4tsSQL } = require('antlr4ts-sql');
  const sql = new Parser();
  const antlr = new antlr4tsSQL(SQLDialect.TSQL);
  const whole = plainStatements(statements).join('\n');
  const tenth = plainStatements(statements / 10).join('\n');
  return [
    { name: 'node-sql-parser', ms: least(3, () => sql.astify(whole, { database: 'transactsql' })) },
    { name: '@polyglot-sql/sdk', ms: least(3, () => parse(whole, Dialect.TSQL)) },
    {
      name: 'antlr4ts-sql',
      ms: 10 * least(1, () => antlr.getParseTree(antlr.getParser(antlr.getTokens(tenth, []), []))),
    },
  ];
}

function least(runs, work) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const started = performance.now();
    work();
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

/** A server process with a client; `options` are Node's. */
function launch(options = []) {
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

async function startRows() {
  const ours = [];
  const alone = [];
  for (let round = 0; round < 7; round += 1) {
    const started = performance.now();
    const editor = launch();
    await editor.initialize();
    ours.push(performance.now() - started);
    await editor.stop();
    alone.push(await bareStart());
  }
  return [
    {
      name: 'server start to initialize answer',
      unit: 'ms',
      ours: median(ours),
      reference: median(alone),
      referenceName: 'bare Node',
      ratio: median(ours) / median(alone),
      budget: '220 ms',
      ...judged(median(ours), 220, median(alone)),
    },
  ];
}

/** Load statements that name the same tables as people's scripts do: about 60 bytes each. */
function script(statements) {
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

function plainStatements(count) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? `UPDATE dw.Patient SET city = 'C${index}' WHERE patient_id = ${index};`
      : `DELETE FROM dw.Patient WHERE patient_id = ${index};`,
  );
}

async function keystrokeRows() {
  const editor = launch();
  await editor.initialize();
  const uri = 'file:///bench/load.sql';
  const empty = 'file:///bench/empty.sql';
  const text = script(1000);
  const last = text.split('\n').length - 1;
  await editor.open(uri, text);
  await editor.open(empty, 'SELECT 1');
  const at = (line, character) => ({ textDocument: { uri }, position: { line, character } });
  const range = { start: { line: 500, character: 0 }, end: { line: 500, character: 30 } };
  const floor = await timed(200, () =>
    editor.connection.sendRequest('textDocument/hover', {
      textDocument: { uri: empty },
      position: { line: 0, character: 0 },
    }),
  );
  const keys = await keystrokes(editor, uri, 500, 200);
  const rivals = await rivalsOf(1000);
  await feelSpeed();
  const rows = [
    limitRow('keystroke to diagnostics, 1,000 statements', keys, floor, 10),
    ...rivals.map((rival) => rivalRow(keys, rival)),
    limitRow(
      'hover',
      await timed(200, () => editor.connection.sendRequest('textDocument/hover', at(last, 25))),
      floor,
      5,
    ),
    limitRow(
      'code action',
      await timed(200, () =>
        editor.connection.sendRequest('textDocument/codeAction', {
          textDocument: { uri },
          range,
          context: { diagnostics: [] },
        }),
      ),
      floor,
      10,
    ),
    limitRow(
      'completion in a MERGE',
      await timed(200, () => editor.connection.sendRequest('textDocument/completion', at(last, 32))),
      floor,
      20,
    ),
  ];
  await editor.stop();
  return rows;
}

/** Types and deletes one character, asking for diagnostics after each. */
async function keystrokes(editor, uri, line, times) {
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

/** The first edit after the folder has taken over what the file defines, which the server does when nobody types. */
async function firstKey(editor, uri, line) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const started = performance.now();
  void editor.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line, character: 0 }, end: { line, character: 0 } }, text: ' ' }],
  });
  await editor.connection.sendRequest('textDocument/diagnostic', { textDocument: { uri } });
  return performance.now() - started;
}

async function largeRows() {
  const editor = launch();
  await editor.initialize();
  const million = 'file:///bench/1mb.sql';
  await editor.open(million, script(18_500));
  await editor.connection.sendRequest('textDocument/diagnostic', { textDocument: { uri: million } });
  const first = await firstKey(editor, million, 9000);
  const edits = await keystrokes(editor, million, 9000, 30);
  const huge = 'file:///bench/10mb.sql';
  const text = "INSERT INTO dw.Patient VALUES (1, 'Easton', '18042');\n".repeat(190_000);
  const started = performance.now();
  await editor.open(huge, text);
  await editor.connection.sendRequest('textDocument/hover', {
    textDocument: { uri: huge },
    position: { line: 0, character: 15 },
  });
  const blocked = performance.now() - started;
  await editor.stop();
  await feelSpeed();
  return [
    {
      name: 'first keystroke to diagnostics, 1 MB just opened',
      unit: 'ms',
      ours: first,
      reference: percentile(edits, 0.5),
      referenceName: 'a later key, median',
      ratio: first / percentile(edits, 0.5),
      budget: '100 ms',
      ...judged(first, 100),
    },
    limitRow('keystroke to diagnostics, 1 MB', edits, null, 100),
    {
      name: 'a 10 MB file is opened and the next request answered',
      unit: 'ms',
      ours: blocked,
      reference: bare,
      referenceName: 'bare Node',
      ratio: blocked / bare,
      budget: '1000 ms',
      ...judged(blocked, 1000),
    },
  ];
}

async function folderRows(root) {
  const files = 2000;
  mkdirSync(root, { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(root, `t${index}.sql`), ddlFile(index, 5 * 1024));
  const editor = launch();
  await editor.initialize(root);
  const started = performance.now();
  await editor.open('file:///bench/other.sql', 'SELECT 1');
  await editor.connection.sendRequest('textDocument/documentSymbol', {
    textDocument: { uri: 'file:///bench/other.sql' },
  });
  const first = performance.now() - started;
  await editor.indexed;
  const elapsed = performance.now() - started;
  const rss = rssMegabytes(editor.child.pid);
  await editor.stop();
  await feelSpeed();
  return [
    {
      name: 'folder index, 2,000 files, 10 MB',
      unit: 'ms',
      ours: elapsed,
      reference: bare,
      referenceName: 'bare Node',
      ratio: elapsed / bare,
      budget: '2000 ms',
      ...judged(elapsed, 2000),
    },
    {
      name: 'first answer while the folder is indexed',
      unit: 'ms',
      ours: first,
      reference: bare,
      referenceName: 'bare Node',
      ratio: first / bare,
      budget: '300 ms',
      ...judged(first, 300),
    },
    {
      name: 'memory after the index',
      unit: 'MiB',
      ours: rss,
      reference: null,
      referenceName: null,
      ratio: null,
      budget: '150 MiB',
      ok: rss === null || rss <= 150,
    },
  ];
}

/** A table and statements that fill the file to about the size asked for. */
function ddlFile(index, bytes) {
  const columns = Array.from(
    { length: 12 },
    (_, column) => `  [column_${column}_of_${index}] [varchar](${10 + column}) NULL`,
  );
  const head = `CREATE TABLE [stg].[Table_${index}] (\n  [table_${index}_id] [int] NOT NULL,\n${columns.join(',\n')}\n)\nGO\n`;
  const line = `INSERT INTO [stg].[Table_${index}] ([table_${index}_id]) VALUES (1);\n`;
  return head + line.repeat(Math.max(0, Math.floor((bytes - head.length) / line.length)));
}

async function tableRows(root) {
  mkdirSync(root, { recursive: true });
  for (let file = 0; file < 100; file += 1) {
    const tables = Array.from({ length: 50 }, (_, index) => {
      const number = file * 50 + index;
      return `CREATE TABLE stg.Thing${number} (thing${number}_id int NOT NULL, name varchar(30), city${number} varchar(30))\nGO\nCREATE TABLE rdv.SatThing${number} (Thing${number}Key char(64) NOT NULL, LoadDate datetime2 NOT NULL, HashDiff char(64) NOT NULL, RecordSource varchar(20) NOT NULL, Name varchar(30), City${number} varchar(30))\nGO`;
    });
    writeFileSync(join(root, `f${file}.sql`), tables.join('\n'));
  }
  const editor = launch();
  await editor.initialize(root);
  const started = performance.now();
  await editor.indexed;
  const elapsed = performance.now() - started;
  const uri = pathToFileURL(join(root, 'load.sql')).href;
  await editor.open(uri, script(1000));
  await editor.connection.sendRequest('textDocument/diagnostic', { textDocument: { uri } });
  const edits = await keystrokes(editor, uri, 500, 100);
  await editor.stop();
  await feelSpeed();
  return [
    {
      name: 'folder index, 10,000 tables',
      unit: 'ms',
      ours: elapsed,
      reference: bare,
      referenceName: 'bare Node',
      ratio: elapsed / bare,
      budget: '10000 ms',
      ...judged(elapsed, 10000),
    },
    limitRow('keystroke to diagnostics beside 10,000 tables', edits, null, 10),
  ];
}

/** A satellite of 300 columns whose load is asked for as the command in the editor does. */
async function generateRows(root) {
  mkdirSync(root, { recursive: true });
  const columns = Array.from({ length: 300 }, (_, index) => `Value${index} varchar(30) NULL`).join(', ');
  const ddl = `CREATE TABLE stg.Patient (patient_id int NULL, ${columns})
GO
CREATE TABLE rdv.SatPatient (PatientKey char(64) NOT NULL, LoadDate datetime2 NOT NULL, HashDiff char(64) NOT NULL, RecordSource varchar(20) NOT NULL, ${columns}, PRIMARY KEY (PatientKey, LoadDate))
GO`;
  writeFileSync(join(root, 'ddl.sql'), ddl);
  const uri = pathToFileURL(join(root, 'ddl.sql')).href;
  const editor = launch();
  await editor.initialize(root);
  await editor.indexed;
  const [candidate] = await editor.connection.sendRequest('mergewright/loads', {});
  const request = { uri, specification: candidate.specification };
  const times = await timed(40, async () => {
    const { files } = await editor.connection.sendRequest('mergewright/generate', request);
    if (files.length !== 1) throw new Error('The satellite gave no load.');
  });
  const floor = await timed(40, () =>
    editor.connection.sendRequest('textDocument/hover', {
      textDocument: { uri: 'file:///bench/none.sql' },
      position: { line: 0, character: 0 },
    }),
  );
  await editor.stop();
  await feelSpeed();
  const [ours, reference] = [median(times), median(floor)];
  return [
    {
      name: 'generate a satellite load of 300 columns, median',
      unit: 'ms',
      ours,
      reference,
      referenceName: 'an empty request',
      ratio: ours / reference,
      budget: '10 ms',
      ...judged(ours - reference, 10),
    },
  ];
}

async function memoryRows(report) {
  const hook = `import { writeFileSync } from 'node:fs';
    process.on('SIGUSR2', () => { gc(); gc(); writeFileSync(${JSON.stringify(report)}, String(process.memoryUsage().heapUsed)); });`;
  const editor = launch(['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(hook)}`]);
  await editor.initialize();
  const text = script(200);
  const cycle = async (number) => {
    const uri = `file:///bench/cycle${number % 10}.sql`;
    await editor.open(uri, text);
    await editor.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version: 2 },
      contentChanges: [{ range: { start: { line: 9, character: 0 }, end: { line: 9, character: 0 } }, text: ' ' }],
    });
    await editor.connection.sendRequest('textDocument/diagnostic', { textDocument: { uri } });
    await editor.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  };
  for (let round = 0; round < 50; round += 1) await cycle(round);
  const before = await heap(editor, report);
  for (let round = 0; round < 1000; round += 1) await cycle(round);
  const after = await heap(editor, report);
  await editor.stop();
  const ratio = after / before;
  return [
    {
      name: 'heap after 1,000 open, edit and close',
      unit: 'MiB',
      ours: after,
      reference: before,
      referenceName: 'before',
      ratio,
      budget: 'ratio 1.1',
      ok: ratio <= 1.1,
    },
  ];
}

async function heap(editor, report) {
  await editor.connection.sendRequest('workspace/symbol', { query: 'x' });
  rmSync(report, { force: true });
  editor.child.kill('SIGUSR2');
  for (;;) {
    await editor.connection.sendRequest('workspace/symbol', { query: 'x' });
    try {
      const text = readFileSync(report, 'utf8');
      if (text !== '') return Number(text) / (1024 * 1024);
    } catch {
      // Not written yet.
    }
  }
}

/** Milliseconds of each round, after a tenth of them as a warm-up. */
async function timed(rounds, work) {
  const times = [];
  const warmUp = Math.ceil(rounds / 5);
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const started = performance.now();
    await work(round);
    if (round >= warmUp) times.push(performance.now() - started);
  }
  return times;
}

/** A key beside one look of another parser at the same text; the budget is that of its row, this one only compares. */
function rivalRow(times, { name, ms }) {
  const ours = percentile(times, 0.5);
  return {
    name: `keystroke to diagnostics, 1,000 statements, beside a parse by ${name}`,
    unit: 'ms',
    ours,
    reference: ms,
    referenceName: name,
    ratio: ours / ms,
    budget: 'ratio 0.1',
    ok: ours / ms <= 0.1,
  };
}

/** The 95th percentile beside the same percentile of an empty request, which is what pipe and scheduler cost here. */
function limitRow(name, times, floor, budget) {
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

/** Resident memory where the system tells it. */
function rssMegabytes(pid) {
  try {
    const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return match === null ? null : Number(match[1]) / 1024;
  } catch {
    return null;
  }
}
