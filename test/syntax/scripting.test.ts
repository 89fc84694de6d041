import { describe, expect, test } from 'vitest';
import { childrenOf, findAll, problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import type { Statement } from '../../server/src/syntax/tree.ts';
import { faultOf } from '../support/check-tree.ts';

/** The statements of a script, which must be free of problems and have a sound tree. */
function statementsOf(text: string): readonly Statement[] {
  const script = parse(text, { platform: 'databricks' });
  expect(problemsOf(script)).toEqual([]);
  expect(faultOf(script)).toBe('');
  return unitsOf(script).map((unit) => unit.statement);
}

/** Each problem as its message and the text that it marks. */
function problemsIn(text: string): readonly string[] {
  const script = parse(text, { platform: 'databricks' });
  expect(faultOf(script)).toBe('');
  return problemsOf(script).map(({ message, start, end }) => `${message} @ ${text.slice(start, end)}`);
}

const load = `BEGIN
  DECLARE last_run TIMESTAMP DEFAULT TIMESTAMP '2000-01-01';
  DECLARE staged, total INT DEFAULT 0;
  DECLARE nothing_staged CONDITION FOR SQLSTATE '45001';
  DECLARE steps INSENSITIVE CURSOR FOR SELECT name FROM etl.steps FOR READ ONLY;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION, SQLSTATE VALUE '22012'
  BEGIN
    INSERT INTO etl.failures VALUES (current_timestamp());
    RESIGNAL;
  END;
  SET (last_run, staged) = (SELECT max(run_at), count(*) FROM etl.runs);
  SET total = total + 1, staged = 2;
  IF staged = 0 THEN
    SIGNAL nothing_staged SET MESSAGE_TEXT = 'Nothing is staged.';
  ELSEIF staged < 0 THEN
    SIGNAL SQLSTATE '45000';
  ELSE
    MERGE INTO dw.unit AS t USING stg.unit AS s ON t.unit_no = s.unit_no
    WHEN MATCHED AND s.load_ts > last_run THEN UPDATE SET label = s.label
    WHEN NOT MATCHED THEN INSERT *;
  END IF;
  CASE total WHEN 1 THEN SELECT 1; WHEN 2 THEN SELECT 2; ELSE DELETE FROM stg.unit; END CASE;
  CASE WHEN CASE WHEN staged > 1 THEN TRUE ELSE FALSE END THEN UPDATE dw.unit SET label = ''; END CASE;
  outer_loop: WHILE total < 10 DO
    SET total = total + 1;
    IF total = 5 THEN ITERATE outer_loop; END IF;
    LOOP
      LEAVE outer_loop;
    END LOOP;
  END WHILE outer_loop;
  REPEAT
    SET total = total - 1;
  UNTIL total = 0 END REPEAT;
  FOR step AS SELECT name FROM etl.steps DO
    INSERT INTO etl.done VALUES (step.name);
  END FOR;
  OPEN steps;
  FETCH steps INTO staged;
  CLOSE steps;
  GET DIAGNOSTICS staged = ROW_COUNT;
END;
SELECT 1`;

describe('BEGIN … END of Spark SQL', () => {
  test('its statements are read, whatever stands around them', () => {
    const [block, after] = statementsOf(load);
    expect(after?.kind).toBe('select-statement');
    expect(block).toMatchObject({ kind: 'block' });
    if (block?.kind !== 'block') return;
    expect(block.statements.map((statement) => statement.kind)).toEqual([
      'declare',
      'declare',
      'opaque',
      'declare-cursor',
      'declare-handler',
      'set-option',
      'set-option',
      'if',
      'case-statement',
      'case-statement',
      'while',
      'loop',
      'loop',
      'opaque',
      'opaque',
      'opaque',
      'opaque',
    ]);
    expect(findAll(block, 'merge')).toMatchObject([{ branches: [{ match: 'matched' }, { match: 'not-matched' }] }]);
    expect(findAll(block, 'insert')).toHaveLength(2);
    expect(findAll(block, 'declare-handler')).toMatchObject([
      { leaves: true, conditions: ['SQLEXCEPTION', "SQLSTATE VALUE '22012'"], body: { kind: 'block' } },
    ]);
    const [choice] = findAll(block, 'if');
    expect(choice?.then).toMatchObject({ statements: [{ kind: 'throw' }] });
    expect(choice?.otherwise).toMatchObject({ kind: 'if', otherwise: { statements: [{ kind: 'merge' }] } });
    expect(findAll(block, 'loop')).toMatchObject([
      { form: 'loop', body: { statements: [{ kind: 'loop-control', action: 'break' }] } },
      { form: 'repeat', until: { kind: 'binary' } },
      { form: 'for', row: { name: 'step' }, query: { body: { from: [{ alias: null }] } } },
    ]);
  });

  test('SET without the word VARIABLE sets a variable', () => {
    const [block] = statementsOf('BEGIN SET x = y + 1; SET session.z = 2; END');
    expect(findAll(block as Statement, 'set-variable')).toMatchObject([
      { variable: { name: 'x' }, value: { kind: 'binary' } },
      { variable: { name: 'z' } },
    ]);
  });

  test('a transaction is none', () => {
    expect(statementsOf('BEGIN TRANSACTION; DELETE FROM t; COMMIT').map(({ kind }) => kind)).toEqual([
      'opaque',
      'delete',
      'opaque',
    ]);
  });

  test('blocks of one transaction are marked', () => {
    expect(statementsOf('BEGIN ATOMIC DELETE FROM t; END')).toMatchObject([
      { kind: 'block', options: [{ name: 'ATOMIC' }] },
    ]);
  });

  test('very deep nesting is passed over', () => {
    const text = `${'BEGIN '.repeat(2000)}SELECT 1; ${'END; '.repeat(2000)}SELECT 2`;
    const script = parse(text, { platform: 'spark' });
    expect(problemsOf(script)).toEqual([]);
    expect(unitsOf(script)).toHaveLength(2);
  });

  test('very many branches are read without ever more recursion', () => {
    const branches = Array.from({ length: 20_000 }, (_, at) => `ELSEIF x = ${at} THEN DELETE FROM t;`).join('\n');
    const [block] = statementsOf(`BEGIN IF x THEN SELECT 1; ${branches} ELSE SELECT 2; END IF; END`);
    expect(findAll(block as Statement, 'delete')).toHaveLength(20_000);
    expect(findAll(block as Statement, 'select')).toHaveLength(2);
  });

  test('a procedure has parameters and statements', () => {
    const [procedure] =
      statementsOf(`CREATE OR REPLACE PROCEDURE etl.load_unit(IN day DATE DEFAULT current_date(), OUT rows INT, INOUT total INT)
LANGUAGE SQL SQL SECURITY INVOKER COMMENT 'Loads.' MODIFIES SQL DATA
AS BEGIN
  INSERT INTO dw.unit SELECT * FROM stg.unit WHERE load_date = day;
END`);
    expect(procedure).toMatchObject({
      kind: 'create-procedure',
      parameters: [
        { name: 'day', type: { text: 'date' }, output: false },
        { name: 'rows', output: true },
        { name: 'total', output: true },
      ],
      body: [{ kind: 'block', statements: [{ kind: 'insert' }] }],
    });
    expect(childrenOf(procedure as Statement)).not.toEqual([]);
  });
});

describe('mistakes in BEGIN … END', () => {
  test.each([
    ['BEGIN SELECT 1; SELECT 2;', 'Expected END before the end of the text. @ ;'],
    ['BEGIN DELETE FROM t WHERE a = 1 END; SELECT 1', "Expected ';', but found 'END'. @ END"],
    ['BEGIN DELETE FROM t\nUPDATE t SET a = 1; END', "Expected ';', but found 'UPDATE'. @ UPDATE"],
    ['BEGIN IF x THEN SELECT 1; END; SELECT 2; END', "Expected IF, but found ';'. @ ;"],
    ['BEGIN IF x > THEN SELECT 1; END IF; SELECT 2; END', "Expected an expression, but found 'THEN'. @ THEN"],
    ['BEGIN IF x THEN END IF; END', "Expected a statement, but found 'END'. @ END"],
    ['BEGIN WHILE x < 3 SET x = 3; END WHILE; END', "Expected DO, but found 'SET'. @ SET"],
    ['BEGIN SET x = ; SELECT 3; END', "Expected an expression, but found ';'. @ ;"],
    ['BEGIN a: LOOP LEAVE b; END LOOP; END', 'No block or loop around this statement has the label b. @ b'],
    ['BEGIN a: LOOP LEAVE a; END LOOP b; END', "Expected the label a, but found 'b'. @ b"],
    [
      'BEGIN LOOP SELECT 1; END LOOP a; END',
      "Expected ';', since no label stands before this block, but found 'a'. @ a",
    ],
    [
      'BEGIN SELECT 1; DECLARE x INT; END',
      'DECLARE must stand right behind BEGIN, before every other statement of its block. @ DECLARE',
    ],
  ])('%s', (text, problem) => {
    expect(problemsIn(text)).toEqual([problem]);
  });

  test('the statements around a mistake stay known', () => {
    const text =
      'BEGIN DELETE FROM a; SELECT FROM; MERGE INTO b USING c ON b.x = c.x WHEN MATCHED THEN DELETE; END; SELECT 2';
    const script = parse(text, { platform: 'databricks' });
    expect(problemsOf(script)).toHaveLength(1);
    const [block, after] = unitsOf(script).map((unit) => unit.statement);
    expect(findAll(block as Statement, 'merge')).toHaveLength(1);
    expect(findAll(block as Statement, 'delete')).toHaveLength(1);
    expect(after?.kind).toBe('select-statement');
  });
});
