/** Load scripts as people write them by hand for the embedded engine, over `stg.customer` and three targets. */
export const scripts: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: 'type 2: close, then open what has no open version',
    text: `UPDATE dw.customer AS t SET valid_to = DATE '2026-02-01', is_current = false
FROM stg.customer AS s
WHERE s.customer_no = t.customer_no AND t.is_current AND (s.city IS DISTINCT FROM t.city OR s.amount IS DISTINCT FROM t.amount);
INSERT INTO dw.customer (customer_key, customer_no, city, amount, valid_from, valid_to, is_current)
SELECT (SELECT coalesce(max(customer_key), 0) FROM dw.customer) + row_number() OVER (ORDER BY s.customer_no),
  s.customer_no, s.city, s.amount, DATE '2026-02-01', NULL, true
FROM stg.customer AS s
WHERE NOT EXISTS (SELECT 1 FROM dw.customer AS t WHERE t.customer_no = s.customer_no AND t.is_current);`,
  },
  {
    name: 'type 2: close, then LEFT JOIN … IS NULL',
    text: `BEGIN TRANSACTION;
UPDATE dw.customer SET valid_to = DATE '2026-02-01', is_current = false
WHERE is_current AND EXISTS (SELECT 1 FROM stg.customer s WHERE s.customer_no = dw.customer.customer_no
  AND md5(concat_ws('|', s.city, s.amount)) <> md5(concat_ws('|', dw.customer.city, dw.customer.amount)));
INSERT INTO dw.customer
SELECT 1000 + row_number() OVER (), s.customer_no, s.city, s.amount, DATE '2026-02-01', NULL, true
FROM stg.customer s LEFT JOIN dw.customer t ON t.customer_no = s.customer_no AND t.valid_to IS NULL
WHERE t.customer_no IS NULL;
COMMIT;`,
  },
  {
    name: 'type 2 with a temporary table of differences and a delete pass',
    text: `SET VARIABLE load_date = DATE '2026-03-01';
CREATE OR REPLACE TEMP TABLE diff AS
SELECT s.*, t.customer_key AS old_key FROM stg.customer s LEFT JOIN dw.customer t ON t.customer_no = s.customer_no AND t.is_current
WHERE t.customer_key IS NULL OR s.city IS DISTINCT FROM t.city;
UPDATE dw.customer SET is_current = false, valid_to = getvariable('load_date') WHERE customer_key IN (SELECT old_key FROM diff);
INSERT INTO dw.customer SELECT 500 + row_number() OVER (), customer_no, city, amount, getvariable('load_date'), NULL, true FROM diff WHERE NOT is_deleted;
UPDATE dw.customer SET is_current = false, valid_to = getvariable('load_date')
WHERE is_current AND customer_no NOT IN (SELECT customer_no FROM stg.customer);
DROP TABLE diff;`,
  },
  {
    name: 'upsert in two steps: update, then insert what is new',
    text: `UPDATE dw.account AS a SET city = s.city, amount = s.amount FROM stg.customer AS s WHERE s.customer_no = a.customer_no;
INSERT INTO dw.account (customer_no, city, amount)
SELECT customer_no, city, amount FROM stg.customer WHERE customer_no NOT IN (SELECT customer_no FROM dw.account);`,
  },
  {
    name: 'upsert in two steps: insert first, so that the update meets the new rows, too',
    text: `INSERT INTO dw.account (customer_no) SELECT customer_no FROM stg.customer EXCEPT SELECT customer_no FROM dw.account;
UPDATE dw.account SET city = s.city, note = 'seen' FROM stg.customer s WHERE s.customer_no = account.customer_no;`,
  },
  {
    name: 'delete and insert again',
    text: `DELETE FROM dw.account WHERE customer_no IN (SELECT customer_no FROM stg.customer);
INSERT INTO dw.account SELECT customer_no, city, amount, 'reloaded' FROM stg.customer WHERE NOT is_deleted;`,
  },
  {
    name: 'full reload by TRUNCATE',
    text: `TRUNCATE dw.account;
INSERT INTO dw.account (customer_no, city) SELECT customer_no, city FROM stg.customer;
DELETE FROM dw.account WHERE city IS NULL;`,
  },
  {
    name: 'MERGE, then INSERT of new versions',
    text: `MERGE INTO dw.customer AS t USING stg.customer AS s ON t.customer_no = s.customer_no AND t.is_current
WHEN MATCHED AND (s.city IS DISTINCT FROM t.city) THEN UPDATE SET is_current = false, valid_to = DATE '2026-04-01'
WHEN NOT MATCHED THEN INSERT (customer_key, customer_no, city, amount, valid_from, is_current)
  VALUES (ascii(s.customer_no), s.customer_no, s.city, s.amount, DATE '2026-04-01', true);
WITH closed AS (SELECT customer_no FROM dw.customer WHERE valid_to = DATE '2026-04-01')
INSERT INTO dw.customer SELECT 300 + ascii(s.customer_no), s.customer_no, s.city, s.amount, DATE '2026-04-01', NULL, true
FROM stg.customer s JOIN closed c ON c.customer_no = s.customer_no;`,
  },
  {
    name: 'MERGE with all branches, then a log of what is there',
    text: `MERGE INTO dw.account t USING (SELECT * FROM stg.customer) s ON t.customer_no = s.customer_no
WHEN MATCHED AND s.is_deleted THEN DELETE
WHEN MATCHED AND s.amount > 1 THEN UPDATE SET amount = t.amount + s.amount
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET note = 'lost'
WHEN NOT MATCHED AND NOT s.is_deleted THEN INSERT (customer_no, city, amount, note) VALUES (s.customer_no, s.city, s.amount, 'new');
INSERT INTO dw.history SELECT customer_no, city, note FROM dw.account;`,
  },
  {
    name: 'two MERGEs, one on the other’s result',
    text: `MERGE INTO dw.account t USING stg.customer s ON t.customer_no = s.customer_no
WHEN NOT MATCHED THEN INSERT (customer_no, city) VALUES (s.customer_no, s.city);
MERGE INTO dw.account t USING stg.customer s ON t.customer_no = s.customer_no AND t.amount IS NULL
WHEN MATCHED THEN UPDATE SET amount = coalesce(s.amount, 0), note = 'filled';`,
  },
  {
    name: 'history of an update, written from both tables',
    text: `INSERT INTO dw.history SELECT a.customer_no, a.city, 'before' FROM dw.account a JOIN stg.customer s USING (customer_no);
UPDATE dw.account SET city = (SELECT s.city FROM stg.customer s WHERE s.customer_no = account.customer_no)
WHERE customer_no IN (SELECT customer_no FROM stg.customer);
INSERT INTO dw.history SELECT a.customer_no, a.city, 'after' FROM dw.account a JOIN stg.customer s ON s.customer_no = a.customer_no;`,
  },
  {
    name: 'UPDATE that reads its own table',
    text: `DELETE FROM dw.customer WHERE valid_from > DATE '2021-06-01' AND NOT is_current;
UPDATE dw.customer SET valid_to = n.next_from, is_current = false
FROM (SELECT customer_key, lead(valid_from) OVER (PARTITION BY customer_no ORDER BY valid_from) AS next_from FROM dw.customer) n
WHERE n.customer_key = customer.customer_key AND n.next_from IS NOT NULL;
UPDATE dw.customer SET valid_to = NULL, is_current = true
WHERE valid_from = (SELECT max(o.valid_from) FROM dw.customer o WHERE o.customer_no = dw.customer.customer_no);`,
  },
  {
    name: 'missing members, then facts of all',
    text: `INSERT INTO dw.account (customer_no, note) VALUES ('Z', 'unknown');
INSERT INTO dw.account (customer_no, note) SELECT DISTINCT customer_no, 'inferred' FROM stg.customer s
WHERE NOT EXISTS (FROM dw.account a WHERE a.customer_no = s.customer_no);
INSERT INTO dw.history (customer_no, happened) SELECT a.customer_no, concat(a.note, ' ', count(s.city)) FROM dw.account a LEFT JOIN stg.customer s USING (customer_no) GROUP BY a.customer_no, a.note;`,
  },
  {
    name: 'common tables in front of every write',
    text: `WITH gone AS (SELECT t.customer_no FROM dw.customer t ANTI JOIN stg.customer s ON s.customer_no = t.customer_no WHERE t.is_current)
UPDATE dw.customer t SET is_current = false, valid_to = DATE '2026-05-01' FROM gone g WHERE g.customer_no = t.customer_no AND t.is_current;
WITH customer AS (SELECT * FROM dw.customer WHERE is_current)
DELETE FROM dw.account USING customer WHERE customer.customer_no = account.customer_no;
WITH rest AS (FROM dw.account)
INSERT INTO dw.history (customer_no, city) SELECT customer_no, city FROM rest;`,
  },
  {
    name: 'rows of one key met twice, resolved by row_number',
    text: `UPDATE dw.account SET amount = 0 WHERE amount IS NULL;
UPDATE dw.account SET amount = r.amount, city = r.city
FROM (SELECT *, row_number() OVER (PARTITION BY customer_no ORDER BY amount NULLS LAST) AS rn FROM (FROM stg.customer UNION ALL FROM stg.customer)) r
WHERE r.customer_no = account.customer_no AND r.rn = 1 AND account.amount = 0;`,
  },
  {
    name: 'an INSERT that breaks a key where the key is there',
    text: `INSERT INTO dw.account (customer_no, city) SELECT customer_no, city FROM stg.customer WHERE amount IS NULL;`,
  },
  {
    name: 'a key changed to one that is taken',
    text: `UPDATE dw.account SET customer_no = 'A', note = 'moved' WHERE city = 'Ulm';`,
  },
  {
    name: 'UPDATE … FROM of several equal source rows, by an alias that hides a name',
    text: `DELETE FROM dw.history;
INSERT INTO dw.history (customer_no, city) SELECT customer_no, city FROM dw.account UNION ALL SELECT customer_no, city FROM stg.customer;
UPDATE dw.history AS account SET happened = 'known' FROM dw.account AS history WHERE history.customer_no = account.customer_no;
DELETE FROM dw.history AS h USING dw.history AS o WHERE o.customer_no = h.customer_no AND o.happened IS NULL AND h.city IS NULL;`,
  },
  {
    name: 'INSERT … ON CONFLICT DO UPDATE',
    text: `INSERT INTO dw.account (customer_no, city, amount) SELECT customer_no, city, amount FROM stg.customer
ON CONFLICT (customer_no) DO UPDATE SET city = excluded.city, amount = coalesce(amount, 0) + excluded.amount, note = account.note || '!'
WHERE excluded.amount IS NOT NULL;
INSERT INTO dw.history SELECT customer_no, city, note FROM dw.account;`,
  },
  {
    name: 'INSERT … ON CONFLICT DO NOTHING, by an alias',
    text: `INSERT INTO dw.account AS a SELECT customer_no, city, amount, 'new' FROM (FROM stg.customer UNION ALL FROM stg.customer) ON CONFLICT DO NOTHING;
WITH late AS (SELECT customer_no || 'x' AS no FROM stg.customer)
INSERT INTO dw.account (customer_no) SELECT no FROM late ON CONFLICT (customer_no) DO NOTHING;`,
  },
  {
    name: 'INSERT OR REPLACE and OR IGNORE',
    text: `INSERT OR REPLACE INTO dw.account (customer_no, city) SELECT customer_no, city FROM stg.customer WHERE amount = 1;
INSERT OR IGNORE INTO dw.account SELECT customer_no, city, amount, 'ignored' FROM stg.customer;`,
  },
  {
    name: 'DEFAULT in VALUES, with a default and without one',
    text: `INSERT INTO dw.account (note, customer_no, city) VALUES (DEFAULT, 'X', DEFAULT), ('own', 'Y', 'Rom'), (DEFAULT, 'Z', upper('a'));
INSERT INTO dw.account VALUES ('W', DEFAULT, 7, DEFAULT) ON CONFLICT (customer_no) DO NOTHING;`,
  },
  {
    name: 'DEFAULT in UPDATE, ON CONFLICT and MERGE',
    text: `UPDATE dw.account SET note = DEFAULT, amount = DEFAULT WHERE customer_no < 'C';
INSERT INTO dw.account (customer_no, note) SELECT DISTINCT customer_no, 'new' FROM stg.customer WHERE city = 'Ulm'
ON CONFLICT (customer_no) DO UPDATE SET note = DEFAULT;
MERGE INTO dw.account AS a USING (SELECT DISTINCT customer_no, city FROM stg.customer) AS s ON a.customer_no = s.customer_no
WHEN MATCHED AND s.city = 'Bonn' THEN UPDATE SET note = DEFAULT
WHEN NOT MATCHED THEN INSERT (customer_no, city, note, amount) VALUES (s.customer_no, s.city, DEFAULT, DEFAULT);`,
  },
  {
    name: 'an INSERT twice',
    text: `INSERT INTO dw.account (customer_no) SELECT customer_no || '1' FROM stg.customer WHERE amount = 1;
INSERT INTO dw.account (customer_no) SELECT customer_no || amount FROM stg.customer WHERE is_deleted;`,
  },
  {
    name: 'NOT NULL broken by a join that finds nothing',
    text: `INSERT INTO dw.customer
SELECT 900 + row_number() OVER (), s.customer_no, s.city, s.amount, t.valid_from, NULL, true
FROM stg.customer s LEFT JOIN dw.customer t ON t.customer_no = s.customer_no AND t.is_current WHERE s.city = 'Kiel';`,
  },
];
