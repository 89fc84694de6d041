import type { ByteWriter } from './bytes.ts';
import type { Value } from './scalars.ts';
import { type WireType, wireType } from './types.ts';

export interface Column {
  readonly name: string;
  readonly type: WireType;
  readonly nullable: boolean;
}

export type Row = readonly Value[];

const declaration = new RegExp(
  [
    /^\s*(?<name>\[(?:[^\]]|\]\])*\]|[^\s[]+)/,
    /\s+(?<type>\w+)(?:\s*\(\s*(?<first>max|\d+)(?:\s*,\s*(?<second>\d+))?\s*\))?/,
    /(?<null>\s+null|\s+not\s+null)?\s*$/,
  ]
    .map((part) => part.source)
    .join(''),
  'i',
);

/** `id int not null`, `[load date] datetime2(7)`, `[] int` (a column without a name); nullable unless it says otherwise. */
export function column(text: string): Column {
  const parts = declaration.exec(text)?.groups;
  if (parts === undefined) throw new TypeError(`"${text}" declares no column`);
  const { name = '', type = '', first, second = '0' } = parts;
  const nullable = !/not/i.test(parts['null'] ?? '');
  const size = first === undefined ? undefined : /max/i.test(first) ? 'max' : Number(first);
  return {
    name: name.startsWith('[') ? name.slice(1, -1).replaceAll(']]', ']') : name,
    type: wireType(type.toLowerCase(), size, Number(second), nullable),
    nullable,
  };
}

const nullableFlag = 0x0001;
const updatableUnknown = 0x0008;

/** COLMETADATA. */
export function writeColumns(out: ByteWriter, columns: readonly Column[]): void {
  out.u8(0x81).u16(columns.length);
  for (const { name, type, nullable } of columns) {
    out.u32(0).u16(updatableUnknown | (nullable ? nullableFlag : 0));
    type.writeInfo(out);
    out.shortText(name);
  }
}

/** ROW, or NBCROW (nulls as a bit map) where that is shorter, as the server does. */
export function writeRow(out: ByteWriter, columns: readonly Column[], row: Row): void {
  if (row.length !== columns.length) {
    throw new RangeError(`${row.length} values for ${columns.length} columns`);
  }
  const mapSize = Math.ceil(columns.length / 8);
  let nullSize = 0;
  for (let index = 0; index < columns.length; index += 1) {
    if (row[index] === null) nullSize += columns[index]?.type.nullSize ?? 0;
  }
  const compact = nullSize > mapSize;
  out.u8(compact ? 0xd2 : 0xd1);
  if (compact) out.bytes(nullMap(row, mapSize));
  for (let index = 0; index < columns.length; index += 1) {
    const value = row[index] ?? null;
    if (!(compact && value === null)) columns[index]?.type.writeValue(out, value);
  }
}

function nullMap(row: Row, size: number): Uint8Array {
  const map = new Uint8Array(size);
  row.forEach((value, index) => {
    if (value === null) map[index >> 3] = (map[index >> 3] ?? 0) | (1 << (index & 7));
  });
  return map;
}
