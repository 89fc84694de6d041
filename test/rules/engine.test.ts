import { describe, expect, test } from 'vitest';
import { applyEdits, disableActions, safeEdits } from '../../server/src/rules/engine/actions.ts';
import { lint } from '../../server/src/rules/engine/lint.ts';
import { allPlatforms, type Rule } from '../../server/src/rules/engine/rule.ts';
import { rules } from '../../server/src/rules/registry.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import { lintText } from './support.ts';

const upsert = `MERGE dw.Account AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN NOT MATCHED THEN INSERT (AccountNo) VALUES (s.AccountNo)
`;
const names = (sql: string, settings?: Parameters<typeof lintText>[1]) =>
  lintText(sql, settings).map(({ rule }) => rule);

function rule(name: string, check: Rule['statement']): Rule {
  return {
    name,
    hazards: [],
    platforms: allPlatforms,
    severity: 'warning',
    fix: 'none',
    summary: '',
    why: '',
    help: '',
    invalid: [],
    valid: [],
    ...(check === undefined ? {} : { statement: check }),
  };
}

describe('the registry', () => {
  test('names every rule once, in the order of the alphabet, as a sentence in kebab-case', () => {
    const all = rules.map(({ name }) => name);
    expect(all).toEqual([...new Set(all)].sort());
    for (const name of all) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+){2,6}$/);
  });

  test('every rule says why and what to do', () => {
    for (const { summary, why, help } of rules) {
      for (const text of [summary, why, help]) expect(text).toMatch(/^\S.{10,}\.$/s);
    }
  });
});

describe('comments', () => {
  test('switch a rule off for the next line, for a line and for the file', () => {
    expect(names(upsert)).toContain('merge-lacks-semicolon');
    expect(names(`-- mergewright-disable merge-lacks-semicolon: sent by a tool\n${upsert}`)).not.toContain(
      'merge-lacks-semicolon',
    );
    const line = upsert.replace('WHEN NOT', '-- mergewright-disable-next-line merge-lacks-semicolon: here\nWHEN NOT');
    expect(names(line)).not.toContain('merge-lacks-semicolon');
    const behind = upsert.replace('(s.AccountNo)', '(s.AccountNo) -- mergewright-disable-line merge-lacks-semicolon');
    expect(names(behind)).not.toContain('merge-lacks-semicolon');
    expect(names(line)).toContain('merge-lacks-holdlock');
  });

  test('without a name they switch all rules off, but never syntax problems', () => {
    expect(names(`-- mergewright-disable\n${upsert}SELECT FROM WHERE;`)).toEqual(
      names('SELECT FROM WHERE;').map(() => 'syntax'),
    );
  });

  test('are offered as actions, and work', () => {
    const [finding] = lintText(upsert).filter(({ rule: name }) => name === 'merge-lacks-holdlock');
    if (finding === undefined) throw new Error('nothing found');
    const actions = disableActions(finding, upsert);
    expect(actions.map(({ scope }) => scope)).toEqual(['here', 'file', 'folder']);
    for (const action of actions) {
      if (action.scope === 'folder') expect(action.setting).toEqual({ 'merge-lacks-holdlock': 'off' });
      else expect(names(applyEdits(upsert, action.edits))).not.toContain('merge-lacks-holdlock');
    }
  });
});

describe('settings', () => {
  test('the nearest folder decides the severity of a rule', () => {
    const settings = {
      levels: [
        { rules: { 'merge-lacks-holdlock': 'warning' } },
        { folder: 'loads', rules: { 'merge-lacks-holdlock': 'off' } },
      ],
      houses: [],
    } as const;
    const found = lintText(upsert, { settings, file: 'other/a.sql' });
    expect(found.find(({ rule: name }) => name === 'merge-lacks-holdlock')?.severity).toBe('warning');
    expect(names(upsert, { settings, file: 'loads/a.sql' })).not.toContain('merge-lacks-holdlock');
  });

  test('a declared closing rule or legacy hash is off for its table only', () => {
    const close = (table: string) => `UPDATE t SET ValidTo = DATEADD(ms, -3, @today), IsCurrent = 0
FROM ${table} AS t JOIN stg.Tier AS s ON s.MemberNo = t.MemberNo WHERE t.IsCurrent = 1;`;
    const table = { database: null, schema: 'dw', table: 'DimTier' };
    const settings = { levels: [], houses: [{ table, options: { closing: 'minus-3-ms' } }] } as const;
    expect(names(close('dw.DimTier'), { settings })).not.toContain('interval-ends-one-unit-early');
    expect(names(close('dw.DimOther'), { settings })).toContain('interval-ends-one-unit-early');
  });
});

