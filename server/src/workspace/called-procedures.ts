import type { TableName } from '../../../protocol/catalog.ts';
import type { PlatformName } from '../../../protocol/platform.ts';
import { formatTableName, nameFits } from '../model/names.ts';
import { findAll, tableNameOf, unitsOf } from '../syntax/inspect.ts';
import { parse } from '../syntax/parse.ts';
import { platformOrExpected } from '../syntax/platform.ts';
import type { Script } from '../syntax/tree.ts';
import type { Folder } from './folder.ts';
import type { KnownProcedure } from './script-preview/procedures.ts';

/** Files that one script's calls are looked for in. */
const mostFiles = 50;

/**
 * The procedures of the folder's files that a script calls, and those that they call.
 *
 * @param platform the connection's; a text that shows its own platform is read as that one's
 */
export async function calledProcedures(
  folder: Folder,
  text: string,
  platform: PlatformName,
): Promise<readonly KnownProcedure[]> {
  const found: KnownProcedure[] = [];
  const looked = new Set<string>();
  const own = platformOrExpected(text, platform);
  const pending = [...calledNames(parse(text, { platform: own }))];
  for (let name = pending.shift(); name !== undefined && looked.size < mostFiles; name = pending.shift()) {
    const called = name;
    if (found.some((known) => nameFits(called, tableNameOf(known.procedure.name)))) continue;
    for (const file of folder.filesOfProcedure(called)) {
      if (looked.has(file)) continue;
      looked.add(file);
      const script = parse((await folder.textOf(file)) ?? '', { platform: own });
      const defined = unitsOf(script).flatMap(({ statement, offset }) =>
        statement.kind === 'create-procedure' ? [{ procedure: statement, text: script.text, offset }] : [],
      );
      found.push(...defined);
      pending.push(...calledNames(script));
    }
  }
  return found;
}

function calledNames(script: Script): readonly TableName[] {
  const calls = unitsOf(script).flatMap(({ statement }) => findAll(statement, 'execute'));
  const names = calls.flatMap(({ procedure }) => (procedure?.kind === 'name' ? [tableNameOf(procedure)] : []));
  return [...new Map(names.map((name) => [formatTableName(name).toLowerCase(), name])).values()];
}
