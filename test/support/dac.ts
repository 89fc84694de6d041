/** Microsoft's DacFx: whether the names in T-SQL texts stand for anything, found out without a server. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { withTablesApart } from './created-tables.ts';
import { type FoundTool, findTool, skipReason } from './python-tool.ts';

/** One database: statements that create tables, and texts that use them and each other. */
export interface NamesModel {
  readonly name: string;
  readonly ddl: readonly string[];
  readonly texts: readonly string[];
}

/** The message names the object; the texts that are put into a procedure are `text_1`, `text_2` … by their place. */
export interface NamesFinding {
  readonly model: string;
  readonly message: string;
}

const folder = join(import.meta.dirname, 'tsql');
const requirements = [join(folder, 'names.txt'), join(folder, 'openssl.txt')] as const;

let found: FoundTool | undefined;

/**
 * Why DacFx cannot be asked, or null when it can. It is installed into `.cache/` on first use, which takes Python 3.11,
 * the system library libicu and access to PyPI. In CI a missing DacFx is an error.
 */
export function dacMissing(): string | null {
  found ??= findDac();
  return 'home' in found ? null : skipReason(found.missing);
}

/**
 * What DacFx of SQL Server 2019 says against the names in each model. A text is one batch: CREATE PROCEDURE, CREATE
 * VIEW, or statements, which are put into a procedure, since DacFx looks at names in nothing else. It does not see
 * dynamic SQL, nor names of three parts.
 */
export async function unresolvedNames(models: readonly NamesModel[]): Promise<readonly NamesFinding[]> {
  const missing = dacMissing();
  if (missing !== null || found === undefined || !('home' in found)) throw new Error(missing ?? '');
  const child = spawn(pythonOf(found.home), [join(folder, 'names.py')], { env: environment(found.home) });
  child.stdin.end(JSON.stringify(models.map(statementsOf)));
  const [answer, complaint] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  if (answer === '') throw new Error(`DacFx died: ${complaint.slice(-500)}`);
  const messages: readonly (readonly string[])[] = JSON.parse(answer);
  return models.flatMap(({ name }, index) => {
    const said = messages[index];
    if (said === undefined) throw new Error(`DacFx gave no answer for ${name}`);
    return said.map((message) => ({ model: name, message }));
  });
}

function statementsOf({ ddl, texts }: NamesModel): readonly string[] {
  const parts = texts.map((text, index) => withTablesApart(text, `text_${index + 1}`));
  const objects = parts.map(({ text }, index) => objectOf(text, `text_${index + 1}`));
  return [...new Set([...ddl, ...parts.flatMap((part) => part.ddl)]), ...objects];
}

/** DacFx passes over CREATE OR ALTER in silence. */
function objectOf(text: string, procedure: string): string {
  const statement = text.replace(/\bCREATE OR ALTER (?=PROCEDURE|VIEW)/, 'CREATE ');
  const isObject = /^(?:\s|--.*)*CREATE (?:PROCEDURE|VIEW)\b/.test(statement);
  return isObject ? statement : `CREATE PROCEDURE [dbo].[${procedure}] AS\nBEGIN\n${statement}\nEND;`;
}

// --- installation

function findDac(): FoundTool {
  const tool = findTool({
    name: 'tsql-names',
    title: "Microsoft's DacFx",
    minor: 11,
    requirements,
    pip: (home) => [
      ['--no-compile', '-r', requirements[0]],
      // Of this wheel only the shared libraries count, which suit any Python.
      ['--platform', 'manylinux2014_x86_64', '--python-version', '3.11', '--only-binary=:all:', '--no-compile']
        .concat(['--target', join(home, 'openssl')])
        .concat(['-r', requirements[1]]),
    ],
  });
  if ('missing' in tool) return tool;
  nameOpenssl(opensslOf(tool.home));
  const trial = spawnSync(pythonOf(tool.home), [join(folder, 'names.py')], {
    env: environment(tool.home),
    input: '[]',
    encoding: 'utf8',
  });
  return trial.stdout === '[]' ? tool : { missing: `Microsoft's DacFx does not start: ${trial.stderr.slice(-300)}` };
}

/** The wheel's libraries carry a digest in their names; .NET asks for the plain names. */
function nameOpenssl(libraries: string): void {
  for (const file of readdirSync(libraries)) {
    const [, name] = /^(lib(?:ssl|crypto))-\w+\.so\.1\.1$/.exec(file) ?? [];
    const plain = join(libraries, `${name}.so.1.1`);
    if (name !== undefined && !existsSync(plain)) symlinkSync(file, plain);
  }
}

const pythonOf = (home: string): string => join(home, 'bin', 'python');
const opensslOf = (home: string): string => join(home, 'openssl', 'psycopg2_binary.libs');

function environment(home: string): NodeJS.ProcessEnv {
  return { ...process.env, LD_LIBRARY_PATH: opensslOf(home), PYTHONDONTWRITEBYTECODE: '1' };
}
