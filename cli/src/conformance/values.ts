/**
 * The one text of a value in a conformance run. Cases write values as JSON, engines give them as text or numbers; both
 * come here, so that `19.9` and `19.90` meet, and `2024-01-01 00:00:00` meets `2024-01-01 00:00:00.000000`.
 */
import type { CellValue } from '../../../protocol/run.ts';
import type { Cell, RepeatedText } from './format.ts';

/** Column name → text, null for NULL. */
export type TextRow = Readonly<Record<string, string | null>>;

/** The text of a case's value in a column of a neutral type; hash values are resolved before (see `hashes.ts`). */
export function textOfCell(cell: Exclude<Cell, { $hash: unknown }>, type: string): string | null {
  if (cell === null) return null;
  if (typeof cell === 'object') {
    if (isRepeated(cell)) return cell.$repeat[0].repeat(cell.$repeat[1]) + (cell.$suffix ?? '');
    throw new TypeError(`a hash value in a column of type ${type}`);
  }
  return canonicalText(String(cell), type);
}

/** The text of a value that an engine gave for a column of a neutral type. */
export function textOfResult(value: CellValue, type: string): string | null {
  return value === null ? null : canonicalText(String(value), type);
}

function isRepeated(cell: Cell): cell is RepeatedText {
  return typeof cell === 'object' && cell !== null && '$repeat' in cell;
}

function canonicalText(text: string, type: string): string {
  if (type.startsWith('decimal')) return decimalText(text);
  if (type === 'int' || type === 'bigint') return decimalText(text);
  if (type === 'boolean') return /^(1|true|t)$/i.test(text) ? 'true' : 'false';
  if (type === 'date') return text.slice(0, 10);
  if (type.startsWith('timestamp')) return timestampText(text);
  if (type === 'hash') return text.toLowerCase();
  return text;
}

/** Without leading zeros, trailing zeros of the fraction, or a minus before zero. */
function decimalText(text: string): string {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text.trim());
  if (match === null) return text;
  const whole = match[2] === '' || match[2] === undefined ? '0' : match[2];
  const number = match[3] ? `${whole}.${match[3]}` : whole;
  return match[1] === '-' && number !== '0' ? `-${number}` : number;
}

/** `yyyy-MM-dd HH:mm:ss`, with a fraction only where it is not zero. */
function timestampText(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d*?)0*)?)?$/.exec(text.trim());
  if (match === null) return text;
  const seconds = `${match[1]} ${match[2] ?? '00:00:00'}`;
  return match[3] ? `${seconds}.${match[3]}` : seconds;
}
