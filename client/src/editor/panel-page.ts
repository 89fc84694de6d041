import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { PanelRequest, PanelUpdate } from '../../../protocol/panel.ts';

const viewType = 'mergewright.panel';

/** The run panel as the editor knows it: one tab beside the editors, rebuilt from the extension's data when shown again. */
export class PanelPage implements vscode.Disposable, vscode.WebviewPanelSerializer {
  readonly #extension: vscode.Uri;
  readonly #disposables: vscode.Disposable[] = [];
  #panel: vscode.WebviewPanel | undefined;
  #receive: (request: PanelRequest) => void = () => undefined;

  constructor(extension: vscode.Uri) {
    this.#extension = extension;
    this.#disposables.push(vscode.window.registerWebviewPanelSerializer(viewType, this));
  }

  /** @param receive is called with everything that the page asks */
  listen(receive: (request: PanelRequest) => void): void {
    this.#receive = receive;
  }

  get isVisible(): boolean {
    return this.#panel?.visible ?? false;
  }

  show(): void {
    if (this.#panel !== undefined) {
      this.#panel.reveal(undefined, true);
      return;
    }
    this.#adopt(
      vscode.window.createWebviewPanel(
        viewType,
        'Mergewright Run',
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        this.#options(),
      ),
    );
  }

  post(update: PanelUpdate): void {
    void this.#panel?.webview.postMessage(update);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    panel.webview.options = this.#options();
    this.#adopt(panel);
  }

  dispose(): void {
    this.#panel?.dispose();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #options(): vscode.WebviewPanelOptions & vscode.WebviewOptions {
    return {
      enableScripts: true,
      enableFindWidget: false,
      localResourceRoots: [vscode.Uri.joinPath(this.#extension, 'dist')],
    };
  }

  #adopt(panel: vscode.WebviewPanel): void {
    this.#panel = panel;
    const icon = (theme: string) => vscode.Uri.joinPath(this.#extension, 'client', 'media', `panel-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    panel.onDidDispose(() => {
      if (this.#panel === panel) this.#panel = undefined;
    });
    panel.webview.onDidReceiveMessage((request: PanelRequest) => this.#receive(request));
    panel.webview.html = this.#html(panel.webview);
  }

  #html(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString('base64');
    const resource = (name: string) =>
      webview.asWebviewUri(vscode.Uri.joinPath(this.#extension, 'dist', name)).toString();
    // The library of the controls sets style attributes, so style needs 'unsafe-inline'; no script gets in without the nonce.
    const policy = [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src ${webview.cspSource} 'unsafe-inline'`,
      `font-src ${webview.cspSource} data:`,
      'img-src data:',
    ].join('; ');
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" id="vscode-codicon-stylesheet" href="${resource('panel.css')}">
<title>Mergewright Run</title>
</head>
<body><script nonce="${nonce}" src="${resource('panel.js')}"></script></body>
</html>`;
  }
}
