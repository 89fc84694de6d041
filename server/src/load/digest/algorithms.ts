/**
 * SHA-256, SHA-1 and MD5 over bytes, without any platform library, so that the digest of a row can be computed wherever
 * the core runs. Sources: FIPS 180-4 (SHA) and RFC 1321 (MD5).
 */
export type DigestAlgorithm = 'sha256' | 'sha1' | 'md5';

/** The digest of `bytes` as lower-case hex text: 64, 40 or 32 digits. */
export function digestOfBytes(algorithm: DigestAlgorithm, bytes: Uint8Array): string {
  switch (algorithm) {
    case 'sha256':
      return sha256(bytes);
    case 'sha1':
      return sha1(bytes);
    case 'md5':
      return md5(bytes);
  }
}

const blockBytes = 64;

/** The message, a 1 bit, zeros, and the length in bits: a whole number of blocks. */
function padded(bytes: Uint8Array, littleEndianLength: boolean): DataView {
  const total = Math.ceil((bytes.length + 9) / blockBytes) * blockBytes;
  const buffer = new Uint8Array(total);
  buffer.set(bytes);
  buffer[bytes.length] = 0x80;
  const view = new DataView(buffer.buffer);
  const low = (bytes.length << 3) >>> 0;
  const high = Math.floor(bytes.length / 0x20000000);
  view.setUint32(total - 8, littleEndianLength ? low : high, littleEndianLength);
  view.setUint32(total - 4, littleEndianLength ? high : low, littleEndianLength);
  return view;
}

const rotateRight = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
const rotateLeft = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
const hexOf = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
const swapped = (word: number): number =>
  ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);

/** The first 32 bits of the fraction of a root of each of the first primes: SHA-256's constants by their definition. */
function primeRootFractions(count: number, power: number): Int32Array {
  const words = new Int32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate && prime; divisor += 1) prime = candidate % divisor !== 0;
    if (!prime) continue;
    const root = candidate ** power;
    words[found] = ((root - Math.floor(root)) * 0x100000000) | 0;
    found += 1;
  }
  return words;
}

const sha256Constants = primeRootFractions(64, 1 / 3);
const sha256Start = primeRootFractions(8, 1 / 2);

function sha256(bytes: Uint8Array): string {
  const view = padded(bytes, false);
  const state = Int32Array.from(sha256Start);
  const schedule = new Int32Array(64);
  const at = (words: Int32Array, index: number): number => words[index] ?? 0;
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) {
    for (let i = 0; i < 16; i += 1) schedule[i] = view.getInt32(offset + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const early = at(schedule, i - 15);
      const late = at(schedule, i - 2);
      const small0 = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
      const small1 = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
      schedule[i] = (at(schedule, i - 16) + small0 + at(schedule, i - 7) + small1) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i += 1) {
      const big1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
      const choice = (e & f) ^ (~e & g);
      const first = (h + big1 + choice + at(sha256Constants, i) + at(schedule, i)) | 0;
      const big0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const second = (big0 + majority) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    addTo(state, [a, b, c, d, e, f, g, h]);
  }
  return [...state].map(hexOf).join('');
}

function sha1(bytes: Uint8Array): string {
  const view = padded(bytes, false);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const schedule = new Int32Array(80);
  const at = (index: number): number => schedule[index] ?? 0;
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) {
    for (let i = 0; i < 16; i += 1) schedule[i] = view.getInt32(offset + i * 4);
    for (let i = 16; i < 80; i += 1) schedule[i] = rotateLeft(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1);
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    for (let i = 0; i < 80; i += 1) {
      const [mix, constant] =
        i < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : i < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : i < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const next = (rotateLeft(a, 5) + mix + e + constant + at(i)) | 0;
      e = d;
      d = c;
      c = rotateLeft(b, 30);
      b = a;
      a = next;
    }
    addTo(state, [a, b, c, d, e]);
  }
  return [...state].map(hexOf).join('');
}

const md5Constants = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 0x100000000) | 0);
const md5Shifts = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

function md5(bytes: Uint8Array): string {
  const view = padded(bytes, true);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) {
    let [a = 0, b = 0, c = 0, d = 0] = state;
    for (let i = 0; i < 64; i += 1) {
      const round = i >> 4;
      const [mix, word] =
        round === 0
          ? [(b & c) | (~b & d), i]
          : round === 1
            ? [(d & b) | (~d & c), (5 * i + 1) % 16]
            : round === 2
              ? [b ^ c ^ d, (3 * i + 5) % 16]
              : [c ^ (b | ~d), (7 * i) % 16];
      const sum = (a + mix + (md5Constants[i] ?? 0) + view.getInt32(offset + word * 4, true)) | 0;
      a = d;
      d = c;
      c = b;
      b = (b + rotateLeft(sum, md5Shifts[round]?.[i % 4] ?? 0)) | 0;
    }
    addTo(state, [a, b, c, d]);
  }
  return [...state].map((word) => hexOf(swapped(word))).join('');
}

function addTo(state: Int32Array, words: readonly number[]): void {
  for (const [i, word] of words.entries()) state[i] = ((state[i] ?? 0) + word) | 0;
}
