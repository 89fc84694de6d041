import type { PlatformName } from '../../../protocol/platform.ts';
import type { Range } from '../../../protocol/position.ts';
import { forgetUnit } from '../model/binding.ts';
import { type FileDefinitions, readDefinitions } from '../model/definitions.ts';
import { forgetScript } from '../rules/analysis/steps.ts';
import { lineStartsAfter, lineStartsOf, offsetOf, unitsOf } from '../syntax/inspect.ts';
import { parse, reparse } from '../syntax/parse.ts';
import { parsePython, sparkPlatform } from '../syntax/python-script.ts';
import type { Script } from '../syntax/tree.ts';
import { isPythonFile } from './python.ts';

/** A change as the editor reports it: of a range, or of the whole text. */
export interface TextChange {
  readonly range?: Range;
  readonly text: string;
}

/** Why a document is only shown, not understood; null when it is understood. */
type Degradation = string | null;

/** An open document, parsed. Instances never change; an edit makes a new one. */
export interface OpenDocument {
  readonly uri: string;
  readonly language: string;
  readonly version: number;
  readonly text: string;
  readonly lineStarts: readonly number[];
  readonly script: Script;
  readonly degraded: Degradation;
}

/** Text of more characters is not parsed while it is edited: every key would take seconds. */
export const largestDocument = 4 * 1024 * 1024;

export function openDocument(
  uri: string,
  language: string,
  version: number,
  text: string,
  platform: PlatformName,
  previous: Script | null = null,
): OpenDocument {
  const degraded = text.length > largestDocument ? tooLarge(text) : null;
  return {
    uri,
    language,
    version,
    text,
    lineStarts: lineStartsOf(text),
    script: readScript({ uri, language }, degraded === null ? text : '', platform, previous),
    degraded,
  };
}

/** The SQL of a document; empty where it is a Python file without any. */
function readScript(
  document: Pick<OpenDocument, 'uri' | 'language'>,
  text: string,
  platform: PlatformName,
  previous: Script | null,
): Script {
  const script = isPython(document) ? parsePython(text, platform, previous) : parse(text, { platform });
  return script ?? parse('', { platform: sparkPlatform(platform) });
}

/** SQL stands only in parts of the document. */
export function isPython({ uri, language }: Pick<OpenDocument, 'uri' | 'language'>): boolean {
  return language === 'python' || isPythonFile(uri);
}

/** A Python file in which there is nothing for us. */
export function isPlainPython(document: OpenDocument): boolean {
  return isPython(document) && document.script.batches.every(({ units }) => units.length === 0);
}

/** The document after changes that are applied one after the other; only touched statements are parsed again. */
export function changeDocument(document: OpenDocument, version: number, changes: readonly TextChange[]): OpenDocument {
  let { text, lineStarts, script } = document;
  let isWhole = document.degraded !== null || isPython(document);
  for (const change of changes) {
    if (change.range === undefined) {
      text = change.text;
      lineStarts = lineStartsOf(text);
      isWhole = true;
    } else {
      const start = offsetOf(lineStarts, text, change.range.start);
      const end = Math.max(start, offsetOf(lineStarts, text, change.range.end));
      text = text.slice(0, start) + change.text + text.slice(end);
      if (!isWhole) script = reparse(script, { start, end, text: change.text });
      lineStarts = lineStartsAfter(lineStarts, { start, end, length: change.text.length }, text);
    }
  }
  if (isWhole || text.length > largestDocument) {
    return openDocument(document.uri, document.language, version, text, document.script.platform, document.script);
  }
  return { ...document, version, text, lineStarts, script };
}

/** Lets go of what was worked out for a document that is closed, before the next collection would find it. */
export function letGoOf({ script }: OpenDocument): void {
  forgetScript(script);
  for (const unit of unitsOf(script)) forgetUnit(unit);
}

const definitions = new WeakMap<Script, FileDefinitions>();

/** What a document defines; worked out once per text. */
export function definitionsOfDocument(document: OpenDocument): FileDefinitions {
  const kept = definitions.get(document.script);
  if (kept !== undefined && kept.file === document.uri) return kept;
  const read = readDefinitions(document.script, document.uri);
  definitions.set(document.script, read);
  return read;
}

function tooLarge(text: string): string {
  const size = (text.length / (1024 * 1024)).toFixed(1);
  return `${size} MB is more than Mergewright follows while it is edited; rules and features are off for this file.`;
}
