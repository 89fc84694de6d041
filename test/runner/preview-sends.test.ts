import { expect, test } from 'vitest';
import { childrenOf, problemsOf, unitsOf } from '../../server/src/syntax/inspect.ts';
import { parse } from '../../server/src/syntax/parse.ts';
import type { Name, Node } from '../../server/src/syntax/tree.ts';
import { openTerminal } from '../cli/terminal.ts';
import { done, rows, on as rule, script } from '../support/tds/answers.ts';
import { serveWarehouse } from './warehouse-server.ts';

const ddl = `CREATE TABLE dbo.StageUnit (UnitNo int NOT NULL, Name nvarchar(20) NULL)
GO
CREATE TABLE dbo.Unit (UnitNo int NOT NULL, Name nvarchar(20) NULL, valid_from datetime2(6) NOT NULL,
  valid_to datetime2(6) NULL, is_current bit NOT NULL, PRIMARY KEY (UnitNo, valid_from))
GO
CREATE TABLE dbo.UnitNow (UnitNo int NOT NULL PRIMARY KEY, Name nvarchar(20) NULL)
GO
`;

/** Names of everything that a text writes or defines, besides variables. */
function writtenBy(text: string): readonly string[] {
  const script = parse(text, { platform: 'sqlserver' });
  expect(problemsOf(script)).toEqual([]);
  const written: string[] = [];
  const add = (name: Name) => written.push(name.parts.map((part) => part?.name ?? '').join('.'));
  const visit = (node: Node): void => {
    switch (node.kind) {
      case 'select':
        if (node.into !== null) add(node.into);
        break;
      case 'insert':
      case 'update':
      case 'delete':
      case 'merge':
        if (node.target.kind === 'table') add(node.target.name);
        else if (node.target.kind !== 'table-variable') written.push(node.target.kind);
        break;
      case 'create-table':
        add(node.name);
        break;
      case 'drop':
        for (const name of node.names) add(name);
        break;
      case 'execute':
      case 'opaque':
      case 'truncate':
      case 'alter-table':
        written.push(node.kind);
        break;
      case 'transaction':
        if (node.action === 'commit') written.push('commit');
        break;
      default:
        break;
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const unit of unitsOf(script)) visit(unit.statement);
  return written;
}

test.each([
  ['scd2', 'Unit'],
  ['scd1', 'UnitNow'],
])('a preview of %s sends a server reads and temporary tables only', async (pattern, target) => {
  const server = await serveWarehouse({
    handler: script(
      rule(
        (request) => request.kind === 'batch' && !request.sql.includes('SERVERPROPERTY'),
        [rows(['inserted int', 'updated int'], [[3, 1]]), done()],
      ),
    ),
  });
  const terminal = await openTerminal({ 'ddl/tables.sql': ddl });
  const generated = await terminal.call(
    ...['generate', pattern, '--source', 'StageUnit', '--target', target, '--ddl', 'ddl', '--platform', 'sqlserver'],
    ...['--set', 'keys=["UnitNo"]'],
  );
  await terminal.write('load.sql', generated.out);
  const address = `mssql://loader@localhost:${server.port}/dwh?encrypt=false`;
  const called = await terminal.call('preview', 'load.sql', '--ddl', 'ddl', '--connection', address, '--json');
  expect(called).toMatchObject({ code: 0, err: [] });
  expect(JSON.parse(called.out)).toMatchObject({ status: 'done', counts: { inserted: 3, updated: 1 } });
  const sent = server.recorder.sql().filter((sql) => !sql.includes('SERVERPROPERTY'));
  expect(sent.length).toBeGreaterThan(0);
  const written = sent.flatMap(writtenBy);
  expect(written.length).toBeGreaterThan(0);
  expect(written.filter((name) => !name.startsWith('#'))).toEqual([]);
});
