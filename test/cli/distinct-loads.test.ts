/** Several loads of one table: each its own file, and in form procedure its own procedure. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { callFileOf } from '../../server/src/generate/file-names.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const stage = (name: string) => `CREATE TABLE ${name} (unit_no varchar(20) NULL, name varchar(50) NULL);\n`;
const hub = (name: string) =>
  `CREATE TABLE ${name} (UnitKey char(64) NOT NULL PRIMARY KEY, unit_no varchar(20) NOT NULL, LoadDate datetime2(3) NOT NULL, RecordSource varchar(20) NOT NULL);\n`;
const satelliteTable = `CREATE TABLE dw.SatUnit (UnitKey char(64) NOT NULL, LoadDate datetime2(3) NOT NULL, HashDiff char(64) NOT NULL, RecordSource varchar(20) NOT NULL, name varchar(50) NULL, PRIMARY KEY (UnitKey, LoadDate));\n`;
const dimensionTable = 'CREATE TABLE dw.DimUnit (unit_no varchar(20) NOT NULL PRIMARY KEY, name varchar(50) NULL);\n';
const settings = (json: object) => JSON.stringify({ parameters: { RecordSource: 'CRM' }, ...json });

/** Names of the procedures that a load's file makes and that the file beside it calls. */
async function procedures(terminal: Terminal, pattern: string, source: string, target: string, ...more: string[]) {
  const { out, err } = await terminal.call(
    ...['generate', pattern, '--source', source, '--target', target, '--ddl', 'ddl', '--form', 'procedure', ...more],
  );
  const find = (sign: RegExp) => sign.exec(out)?.[1] ?? err.join('\n');
  return [find(/CREATE OR ALTER PROCEDURE (\S+)/), find(/^EXEC (\S+)/m)];
}

test('the only load of a table has the usual procedure', async () => {
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + hub('dw.HubUnit') + dimensionTable,
    'mergewright.json': settings({}),
  });
  const usual = ['[dw].[Load_HubUnit]', '[dw].[Load_HubUnit]'];
  expect(await procedures(terminal, 'hub', 'crm.StageUnit', 'dw.HubUnit')).toEqual(usual);
  // Another pattern between the same tables takes the place of the one that the folder suggests.
  const dimension = ['[dw].[Load_DimUnit]', '[dw].[Load_DimUnit]'];
  for (const pattern of ['scd1', 'scd0'])
    expect(await procedures(terminal, pattern, 'crm.StageUnit', 'dw.DimUnit')).toEqual(dimension);
});

test('two loads of one table have a procedure and files each, one by one and all at once', async () => {
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + stage('erp.StageUnit') + hub('dw.HubUnit'),
    'mergewright.json': settings({ form: 'procedure' }),
  });
  const [crm, erp] = ['[dw].[Load_HubUnit_from_crm_StageUnit]', '[dw].[Load_HubUnit_from_erp_StageUnit]'];
  expect(await procedures(terminal, 'hub', 'crm.StageUnit', 'dw.HubUnit', '--out', 'one')).not.toContain(erp);
  expect(await procedures(terminal, 'hub', 'crm.StageUnit', 'dw.HubUnit')).toEqual([crm, crm]);
  expect(await procedures(terminal, 'hub', 'erp.StageUnit', 'dw.HubUnit')).toEqual([erp, erp]);
  await procedures(terminal, 'hub', 'erp.StageUnit', 'dw.HubUnit', '--out', 'one');
  await terminal.call('generate', '--all', '--ddl', 'ddl', '--out', 'all');
  const files = [
    'hub_HubUnit_from_crm.StageUnit.sql',
    'hub_HubUnit_from_erp.StageUnit.sql',
    'run_hub_HubUnit_from_crm.StageUnit.sql',
    'run_hub_HubUnit_from_erp.StageUnit.sql',
  ];
  for (const folder of ['one', 'all']) {
    expect(readdirSync(terminal.path(folder)).sort()).toEqual(files);
    const texts = files.map((file) => readFileSync(terminal.path(`${folder}/${file}`), 'utf8'));
    expect(texts.map((text) => (text.includes(crm) ? crm : text.includes(erp) ? erp : null))).toEqual([
      crm,
      erp,
      crm,
      erp,
    ]);
    expect((await terminal.call('lint', folder, '--ddl', 'ddl')).out).toContain('nothing found');
  }
});

