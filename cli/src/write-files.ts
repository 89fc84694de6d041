import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GeneratedFile } from '../../protocol/requests.ts';
import { UsageError } from './command.ts';

/** Whole files or none: each text is written beside its place first, then moved there. */
export async function writeFiles(files: readonly GeneratedFile[], out: string): Promise<void> {
  const moves: (readonly [string, string])[] = [];
  try {
    for (const file of files) {
      const path = join(out, file.path);
      const draft = `${path}.${process.pid}.tmp`;
      await mkdir(dirname(path), { recursive: true });
      moves.push([draft, path]);
      await writeFile(draft, file.text);
    }
    for (const [draft, path] of moves) await rename(draft, path);
  } catch (error) {
    await Promise.all(moves.map(([draft]) => rm(draft, { force: true })));
    throw new UsageError(
      `The files can't be written to ${out}: ${error instanceof Error ? error.message : String(error)}; name another folder with --out.`,
    );
  }
}
