/** The specification in a script's header: one line of JSON with a format version, so that the script can be made again. */
import type { LoadSpecification } from '../../../protocol/specification.ts';

const mark = '-- mergewright: ';
const formatVersion = 1;

/** The header line. Holds neither a date nor a user's name. */
export function headerLine(specification: LoadSpecification): string {
  return `${mark}${JSON.stringify({ format: formatVersion, ...specification })}`;
}

/** Reads a script's specification back; null when the text has no header of a known format. Never throws. */
export function readHeader(text: string): LoadSpecification | null {
  const line = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 60)
    .find((candidate) => candidate.startsWith(mark));
  if (line === undefined) return null;
  try {
    const read: unknown = JSON.parse(line.slice(mark.length));
    return isSpecification(read) ? withoutFormat(read) : null;
  } catch {
    return null;
  }
}

function withoutFormat({
  format: _,
  ...specification
}: LoadSpecification & { readonly format: number }): LoadSpecification {
  return specification;
}

function isSpecification(read: unknown): read is LoadSpecification & { readonly format: number } {
  if (typeof read !== 'object' || read === null) return false;
  const fields: Readonly<Record<string, unknown>> = { ...read };
  return (
    fields['format'] === formatVersion &&
    ['pattern', 'platform', 'form', 'shape'].every((name) => typeof fields[name] === 'string') &&
    ['source', 'target', 'options'].every((name) => typeof fields[name] === 'object' && fields[name] !== null)
  );
}