test('a procedure keeps its name when the table gets a second load', async () => {
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + hub('dw.HubUnit'),
    'mergewright.json': settings({}),
  });
  await procedures(terminal, 'hub', 'crm.StageUnit', 'dw.HubUnit', '--out', 'loads');
  writeFileSync(terminal.path('ddl/more.sql'), stage('erp.StageUnit'));
  expect((await terminal.call('lint', 'loads', '--ddl', 'ddl')).out).toContain('nothing found');
  expect(await procedures(terminal, 'hub', 'erp.StageUnit', 'dw.HubUnit')).toEqual([
    '[dw].[Load_HubUnit_from_erp_StageUnit]',
    '[dw].[Load_HubUnit_from_erp_StageUnit]',
  ]);
});

test('a load that the tables do not suggest is told from the one that was written before', async () => {
  const open = (name: string) => stage(name).replace('unit_no varchar(20) NULL', 'unit_no varchar(20) NOT NULL UNIQUE');
  const terminal = await openTerminal({
    'ddl/tables.sql': open('a.One') + open('b.Two') + hub('dw.HubUnit'),
    'mergewright.json': settings({}),
  });
  for (const source of ['a.One', 'b.Two', 'b.Two', 'a.One'])
    await procedures(terminal, 'hub', source, 'dw.HubUnit', '--out', 'out');
  const files = readdirSync(terminal.path('out')).filter((name) => name.startsWith('hub'));
  const made = files.map((name) => /PROCEDURE (\S+)/.exec(readFileSync(terminal.path(`out/${name}`), 'utf8'))?.[1]);
  expect([files.sort(), made]).toEqual([
    ['hub_HubUnit.sql', 'hub_HubUnit_from_b.Two.sql'],
    ['[dw].[Load_HubUnit]', '[dw].[Load_HubUnit_from_b_Two]'],
  ]);
});

test('ghost records stand beside the rows of a load', async () => {
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + hub('dw.HubUnit') + satelliteTable,
    'mergewright.json': settings({}),
  });
  const [name] = await procedures(terminal, 'ghost_records', 'crm.StageUnit', 'dw.SatUnit');
  expect(name).toBe('[dw].[Load_SatUnit_ghost_records]');
});

test('one schema for procedures tells tables of two schemas apart', async () => {
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + hub('dw.HubUnit') + hub('mart.HubUnit'),
    'mergewright.json': settings({
      style: { procedureSchema: 'etl' },
      loads: [
        { pattern: 'hub', source: 'crm.StageUnit', target: 'dw.HubUnit' },
        { pattern: 'hub', source: 'crm.StageUnit', target: 'mart.HubUnit' },
      ],
    }),
  });
  for (const schema of ['dw', 'mart']) {
    const name = `[etl].[Load_HubUnit_${schema}]`;
    expect(await procedures(terminal, 'hub', 'crm.StageUnit', `${schema}.HubUnit`)).toEqual([name, name]);
  }
});

test('a stated name is taken, and one that T-SQL does not take is refused', async () => {
  const long = 'H'.repeat(124);
  const terminal = await openTerminal({
    'ddl/tables.sql': stage('crm.StageUnit') + hub(`dw.${long}`),
    'mergewright.json': settings({}),
  });
  const stated = ['--set', 'procedure=Unit Load'];
  expect(await procedures(terminal, 'hub', 'crm.StageUnit', `dw.${long}`, ...stated)).toEqual([
    '[dw].[Unit',
    '[dw].[Unit',
  ]);
  const [refusal] = await procedures(terminal, 'hub', 'crm.StageUnit', `dw.${long}`);
  expect(refusal).toContain(
    'its name has 129 characters, and T-SQL takes 128; the nearest is a shorter name, with --set procedure=NAME.',
  );
});

test('the file that calls a procedure is named by the one that creates it', () => {
  const load = { pattern: 'hub', target: { database: null, schema: 'dw', table: 'HubUnit' } } as const;
  expect(callFileOf(load)).toBe('run_hub_HubUnit.sql');
  expect(callFileOf(load, 'out/hub_HubUnit_from_crm.StageUnit.sql')).toBe('run_hub_HubUnit_from_crm.StageUnit.sql');
  expect(callFileOf(load, 'out/renamed.sql')).toBe('run_hub_HubUnit.sql');
});
