import * as vscode from 'vscode';
import type { TokenSource } from '../connections/connections.ts';

const scope = 'https://database.windows.net/.default';

/** Entra access tokens from the accounts that the person signed in to the editor; renewed silently by the editor. */
export class EntraTokenSource implements TokenSource {
  async token(): Promise<string | undefined> {
    const session = await vscode.authentication.getSession('microsoft', [scope], { createIfNone: true });
    return session?.accessToken;
  }
}
