import { describe, expect, test } from 'vitest';
import { problemsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { applyFixes, lintText } from './support.ts';

const ddl = `CREATE TABLE dw.unit (unit_no INT NOT NULL, label STRING, load_ts TIMESTAMP, CONSTRAINT pk PRIMARY KEY (unit_no)) USING DELTA;
CREATE TABLE stg.unit (unit_no INT, label STRING, load_ts TIMESTAMP) USING DELTA;`;

const load = `MERGE INTO dw.unit AS t USING stg.unit AS s ON t.unit_no = s.unit_no
WHEN MATCHED AND t.label <> s.label THEN UPDATE SET label = s.label, load_ts = s.load_ts
WHEN NOT MATCHED BY SOURCE THEN DELETE;
INSERT INTO dw.unit (unit_no, lable) SELECT unit_no, label FROM stg.unit;`;

const input = { platform: 'databricks', ddl };
const found = (sql: string): readonly string[] =>
  lintText(sql, input)
    .map(({ rule }) => rule)
    .sort();

describe('SQL scripting of Databricks', () => {
  test('a load means the same in a block, a loop, a branch and a procedure', () => {
    const alone = found(load);
    expect(alone).toContain('comparison-misses-null');
    expect(alone).toContain('column-is-not-in-table');
    expect(found(`BEGIN\nDECLARE n INT;\n${load}\nEND`)).toEqual(alone);
    expect(found(`BEGIN\nlbl: LOOP\n${load}\nLEAVE lbl;\nEND LOOP;\nEND`)).toEqual(alone);
    expect(found(`CREATE PROCEDURE p() LANGUAGE SQL AS BEGIN\n${load}\nEND`)).toEqual(alone);
  });

  test('SIGNAL before a load stops it where the stage is empty', () => {
    const guard = `IF (SELECT count(*) FROM stg.unit) = 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'empty'; END IF;`;
    expect(found(`BEGIN\n${load}\nEND`)).toContain('merge-by-source-lacks-stage-guard');
    expect(found(`BEGIN\n${guard}\n${load}\nEND`)).not.toContain('merge-by-source-lacks-stage-guard');
  });

  test('what a fix writes into a block can be read', () => {
    const sql = `BEGIN\n${load}\nEND`;
    const fixes = lintText(sql, input).flatMap((diagnostic) => diagnostic.fixes);
    expect(fixes.length).toBeGreaterThan(2);
    for (const fix of fixes)
      expect(problemsOf(parse(applyFixes(sql, [fix]), { platform: 'databricks' })), fix.title).toEqual([]);
  });
});
