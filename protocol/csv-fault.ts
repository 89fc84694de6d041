/**
 * What DuckDB says of a CSV file that it can't take, cut to the place, the value and what to do. Its own text goes on with
 * every setting of its reader, none of which a person who fills the folder's tables can set. Any other text comes back as it is.
 */
export function csvFault(message: string): string {
  const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  if (line === undefined) return message;
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
    return `${place} has ${found} columns where the first line names ${expected}, so nothing was replaced; correct the line.`;
  }
  const [said = ''] = message.split(/\s(?:Possible (?:solutions|fixes|Solution)|file = )/);
  return `${place}: ${said.replace(/\s+/g, ' ').trim()}`;
}

function shortened(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
