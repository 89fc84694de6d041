// The lower bounds: what the rows cost at least when somebody who knows the data writes it by hand, the write included, no guard.
import { attributes, hashDiff } from './data.mjs';

const compared = [...attributes, 'credit_limit'];
const row = (alias) => `(${compared.map((name) => `${alias}.${name}`).join(', ')})`;

/** Digests of the staged rows, latest version of the staged keys only, one join, the write of the changed rows. */
export const satelliteBound = `
BEGIN TRANSACTION;
CREATE TEMP TABLE staged AS
SELECT sha256(CAST(customer_id AS VARCHAR)) AS customer_key, ${hashDiff} AS hash_diff, ${compared.join(', ')} FROM stage.customer;
CREATE TEMP TABLE delta AS
SELECT s.* FROM staged AS s
LEFT JOIN (
  SELECT customer_key, arg_max(hash_diff, load_date) AS hash_diff FROM dw.sat_customer
  WHERE customer_key IN (SELECT customer_key FROM staged) GROUP BY customer_key
) AS l ON l.customer_key = s.customer_key
WHERE l.hash_diff IS DISTINCT FROM s.hash_diff;
INSERT INTO dw.sat_customer (customer_key, load_date, record_source, hash_diff, ${compared.join(', ')})
SELECT customer_key, TIMESTAMP '2026-01-01', 'CRM', hash_diff, ${compared.join(', ')} FROM delta;
COMMIT;
SELECT count(*) AS written FROM delta;`;

/** One full join into a small delta table, then the writes from it by row id; vanished keys are closed, too. */
export const versionsBound = (tombstones) => `
BEGIN TRANSACTION;
CREATE TEMP TABLE delta AS
SELECT s.*, t.row_id, t.customer_id AS stored_id, ${compared.map((name) => `t.${name} AS old_${name}`).join(', ')}
FROM stage.customer AS s
FULL JOIN (SELECT rowid AS row_id, * FROM dw.dim_customer WHERE valid_to IS NULL) AS t ON t.customer_id = s.customer_id
WHERE t.row_id IS NULL OR s.customer_id IS NULL OR ${row('s')} IS DISTINCT FROM ${row('t')};
UPDATE dw.dim_customer SET valid_to = TIMESTAMP '2026-01-01' FROM delta WHERE dim_customer.rowid = delta.row_id;
INSERT INTO dw.dim_customer (customer_id, ${compared.join(', ')}, valid_from)
SELECT customer_id, ${compared.join(', ')}, TIMESTAMP '2026-01-01' FROM delta WHERE customer_id IS NOT NULL;
${
  tombstones
    ? `INSERT INTO dw.dim_customer (customer_id, ${compared.join(', ')}, valid_from)
SELECT stored_id, ${compared.map((name) => `old_${name}`).join(', ')}, TIMESTAMP '2026-01-01' FROM delta WHERE customer_id IS NULL;`
    : ''
}
COMMIT;
SELECT count(*) AS written FROM delta;`;
