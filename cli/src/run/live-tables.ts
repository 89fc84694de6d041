import { isTsql } from '../../../protocol/platform.ts';
import type { ExecutableLoad } from '../../../protocol/requests.ts';
import type { Session } from '../../../runner/src/session.ts';
import { missingParameters } from '../../../server/src/generate/parameters.ts';
import { Folder } from '../../../server/src/workspace/folder.ts';
import { loadOf } from '../../../server/src/workspace/load-of.ts';

/**
 * The parameters of a generated script that have no value and fill NOT NULL columns, asked of the server's catalog where no
 * DDL told it. It only reads, and only where the script leaves a parameter at NULL. Empty where the catalog can't tell:
 * tables that are not there, of another database, or that may not be read.
 */
export async function missingOnServer(session: Session, load: ExecutableLoad): Promise<readonly string[]> {
  const { specification, text, parameters } = load;
  const { platform } = session.facts;
  if (specification === null || parameters.length > 0 || !isTsql(platform) || !leavesNull.test(text)) return [];
  const { source, target, extra = {} } = specification;
  const described = await session.describe([source, target, ...Object.values(extra)]).catch(() => []);
  if (described.length === 0) return [];
  const files = new Map(described.map((table, index) => [`${index}.sql`, new TextEncoder().encode(table.text)]));
  const port = { list: async () => [...files.keys()], read: async (file: string) => files.get(file) };
  const folder = new Folder(port, '.', { forcedPlatform: platform });
  await folder.read(['.']);
  // The server's session is in one database, whose name its definitions leave out.
  const here = <T extends { readonly database: string | null }>(name: T): T => ({ ...name, database: null });
  const { value } = loadOf(folder, {
    ...specification,
    source: here(source),
    target: here(target),
    extra: Object.fromEntries(Object.entries(extra).map(([role, name]) => [role, here(name)])),
  });
  return value === null ? [] : missingParameters(text, value.parameters, platform);
}

/** A parameter of the block without a value. */
const leavesNull = /^DECLARE @\w+ [^=\n]+ = NULL;\r?$/im;
