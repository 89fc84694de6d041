import { isTsql } from '../../../protocol/platform.ts';
import type { TableCatalog } from '../model/catalog.ts';
import { unitsOf, walk } from '../syntax/inspect.ts';
import type { Script } from '../syntax/tree.ts';
import { calledProcedures } from './called-procedures.ts';
import { executableLoad } from './executable.ts';
import type { Folder } from './folder.ts';

/** Scripts of more writes, or of more characters, are looked at when a preview is asked for: each takes milliseconds. */
const mostWrites = 12;
const longest = 50_000;

/** True when the text of a script can be previewed on a connection of its own platform, as far as that is quickly told. */
export async function canPreview(folder: Folder, script: Script): Promise<boolean> {
  const { text, platform } = script;
  if (text.length > longest || !(platform === 'duckdb' || isTsql(platform))) return false;
  const { catalog } = folder;
  const kept = known.get(script);
  if (kept?.catalog === catalog) return kept.answer;
  let writes = 0;
  for (const { statement } of unitsOf(script)) {
    walk(statement, ({ kind }) => {
      if (writeKinds.has(kind)) writes += 1;
    });
    if (writes > mostWrites) return false;
  }
  const procedures = await calledProcedures(folder, text, platform);
  const { value } = executableLoad(folder, { text, platform, procedures, parameters: {}, title: '' });
  const answer = value !== null && value.preview !== null;
  known.set(script, { catalog, answer });
  return answer;
}

const writeKinds: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge']);

const known = new WeakMap<Script, { readonly catalog: TableCatalog; readonly answer: boolean }>();
