// A VS Code in the browser with the packaged extension, and the browser that shows it.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { codeServer, node24 } from '../setup.mjs';
import { Workbench } from './workbench.mjs';

/** Settings that keep everything off the screen that no journey is about. */
const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'remote.autoForwardPorts': false,
  'editor.minimap.enabled': false,
  'files.simpleDialog.enable': true,
  'typescript.disableAutomaticTypeAcquisition': true,
  'npm.fetchOnlinePackageInfo': false,
};

export const themes = {
  light: { name: 'Light 2026', selector: '.monaco-workbench.vs' },
  dark: { name: 'Dark 2026', selector: '.monaco-workbench.vs-dark' },
  'high-contrast': { name: 'Default High Contrast', selector: '.monaco-workbench.hc-black' },
};

export function findChromium() {
  return [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
    (file) => file && existsSync(file),
  );
}

/** One code-server for all journeys; each journey has its own workspace folder and browser context. */
export class Editor {
  #process;
  #browser;
  #origin;

  /** @param shots folder for screenshots and logs */
  constructor(shots) {
    this.shots = shots;
    this.home = mkdtempSync(join(tmpdir(), 'mw-'));
    this.data = join(this.home, 'data');
    this.workspaces = 0;
  }

  /** Installs the VSIX as a person would, starts the server and the browser. */
  async start(vsix) {
    mkdirSync(this.shots, { recursive: true });
    this.useSettings({});
    const installed = spawnSync(node24, [codeServer, ...this.#folders(), '--install-extension', vsix, '--force'], {
      env: this.#environment(),
      encoding: 'utf8',
    });
    // Missing native loggers fill stderr with stack traces: only the exit code counts.
    if (installed.status !== 0)
      throw new Error(`the VSIX could not be installed:\n${installed.stdout}${installed.stderr}`);
    const port = await freePort();
    this.#origin = `http://localhost:${port}`;
    const log = openSync(join(this.shots, 'server.log'), 'w');
    const flags = [
      '--auth=none',
      '--disable-telemetry',
      '--disable-update-check',
      '--disable-workspace-trust',
      '--disable-getting-started-override',
      '--disable-proxy',
    ];
    this.#process = spawn(
      node24,
      [codeServer, '--bind-addr', `127.0.0.1:${port}`, ...flags, ...this.#folders(), this.home],
      {
        env: this.#environment(),
        stdio: ['ignore', log, log],
        detached: true,
      },
    );
    await until(
      'the server answers',
      async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.ok,
    );
    this.#browser = await chromium.launch({
      executablePath: findChromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
  }

  /** User settings for the next workbench that is opened. */
  useSettings(settings) {
    mkdirSync(join(this.data, 'User'), { recursive: true });
    writeFileSync(join(this.data, 'User', 'settings.json'), JSON.stringify({ ...quietSettings, ...settings }));
  }

  /** Copies a folder as a fresh workspace. */
  workspace(source) {
    this.workspaces += 1;
    const folder = join(this.home, `w${this.workspaces}`);
    cpSync(source, folder, { recursive: true });
    return folder;
  }

  /** Opens a workspace in a fresh browser context. */
  async open(folder, { theme = 'light', settings = {}, size = { width: 1360, height: 840 }, scale = 1 } = {}) {
    this.useSettings({ 'workbench.colorTheme': themes[theme].name, ...settings });
    const context = await this.#browser.newContext({ viewport: size, deviceScaleFactor: scale });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.#origin });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${this.#origin}/?folder=${encodeURIComponent(folder)}`);
    await page.locator(themes[theme].selector).waitFor({ timeout: 60_000 });
    await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor({ timeout: 60_000 });
    return new Workbench(page, folder, this.shots);
  }

  async stop() {
    await this.#browser?.close();
    const child = this.#process;
    if (child !== undefined) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      signal(child.pid, 'SIGTERM');
      await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5000))]);
      signal(child.pid, 'SIGKILL');
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  #folders() {
    return ['--user-data-dir', this.data, '--extensions-dir', join(this.home, 'extensions')];
  }

  /** Nothing of the machine's own editor or of this process's secrets reaches the server. */
  #environment() {
    const { PATH, LANG } = process.env;
    const home = this.home;
    return {
      PATH,
      LANG,
      HOME: home,
      TMPDIR: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'share'),
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_RUNTIME_DIR: home,
    };
  }
}

/** Waits for a condition; fails with its name. */
export async function until(name, condition, timeoutMs = 30_000) {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`timed out waiting until ${name}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch {
    // The process is gone already, which is what was wanted.
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
