import * as vscode from 'vscode';
import { counted } from '../../../protocol/counted.ts';
import type { ConnectionFacts } from '../../../protocol/panel.ts';
import type { PlatformOrigin } from '../../../protocol/requests.ts';
import type { DocumentStatus, IndexingStatus } from './language-server.ts';

/** What the status bar needs to know; asked again whenever something changes. */
export interface StatusSource {
  facts(uri: string): ConnectionFacts;
  isConnected(uri: string): boolean;
  running(): number;
  /** What the language server says about the document. */
  status(uri: string): DocumentStatus | undefined;
  indexing(): IndexingStatus | undefined;
}

/** The connection of the active document with its environment, its platform, and the run that is going on. */
export class StatusBar implements vscode.Disposable {
  readonly #source: StatusSource;
  readonly #connection = vscode.window.createStatusBarItem('connection', vscode.StatusBarAlignment.Left, 20);
  readonly #run = vscode.window.createStatusBarItem('run', vscode.StatusBarAlignment.Left, 19);
  readonly #platform = vscode.window.createStatusBarItem('platform', vscode.StatusBarAlignment.Right, 90);
  readonly #subscription: vscode.Disposable;

  constructor(source: StatusSource) {
    this.#source = source;
    this.#connection.name = 'Mergewright Connection';
    this.#connection.command = 'mergewright.connect';
    this.#run.name = 'Mergewright Run';
    this.#run.command = 'mergewright.showPanel';
    this.#platform.name = 'Mergewright Platform';
    this.#platform.command = {
      title: 'Platform',
      command: 'workbench.action.openSettings',
      arguments: ['mergewright.platform'],
    };
    this.#subscription = vscode.window.onDidChangeActiveTextEditor(() => this.update());
    this.update();
  }

  update(): void {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || document.languageId !== 'sql') {
      // The panel or the terminal has the focus: the last document's connection stays in sight.
      if (document !== undefined) this.#hide();
      this.#showRun();
      return;
    }
    const uri = document.uri.toString();
    const facts = this.#source.facts(uri);
    const isConnected = this.#source.isConnected(uri);
    this.#connection.text = `$(${isConnected ? 'plug' : 'debug-disconnect'}) ${textOf(facts)}`;
    this.#connection.tooltip = tooltipOf(facts, isConnected);
    this.#connection.backgroundColor = colorOf(facts.environment);
    this.#connection.accessibilityInformation = { label: `Connection ${textOf(facts)}` };
    this.#connection.show();
    this.#showPlatform(this.#source.status(uri), facts);
    this.#showRun();
    void vscode.commands.executeCommand('setContext', 'mergewright.connected', isConnected);
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const item of [this.#connection, this.#run, this.#platform]) item.dispose();
  }

  #showRun(): void {
    const running = this.#source.running();
    if (running === 0) {
      this.#run.hide();
      return;
    }
    this.#run.text = `$(sync~spin) ${running === 1 ? 'Load is running' : `${running} loads are running`}`;
    this.#run.show();
  }

  #showPlatform(status: DocumentStatus | undefined, facts: ConnectionFacts): void {
    const indexing = this.#source.indexing();
    const platform = status?.platform ?? facts.platform;
    const mark = indexing !== undefined ? '$(sync~spin) ' : (status?.degraded ?? null) !== null ? '$(warning) ' : '';
    this.#platform.text = `${mark}${platform}`;
    this.#platform.tooltip = [
      `Platform of this file, ${status === undefined ? 'not yet known' : origins[status.origin]}.`,
      `Preview and Run use the text for ${facts.platform}, the platform of the connection.`,
      ...(indexing === undefined
        ? []
        : [`Reading the folder: ${indexing.done} of ${counted(indexing.total, 'file')}.`]),
      ...(status?.degraded ? [status.degraded] : []),
    ].join('\n');
    this.#platform.show();
  }

  #hide(): void {
    this.#connection.hide();
    this.#platform.hide();
  }
}

const origins: Readonly<Record<PlatformOrigin, string>> = {
  connection: 'from its connection',
  folder: 'from mergewright.json',
  syntax: 'from its syntax',
  setting: 'from the setting "mergewright.platform"',
  default: 'by default',
};

function textOf(facts: ConnectionFacts): string {
  const marks = [facts.isProtected ? 'protected' : '', facts.isReadOnly ? 'read-only' : ''].filter(
    (mark) => mark !== '',
  );
  const place = facts.database === null ? '' : ` · ${facts.database}`;
  return `${facts.name}${place} (${[facts.environment, ...marks].join(', ')})`;
}

function tooltipOf(facts: ConnectionFacts, isConnected: boolean): vscode.MarkdownString {
  const lines: readonly (readonly [string, string | null])[] = [
    ['Connection', facts.name],
    ['Platform', facts.platform],
    ['Server', facts.server],
    ['Database', facts.database],
    ['Login', facts.login],
    ['Environment', facts.environment],
    ['State', isConnected ? 'connected' : 'connects with the next run'],
  ];
  const tooltip = new vscode.MarkdownString();
  for (const [name, value] of lines) if (value !== null) tooltip.appendText(`${name}: ${value}`).appendMarkdown('  \n');
  tooltip.appendMarkdown('Click to change the connection of this file.');
  return tooltip;
}

/** The only backgrounds that the editor allows in its status bar; the environment's name stands beside them. */
function colorOf(environment: ConnectionFacts['environment']): vscode.ThemeColor | undefined {
  if (environment === 'prod') return new vscode.ThemeColor('statusBarItem.errorBackground');
  return environment === 'test' ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
}
