// The language server over stdio as an editor drives it: start, keystrokes, requests, large files, memory.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keystrokes, launch, limitRow, plainStatements, script, timed } from './editor-process.mjs';
import { bare, bareStart, feelSpeed, judged, median, percentile } from './machine.mjs';

const require = createRequire(import.meta.url);

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    return [
      ...(await startRows()),
      ...(await keystrokeRows()),
      ...(await largeRows()),
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

async function memoryRows(report) {
  // What is held weakly, and what the turn of the collection holds itself, goes with a later one.
  const hook = `import { writeFileSync } from 'node:fs';
    import { setImmediate } from 'node:timers/promises';
    process.on('SIGUSR2', async () => {
      for (let turn = 0; turn < 5; turn += 1) { gc(); await setImmediate(); }
      writeFileSync(${JSON.stringify(report)}, String(process.memoryUsage().heapUsed));
    });`;
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
  // As many as it takes until the code of the server itself is compiled.
  for (let round = 0; round < 200; round += 1) await cycle(round);
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
