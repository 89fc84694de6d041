import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** The checker reads the grammars and where they are injected from the manifest, as VS Code does. */
test('the injection marks what the scopes in injection.sql say', () => {
  const require = createRequire(import.meta.url);
  const program = join(dirname(require.resolve('vscode-tmgrammar-test/package.json')), 'dist', 'unit.js');
  const folder = import.meta.dirname;
  const output = execFileSync(
    process.execPath,
    [program, '-g', join(folder, 'sql.tmLanguage.json'), '--config', 'package.json', join(folder, 'injection.sql')],
    { encoding: 'utf8', cwd: join(folder, '..', '..') },
  );
  expect(output).toMatch(/✓ .*injection\.sql/);
});
