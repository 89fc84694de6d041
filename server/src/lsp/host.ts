import type { Connection } from 'vscode-languageserver/node';
import type { Diagnostic } from '../../../protocol/problem.ts';
import type { Folder } from '../workspace/folder.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Guard } from './guard.ts';

/** What the handlers of requests share. */
export interface Host {
  readonly connection: Connection;
  readonly workspace: Workspace;
  readonly guard: Guard;
  /** The editor's spelling of a normalised URI. */
  readonly clientUri: (uri: string) => string;
  /** Settled when the folder's first index is done. */
  readonly ready: (folder: Folder) => Promise<void>;
  readonly diagnosticsOf: (uri: string) => readonly Diagnostic[];
  /** The same, letting other requests through. */
  readonly diagnosticsInSlices: (uri: string) => Promise<readonly Diagnostic[]>;
}
