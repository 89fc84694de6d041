import { describe, expect, test } from 'vitest';
import { formatTableName } from '../../server/src/model/names.ts';
import type { Folder } from '../../server/src/workspace/folder.ts';
import { joinPath, pathBelow } from '../../server/src/workspace/port.ts';
import { Workspace } from '../../server/src/workspace/workspace.ts';

const root = 'file:///w/Mein%20Ordner';

/** A folder in memory whose files may change while it is watched; names are written as in the editor's URIs. */
function watched(files: Record<string, string>) {
  const port = {
    list: async (folder: string) =>
      Object.keys(files)
        .map((name) => `${root}/${name}`)
        .filter((file) => file.startsWith(folder)),
    read: async (file: string) => {
      const text = files[file.slice(root.length + 1)];
      return text === undefined ? undefined : new TextEncoder().encode(text);
    },
  };
  const workspace = new Workspace(port, async () => undefined);
  const folder: Folder = workspace.addFolder(root);
  return {
    workspace,
    folder,
    read: () => workspace.readFolder(root),
    /** Writes a file, or deletes it, and tells the workspace. */
    change: async (name: string, text: string | null) => {
      if (text === null) delete files[name];
      else files[name] = text;
      await workspace.fileChanged(`${root}/${name}`);
    },
    tables: () => folder.catalog.tables.map(({ name, platform }) => `${formatTableName(name)} ${platform}`).sort(),
  };
}

const table = (name: string) => `CREATE TABLE dw.${name} (a int, b varchar(20));`;

describe('names of files in an editor', () => {
  test('a path that a person writes leads to the file of the URI', () => {
    for (const path of ['dbo/Größe 1.sql', 'a#b/100 %/x?.sql', 'dbo\\Tables\\[x] {y}.sql']) {
      const file = joinPath(root, path);
      expect(decodeURIComponent(file)).toBe(`file:///w/Mein Ordner/${path.replaceAll('\\', '/')}`);
      expect(pathBelow(file, root)).toBe(path.replaceAll('\\', '/'));
    }
    expect(joinPath(root, '../Größe.sql')).toBe('file:///w/Gr%C3%B6%C3%9Fe.sql');
    expect(joinPath('db', 'Größe 1.sql')).toBe('db/Größe 1.sql');
  });
});

