import { parsePlatform } from '../../../protocol/platform.ts';
import type { Diagnostic, Outcome } from '../../../protocol/problem.ts';
import { lint } from '../rules/engine/lint.ts';
import type { LintSettings } from '../rules/engine/settings.ts';
import { rules } from '../rules/registry.ts';
import type { OpenDocument } from './documents.ts';
import type { Folder } from './folder.ts';
import { folderOf } from './port.ts';
import type { FolderSettings } from './settings.ts';

/** Text of more characters is parsed, but no longer checked by rules while it is edited. */
export const largestLinted = 2 * 1024 * 1024;

/** What is wrong with a document, by its syntax and by the rules that the folder leaves on. */
export function diagnosticsOf(document: OpenDocument, folder: Folder): Outcome<readonly Diagnostic[]> {
  if (document.degraded !== null) return { value: [], problems: [] };
  const { script, uri, text } = document;
  // A folder of SQL Server 2016 is judged by that version's rules.
  const stated = parsePlatform(folder.settingsOf(uri).platform ?? '');
  return lint({
    script,
    file: uri,
    platform: stated?.name === script.platform ? stated : { name: script.platform },
    rules: text.length > largestLinted ? [] : rules,
    tables: folder.catalog.tables,
    objects: folder.objects,
    settings: lintSettingsOf(folder, uri),
  });
}

/** Rule levels of the nearest mergewright.json. */
export function lintSettingsOf(folder: Folder, file: string): LintSettings {
  const settings = folder.settingsOf(file);
  if (settings.file === null) return { levels: [], houses: [] };
  return { levels: [{ folder: folderOf(settings.file), rules: settings.rules }], houses: housesOf(settings) };
}

const houses = new WeakMap<FolderSettings, LintSettings['houses']>();

/** What the folder declares for single tables: a legacy hash or an early closing is no finding there. */
function housesOf(settings: FolderSettings): LintSettings['houses'] {
  const known = houses.get(settings);
  if (known !== undefined) return known;
  const made = settings.inference.loads.map(({ target, options }) => ({ table: target, options: options ?? {} }));
  houses.set(settings, made);
  return made;
}
