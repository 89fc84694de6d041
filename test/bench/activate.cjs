// Loads the extension's bundle and activates it beside a stand-in for the editor: `node activate.cjs ROOT STORAGE`. Prints how
// many milliseconds that took, how many commands were registered, which modules were loaded and which processes started.
const childProcess = require('node:child_process');
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');

const [root = '', storage = ''] = process.argv.slice(2);
const bundle = join(root, 'dist', 'extension.cjs');

const started = [];
for (const name of ['spawn', 'fork', 'exec', 'execFile']) {
  childProcess[name] = () => {
    started.push(name);
    throw new Error('a process is started');
  };
}

/** Answers every use with something that can be used again. */
function anything() {
  return new Proxy(() => undefined, {
    get: (_, name) => {
      if (name === 'then') return undefined;
      if (name === Symbol.toPrimitive) return () => '';
      return name === Symbol.iterator ? [][Symbol.iterator] : anything();
    },
    set: () => true,
    apply: () => anything(),
    construct: () => anything(),
  });
}

function partly(own) {
  return new Proxy(own, { get: (of, name) => (name in of ? of[name] : anything()) });
}

const commands = [];
const own = {
  window: partly({ activeTextEditor: undefined, visibleTextEditors: [] }),
  workspace: partly({ textDocuments: [] }),
  commands: {
    executeCommand: async () => undefined,
    registerCommand: (name) => {
      commands.push(name);
      return { dispose: () => undefined };
    },
  },
  EventEmitter: class {
    event = () => ({ dispose: () => undefined });
    fire() {}
    dispose() {}
  },
};
// The bundle copies what it imports, so the stand-in has to own every name that is used.
const used = new Set([...readFileSync(bundle, 'utf8').matchAll(/\bvscode\d*\.(\w+)/g)].map(([, name]) => name));
const classed = ['Disposable', 'TreeItem', 'Position', 'Range'];
const editor = Object.fromEntries([...used].map((name) => [name, classed.includes(name) ? class {} : anything()]));
Object.assign(editor, own);

const load = Module._load;
const modules = [];
Module._load = function (request, ...rest) {
  if (request === 'vscode') return editor;
  modules.push(request);
  return load.call(this, request, ...rest);
};

const context = {
  asAbsolutePath: (path) => join(root, path),
  storageUri: { fsPath: storage },
  extensionUri: {},
  workspaceState: { get: () => undefined, update: async () => undefined },
  secrets: {},
  subscriptions: [],
};
const before = performance.now();
require(bundle).activate(context);
const took = performance.now() - before;
process.stdout.write(JSON.stringify({ took, commands: commands.length, modules, started }), () => process.exit(0));
