/**
 * The names in the first line of a CSV text (comma, double quotes), or null where a quote is never closed.
 *
 * @param text the beginning of the file, at least its first line
 */
export function csvHeader(text: string): readonly string[] | null {
  const names: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  field.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  for (;;) {
    const match = field.exec(text);
    if (match === null) return null;
    const [, inQuotes, plain, separator] = match;
    names.push((inQuotes?.replaceAll('""', '"') ?? plain ?? '').trim());
    if (separator !== ',') return names;
  }
}
