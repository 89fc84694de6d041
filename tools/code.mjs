// Opens VS Code on the samples with the extension: the desktop one where `code` is there, else one in the browser.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const port = 8377;
const home = mkdtempSync(join(tmpdir(), 'mergewright-code-'));
// A copy: whatever is tried out here leaves the repository as it is.
const samples = join(home, 'samples');
cpSync(join(root, 'samples', 'warehouse'), samples, { recursive: true });

const isWindows = process.platform === 'win32';
if (spawnSync('code', ['--version'], { shell: isWindows }).status === 0) {
  const opened = spawnSync('code', ['--new-window', `--extensionDevelopmentPath=${root}`, samples], {
    stdio: 'inherit',
    shell: isWindows,
  });
  process.exit(opened.status ?? 1);
}

const target = `${process.platform}-${process.arch}`;
if (target !== 'linux-x64') {
  console.error(`code: there is no "code" on the PATH, and no browser VS Code for ${target}. Install VS Code first.`);
  process.exit(1);
}
const { codeServer, node24, setUp } = await import('../test/e2e/setup.mjs');
console.log('No "code" on the PATH: a VS Code in the browser is set up.');
setUp();
const vsix = join(root, 'out', `mergewright-${target}.vsix`);
const packed = spawnSync(process.execPath, [join(root, 'tools', 'package.mjs')], { cwd: root, stdio: 'ignore' });
if (packed.status !== 0) {
  console.error('code: the extension could not be packaged; "npm run package" says why.');
  process.exit(1);
}
const folders = ['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')];
const env = { ...process.env, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'share') };
// A server inside another editor's terminal would take that editor for its own.
delete env.VSCODE_IPC_HOOK_CLI;
const installed = spawnSync(node24, [codeServer, ...folders, '--install-extension', vsix, '--force'], {
  env,
  encoding: 'utf8',
});
if (installed.status !== 0) {
  console.error(installed.stderr);
  process.exit(1);
}
const flags = ['--auth=none', '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
const server = spawn(node24, [codeServer, '--bind-addr', `127.0.0.1:${port}`, ...flags, ...folders, samples], {
  env,
  stdio: 'ignore',
});
server.once('exit', (code) => {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code ?? 0);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.kill('SIGTERM'));
console.log(`Open http://localhost:${port}/?folder=${encodeURIComponent(samples)}  (Ctrl+C ends it)`);
