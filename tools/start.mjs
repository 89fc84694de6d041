// The main job on samples/warehouse, in the terminal: DDL in, loads out, three days of rows, counts shown.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const warehouse = join('samples', 'warehouse');
const out = join('out', 'start');
const database = join(out, 'warehouse.duckdb');
const countNames = ['inserted', 'updated', 'expired', 'inactivated', 'deleted', 'unchanged', 'skipped'];
const days = readdirSync(join(root, warehouse, 'days')).sort();

heading('Tables, their roles and why');
const { tables } = mergewright('catalog', warehouse, '--json');
for (const table of tables) {
  const key = table.keys[0];
  console.log(`${fullName(table.name)}: ${table.role} (${table.platform})`);
  for (const reason of table.reasons) print(`- ${reason}`, 4);
  if (key !== undefined) print(`- key ${key.columns.join(' + ')}${key.kind === 'inferred' ? ' (inferred)' : ''}`, 4);
}

heading('Generated loads');
rmSync(join(root, out), { recursive: true, force: true });
mkdirSync(join(root, out), { recursive: true });
const written = {};
for (const [folder, ...platform] of [['warehouse'], ['duckdb', '--platform', 'duckdb']]) {
  const { files } = mergewright(
    'generate',
    '--all',
    '--ddl',
    warehouse,
    '--out',
    join(out, folder),
    '--json',
    ...platform,
  );
  written[folder] = files.map((file) => join(out, folder, file.path));
  for (const file of files) console.log(`${join(out, folder, file.path)}, ${file.text.split('\n').length} lines`);
}

heading('Three days on the embedded engine');
const scripts = written.duckdb;
console.log(`day load         ${countNames.map((name) => name.padStart(name.length + 1)).join('')}`);
for (const day of days) {
  const csv = readdirSync(join(root, warehouse, 'days', day))
    .filter((name) => name.endsWith('.csv'))
    .flatMap((name) => ['--csv', `${name.replace(/\.csv$/, '')}=${join(warehouse, 'days', day, name)}`]);
  mergewright('seed', '--ddl', warehouse, '--connection', `duckdb:${database}`, ...csv);
  for (const script of scripts) {
    const clock = `2026-03-0${day} 06:00:00`;
    const result = mergewright(
      'run',
      script,
      '--connection',
      `duckdb:${database}`,
      '--ddl',
      warehouse,
      '--param',
      `BatchTime=${clock}`,
      '--json',
    );
    const counts = countNames.map((name) => String(result.counts[name] ?? '-').padStart(name.length + 1)).join('');
    console.log(`${day.padEnd(4)}${patternOf(script).padEnd(13)}${counts}`);
    for (const warning of result.warnings) print(`${warning.code}: ${warning.message}`, 5);
  }
}

heading('The versions of department 30: vanished on day 2, back on day 3');
await showVersions(
  'PersistentStaging',
  'SELECT DepartmentName, EffectiveStartDT, EffectiveExpireDT, CurrentRowYN AS YN, SourceInactiveDT FROM dbo.Department WHERE DepartmentID = 30 ORDER BY EffectiveStartDT',
);

heading('The versions of patient 5: moved on day 2, moved back on day 3');
await showVersions(
  'warehouse',
  "SELECT left(PatientKey, 8) AS Patient, LoadDate, left(HashDiff, 8) AS HashDiff, Address1, City FROM raw.SatPatientAddressEMED_TEST WHERE PatientKey = (SELECT DISTINCT PatientKey FROM raw.SatPatientAddressEMED_TEST WHERE Address1 = '40 Lighthouse Way') ORDER BY LoadDate",
);

heading('Next');
console.log('npm run code     opens VS Code on samples/ with the extension: look above the');
console.log('                 CREATE TABLE of a target for "Generate · Preview · Run"');
console.log(`${out}/warehouse holds the loads for Synapse and SQL Server, ready to read`);

/** Runs one command of the command line; ends with its exit code when it fails. JSON is read where it was asked for. */
function mergewright(...args) {
  const result = spawnSync(process.execPath, [join('dist', 'cli.cjs'), ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (result.status !== 0) {
    console.error(`mergewright ${args.join(' ')}\n${result.stderr}`);
    process.exit(result.status ?? 1);
  }
  return args.includes('--json') ? JSON.parse(result.stdout) : undefined;
}

async function showVersions(databaseName, query) {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const file = readdirSync(join(root, out)).find((name) => name.endsWith(`${databaseName}.duckdb`));
  if (file === undefined) throw new Error(`${out} holds no database ${databaseName}`);
  await connection.run(`ATTACH '${join(root, out, file).replaceAll("'", "''")}' AS shown (READ_ONLY); USE shown;`);
  const reader = await connection.runAndReadAll(query);
  const rows = [
    reader.columnNames(),
    ...reader
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? 'NULL' : String(cell).replace(/ 00:00:00$/, '')))),
  ];
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    );
  connection.closeSync();
  instance.closeSync();
}

/** The pattern stands first in a generated file's name. */
function patternOf(script) {
  return basename(script)
    .replace(/_[^_]*$/, '')
    .split(/_(?=[A-Z])/)[0];
}

function fullName({ database: part, schema, table }) {
  return [part, schema, table].filter((name) => name !== null).join('.');
}

function heading(text) {
  console.log(`\n${text}\n${'-'.repeat(text.length)}`);
}

/** Prints a text in lines of at most 78 characters, indented. */
function print(text, indent) {
  let line = ' '.repeat(indent);
  for (const word of text.split(' ')) {
    if (line.length + word.length > 78) {
      console.log(line.trimEnd());
      line = ' '.repeat(indent + 2);
    }
    line += `${word} `;
  }
  console.log(line.trimEnd());
}
