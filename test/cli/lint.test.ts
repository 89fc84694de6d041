import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lint } from '../../cli/src/commands/lint.ts';
import { terminalProgress } from '../../cli/src/lint/progress.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-lint-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const output = { out: '', err: '' };
  const code = await lint.run(args, {
    cwd: folder,
    env: {},
    out: (text) => {
      output.out += text;
    },
    err: (text) => {
      output.err += `${text}\n`;
    },
  });
  return { ...output, code };
}

const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
const merge = `MERGE dw.Account WITH (HOLDLOCK) AS t USING stg.Account AS s ON t.AccountNo = s.AccountNo
WHEN MATCHED AND t.Label <> s.Label THEN UPDATE SET Label = s.Label
`;
const ddl = `CREATE TABLE dw.Account (AccountNo int NOT NULL PRIMARY KEY, Label varchar(30) NULL);
CREATE TABLE stg.Account (AccountNo int NOT NULL PRIMARY KEY, Label varchar(30) NULL);
`;

describe('lint', () => {
  test('shows the line, a mark under the place, why and what to do', async () => {
    put('load.sql', merge);
    put('ddl.sql', ddl);
    const { out, code } = await run('load.sql', '--ddl', 'ddl.sql');
    expect(code).toBe(1);
    expect(out).toContain('load.sql:2:18: warning: ');
    expect(out).toContain('  2 | WHEN MATCHED AND t.Label <> s.Label THEN UPDATE SET Label = s.Label');
    expect(out).toContain('    |                  ^^^^^^^^^^^^^^^^^^');
    expect(out).toContain('1 file checked: 1 error, 1 warning');
  });

  test('knows a table that the script itself makes, which the folder reads from the same file', async () => {
    const update = 'UPDATE dw.Reason SET Id = 2 WHERE Code = 1;\n';
    put('own.sql', `CREATE TABLE dw.Reason (Id int IDENTITY(1, 1) PRIMARY KEY, Code int NOT NULL);\nGO\n${update}`);
    const { out } = await run('own.sql');
    expect(out).toContain('own.sql:3:22: error: Id is an identity column');
  });

  test('takes no table of the script for sure where the DDL gives it more columns', async () => {
    put('first.sql', 'CREATE TABLE dw.Reason (Code int NOT NULL PRIMARY KEY, Label varchar(30) NULL);\n');
    const guarded = "IF OBJECT_ID('dw.Reason') IS NULL CREATE TABLE dw.Reason (Code int NOT NULL PRIMARY KEY);\nGO\n";
    put('guarded.sql', `${guarded}UPDATE dw.Reason SET Label = 'x' WHERE Code = 1;\n`);
    const { out } = await run('guarded.sql', '--ddl', 'first.sql');
    expect(out).toBe('1 file checked: nothing found\n');
  });

  test('gives the JSON of the contract, with facts from the DDL', async () => {
    const { out } = await run('load.sql', '--ddl', 'ddl.sql', '--format', 'json');
    const report = JSON.parse(out);
    expect(Object.keys(report)).toEqual(['diagnostics', 'files', 'elapsedMs']);
    expect(report.files).toBe(1);
    const found = report.diagnostics.find(({ rule }: { rule: string }) => rule === 'comparison-misses-null');
    expect(found).toMatchObject({ file: 'load.sql', hazards: ['C01'], severity: 'warning' });
    expect(Object.keys(found)).toEqual([
      'file',
      'range',
      'rule',
      'hazards',
      'severity',
      'message',
      'why',
      'help',
      'url',
      'fixes',
    ]);
    expect(found.range.start).toEqual({ line: 1, character: 17 });
  });

  test('gives SARIF that its schema accepts', async () => {
    const { out } = await run('load.sql', '--ddl', 'ddl.sql', '--format', 'sarif');
    const require = createRequire(import.meta.url);
    const schema = JSON.parse(
      readFileSync(join(require.resolve('@microsoft/jest-sarif'), '../schemas/sarif-2.1.0-rtm.5.json'), 'utf8'),
    );
    delete schema.$schema;
    delete schema.id;
    const validate = new Ajv({ strict: false, unicodeRegExp: false, validateFormats: false }).compile(schema);
    const log = JSON.parse(out);
    expect(validate(log), JSON.stringify(validate.errors)).toBe(true);
    expect(log.runs[0].results.length).toBeGreaterThan(0);
  });

  test('--fix writes safe fixes and leaves nothing of them', async () => {
    put('fix.sql', merge);
    await run('fix.sql', '--ddl', 'ddl.sql', '--fix');
    const text = readFileSync(join(folder, 'fix.sql'), 'utf8');
    expect(text).toContain('EXISTS (SELECT t.Label EXCEPT SELECT s.Label)');
    expect(text.trimEnd().endsWith(';')).toBe(true);
    expect((await run('fix.sql', '--ddl', 'ddl.sql')).code).toBe(0);
  });

  test('takes severities from mergewright.json', async () => {
    put(
      'mergewright.json',
      JSON.stringify({ rules: { 'comparison-misses-null': 'off', 'merge-lacks-semicolon': 'info' } }),
    );
    const { code, out } = await run('load.sql', '--ddl', 'ddl.sql');
    expect(out).toContain('info: This MERGE does not end with a semicolon');
    expect(code).toBe(0);
    rmSync(join(folder, 'mergewright.json'));
  });

  test('the platform decides which rules hold', async () => {
    put(
      'two.sql',
      `MERGE dw.U AS t USING stg.U AS s ON t.UnitNo = s.UnitNo
WHEN MATCHED AND s.Kind = 'a' THEN UPDATE SET Label = 'a'
WHEN MATCHED AND s.Kind = 'b' THEN UPDATE SET Label = 'b';`,
    );
    expect((await run('two.sql', '--platform', 'sqlserver:2016')).out).toContain('[merge-updates-twice]');
    expect((await run('two.sql', '--platform', 'databricks')).out).not.toContain('[merge-updates-twice]');
  });

  test('wrong usage is said in one line', async () => {
    await expect(run()).rejects.toThrow('Name the files or folders to check');
    await expect(run('missing.sql')).rejects.toThrow('missing.sql does not exist');
    await expect(run('load.sql', '--format', 'xml')).rejects.toThrow('"xml" is no format');
    await expect(run('load.sql', '--platform', 'oracle')).rejects.toThrow('"oracle" is no platform');
  });
});

test('progress is shown for many files only, ten times a second at most', () => {
  let now = 0;
  const lines: string[] = [];
  const progress = terminalProgress(
    (text) => lines.push(text),
    () => now,
  );
  progress.show(1, 10, 'a.sql');
  expect(lines).toEqual([]);
  for (let done = 0; done < 1000; done += 1) {
    now += 10;
    progress.show(done, 1000, `folder/${done}.sql`);
  }
  expect(lines.length).toBeGreaterThan(90);
  expect(lines.length).toBeLessThanOrEqual(100);
  expect(lines.at(-1)).toContain('of 1000 files');
});
