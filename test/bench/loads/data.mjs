// The data of the load benchmarks: 1 million keys × 10 versions, 1 million staged rows of which 1 % changed and 1 % vanished.
import { DuckDBInstance } from '@duckdb/node-api';

export const keys = 1_000_000;
const versions = 10;
export const attributes = ['name', 'street', 'city', 'state', 'zip', 'phone', 'segment', 'status'];
const columns = attributes.map((name) => `${name} VARCHAR(60)`).join(', ');

/** DDL as a warehouse would have it; the loads are generated from it. */
export const ddl = `
CREATE SCHEMA stage;
CREATE SCHEMA dw;
CREATE TABLE stage.customer (customer_id INTEGER, ${columns}, credit_limit DECIMAL(12, 2));
CREATE TABLE dw.dim_customer (
  customer_id INTEGER NOT NULL, ${columns}, credit_limit DECIMAL(12, 2),
  valid_from TIMESTAMP NOT NULL, valid_to TIMESTAMP
);
CREATE TABLE dw.sat_customer (
  customer_key VARCHAR(64) NOT NULL, load_date TIMESTAMP NOT NULL, record_source VARCHAR(20) NOT NULL, hash_diff VARCHAR(64) NOT NULL,
  ${columns}, credit_limit DECIMAL(12, 2)
);`;

/** The hash rule over the attributes, as the lower bound computes it. */
export const hashDiff = `sha256(concat(${[...attributes, 'CAST(credit_limit AS VARCHAR)']
  .map((value) => `coalesce(replace(replace(${value}, '^', '^1'), '|', '^2'), '^^')`)
  .join(", '||', ")}))`;

/** A value that depends on key and version; a third of the attributes is often NULL. */
const value = (name, i, key, version) =>
  i % 3 === 2
    ? `CASE WHEN ${key} % ${i + 2} = 0 THEN NULL ELSE '${name} ' || (${key} * 7 + ${version} * ${i + 1}) END AS ${name}`
    : `'${name} ' || (${key} + ${version} * ${i + 1}) AS ${name}`;
const rowOf = (key, version) =>
  `${attributes.map((name, i) => value(name, i, key, version)).join(', ')}, CAST(${key} % 9000 + ${version} AS DECIMAL(12, 2)) AS credit_limit`;

/** Fills a new database file. */
export async function fill(file) {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const last = versions - 1;
  const start = (version) => `TIMESTAMP '2024-01-01' + to_days(30 * ${version})`;
  await connection.run(ddl);
  await connection.run(`
    INSERT INTO stage.customer
    SELECT k AS customer_id, ${rowOf('k', `CASE WHEN k % 100 = 7 THEN ${versions} ELSE ${last} END`)}
    FROM range(${keys}) AS r (k) WHERE k % 100 <> 50;
    INSERT INTO dw.dim_customer
    SELECT k, ${rowOf('k', 'v')}, ${start('v')}, CASE WHEN v = ${last} THEN NULL ELSE ${start('(v + 1)')} END
    FROM range(${versions}) AS w (v), range(${keys}) AS r (k);
    INSERT INTO dw.sat_customer
    SELECT sha256(CAST(k AS VARCHAR)), load_date, 'CRM', CASE WHEN v = ${last} THEN ${hashDiff} ELSE md5(k || ':' || v) || md5(v || ':' || k) END,
      ${attributes.join(', ')}, credit_limit
    FROM (SELECT k, v, ${start('v')} AS load_date, ${rowOf('k', 'v')} FROM range(${versions}) AS w (v), range(${keys}) AS r (k));
  `);
  await connection.run('CHECKPOINT');
  connection.closeSync();
  instance.closeSync();
}
