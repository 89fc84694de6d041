import { isTsql } from '../../../protocol/platform.ts';
import type { TableCatalog } from '../model/catalog.ts';
import type { Script } from '../syntax/tree.ts';
import { calledProcedures } from './called-procedures.ts';
import { executableLoad } from './executable.ts';
import type { Folder } from './folder.ts';

/** Longer texts are data more than loads, and would be read again behind every edit. In characters. */
const longest = 200_000;

/** True when the text of a script can be previewed on a connection of its own platform. */
export async function canPreview(folder: Folder, script: Script): Promise<boolean> {
  const { text, platform } = script;
  if (text.length > longest || !(platform === 'duckdb' || isTsql(platform))) return false;
  const { catalog } = folder;
  const kept = known.get(script);
  if (kept?.catalog === catalog) return kept.answer;
  const procedures = await calledProcedures(folder, text, platform);
  const { value } = executableLoad(folder, { text, platform, procedures, parameters: {}, title: '' });
  const answer = value !== null && value.preview !== null;
  known.set(script, { catalog, answer });
  return answer;
}

const known = new WeakMap<Script, { readonly catalog: TableCatalog; readonly answer: boolean }>();
