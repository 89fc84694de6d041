// The reference of the type 2 loads: a dbt snapshot (strategy check, all columns, deletes on) on the same rows, engine and version.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

const requirements = ['dbt-core==1.11.16', 'dbt-duckdb==1.11.1', 'duckdb==1.5.6'];

/** Makes a virtual environment with dbt under `folder`; returns its dbt program, or null without Python. */
export function installDbt(folder) {
  const program = join(folder, 'dbt-venv', 'bin', 'dbt');
  if (existsSync(program)) return program;
  if (spawnSync('python3', ['--version']).status !== 0) return null;
  execFileSync('python3', ['-m', 'venv', join(folder, 'dbt-venv')]);
  execFileSync(join(folder, 'dbt-venv', 'bin', 'pip'), ['install', '-q', ...requirements], { stdio: 'inherit' });
  return program;
}

/** Turns the dimension of a filled database into the snapshot table that dbt would have made of the same history. */
export async function prepareSnapshot(source, file) {
  copyFileSync(source, file);
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await connection.run(`
    CREATE SCHEMA snap;
    CREATE TABLE snap.customer_snapshot AS
    SELECT * EXCLUDE (valid_from, valid_to), md5(customer_id || '|' || valid_from) AS dbt_scd_id, valid_from AS dbt_updated_at,
      valid_from AS dbt_valid_from, valid_to AS dbt_valid_to
    FROM dw.dim_customer;
    DROP TABLE dw.dim_customer;
    DROP TABLE dw.sat_customer;
    CHECKPOINT;
  `);
  connection.closeSync();
  instance.closeSync();
}

/** Runs the snapshot on a copy of the prepared file; times in ms. */
export function runSnapshot(program, folder, prepared) {
  const project = join(folder, 'dbt-project');
  rmSync(project, { recursive: true, force: true });
  mkdirSync(join(project, 'snapshots'), { recursive: true });
  const file = join(project, 'bench.duckdb');
  copyFileSync(prepared, file);
  writeFileSync(
    join(project, 'dbt_project.yml'),
    'name: bench\nversion: "1.0"\nprofile: bench\nsnapshot-paths: [snapshots]\n',
  );
  writeFileSync(
    join(project, 'profiles.yml'),
    `bench:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: "${file}", schema: snap, threads: 2}\n`,
  );
  writeFileSync(
    join(project, 'snapshots', 'customer.sql'),
    `{% snapshot customer_snapshot %}
{{ config(target_schema='snap', unique_key='customer_id', strategy='check', check_cols='all', hard_deletes='invalidate') }}
SELECT * FROM stage.customer
{% endsnapshot %}
`,
  );
  const started = performance.now();
  execFileSync(program, ['snapshot', '--project-dir', project, '--profiles-dir', project], {
    env: { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const commandMs = performance.now() - started;
  const { results } = JSON.parse(readFileSync(join(project, 'target', 'run_results.json'), 'utf8'));
  return { commandMs, sqlMs: results[0].execution_time * 1000 };
}
