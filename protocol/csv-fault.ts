import { counted } from './counted.ts';

/**
 * What DuckDB says of a CSV file that it can't take, cut to the place, the value and what to do. Its own text goes on with
 * every setting of its reader, none of which a person who fills the folder's tables can set. Any other text comes back as it is.
 */
export function csvFault(message: string): string {
  const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  if (line === undefined) return tableFault(message) ?? message;
  const file = /\sfile = (?:.*[/\\])?(.+?)\s+delimiter = /s.exec(message)?.[1];
  const place = `${file === undefined ? '' : `${file}, `}line ${line}`;
  const value = /Error when converting column "(.*?)"\. Could not convert string "(.*?)" to '([^']+)'/s.exec(message);
  if (value !== null) {
    const [, column, text, type] = value;
    return `${place}, column ${column}: "${shortened(text ?? '')}" is no ${type}, so nothing was replaced; correct the value, or the column's type in the DDL.`;
  }
  const length = /Expected Number of Columns: (\d+)\s+Found: (\d+)/.exec(message);
  if (length !== null) {
    const [, expected, found] = length;
    return `${place} has ${counted(Number(found), 'column')} where the first line names ${expected}, so nothing was replaced; correct the line.`;
  }
  const [said = ''] = message.split(/\s(?:Possible (?:solutions|fixes|Solution)|file = )/);
  return `${place}: ${said.replace(/\s+/g, ' ').trim()}`;
}

function shortened(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/** What the table says of a row that the file could be read into; undefined where it is something else. */
function tableFault(message: string): string | undefined {
  const remedy = "so nothing was replaced; correct the value, or the column's type in the DDL.";
  const [, longFile, longColumn, length] =
    /CHECK constraint failed on table (.+) with expression CHECK\(\(length\("?(.+?)"?\) <= (\d+)\)\)/s.exec(message) ??
    [];
  if (longColumn !== undefined) {
    const allowed = length === '1' ? 'one character' : `${length} characters`;
    return `${longFile}, column ${longColumn}: a value is longer than the ${allowed} of its type, ${remedy}`;
  }
  const [, emptyFile, emptyColumn] = /NOT NULL constraint failed: (.+)\.([^.]+)$/s.exec(message) ?? [];
  if (emptyColumn !== undefined)
    return `${emptyFile}, column ${emptyColumn}: a row has no value where the DDL says NOT NULL, so nothing was replaced; give it one, or take NOT NULL from the DDL.`;
  const [, key] = /constraint violation: duplicate key "(.*)"/s.exec(message) ?? [];
  if (key !== undefined)
    return `The key "${shortened(key)}" stands in more than one row, so nothing was replaced; correct the rows, or the key in the DDL.`;
  const [, text, type, column] =
    /Could not convert string ["'](.*)["'] to (.+?) when casting from source column (.+)$/s.exec(message) ?? [];
  if (text !== undefined) return `Column ${column}: "${shortened(text)}" is no ${type}, ${remedy}`;
  const [, digit] = /Invalid input for hex digit: (.*)$/s.exec(message) ?? [];
  return digit === undefined
    ? undefined
    : `A binary value holds "${digit}", which is no hexadecimal digit, so nothing was replaced; write it in the digits 0 to 9 and a to f.`;
}
