// Runs a SQL file on a database file in a process of its own: prints the SQL time in ms.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [file, script] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file);
const connection = await instance.connect();
const started = performance.now();
await connection.run(readFileSync(script, 'utf8'));
console.log(JSON.stringify({ elapsedMs: performance.now() - started }));
connection.closeSync();
instance.closeSync();