describe('fixes', () => {
  test('safe ones are applied together, and again until none is left', () => {
    const script = `BEGIN TRANSACTION;\n${upsert}COMMIT;`;
    let text = script;
    for (let pass = 0; pass < 5; pass += 1) text = applyEdits(text, safeEdits(lintText(text), text));
    expect(text).toBe(
      script.replace('BEGIN', 'SET XACT_ABORT ON;\nBEGIN').replace('(s.AccountNo)\nCOMMIT', '(s.AccountNo);\nCOMMIT'),
    );
  });
});

describe('a rule that throws', () => {
  const script = parse('SELECT 1;\nSELECT 2;', { platform: 'sqlserver' });
  const broken = rule('broken-rule-here', () => {
    throw new Error('out of order');
  });
  const good = rule('good-rule-here', (step, context) => context.report(step, step.statement, { message: 'Found.' }));

  test('is named, left out for the text, and stops nothing else', () => {
    const request = { script, file: 'a.sql', platform: { name: 'sqlserver' }, rules: [broken, good] } as const;
    const outcome = lint(request);
    expect(outcome.value.map(({ rule: name }) => name)).toEqual(['good-rule-here', 'good-rule-here']);
    expect(outcome.problems.map(({ code, message }) => [code, message.includes('broken-rule-here')])).toEqual([
      ['rule-failed', true],
    ]);
  });
});

describe('drift', () => {
  const script = parse('-- mergewright: {}\nSELECT 1;', { platform: 'sqlserver' });
  const request = { script, file: 'a.sql', platform: { name: 'sqlserver' }, rules } as const;

  test('says what changed and offers the new text', () => {
    const regenerate = () => ({
      text: '-- mergewright: {}\nSELECT 2;',
      changes: ['column City was added to dw.DimShop'],
    });
    const [finding] = lint({ ...request, regenerate }).value;
    expect(finding?.rule).toBe('generated-script-is-stale');
    expect(finding?.message).toContain('column City was added to dw.DimShop');
    expect(finding?.range.start).toEqual({ line: 0, character: 0 });
    expect(applyEdits(script.text, finding?.fixes[0]?.edits ?? [])).toBe('-- mergewright: {}\nSELECT 2;');
  });

  test('an up-to-date script, and a generator that fails, say nothing', () => {
    expect(lint({ ...request, regenerate: () => null }).value).toEqual([]);
    const failing = () => {
      throw new Error('no header');
    };
    expect(lint({ ...request, regenerate: failing }).value).toEqual([]);
  });
});

test('an edit in one statement keeps the findings of the others', () => {
  const sql = (label: string) => `UPDATE dw.Unit SET Label = '${label}' WHERE UnitNo = 1;\n${upsert};`;
  const once = lintText(sql('a'));
  const again = lintText(sql('bb'));
  expect(again.map(({ rule: name, range }) => [name, range.start.line])).toEqual(
    once.map(({ rule: name, range }) => [name, range.start.line]),
  );
});

test('tables of one name that several procedures make with other columns are not taken for each other', () => {
  const procedure = (name: string, column: string, written: string) =>
    `CREATE PROCEDURE dw.${name} AS
DECLARE @t TABLE (${column} int NOT NULL);
CREATE TABLE #k (${column} int NOT NULL);
INSERT INTO @t (${written}) VALUES (1);
INSERT INTO #k (${written}) SELECT ${written} FROM @t;
GO
`;
  expect(names(procedure('P', 'a', 'a') + procedure('Q', 'b', 'b'))).not.toContain('column-is-not-in-table');
  expect(names(procedure('P', 'a', 'b')).filter((name) => name === 'column-is-not-in-table')).toHaveLength(2);
  expect(names(procedure('P', 'a', 'a') + procedure('Q', 'a', 'b'))).toContain('column-is-not-in-table');
});

describe('dynamic SQL', () => {
  const inner =
    "MERGE dw.Unit WITH (HOLDLOCK) AS t USING stg.Unit AS s ON t.Kind = 'a' AND t.UnitNo = s.UnitNo WHEN MATCHED THEN DELETE";

  test('a whole statement in a string is checked, with positions in the file', () => {
    const sql = `EXEC sp_executesql N'${inner.replaceAll("'", "''")}';`;
    const found = lintText(sql).find(({ rule: name }) => name === 'merge-lacks-semicolon');
    expect(found?.range.start.line).toBe(0);
    expect(sql.slice(found?.range.start.character, found?.range.end.character)).toBe('WHEN MATCHED THEN DELETE');
    expect(found?.fixes).toEqual([]);
  });

  test('a string that is only a part of a statement is left alone', () => {
    expect(names(`DECLARE @s nvarchar(max) = N'${inner.replaceAll("'", "''")}' + @more;`)).toEqual([]);
    expect(names("PRINT 'update the table dw.Unit before the load runs';")).toEqual([]);
  });
});