describe('what belongs to a folder', () => {
  test('excluded folders with blanks and umlauts in their names', async () => {
    const { read, tables } = watched({
      'mergewright.json': '{"exclude": ["alte tabellen/**", "Größen"]}',
      'alte%20tabellen/a.sql': table('Old'),
      'Gr%C3%B6%C3%9Fen/b.sql': table('Older'),
      'c.sql': table('T'),
    });
    await read();
    expect(tables()).toEqual(['dw.T sqlserver']);
  });

  test('an excluded file stays out when it is opened, changed or saved', async () => {
    const { read, change, tables, workspace } = watched({
      'mergewright.json': '{"exclude": ["old"]}',
      'old/a.sql': table('Old'),
      'c.sql': table('T'),
    });
    await read();
    await change('old/a.sql', table('Older'));
    await change('old/b.sql', table('Oldest'));
    workspace.open(`${root}/old/a.sql`, 'sql', 1, table('Opened'));
    workspace.flush();
    expect(tables()).toEqual(['dw.T sqlserver']);
    expect(workspace.view(`${root}/old/a.sql`)?.definitions.tables).toHaveLength(1);
  });

  test('other settings count at once: what is excluded, and the platform of closed files', async () => {
    const { read, change, tables } = watched({ 'a/x.sql': table('A'), 'b/y.sql': table('B') });
    await read();
    expect(tables()).toEqual(['dw.A sqlserver', 'dw.B sqlserver']);
    await change('mergewright.json', '{"exclude": ["a"], "platform": "synapse"}');
    expect(tables()).toEqual(['dw.B synapse']);
    await change('b/mergewright.json', '{"platform": "duckdb"}');
    expect(tables()).toEqual(['dw.A sqlserver', 'dw.B duckdb'].slice(1));
    await change('mergewright.json', '{"platform": "fabric"}');
    expect(tables()).toEqual(['dw.A fabric', 'dw.B duckdb']);
    await change('b/mergewright.json', null);
    await change('mergewright.json', null);
    expect(tables()).toEqual(['dw.A sqlserver', 'dw.B sqlserver']);
  });

  test('a folder that is told by its own name: files that are gone are forgotten, new ones are read', async () => {
    const files: Record<string, string> = {
      'a/x.sql': table('A'),
      'a/open.sql': table('Stored'),
      'ab/y.sql': table('B'),
    };
    const { read, tables, workspace } = watched(files);
    await read();
    workspace.open(`${root}/a/open.sql`, 'sql', 1, table('Typed'));
    workspace.flush();
    for (const name of ['a/x.sql', 'a/open.sql']) delete files[name];
    expect(await workspace.fileChanged(`${root}/a`)).toBe(true);
    expect(tables()).toEqual(['dw.B sqlserver', 'dw.Typed sqlserver']);
    Object.assign(files, {
      'new/deep/z.sql': table('Z'),
      'new/notes.txt': table('Notes'),
      'node_modules/p/w.sql': table('W'),
    });
    for (const name of ['new', 'node_modules', 'node_modules/p', 'nothing', 'notes.txt'])
      expect([name, await workspace.fileChanged(`${root}/${name}`)]).toEqual([name, name === 'new']);
    expect(tables()).toEqual(['dw.B sqlserver', 'dw.Typed sqlserver', 'dw.Z sqlserver']);
  });

  test('a folder with a project or settings decides on other files, too', async () => {
    const files: Record<string, string> = { 'db/y.sql': table('Y'), 'db/z.sql': table('Z') };
    const { read, tables, workspace } = watched(files);
    await read();
    files['db/mergewright.json'] = '{"exclude": ["z.sql"]}';
    files['db/p/p.sqlproj'] = '<Project><ItemGroup><Build Include="x.sql" /></ItemGroup></Project>';
    files['db/p/x.sql'] = table('X');
    files['db/p/left.sql'] = table('L');
    expect(await workspace.fileChanged(`${root}/db`)).toBe(true);
    expect(tables()).toEqual(['dw.X sqlserver', 'dw.Y sqlserver']);
    delete files['db/mergewright.json'];
    delete files['db/p/p.sqlproj'];
    expect(await workspace.fileChanged(`${root}/db`)).toBe(true);
    expect(tables()).toEqual(['dw.L sqlserver', 'dw.X sqlserver', 'dw.Y sqlserver', 'dw.Z sqlserver']);
  });

  test('the editor’s text of an open file counts, whatever is read again', async () => {
    const { read, change, tables, workspace } = watched({ 'a.sql': table('Stored') });
    workspace.open(`${root}/a.sql`, 'sql', 1, table('Typed'));
    await read();
    workspace.flush();
    expect(tables()).toEqual(['dw.Typed sqlserver']);
    await change('mergewright.json', '{"platform": "fabric"}');
    workspace.reopen(`${root}/a.sql`);
    workspace.flush();
    expect(tables()).toEqual(['dw.Typed fabric']);
    await workspace.expectPlatform(root, 'duckdb');
    workspace.flush();
    expect(tables()).toEqual(['dw.Typed fabric']);
  });

  test('a project that lists its files, and is changed', async () => {
    const project = (...names: string[]) =>
      `<Project><ItemGroup>${names.map((name) => `<Build Include="${name}" />`).join('')}</ItemGroup></Project>`;
    const { read, change, tables } = watched({
      'db/db.sqlproj': project('dbo\\Größe 1.sql', 'dbo\\TABLES\\b.sql'),
      'db/dbo/Gr%C3%B6%C3%9Fe%201.sql': table('A'),
      'db/dbo/Tables/B.sql': table('B'),
      'db/dbo/c.sql': table('C'),
      'd.sql': table('D'),
    });
    const folder = await read();
    expect(tables()).toEqual(['dw.A sqlserver', 'dw.B sqlserver', 'dw.D sqlserver']);
    expect(folder.fileNames).toContain(`${root}/db/dbo/Gr%C3%B6%C3%9Fe%201.sql`);
    await change('db/dbo/c.sql', table('C2'));
    expect(tables()).toHaveLength(3);
    await change('db/db.sqlproj', project('dbo\\c.sql'));
    expect(tables()).toEqual(['dw.C2 sqlserver', 'dw.D sqlserver']);
    expect(folder.problems).toEqual([]);
    await change('db/db.sqlproj', null);
    expect(tables()).toHaveLength(4);
  });

  test('a project that takes what lies below it', async () => {
    const text = '<Project Sdk="Microsoft.Build.Sql"><ItemGroup><Build Remove="alt stand/**" /></ItemGroup></Project>';
    const { read, change, tables } = watched({ 'db/db.sqlproj': text, 'db/a.sql': table('A') });
    await read();
    await change('db/b.sql', table('B'));
    await change('db/alt%20stand/c.sql', table('C'));
    expect(tables()).toEqual(['dw.A sqlserver', 'dw.B sqlserver']);
    await change('db/b.sql', null);
    expect(tables()).toEqual(['dw.A sqlserver']);
  });
});
