import type { CellRange, ExportFormat } from '../../../protocol/panel.ts';
import type { CellValue, ResultColumn } from '../../../protocol/run.ts';

type Row = readonly CellValue[];

/** A result set, or a part of one, as text of a file. Lines end with LF. */
export function exportRows(columns: readonly ResultColumn[], rows: readonly Row[], format: ExportFormat): string {
  switch (format) {
    case 'csv':
      return [columns.map((column) => csvField(column.name)), ...rows.map((row) => row.map(csvField))]
        .map((fields) => `${fields.join(',')}\n`)
        .join('');
    case 'json':
      return `${JSON.stringify(
        rows.map((row) => Object.fromEntries(uniqueNames(columns).map((name, index) => [name, row[index] ?? null]))),
        null,
        2,
      )}\n`;
    case 'markdown':
      return [
        columns.map((column) => markdownField(column.name)),
        columns.map(() => '---'),
        ...rows.map((row) => row.map(markdownField)),
      ]
        .map((fields) => `| ${fields.join(' | ')} |\n`)
        .join('');
  }
}

/** A rectangle of cells as the clipboard of a spreadsheet takes it: tabs between cells, a line per row. */
export function copyCells(
  columns: readonly ResultColumn[],
  rows: readonly Row[],
  range: CellRange,
  headers: boolean,
): string {
  const names = columns.slice(range.fromColumn, range.toColumn).map((column) => column.name);
  const cells = rows
    .slice(range.fromRow, range.toRow)
    .map((row) => row.slice(range.fromColumn, range.toColumn).map((value) => (value === null ? '' : String(value))));
  return (headers ? [names, ...cells] : cells).map((line) => line.map(tabField).join('\t')).join('\n');
}

/** NULL is an empty field, an empty text a quoted one, so that both come back as they were. */
function csvField(value: CellValue): string {
  if (value === null) return '';
  const text = String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function markdownField(value: CellValue): string {
  if (value === null) return 'NULL';
  return String(value)
    .replace(/[\\|`*_<>[\]]/g, '\\$&')
    .replace(/\r?\n|\r/g, ' ');
}

function tabField(text: string): string {
  return /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Column names of a query may repeat; an object's cannot. */
function uniqueNames(columns: readonly ResultColumn[]): string[] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const count = (seen.get(column.name) ?? 0) + 1;
    seen.set(column.name, count);
    return count === 1 ? column.name : `${column.name}_${count}`;
  });
}
