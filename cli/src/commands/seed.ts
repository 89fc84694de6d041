import { open as openFile, rm, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { attachedFile } from '../../../protocol/connection.ts';
import { counted } from '../../../protocol/counted.ts';
import { csvFault } from '../../../protocol/csv-fault.ts';
import { memoryFile } from '../../../runner/src/connection-text.ts';
import { queryRows } from '../../../runner/src/queries.ts';
import { csvHeader } from '../../../server/src/generate/csv.ts';
import { rowCountQuery, type SeedFile, seedBatches } from '../../../server/src/generate/seed.ts';
import { writtenTableName } from '../../../server/src/model/written-names.ts';
import { decodeBytes } from '../../../server/src/syntax/encoding.ts';
import type { Folder } from '../../../server/src/workspace/folder.ts';
import { type Command, UsageError } from '../command.ts';
import { findTable } from '../find-table.ts';
import { openFolder, problemLine } from '../open-folder.ts';
import { withPathLists } from '../path-lists.ts';
import { findConnection } from '../run/connections.ts';
import { execute, open } from '../run/execute.ts';

/** Bytes in which the first line of a CSV file has to end. */
const headerBytes = 1 << 18;

export const seed: Command = {
  name: 'seed',
  summary: 'Creates the tables of a folder on the embedded engine and loads CSV files.',
  usage: [
    'mergewright seed --ddl PATH… --connection duckdb:FILE [--csv TABLE=FILE]…',
    'A CSV file replaces the rows of its table; an empty field without quotes is NULL.',
  ],
  async run(args, context) {
    const { values, positionals } = parseArgs({
      args: [...withPathLists(args)],
      allowPositionals: true,
      options: {
        ddl: { type: 'string', multiple: true },
        connection: { type: 'string' },
        csv: { type: 'string', multiple: true },
      },
    });
    if (positionals.length > 0)
      throw new UsageError(
        `"${positionals.join(' ')}" is one argument too many; name CSV files with --csv TABLE=FILE.`,
      );
    if (values.ddl === undefined)
      throw new UsageError('Name the tables with --ddl PATH, a .sql file or a folder of them.');
    const connection = await findConnection(values.connection, context.cwd, context.env);
    const { file, platform } = connection.settings;
    if (platform !== 'duckdb' || file === null || file === memoryFile)
      throw new UsageError('Tables are created on the embedded engine only: use --connection duckdb:FILE.');
    const folder = await openFolder(values.ddl, context.cwd, undefined);
    demandWholeTables(folder);
    const files = await Promise.all((values.csv ?? []).map((text) => readCsv(text, folder, context.cwd)));
    const { value: batches, problems } = seedBatches(folder.catalog.tables, files, (name) => attachedFile(file, name));
    const [fault] = problems.filter(({ severity }) => severity === 'error');
    if (fault !== undefined) throw new UsageError(problemLine(fault));
    for (const problem of problems) context.err(problemLine(problem));

    const existed = (await stat(file).catch(() => undefined)) !== undefined;
    const session = await open(connection);
    let isDone = false;
    try {
      const { result } = await execute(
        session,
        connection,
        { mode: 'run', batches, rollBackAtEnd: true },
        () => undefined,
      );
      isDone = result.status === 'done';
      if (!isDone) {
        const message = result.error === null ? null : csvFault(result.error.message);
        context.err(message ?? `The preparation ended as ${result.status}; nothing was replaced.`);
        return 1;
      }
      context.out(`${counted(folder.catalog.tables.length, 'table')} in ${values.connection}\n`);
      for (const { table } of files) {
        const [row] = await queryRows(session, rowCountQuery(table));
        context.out(`${writtenTableName(table.name, table.platform)}: ${counted(Number(row?.[0] ?? 0), 'row')}\n`);
      }
      return 0;
    } finally {
      await session.close();
      if (!isDone && !existed) await rm(file, { force: true });
    }
  },
};

/** A table whose definition can't be read to its end may lack columns: nothing is created from it. */
function demandWholeTables(folder: Folder): void {
  const { tables } = folder.catalog;
  if (tables.length === 0)
    throw new UsageError('No table is defined in the files of --ddl; name .sql files with CREATE TABLE.');
  const defining = new Set(tables.map((table) => table.file));
  const broken = folder.problems.find(
    (problem) => problem.severity === 'error' && problem.file !== undefined && defining.has(problem.file),
  );
  if (broken !== undefined) throw new UsageError(problemLine(broken));
}

async function readCsv(text: string, folder: Folder, cwd: string): Promise<SeedFile> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--csv ${text}: write TABLE=FILE, as in --csv stg.Patient=patients.csv.`);
  const table = findTable(folder, text.slice(0, equals), '--csv');
  const shown = text.slice(equals + 1);
  const path = isAbsolute(shown) ? shown : resolve(cwd, shown);
  if (/[*?[\]{}]/.test(path))
    throw new UsageError(`${shown}: a path with * ? [ ] { } would mean several files; rename it.`);
  const header = csvHeader(await firstLine(path, shown));
  if (header === null) throw new UsageError(`${shown}: the quotes of its first line are never closed.`);
  return { table, path, header };
}

async function firstLine(path: string, shown: string): Promise<string> {
  const file = await openFile(path).catch(() => undefined);
  if (file === undefined) throw new UsageError(`${shown} can't be read; name an existing CSV file.`);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const end = bytes.lastIndexOf(0x0a);
    const { text, encoding } = decodeBytes(end < 0 ? bytes : bytes.subarray(0, end + 1));
    if (!encoding.startsWith('utf-8')) throw new UsageError(`${shown} is no UTF-8 text; save it as UTF-8.`);
    if (text.trim() === '') throw new UsageError(`${shown} is empty; its first line names the columns.`);
    return text;
  } finally {
    await file.close();
  }
}
