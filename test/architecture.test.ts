import { readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** A room, the rooms it may import from (besides itself), the packages it may use, and whether Node is allowed. */
interface Room {
  readonly path: string;
  readonly from: readonly string[];
  readonly packages: readonly string[];
  readonly node: boolean;
}

const core = [
  'protocol',
  'server/src/syntax',
  'server/src/model',
  'server/src/load',
  'server/src/sql',
  'server/src/generate',
];
const rooms: readonly Room[] = [
  { path: 'protocol', from: [], packages: ['zod'], node: false },
  { path: 'server/src/syntax', from: core.slice(0, 1), packages: [], node: false },
  { path: 'server/src/model', from: core.slice(0, 2), packages: ['node-sql-parser'], node: false },
  { path: 'server/src/load', from: core.slice(0, 3), packages: [], node: false },
  { path: 'server/src/sql', from: core.slice(0, 4), packages: [], node: false },
  { path: 'server/src/generate', from: core.slice(0, 5), packages: [], node: false },
  { path: 'server/src/rules', from: core.slice(0, 5), packages: [], node: false },
  { path: 'server/src/features', from: [...core, 'server/src/rules'], packages: [], node: false },
  {
    path: 'server/src/workspace',
    from: [...core, 'server/src/rules', 'server/src/features'],
    packages: ['zod', 'fflate'],
    node: false,
  },
  {
    path: 'server/src/lsp',
    from: [...core, 'server/src/rules', 'server/src/features', 'server/src/workspace'],
    packages: ['vscode-languageserver'],
    node: true,
  },
  { path: 'server/src/main.ts', from: ['server/src/lsp'], packages: ['vscode-languageserver'], node: true },
  { path: 'runner/src', from: ['protocol'], packages: ['@duckdb/node-api', 'mssql', 'tedious'], node: true },
  {
    path: 'cli/src',
    from: [...core, 'server/src/rules', 'server/src/features', 'server/src/workspace', 'runner/src'],
    packages: ['zod'],
    node: true,
  },
  {
    path: 'client/src',
    from: ['protocol', 'runner/src'],
    packages: ['vscode', 'vscode-languageclient'],
    node: true,
  },
  {
    path: 'client/webview',
    from: ['protocol'],
    packages: ['@vscode-elements/elements', '@vscode/codicons', 'uplot'],
    node: false,
  },
];

function* sourceFiles(folder: string): Generator<string> {
  const entry = statSync(folder, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (entry.isFile()) {
    yield folder;
    return;
  }
  for (const name of readdirSync(folder).sort()) {
    if (name !== 'node_modules') yield* sourceFiles(join(folder, name));
  }
}

/** Every module specifier of a file: static and dynamic imports, re-exports, type imports. */
function specifiers(file: string): string[] {
  const parsed = parseSync(file, readFileSync(file, 'utf8'));
  if (parsed.errors.length > 0) throw new Error(`${file}: ${parsed.errors[0]?.message}`);
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item);
      return;
    }
    if (node === null || typeof node !== 'object') return;
    const record = node as Record<string, unknown>;
    const type = record['type'];
    const source = record['source'] ?? record['argument'];
    if (
      typeof type === 'string' &&
      /^(Import(Declaration|Expression)|TSImportType|Export(Named|All)Declaration|TSExternalModuleReference)$/.test(
        type,
      )
    ) {
      const literal = (record['expression'] ?? source) as { value?: unknown; literal?: { value?: unknown } } | null;
      const value = literal?.value ?? literal?.literal?.value;
      if (typeof value === 'string') found.push(value);
    }
    for (const child of Object.values(record)) visit(child);
  };
  visit(parsed.program.body);
  return found;
}

function roomOf(path: string): Room | undefined {
  return rooms.find((room) => path === room.path || path.startsWith(`${room.path}/`));
}

function complaint(file: string, specifier: string): string | undefined {
  const room = roomOf(file);
  if (room === undefined) return `${file}: stands in no room`;
  if (specifier.startsWith('.')) {
    const target = relative(root, resolve(root, dirname(file), specifier));
    const targetRoom = roomOf(target);
    if (targetRoom === room) return undefined;
    if (targetRoom !== undefined && room.from.includes(targetRoom.path)) return undefined;
    if (file.startsWith('client/webview') && /\.(css|ttf)$/.test(target)) return undefined;
    // Its version stands in the manifest alone.
    if (file === 'cli/src/command-line.ts' && target === 'package.json') return undefined;
    return `${file}: ${room.path} may not import ${target}`;
  }
  const bare = specifier.replace(/^node:/, '');
  if (specifier.startsWith('node:') || builtinModules.includes(bare)) {
    return room.node ? undefined : `${file}: Node's ${bare} may not be used in ${room.path}`;
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return room.packages.includes(name) ? undefined : `${file}: package ${name} may not be used in ${room.path}`;
}

const files = [...new Set(rooms.flatMap((room) => [...sourceFiles(join(root, room.path))]))]
  .filter((file) => file.endsWith('.ts'))
  .map((file) => relative(root, file));

describe('architecture', () => {
  test('every import follows the arrows of ARCHITECTURE.md', () => {
    const checked = files.flatMap((file) => specifiers(join(root, file)).map((specifier) => ({ file, specifier })));
    expect(checked.length).toBeGreaterThan(5);
    expect(
      checked.map(({ file, specifier }) => complaint(file, specifier)).filter((text) => text !== undefined),
    ).toEqual([]);
  });

  test('the check sees what it must refuse', () => {
    expect(complaint('server/src/syntax/x.ts', '../model/y.ts')).toContain('may not import');
    expect(complaint('server/src/model/x.ts', 'node:fs')).toContain('may not be used');
    expect(complaint('server/src/rules/x.ts', '../generate/y.ts')).toContain('may not import');
    expect(complaint('runner/src/x.ts', 'vscode')).toContain('may not be used');
    expect(complaint('runner/src/x.ts', '../../protocol/run.ts')).toBeUndefined();
  });
});
