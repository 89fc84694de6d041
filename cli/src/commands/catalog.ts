import { parseArgs } from 'node:util';
import type { CatalogTable } from '../../../protocol/catalog.ts';
import { spoken } from '../../../server/src/model/roles.ts';
import { writtenName, writtenTableName } from '../../../server/src/model/written-names.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { diagnosticOf, exitCodeOf, openFolder, problemLine } from '../open-folder.ts';

export const catalog: Command = {
  name: 'catalog',
  summary: 'Shows tables, columns, roles and why.',
  usage: ['mergewright catalog PATH… [--platform P] [--json]'],
  async run(args, context) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { platform: { type: 'string' }, json: { type: 'boolean', default: false } },
    });
    if (positionals.length === 0)
      throw new UsageError('Name the files or folders to read, as in: mergewright catalog ddl/');
    const folder = await openFolder(positionals, context.cwd, values.platform);
    const { tables } = folder.catalog;
    const { problems } = folder;
    if (values.json) {
      context.out(`${JSON.stringify({ tables, problems: problems.map(diagnosticOf) }, null, 2)}\n`);
    } else {
      context.out(tables.length === 0 ? 'No table is defined here.\n' : tables.map(tableText).join('\n'));
      for (const problem of problems) context.err(problemLine(problem));
    }
    return exitCodeOf(problems.map((problem) => problem.severity));
  },
};

/** A table in at most 80 columns: name and role, reasons, key, columns with their roles. */
function tableText(table: CatalogTable): string {
  const confidence = `${Math.round(table.confidence * 100)} %`;
  const [key] = table.keys;
  const how =
    key?.kind !== 'inferred' ? '' : key.stated === undefined ? ' (inferred)' : ' (stated in mergewright.json)';
  const written = (name: string) => writtenName(name, table.platform);
  const widest = Math.min(34, Math.max(...table.columns.map(({ name }) => written(name).length), 1));
  const columns = table.columns.map(
    (column) =>
      `    ${written(column.name).padEnd(widest)}  ${column.type.padEnd(16)}  ${column.nullable ? '        ' : 'NOT NULL'}  ${column.role}`,
  );
  return [
    `${writtenTableName(table.name, table.platform)}: ${spoken(table.role)} (${confidence}), ${table.platform}`,
    ...table.reasons.flatMap((reason) =>
      wrapped(reason, 76).map((line, index) => `  ${index === 0 ? '-' : ' '} ${line}`),
    ),
    ...(key === undefined ? [] : [`  key: ${key.columns.map(written).join(' + ')}${how}`]),
    ...columns.map((line) => line.trimEnd()),
    '',
  ].join('\n');
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
