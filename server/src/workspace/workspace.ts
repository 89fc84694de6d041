import { type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { PlatformOrigin } from '../../../protocol/requests.ts';
import type { DocumentView } from '../features/view.ts';
import { decodeBytes } from '../syntax/encoding.ts';
import { lineStartsOf } from '../syntax/inspect.ts';
import { detectPlatform, platformOrExpected } from '../syntax/platform.ts';
import { platformThatReads } from '../syntax/unstated.ts';
import {
  changeDocument,
  definitionsOfDocument,
  isPlainPython,
  largestDocument,
  letGoOf,
  type OpenDocument,
  openDocument,
  type TextChange,
} from './documents.ts';
import { Folder } from './folder.ts';
import { type FilePort, isProjectOrSettings, isReadable, liesIn } from './port.ts';
import { isPythonFile, parseFile } from './python.ts';

/** Languages whose documents are SQL as a whole, and Python, which may have SQL in it. */
const sqlLanguages = new Set(['sql', 'tsql', 'mssql', 'sqlserver', 'spark-sql', 'duckdb', 'python']);

/**
 * The open documents and the folders around them. Documents of no folder share one that knows only them. The name of a
 * file is its URI.
 */
export class Workspace {
  readonly documents = new Map<string, OpenDocument>();
  private readonly port: FilePort;
  private readonly pause: () => Promise<void>;
  private folders: Folder[] = [];
  private readonly loose: Folder;
  private readonly connections = new Map<string, PlatformName>();
  /** Documents whose text the folder has not seen yet. */
  private readonly pending = new Set<string>();

  constructor(port: FilePort, pause: () => Promise<void>) {
    this.port = port;
    this.pause = pause;
    this.loose = new Folder(port, '');
  }

  get folderRoots(): readonly string[] {
    return this.folders.map((folder) => folder.root);
  }

  addFolder(root: string): Folder {
    const folder = new Folder(this.port, root, { pause: this.pause });
    this.folders.push(folder);
    return folder;
  }

  /** The platform of a folder's files, or of those in no folder (null), that neither connection, `mergewright.json` nor syntax tells of. */
  async expectPlatform(root: string | null, platform: PlatformName | null): Promise<void> {
    const folder = root === null ? this.loose : this.folderAt(root);
    await folder.expectPlatform(platform);
    this.keepOpen(folder);
  }

  /** The platform that `expectPlatform` said last. */
  expected(root: string | null): PlatformName | null {
    return (root === null ? this.loose : this.folderAt(root)).expectedPlatform;
  }

  /** Reads a folder's files; of those that are open, the editor's text counts. */
  async readFolder(root: string): Promise<Folder> {
    const folder = this.folderAt(root);
    await folder.read([root]);
    this.keepOpen(folder);
    return folder;
  }

  private keepOpen(folder: Folder): void {
    for (const uri of this.documents.keys()) if (this.folderOf(uri) === folder) this.pending.add(uri);
  }

  removeFolder(root: string): void {
    this.folders = this.folders.filter((folder) => folder.root !== root);
  }

  /** The innermost folder that a file lies in, else the one of loose documents. */
  folderOf(uri: string): Folder {
    const around = this.folders.filter((folder) => liesIn(uri, folder.root));
    return around.sort((left, right) => right.root.length - left.root.length)[0] ?? this.loose;
  }

  folderAt(root: string): Folder {
    return this.folders.find((folder) => folder.root === root) ?? this.folderOf(root);
  }

  open(uri: string, language: string, version: number, text: string): OpenDocument | undefined {
    if (!sqlLanguages.has(language)) return undefined;
    const document = openDocument(uri, language, version, text, this.platformOf(uri, text).platform);
    this.keep(document);
    // What a new file defines is known before it is checked, or all of it would be checked again a moment later.
    const folder = this.folderOf(uri);
    if (folder.isSmall && folder.definitionsOf(uri) === undefined) this.handOver(uri);
    return document;
  }

  /** Applies changes; a version that goes backwards is taken over all the same, since the editor's text is the truth. */
  change(uri: string, version: number, changes: readonly TextChange[]): OpenDocument | undefined {
    const document = this.documents.get(uri);
    if (document === undefined) return undefined;
    const changed = changeDocument(document, version, changes);
    this.keep(changed);
    return changed;
  }

  close(uri: string): void {
    const document = this.documents.get(uri);
    if (document !== undefined) letGoOf(document);
    this.documents.delete(uri);
    this.connections.delete(uri);
    this.pending.delete(uri);
    const folder = this.folderOf(uri);
    if (folder === this.loose) folder.forget(uri);
  }

  /** The platform of the connection that a document uses; null: none. Returns the document parsed for it. */
  connect(uri: string, platform: string | null): OpenDocument | undefined {
    const name = platform === null ? undefined : parsePlatform(platform)?.name;
    if (name === undefined) this.connections.delete(uri);
    else this.connections.set(uri, name);
    return this.reopen(uri);
  }

  /** Parses a document again where its platform has changed. */
  reopen(uri: string): OpenDocument | undefined {
    const document = this.documents.get(uri);
    if (document === undefined) return undefined;
    const { platform } = this.platformOf(uri, document.text);
    if (platform === document.script.platform) return document;
    const again = openDocument(uri, document.language, document.version, document.text, platform);
    this.keep(again);
    return again;
  }

  /** Platform of a document: its connection's, its folder's, that of its syntax, the setting's, one that reads it, SQL Server. */
  platformOf(uri: string, text: string): { readonly platform: PlatformName; readonly origin: PlatformOrigin } {
    if (isPythonFile(uri)) {
      const folder = this.folderOf(uri);
      const platform = folder.platformOf(uri, text);
      const isStated = parsePlatform(folder.settingsOf(uri).platform ?? '')?.name === platform;
      return { platform, origin: isStated ? 'folder' : 'syntax' };
    }
    const connected = this.connections.get(uri);
    // The embedded engine runs loads of every platform; a script is not DuckDB's because of that connection.
    if (connected !== undefined && connected !== 'duckdb') return { platform: connected, origin: 'connection' };
    const stated = parsePlatform(this.folderOf(uri).settingsOf(uri).platform ?? '')?.name;
    if (stated !== undefined) return { platform: stated, origin: 'folder' };
    const shown = text.length > largestDocument ? text.slice(0, largestDocument) : text;
    const expected = this.folderOf(uri).expectedPlatform;
    if (expected !== null) {
      const platform = platformOrExpected(shown, expected);
      return { platform, origin: platform === expected ? 'setting' : 'syntax' };
    }
    const detected = detectPlatform(shown);
    if (detected !== undefined) return { platform: detected, origin: 'syntax' };
    const reading = platformThatReads(text);
    return reading === undefined
      ? { platform: 'sqlserver', origin: 'default' }
      : { platform: reading, origin: 'syntax' };
  }

  /** Hands the texts of edited documents to their folders. */
  flush(): void {
    for (const uri of this.pending) this.handOver(uri);
  }

  private handOver(uri: string): void {
    this.pending.delete(uri);
    const document = this.documents.get(uri);
    if (document === undefined || document.degraded !== null) return;
    const folder = this.folderOf(uri);
    if (folder.excludes(uri)) folder.forget(uri);
    else if (!isPlainPython(document)) folder.takeScript(uri, document.script, definitionsOfDocument(document));
    else if (folder.definitionsOf(uri) !== undefined) folder.forget(uri);
  }

  get hasPending(): boolean {
    return this.pending.size > 0;
  }

  /**
   * A file or folder was changed, made or deleted outside of the editor; open documents keep the editor's text. Returns
   * whether a folder with files that are read was made or deleted.
   */
  async fileChanged(uri: string): Promise<boolean> {
    if (this.documents.has(uri)) return false;
    const folder = this.folderOf(uri);
    // Documents of other names are read, too, once they were open as SQL.
    if (!isReadable(uri) && folder.definitionsOf(uri) === undefined) {
      const concerned = await folder.readBelow(uri, (file) => this.documents.has(file));
      if (concerned) this.keepOpen(folder);
      return concerned;
    }
    await folder.readFile(uri);
    // It may have meant that others are read, too.
    if (isProjectOrSettings(uri)) this.keepOpen(folder);
    return false;
  }

  /** What features look at. Edits that the folder has not seen yet are handed over first where that is quick. */
  view(uri: string): DocumentView | undefined {
    const document = this.documents.get(uri);
    if (document === undefined || document.degraded !== null || isPlainPython(document)) return undefined;
    const folder = this.folderOf(uri);
    if (this.pending.size > 0 && folder.isSmall) this.flush();
    return {
      file: uri,
      script: document.script,
      lineStarts: document.lineStarts,
      definitions: definitionsOfDocument(document),
      folder,
    };
  }

  /** A view of a file that may not be open; read and parsed for this one look. */
  async viewOfFile(uri: string): Promise<DocumentView | undefined> {
    const open = this.view(uri);
    if (open !== undefined || this.documents.has(uri)) return open;
    const bytes = await this.port.read(uri);
    if (bytes === undefined || bytes.length > largestDocument) return undefined;
    const { text } = decodeBytes(bytes);
    const folder = this.folderOf(uri);
    const script = parseFile(uri, text, this.platformOf(uri, text).platform);
    if (script === null) return undefined;
    const definitions = folder.definitionsOf(uri) ?? {
      file: uri,
      platform: script.platform,
      tables: [],
      derived: [],
      changes: [],
    };
    return { file: uri, script, lineStarts: lineStartsOf(text), definitions, folder };
  }

  private keep(document: OpenDocument): void {
    this.documents.set(document.uri, document);
    this.pending.add(document.uri);
  }
}
