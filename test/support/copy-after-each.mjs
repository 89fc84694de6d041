// node copy-after-each.mjs DATABASE SCRIPT FOLDER: runs a script on a database file and copies the file with its log to
// FOLDER/1.duckdb, FOLDER/2.duckdb … after each statement. What stands in the files at that moment is what a process that is
// killed there leaves: nothing is written on the way out. Behind the last statement it is killed indeed.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

const [, , database, script, folder] = process.argv;
const connection = await (await DuckDBInstance.create(database)).connect();
const statements = await connection.extractStatements(readFileSync(script, 'utf8'));
for (let i = 0; i < statements.count; i += 1) {
  await (await statements.prepare(i)).run();
  const copy = join(folder, `${i + 1}.duckdb`);
  copyFileSync(database, copy);
  if (existsSync(`${database}.wal`)) copyFileSync(`${database}.wal`, `${copy}.wal`);
}
process.kill(process.pid, 'SIGKILL');
