/** Hash vectors under `test/vectors`: text → digest, value → text, row → text → digest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HashRules } from '../../protocol/specification.ts';
import type { DigestAlgorithm, HashRole } from '../../server/src/load/digest.ts';

export interface TextVector {
  readonly text: string;
  readonly sha256: string;
  readonly sha1: string;
  readonly md5: string;
}

/** One value in the types that hold it on each platform, and its one text. */
export interface ValueVector {
  readonly types: Readonly<Record<string, string>>;
  readonly value: string;
  readonly text: string;
}

/** Column types are spelled as on SQL Server. */
export interface RowVector {
  readonly title: string;
  readonly role: HashRole;
  readonly rules: HashRules;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly value: string | null }[];
  readonly text: string | null;
  readonly algorithm: DigestAlgorithm;
  readonly digest: string | null;
}

const folder = join(import.meta.dirname, '..', 'vectors');
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

export const textVectors = read('texts.json') as readonly TextVector[];
export const valueVectors = read('values.json') as readonly ValueVector[];
export const rowVectors = read('rows.json') as readonly RowVector[];
