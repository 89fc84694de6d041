import { parsePlatform } from '../../../protocol/platform.ts';
import type { Diagnostic, Outcome } from '../../../protocol/problem.ts';
import { readHeader } from '../generate/header.ts';
import type { InSteps } from '../model/in-steps.ts';
import { lintInSteps } from '../rules/engine/lint.ts';
import type { HouseRules } from '../rules/engine/rule.ts';
import type { LintSettings } from '../rules/engine/settings.ts';
import { rules } from '../rules/registry.ts';
import { isPlainPython, isPython, type OpenDocument } from './documents.ts';
import type { Folder } from './folder.ts';
import { folderOf } from './port.ts';
import { withPythonFixes } from './python.ts';
import { regenerateIn } from './regeneration.ts';
import type { FolderSettings } from './settings.ts';

/** Text of more characters is parsed, but no longer checked by rules while it is edited. */
const largestLinted = 2 * 1024 * 1024;

/** What is wrong with a document, by its syntax and by the rules that the folder leaves on; found in many small steps. */
export function* diagnosticsInSteps(document: OpenDocument, folder: Folder): InSteps<Outcome<readonly Diagnostic[]>> {
  if (document.degraded !== null || isPlainPython(document)) return { value: [], problems: [] };
  const { script, uri, text } = document;
  // A folder of SQL Server 2016 is judged by that version's rules.
  const stated = parsePlatform(folder.settingsOf(uri).platform ?? '');
  const outcome = yield* lintInSteps({
    script,
    lineStarts: document.lineStarts,
    file: uri,
    platform: stated?.name === script.platform ? stated : { name: script.platform },
    rules: text.length > largestLinted ? [] : rules,
    tables: folder.catalog.tables,
    objects: folder.objects,
    settings: lintSettingsOf(folder, uri, text),
    regenerate: regenerateIn(folder),
  });
  return isPython(document) ? { ...outcome, value: withPythonFixes(outcome.value, text) } : outcome;
}

/**
 * Rule levels of the nearest mergewright.json, and what is declared for single tables: by the folder, and by the header
 * of a generated script for its own target.
 */
export function lintSettingsOf(folder: Folder, file: string, text: string): LintSettings {
  const settings = folder.settingsOf(file);
  const own = houseOfHeader(text);
  const declared = [...(own === null ? [] : [own]), ...housesOf(settings)];
  if (settings.file === null) return { levels: [], houses: declared };
  return { levels: [{ folder: folderOf(settings.file), rules: settings.rules }], houses: declared };
}

const houses = new WeakMap<FolderSettings, readonly HouseRules[]>();

/** What the folder declares for single tables: a legacy hash or an early closing is no finding there. */
function housesOf(settings: FolderSettings): readonly HouseRules[] {
  const known = houses.get(settings);
  if (known !== undefined) return known;
  const made = settings.inference.loads.map(({ target, options }) => ({ table: target, options: options ?? {} }));
  houses.set(settings, made);
  return made;
}

const headers = new Map<string, HouseRules | null>();

/** The same header gives the same object, so that findings are kept while the rest of the script is edited. */
function houseOfHeader(text: string): HouseRules | null {
  const line = /^-- mergewright: .*$/m.exec(text.slice(0, 20_000))?.[0];
  if (line === undefined) return null;
  const known = headers.get(line);
  if (known !== undefined) return known;
  const specification = readHeader(line);
  const made = specification === null ? null : { table: null, options: specification.options };
  if (headers.size > 200) headers.clear();
  headers.set(line, made);
  return made;
}
