export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface DecodedText {
  /** Without a byte order mark. */
  readonly text: string;
  readonly encoding: Encoding;
}

/**
 * Reads the bytes of a script as its editor wrote them: UTF-8 or UTF-16 with or without a byte order mark (SSMS saves
 * UTF-16), else Windows-1252, in which every byte has a meaning. Never fails.
 */
export function decodeBytes(bytes: Uint8Array): DecodedText {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { text: decode('utf-8', bytes.subarray(3)), encoding: 'utf-8-bom' };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: decode('utf-16le', bytes.subarray(2)), encoding: 'utf-16le' };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { text: decode('utf-16be', bytes.subarray(2)), encoding: 'utf-16be' };
  const wide = guessUtf16(bytes);
  if (wide !== null) return { text: decode(wide, bytes), encoding: wide };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), encoding: 'utf-8' };
  } catch {
    return { text: decodeWindows1252(bytes), encoding: 'windows-1252' };
  }
}

/** Characters of the bytes 0x80 to 0x9F. Some runtimes decode them as control characters, so they are listed here. */
const upperControls = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const pieceLength = 8192;

function decodeWindows1252(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length; from += pieceLength) {
    const codes = Array.from(bytes.subarray(from, from + pieceLength), (byte) =>
      byte >= 0x80 && byte < 0xa0 ? upperControls.charCodeAt(byte - 0x80) : byte,
    );
    pieces.push(String.fromCharCode(...codes));
  }
  return pieces.join('');
}

function decode(encoding: string, bytes: Uint8Array): string {
  if (encoding !== 'utf-16be') return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  // Not every runtime decodes big-endian text: the bytes are swapped instead.
  const swapped = new Uint8Array(bytes.length - (bytes.length % 2));
  for (let index = 0; index < swapped.length; index += 2) {
    swapped[index] = bytes[index + 1] ?? 0;
    swapped[index + 1] = bytes[index] ?? 0;
  }
  return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(swapped);
}

/**
 * Bytes looked at to tell UTF-16 without a mark: keywords and blanks are ASCII, so many bytes are zero there, all on the
 * same side of their pairs, even where names and comments are in another alphabet.
 */
const sampleSize = 1024;

function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const length = Math.min(bytes.length, sampleSize);
  if (length < 4 || bytes.length % 2 !== 0) return null;
  let even = 0;
  let odd = 0;
  for (let index = 0; index + 1 < length; index += 2) {
    if (bytes[index] === 0) even += 1;
    if (bytes[index + 1] === 0) odd += 1;
  }
  const pairs = length >> 1;
  if (odd > pairs * 0.2 && even < odd * 0.1) return 'utf-16le';
  if (even > pairs * 0.2 && odd < even * 0.1) return 'utf-16be';
  return null;
}
