// The language server over folders: the index of many files and of many tables, and a load of a wide table.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { keystrokes, launch, limitRow, script, timed } from './editor-process.mjs';
import { bare, feelSpeed, judged, median } from './machine.mjs';

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    return [
      ...(await folderRows(join(folder, 'files'))),
      ...(await tableRows(join(folder, 'tables'))),
      ...(await generateRows(join(folder, 'wide'))),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
  const generate = async () => {
    const { files } = await editor.connection.sendRequest('mergewright/generate', request);
    if (files.length !== 1) throw new Error('The satellite gave no load.');
  };
  const [first] = await timed(1, generate);
  // The server's code is compiled while it runs; the budget is one of a warm server, as that of the parser is.
  await timed(40, generate);
  const times = await timed(40, generate);
  const floor = await timed(40, () =>
    editor.connection.sendRequest('textDocument/hover', {
      textDocument: { uri: 'file:///bench/none.sql' },
      position: { line: 0, character: 0 },
    }),
  );
  await editor.stop();
  await feelSpeed();
  const ours = median(times) - median(floor);
  return [
    {
      name: 'generate a satellite load of 300 columns, median of a warm server',
      unit: 'ms',
      ours,
      reference: first,
      referenceName: 'the first after its start',
      ratio: ours / first,
      budget: '10 ms',
      ...judged(ours, 10),
    },
  ];
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
