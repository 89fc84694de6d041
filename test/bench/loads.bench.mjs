// Speed of generated loads on the embedded engine, beside a hand-written lower bound and a dbt snapshot (see test/bench/loads).
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { satelliteBound, versionsBound } from './loads/bounds.mjs';
import { ddl, fill } from './loads/data.mjs';
import { installDbt, prepareSnapshot, runSnapshot } from './loads/dbt.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = join(root, '.cache', 'bench');
const cli = join(root, 'dist', 'cli.cjs');
const runs = 3;
const megabyte = 1024;

const loads = [
  {
    name: 'satellite load, 10 million rows',
    arguments: [
      'satellite',
      '--source',
      'stage.customer',
      '--target',
      'dw.sat_customer',
      '--set',
      'keys=["customer_id"]',
      '--set',
      'hash_key={"customer_key":["customer_id"]}',
      '--set',
      'parameters={"record_source":"RecordSource"}',
    ],
    parameters: ['--param', 'RecordSource=CRM'],
    bound: satelliteBound,
    dbt: false,
  },
  {
    name: 'type 2 load with deletes, 10 million rows',
    arguments: [
      'scd2',
      '--source',
      'stage.customer',
      '--target',
      'dw.dim_customer',
      '--set',
      'keys=["customer_id"]',
      '--set',
      'load=full',
      '--set',
      'hard_deletes=invalidate',
    ],
    parameters: [],
    bound: versionsBound(false),
    dbt: true,
  },
  {
    name: 'inactivation with load, 10 million rows',
    arguments: [
      'inactivation',
      '--source',
      'stage.customer',
      '--target',
      'dw.dim_customer',
      '--set',
      'keys=["customer_id"]',
      '--set',
      'with_load=true',
      '--set',
      'hard_deletes=new_record',
    ],
    parameters: [],
    bound: versionsBound(true),
    dbt: true,
  },
];

export default async function measureLoads() {
  mkdirSync(folder, { recursive: true });
  const data = join(folder, 'loads.duckdb');
  if (!existsSync(data)) {
    rmSync(`${data}.part`, { force: true });
    await fill(`${data}.part`);
    renameSync(`${data}.part`, data);
  }
  writeFileSync(join(folder, 'tables.sql'), ddl);
  const dbt = installDbt(folder);
  const snapshots = [];
  if (dbt === null) console.log('skipped: the comparison with a dbt snapshot, which needs Python');
  else {
    const prepared = join(folder, 'snapshot.duckdb');
    rmSync(prepared, { force: true });
    await prepareSnapshot(data, prepared);
    for (let run = 0; run < runs; run += 1) snapshots.push(runSnapshot(dbt, folder, prepared));
    console.log(
      `dbt snapshot, ${runs} runs: command ${listed(snapshots, 'commandMs')} ms, SQL ${listed(snapshots, 'sqlMs')} ms`,
    );
  }
  const rows = [];
  for (const load of loads) rows.push(...(await measureLoad(load, data, snapshots)));
  return rows;
}

async function measureLoad(load, data, snapshots) {
  const generated = JSON.parse(
    execFileSync(
      process.execPath,
      [cli, 'generate', ...load.arguments, '--ddl', join(folder, 'tables.sql'), '--platform', 'duckdb', '--json'],
      { encoding: 'utf8' },
    ),
  );
  const script = join(folder, 'load.sql');
  writeFileSync(script, generated.files[0].text);
  const boundScript = join(folder, 'bound.sql');
  writeFileSync(boundScript, load.bound);
  const ours = [];
  const bounds = [];
  for (let run = 0; run < runs; run += 1) {
    bounds.push(await timed(data, (file) => [join(root, 'test', 'bench', 'loads', 'run-sql.mjs'), file, boundScript]));
    ours.push(
      await timed(data, (file) => [
        cli,
        'run',
        script,
        '--connection',
        `duckdb:${file}`,
        '--ddl',
        join(folder, 'tables.sql'),
        ...load.parameters,
        '--json',
      ]),
    );
  }
  const { counts } = ours[0].result;
  console.log(
    `${load.name}: ours SQL ${listed(ours, 'sqlMs')}, command ${listed(ours, 'commandMs')}, bound SQL ${listed(bounds, 'sqlMs')} ms; CPU of ours ${listed(ours, 'cpuMs')}, of the bound ${listed(bounds, 'cpuMs')} ms; peak ${listed(ours, 'peakMb')} MiB; ${JSON.stringify(counts)}`,
  );
  const sql = best(ours, 'sqlMs');
  const peak = Math.max(...ours.map(({ peakMb }) => peakMb));
  const rows = [
    ratioRow(`${load.name}, SQL`, sql, best(bounds, 'sqlMs'), 'lower bound', 1.3),
    {
      name: `${load.name}, peak memory`,
      unit: 'MiB',
      ours: peak,
      reference: null,
      referenceName: null,
      ratio: null,
      budget: '≤ 600',
      ok: peak > 0 && peak <= 600,
    },
  ];
  if (load.dbt && snapshots.length > 0) {
    rows.push(
      ratioRow(`${load.name}, SQL`, sql, best(snapshots, 'sqlMs'), 'dbt snapshot', 0.5),
      ratioRow(`${load.name}, command`, best(ours, 'commandMs'), best(snapshots, 'commandMs'), 'dbt snapshot', 0.25),
    );
  }
  return rows;
}

/** Runs a command on a fresh copy of the data; its last line is JSON with `elapsedMs`. */
async function timed(data, argumentsFor) {
  const file = join(folder, 'run.duckdb');
  for (const stale of [file, `${file}.wal`]) rmSync(stale, { force: true });
  copyFileSync(data, file);
  // Reading the copy once puts it into the page cache, so that runs differ by their work alone.
  readFileSync(file).length;
  const started = performance.now();
  const child = spawn(process.execPath, argumentsFor(file), { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  let peak = 0;
  let cpuMs = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, highWater(child.pid));
    cpuMs = Math.max(cpuMs, userTime(child.pid));
  }, 20);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watch);
  const commandMs = performance.now() - started;
  if (code !== 0) throw new Error(`${argumentsFor(file).join(' ')} ended with ${code}: ${text}`);
  const result = JSON.parse(text);
  return { commandMs, sqlMs: result.elapsedMs, cpuMs, peakMb: peak / megabyte, result };
}

/** Peak resident memory of a running process in KiB, 0 where the system does not tell. */
function highWater(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** User CPU time of a running process in ms, steadier than the clock on a busy machine; 0 where the system does not tell. */
function userTime(pid) {
  try {
    // The fields after the name, which may hold blanks; the system counts in hundredths of a second.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[11]) * 10;
  } catch {
    return 0;
  }
}

function ratioRow(name, ours, reference, referenceName, limit) {
  const ratio = ours / reference;
  return { name, unit: 'ms', ours, reference, referenceName, ratio, budget: `≤ ${limit} ×`, ok: ratio <= limit };
}

function best(results, field) {
  return Math.min(...results.map((result) => result[field]));
}

function listed(results, field) {
  return results.map((result) => result[field].toFixed(0)).join(' / ');
}
