/** Tables that hold keys and nothing else, and tables of a thousand columns. */
import { expect, test } from 'vitest';
import { openTerminal } from './terminal.ts';

const on = ['--connection', 'duckdb:w.duckdb'];

test.each(['scd0', 'scd1', 'scd2', 'scd3', 'scd6', 'scd2_day', 'reference_table', 'persistent_staging'])(
  'a table of keys alone takes its load of %s, once',
  async (pattern) => {
    const terminal = await openTerminal({
      'stage.sql':
        'CREATE SCHEMA stg; CREATE TABLE stg.Pair (a INTEGER NOT NULL, b VARCHAR NOT NULL, PRIMARY KEY (a, b));',
      'rows.csv': 'a,b\n1,x\n1,y\n',
    });
    const made = await terminal.call('create', pattern, '--source', 'stg.Pair', '--ddl', 'stage.sql');
    await terminal.write('target.sql', made.out);
    const target = /CREATE TABLE (\S+)/.exec(made.out)?.[1] ?? '';
    const ddl = ['--ddl', 'stage.sql', 'target.sql'];
    for (const shape of ['separate', 'merge']) {
      await terminal.call('seed', ...ddl, ...on, '--csv', 'stg.Pair=rows.csv');
      const load = ['--source', 'stg.Pair', '--target', target, '--shape', shape, '--out', shape];
      const { code, out: script, err } = await terminal.call('generate', pattern, ...load, ...ddl);
      expect([code, err]).toEqual([0, []]);
      expect((await terminal.call('preview', script.trim(), ...ddl, ...on)).code).toBe(0);
      const first = await terminal.call('run', script.trim(), ...ddl, ...on);
      const second = await terminal.call('run', script.trim(), ...ddl, ...on);
      const inserted = [first, second].map(({ out }) => /inserted +(\d+)/.exec(out)?.[1]);
      expect([first.err, second.err, inserted]).toEqual([[], [], shape === 'separate' ? ['2', '0'] : ['0', '0']]);
    }
  },
);

test.each(['sqlserver', 'duckdb'])(
  'a satellite of a thousand columns is judged by every rule on %s',
  async (platform) => {
    const columns = Array.from({ length: 1000 }, (_, index) => `c${index} varchar(20) NULL`).join(', ');
    const terminal = await openTerminal({
      'stage.sql': `CREATE TABLE stg.Wide (id int NOT NULL PRIMARY KEY, ${columns});`,
      'mergewright.json': JSON.stringify({ parameters: { RecordSource: 'x' } }),
    });
    const on = ['--platform', platform];
    const made = await terminal.call('create', 'satellite', '--source', 'stg.Wide', '--ddl', 'stage.sql', ...on);
    await terminal.write('target.sql', made.out);
    const ddl = ['--ddl', 'stage.sql', 'target.sql'];
    const load = ['--source', 'stg.Wide', '--target', 'rdv.SatWide', '--out', 'out', ...on];
    expect((await terminal.call('generate', 'satellite', ...load, ...ddl)).code).toBe(0);
    expect(await terminal.call('lint', 'out', ...ddl, ...on)).toEqual({
      code: 0,
      out: '1 file checked: nothing found\n',
      err: [],
    });
  },
);
