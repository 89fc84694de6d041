// node kill-after.mjs DATABASE SCRIPT COUNT: runs the first COUNT statements of a script on a database file, then dies at
// once. A script that has fewer statements ends with exit code 3 and is not run.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [, , database, script, count] = process.argv;
const connection = await (await DuckDBInstance.create(database)).connect();
const statements = await connection.extractStatements(readFileSync(script, 'utf8'));
if (statements.count < Number(count)) process.exit(3);
for (let i = 0; i < Number(count); i += 1) await (await statements.prepare(i)).run();
process.kill(process.pid, 'SIGKILL');
