import type { PlatformName } from '../../../protocol/platform.ts';
import type { EmbeddedScript } from './embedded.ts';
import { parse } from './parse.ts';
import { scriptsInPython } from './python.ts';
import { movedBatch } from './reader.ts';
import type { Script, ScriptBatch } from './tree.ts';

/** Databricks marks the sources of its notebooks; other files are looked at where they call `spark.sql`. */
const marks = /^\uFEFF?# Databricks notebook source|\bspark\s*\.\s*sql\s*\(/;

/**
 * The SQL of a Python file as one script, every complete piece a batch of its own. Everything but SQL is blank in the
 * script's text, so that offsets, lines and characters are those of the file. Null where the file holds no such SQL.
 *
 * @param platform the folder's; anything but a platform of Spark's family counts as Databricks
 * @param previous the file before an edit: the statements of pieces that are still the same stay the same objects
 */
export function parsePython(text: string, platform: PlatformName, previous: Script | null = null): Script | null {
  if (!marks.test(text)) return null;
  const spark = sparkPlatform(platform);
  const blank = text.replace(/[^\r\n]/g, ' ');
  const known = previous?.platform === spark ? batchesByText(previous) : new Map<string, ScriptBatch>();
  const batches: ScriptBatch[] = [];
  let placed = '';
  for (const embedded of scriptsInPython(text)) {
    const start = embedded.hostOffset(0);
    // What looks like a cell inside of a string is a part of the string.
    const isFree = embedded.complete && start >= placed.length;
    const piece = isFree ? inPlace(embedded, text, blank) : null;
    if (piece === null) continue;
    const same = known.get(piece);
    // Each one once: an equal piece elsewhere has statements of its own.
    known.delete(piece);
    if (same !== undefined) batches.push(movedBatch(same, start - same.start));
    else batches.push(...parse(piece, { platform: spark }).batches.map((batch) => movedBatch(batch, start)));
    placed += blank.slice(placed.length, start) + piece;
  }
  if (batches.length === 0) return null;
  return { text: placed + blank.slice(placed.length), platform: spark, batches };
}

function batchesByText({ text, batches }: Script): Map<string, ScriptBatch> {
  return new Map(batches.map((batch) => [text.slice(batch.start, batch.end), batch]));
}

/** The platform by which the SQL of a Python file is read. */
export function sparkPlatform(platform: PlatformName): PlatformName {
  return platform === 'spark' || platform === 'delta' ? platform : 'databricks';
}

/**
 * The stretch of the host from an embedded script's first character to its last with everything else blank. Null where
 * an escape ends a line that has a comment: written as a blank it would let the comment swallow the rest.
 */
function inPlace({ text, hostOffset }: EmbeddedScript, host: string, blank: string): string | null {
  const start = hostOffset(0);
  const characters = blank.slice(start, hostOffset(text.length)).split('');
  for (let index = 0; index < text.length; index += 1) {
    const offset = hostOffset(index);
    const character = text.charAt(index);
    if (offset >= host.length) continue;
    if (character !== '\n' && character !== '\r') characters[offset - start] = character;
    else if (host.charAt(offset) === '\\' && text.includes('--')) return null;
  }
  return characters.join('');
}
