import * as vscode from 'vscode';
import { counted } from '../../../protocol/counted.ts';
import type { ListedTable } from '../../../protocol/runner-process.ts';
import type { Connections } from '../connections/connections.ts';
import type { ConnectionProfile } from '../connections/profile.ts';
import type { Session } from '../runs/session.ts';

/** A line of the tree; menus read `profile` and `table` from it. */
export type TreeNode =
  | { readonly kind: 'connection'; readonly profile: ConnectionProfile }
  | {
      readonly kind: 'schema';
      readonly profile: ConnectionProfile;
      readonly schema: string;
      readonly tables: readonly KnownTable[];
    }
  | { readonly kind: 'table'; readonly profile: ConnectionProfile; readonly table: KnownTable }
  | { readonly kind: 'message'; readonly text: string };

/** A live table with its role by the folder's DDL, where that has the table. */
export type KnownTable = ListedTable & { readonly role: string | undefined };

/** Gives the role of a table as the folder's DDL tells it. */
export type RoleLookup = (table: ListedTable) => Promise<string | undefined>;

/** Connections → schemas → tables by role. A connection is opened when it is unfolded, and closed again at once. */
export class ConnectionTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  readonly #connections: Connections;
  readonly #roleOf: RoleLookup;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.Disposable;

  constructor(connections: Connections, roleOf: RoleLookup) {
    this.#connections = connections;
    this.#roleOf = roleOf;
    this.#view = vscode.window.registerTreeDataProvider('mergewright.connections', this);
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    switch (node.kind) {
      case 'connection':
        return connectionItem(node.profile);
      case 'schema': {
        const item = new vscode.TreeItem(node.schema, vscode.TreeItemCollapsibleState.Collapsed);
        item.iconPath = new vscode.ThemeIcon('symbol-namespace');
        item.description = counted(node.tables.length, 'table');
        return item;
      }
      case 'table': {
        const item = new vscode.TreeItem(node.table.name, vscode.TreeItemCollapsibleState.None);
        item.iconPath = new vscode.ThemeIcon(node.table.kind === 'view' ? 'eye' : 'table');
        item.description = node.table.role ?? 'no DDL in this folder';
        item.contextValue = 'table';
        item.tooltip = `${node.table.schema}.${node.table.name}`;
        return item;
      }
      case 'message':
        return new vscode.TreeItem(node.text, vscode.TreeItemCollapsibleState.None);
    }
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (node === undefined)
      return this.#connections.profiles(undefined).map((profile) => ({ kind: 'connection', profile }));
    if (node.kind === 'connection') return this.#schemas(node.profile);
    if (node.kind !== 'schema') return [];
    return node.tables.map((table) => ({ kind: 'table', profile: node.profile, table }));
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }

  async #schemas(profile: ConnectionProfile): Promise<TreeNode[]> {
    try {
      const tables = await this.#list(profile);
      if (tables === undefined) return [{ kind: 'message', text: 'not connected' }];
      if (tables.length === 0) return [{ kind: 'message', text: 'no tables' }];
      return [...grouped(tables)].map(([schema, found]) => ({ kind: 'schema', profile, schema, tables: found }));
    } catch (error) {
      return [{ kind: 'message', text: error instanceof Error ? error.message : String(error) }];
    }
  }

  async #list(profile: ConnectionProfile): Promise<readonly KnownTable[] | undefined> {
    const session: Session | undefined = await this.#connections.open(`tree of ${profile.name}`, profile);
    if (session === undefined) return undefined;
    try {
      const tables = await session.tables();
      const known = await Promise.all(tables.map(async (table) => ({ ...table, role: await this.#roleOf(table) })));
      return known.sort((a, b) => (a.role ?? '~').localeCompare(b.role ?? '~') || a.name.localeCompare(b.name));
    } finally {
      await session.close();
    }
  }
}

function grouped(tables: readonly KnownTable[]): Map<string, KnownTable[]> {
  const bySchema = new Map<string, KnownTable[]>();
  for (const table of tables) {
    const name = table.database === null ? table.schema : `${table.database}.${table.schema}`;
    bySchema.set(name, [...(bySchema.get(name) ?? []), table]);
  }
  return bySchema;
}

function connectionItem(profile: ConnectionProfile): vscode.TreeItem {
  const item = new vscode.TreeItem(profile.name, vscode.TreeItemCollapsibleState.Collapsed);
  const marks = [profile.isProtected ? 'protected' : '', profile.isReadOnly ? 'read-only' : ''].filter(
    (mark) => mark !== '',
  );
  item.description = [profile.platform, profile.server, profile.database, profile.environment, ...marks]
    .filter((part) => part !== null)
    .join(' · ');
  item.iconPath = new vscode.ThemeIcon(profile.platform === 'duckdb' ? 'database' : 'server-environment');
  item.contextValue = profile.origin === 'user' ? 'connection.profile' : 'connection';
  return item;
}
