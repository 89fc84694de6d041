import * as vscode from 'vscode';
import type { SharedConnections } from '../commands/import-connection.ts';

const owner = 'ms-mssql.mssql';
const self = 'mergewright.mergewright';

/** Connections that the SQL Server extension shares, after the person has granted it there once. */
export class SqlServerExtension implements SharedConnections {
  isPresent(): boolean {
    return vscode.extensions.getExtension(owner) !== undefined;
  }

  async connectionString(): Promise<string | undefined> {
    await vscode.extensions.getExtension(owner)?.activate();
    const command = (name: string) => `mssql.connectionSharing.${name}`;
    const id = await vscode.commands.executeCommand<string | undefined>(command('getActiveEditorConnectionId'), self);
    if (id === undefined) return undefined;
    return vscode.commands.executeCommand<string | undefined>(command('getConnectionString'), self, id);
  }
}
