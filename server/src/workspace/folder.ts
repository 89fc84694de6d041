import type { CatalogTable, TableName } from '../../../protocol/catalog.ts';
import { type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { Range } from '../../../protocol/position.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import { inferLoadsInSteps } from '../load/candidates.ts';
import { type Binding, bindOnce, bindUnit } from '../model/binding.ts';
import { buildCatalog, buildCatalogInSteps, type TableCatalog } from '../model/catalog.ts';
import { type FileDefinitions, readAgain, readDefinitions } from '../model/definitions.ts';
import { finish, finishInSlices, type InSteps } from '../model/in-steps.ts';
import type { FileMention } from '../model/mentions.ts';
import { formatTableName, nameFits } from '../model/names.ts';
import type { SecondReader } from '../model/second-reader.ts';
import { joinObjects, noObjects, type SchemaObjects } from '../rules/analysis/schema-objects.ts';
import { decodeBytes } from '../syntax/encoding.ts';
import { platformOrExpected } from '../syntax/platform.ts';
import { sparkPlatform } from '../syntax/python-script.ts';
import type { Script, Unit } from '../syntax/tree.ts';
import { platformOfUnstated } from '../syntax/unstated.ts';
import { definesNothing, definesTheSame, type IndexedFile, indexScript, letGoOfText } from './indexed-file.ts';
import { Membership } from './membership.ts';
import {
  type FilePort,
  fileNameOf,
  folderOf,
  isProjectOrSettings,
  isReadable,
  joinPath,
  liesIn,
  pathBelow,
  skippedFolders,
} from './port.ts';
import { isInstalled, isPythonFile, parseFile } from './python.ts';
import { readSettings } from './read-settings.ts';
import { defaultSettings, type FolderSettings } from './settings.ts';

/** A settings file with a change that a person may accept. */
export interface ChangedSettings {
  readonly file: string;
  /** Null where the file is new. */
  readonly before: string | null;
  readonly text: string;
}

/** What follows from all files together. */
interface Kept {
  readonly catalog: TableCatalog;
  readonly objects: SchemaObjects;
  loads: readonly LoadCandidate[] | null;
}

export interface FolderOptions {
  /** Platform of files where neither their folder nor syntax of another platform tells. */
  readonly platform?: PlatformName;
  /** Every file is of this platform, whatever it looks like. */
  readonly forcedPlatform?: PlatformName;
  /** Called between files, so that a long index does not block. */
  readonly pause?: () => Promise<void>;
}

/** Text of more characters than this is read for its statements' bounds by nobody: rules and features stay off. */
const largestFile = 10 * 1024 * 1024;
/** Files whose bytes are in memory at once while a folder is read. */
const fetchedAhead = 8;

/**
 * The SQL files, DACPACs and settings of one folder, with the catalog and the loads that follow from them. Reading a
 * file replaces what was known of it; catalog and loads are made again when they are next asked for.
 */
export class Folder {
  readonly root: string;
  private readonly port: FilePort;
  private readonly options: FolderOptions;
  private readonly files = new Map<string, IndexedFile>();
  private readonly settings = new Map<string, FolderSettings>();
  private readonly settingsProblems = new Map<string, readonly Problem[]>();
  private readonly nearest = new Map<string, FolderSettings>();
  private secondReader: SecondReader | null = null;
  /** What the second reader found in files; while somebody types, it is not asked. */
  private readonly readQueries = new Map<string, readonly string[] | null>();
  private readonly secondNames: SecondReader = (query) => this.readQueries.get(query) ?? null;
  private readonly members: Membership;
  private expected: PlatformName | null;
  private kept: Kept | null = null;
  private stale = false;
  /** Whether `isSmall` holds; null until it is asked again. */
  private small: boolean | null = null;
  private refreshing: Promise<void> | null = null;
  private reading = false;

  constructor(port: FilePort, root: string, options: FolderOptions = {}) {
    this.port = port;
    this.root = root;
    this.options = options;
    this.expected = options.platform ?? null;
    this.members = new Membership(port, root, (file) => this.settingsOf(file));
  }

  /** Platform of files where neither their folder nor syntax of another platform tells; null where nobody says. */
  get expectedPlatform(): PlatformName | null {
    return this.expected;
  }

  /** The files are of another platform where nothing else tells: those that were read are read again. */
  async expectPlatform(platform: PlatformName | null): Promise<void> {
    if (platform === this.expected) return;
    this.expected = platform;
    await this.readFiles([...this.files.keys()]);
  }

  /**
   * Reads files and folders: of a folder with database projects, the files that they build; of any other, every `.sql`
   * file and DACPAC below it; of both, the Python files with SQL in them. Returns the names that lead to nothing.
   */
  async read(paths: readonly string[]): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const path of paths) {
      const files = await this.port.list(path);
      if (files.length === 0) missing.push(path);
      await this.readSettingsAbove(path);
      for (const file of files) if (fileNameOf(file) === settingsName) await this.readStored(file);
      await this.readFiles(await this.members.select(files, path));
    }
    return missing;
  }

  /** Reads the whole folder anew, since what belongs to it, or how it is read, has changed. */
  async readAnew(): Promise<void> {
    const before = [...this.files.keys(), ...this.settings.keys()];
    const files = await this.port.list(this.root);
    const present = new Set(files);
    for (const file of before) if (!present.has(file) || this.members.excludes(file)) this.forget(file);
    const taken = await this.members.select(files, this.root);
    const wanted = new Set(taken);
    for (const file of this.files.keys()) if (!wanted.has(file)) this.forget(file);
    await this.readFiles(taken);
  }

  /** The next files are fetched while one is looked at. */
  private async readFiles(files: readonly string[]): Promise<void> {
    this.reading = true;
    const fetched = files.slice(0, fetchedAhead).map((file) => this.port.read(file));
    for (const [index, file] of files.entries()) {
      const bytes = await fetched.shift();
      const next = files[index + fetchedAhead];
      if (next !== undefined) fetched.push(this.port.read(next));
      await this.takeBytes(file, bytes);
      await this.options.pause?.();
    }
    this.reading = false;
  }

  /** Reads one file again, or forgets it when it is gone. A project, or settings that say so, may mean others, too. */
  async readFile(file: string): Promise<void> {
    const isProject = file.toLowerCase().endsWith('.sqlproj');
    const before = this.readingOf(file);
    if (fileNameOf(file) === settingsName || this.files.has(file)) await this.readStored(file);
    else if (!isProject && (await this.members.takes(file))) await this.readStored(file);
    if (isProject || before !== this.readingOf(file)) await this.readAnew();
  }

  /**
   * Reads what lies below a path again, and forgets what no longer does: a folder that is made, moved or removed as a whole
   * may be told by its own name only. Files in `open` are left alone. Returns whether there were or are any files.
   */
  async readBelow(path: string, open: (file: string) => boolean): Promise<boolean> {
    const parts = path === this.root ? [] : pathBelow(path, this.root).split('/');
    if (parts.some((part) => skippedFolders.has(part))) return false;
    const isBelow = (file: string) => file !== path && liesIn(file, path) && !open(file);
    const known = [...this.files.keys(), ...this.settings.keys()].filter(isBelow);
    const present = (await this.port.list(path)).filter((file) => isBelow(file) && isReadable(file));
    if (known.length === 0 && present.length === 0 && !this.members.hasProjectBelow(path)) return false;
    const meansOthers = [...known, ...present].some(isProjectOrSettings) || this.members.hasProjectBelow(path);
    if (meansOthers) {
      for (const file of present) if (fileNameOf(file) === settingsName) await this.readStored(file);
      await this.readAnew();
    } else {
      for (const file of new Set([...known, ...present])) {
        await this.readFile(file);
        await this.options.pause?.();
      }
    }
    return true;
  }

  private async readStored(file: string): Promise<void> {
    await this.takeBytes(file, await this.port.read(file));
  }

  /** What the settings where a file lies say of which files belong to the folder and how they are read. */
  private readingOf(file: string): string {
    const { file: settingsFile, platform, exclude } = this.settingsOf(file);
    return JSON.stringify([exclude.length === 0 ? null : settingsFile, platform, exclude]);
  }

  /** Left out by the folder's settings. */
  excludes(file: string): boolean {
    return this.members.excludes(file);
  }

  private async takeBytes(file: string, bytes: Uint8Array | undefined): Promise<void> {
    if (bytes === undefined) {
      this.forget(file);
      return;
    }
    const name = fileNameOf(file).toLowerCase();
    if (name === settingsName) await this.takeSettings(file, decodeBytes(bytes).text);
    else if (name.endsWith('.dacpac')) {
      // The unzip library is loaded when the first DACPAC is met.
      const { readDacpac } = await import('./dacpac.ts');
      const { value, problems } = readDacpac(bytes, file);
      this.take(file, { definitions: value, mentions: [], objects: noObjects, procedures: [], problems });
    } else if (isPythonFile(file) && isInstalled(this.root === '.' ? file : file.slice(this.root.length))) return;
    else if (bytes.length <= largestFile) {
      this.takeText(file, decodeBytes(bytes).text);
      await this.readViewsAgain(file);
    }
  }

  /** Asks the second reader for the views of a file that our own grammar leaves open. It is loaded when the first one is met. */
  private async readViewsAgain(file: string): Promise<void> {
    const indexed = this.files.get(file);
    const open = indexed?.definitions.derived.flatMap(({ unread }) => unread ?? []) ?? [];
    if (indexed === undefined || open.length === 0) return;
    const { loadSecondReader } = await import('../model/second-reader.ts');
    this.secondReader ??= await loadSecondReader();
    for (const query of open) {
      if (!this.readQueries.has(query)) this.readQueries.set(query, this.secondReader(query));
      await this.options.pause?.();
    }
    // Another text may have come in the meantime.
    if (this.files.get(file) === indexed) {
      this.take(file, { ...indexed, definitions: readAgain(indexed.definitions, this.secondNames) });
    }
  }

  /** Takes over the text of a SQL file, or of a Python file with SQL in it; other Python files are no part of the folder. */
  takeText(file: string, text: string): void {
    const script = parseFile(file, text, this.platformOf(file, text));
    if (script !== null) {
      const indexed = this.indexedFrom(file, script, readDefinitions(script, file), bindOnce);
      letGoOfText(indexed);
      this.takeIndexed(file, indexed);
    } else if (this.files.has(file)) this.forget(file);
  }

  /**
   * Takes over a file that is parsed already. Catalog and loads are kept when only ranges or rows of it changed: typing
   * in a load must not cost a new look at ten thousand tables.
   */
  takeScript(file: string, script: Script, definitions: FileDefinitions = readDefinitions(script, file)): void {
    this.takeIndexed(file, this.indexedFrom(file, script, definitions, bindUnit));
  }

  private indexedFrom(
    file: string,
    script: Script,
    definitions: FileDefinitions,
    bind: (unit: Unit) => Binding,
  ): IndexedFile {
    const read = this.readQueries.size === 0 ? definitions : readAgain(definitions, this.secondNames);
    return indexScript(script, file, read, bind);
  }

  private takeIndexed(file: string, indexed: IndexedFile): void {
    const known = this.files.get(file);
    const isStale = this.stale;
    this.take(file, indexed);
    if (known === undefined ? definesNothing(indexed) : definesTheSame(known, indexed)) this.stale = isStale;
  }

  private async takeSettings(file: string, text: string): Promise<void> {
    const { value, problems } = await readSettings(text, file);
    this.settings.set(file, value);
    this.settingsProblems.set(file, problems);
    this.nearest.clear();
    this.stale = true;
  }

  forget(file: string): void {
    const known = this.files.get(file);
    this.files.delete(file);
    this.small = null;
    if (this.settings.delete(file)) this.nearest.clear();
    else if (known === undefined || definesNothing(known)) return;
    this.settingsProblems.delete(file);
    this.stale = true;
  }

  /** The settings that hold where a file lies: those of the nearest folder upwards. */
  settingsOf(file: string): FolderSettings {
    const folder = folderOf(file);
    const known = this.nearest.get(folder);
    if (known !== undefined) return known;
    const above = [...this.settings].filter(([settingsFile]) => liesIn(folder, folderOf(settingsFile)));
    above.sort(([left], [right]) => right.length - left.length);
    const settings = above[0]?.[1] ?? defaultSettings;
    this.nearest.set(folder, settings);
    return settings;
  }

  /** Platform of a file by the folder's settings, else by its syntax; where that doesn't tell, the option's or the one that reads it. */
  platformOf(file: string, text: string): PlatformName {
    const stated = this.options.forcedPlatform ?? parsePlatform(this.settingsOf(file).platform ?? '')?.name;
    if (isPythonFile(file)) return sparkPlatform(stated ?? 'databricks');
    if (stated !== undefined) return stated;
    return this.expected === null ? platformOfUnstated(text) : platformOrExpected(text, this.expected);
  }

  get catalog(): TableCatalog {
    return this.current().catalog;
  }

  /** The loads that the folder's tables and settings suggest, in the order in which they can run. */
  get loads(): readonly LoadCandidate[] {
    const kept = this.current();
    kept.loads ??= finish(this.loadsIn(kept.catalog));
    return kept.loads;
  }

  /** Settings files that can't be used, DACPACs that can't be read, syntax problems, tables that are defined twice. */
  get problems(): readonly Problem[] {
    const ofFiles = [...this.files.values()].flatMap((file) => file.problems);
    return [...[...this.settingsProblems.values()].flat(), ...ofFiles, ...this.catalog.problems];
  }

  /**
   * The settings file of a file's folder with a rule's severity set in it; a file at the folder's top where there is none.
   * Null when the settings there can't be read as JSON.
   */
  async withRule(file: string, rules: Readonly<Record<string, string>>): Promise<ChangedSettings | null> {
    const settingsFile = this.settingsOf(file).file;
    const bytes = settingsFile === null ? undefined : await this.port.read(settingsFile);
    const name = settingsFile ?? joinPath(this.root === '' ? folderOf(file) : this.root, settingsName);
    try {
      const before = bytes === undefined ? null : decodeBytes(bytes).text;
      const json: Readonly<Record<string, unknown>> = before === null ? {} : JSON.parse(before);
      const known = typeof json['rules'] === 'object' ? json['rules'] : {};
      return { file: name, before, text: `${JSON.stringify({ ...json, rules: { ...known, ...rules } }, null, 2)}\n` };
    } catch {
      return null;
    }
  }

  get settingsFiles(): readonly string[] {
    return [...this.settings.keys()];
  }

  settingsProblemsOf(file: string): readonly Problem[] {
    return this.settingsProblems.get(file) ?? [];
  }

  definitionsOf(file: string): FileDefinitions | undefined {
    return this.files.get(file)?.definitions;
  }

  /** Mentions of a table in all files, with the files they stand in. */
  mentionsOf(table: CatalogTable): readonly (FileMention & { readonly file: string })[] {
    const wanted = new Set([table.name, ...(table.formerNames ?? [])].map((name) => name.table.toLowerCase()));
    const found: (FileMention & { readonly file: string })[] = [];
    for (const [file, { mentions }] of this.files) {
      for (const mention of mentions) {
        if (wanted.has(mention.name.table.toLowerCase()) && this.catalog.lookup.one(mention.name) === table)
          found.push({ ...mention, file });
      }
    }
    return found;
  }

  /** The files that make a procedure of a name; a name without a schema fits in every schema. */
  filesOfProcedure(name: TableName): readonly string[] {
    return [...this.files].flatMap(([file, { procedures }]) =>
      procedures.some((procedure) => nameFits(name, procedure.name)) ? [file] : [],
    );
  }

  /** The procedures of all files; with a name, those that it may mean. */
  procedures(asked?: TableName): readonly { readonly name: TableName; readonly file: string; readonly range: Range }[] {
    return [...this.files].flatMap(([file, { procedures }]) =>
      procedures
        .filter(({ name }) => asked === undefined || nameFits(asked, name))
        .map(({ name, range }) => ({ name, file, range })),
    );
  }

  /** The text of a file as it is stored; undefined when it is gone. */
  async textOf(file: string): Promise<string | undefined> {
    const bytes = await this.port.read(file);
    return bytes === undefined ? undefined : decodeBytes(bytes).text;
  }

  /** A view, which shows rows of other tables. */
  isView(table: CatalogTable): boolean {
    const derived = this.files.get(table.file)?.definitions.derived ?? [];
    return derived.some(
      ({ facts }) => facts.origin === 'view' && formatTableName(facts.name) === formatTableName(table.name),
    );
  }

  /** Few enough files and tables that the catalog may be made again while somebody waits for an answer. */
  get isSmall(): boolean {
    this.small ??= this.files.size <= 500 && this.countTables() <= 1000;
    return this.small;
  }

  private countTables(): number {
    let tables = 0;
    for (const { definitions } of this.files.values()) tables += definitions.tables.length + definitions.derived.length;
    return tables;
  }

  /** The catalog is behind the files. */
  get isStale(): boolean {
    return this.kept === null || this.stale;
  }

  /** Triggers and foreign keys of all files. */
  get objects(): SchemaObjects {
    return this.current().objects;
  }

  get fileNames(): readonly string[] {
    return [...this.files.keys()];
  }

  /** Makes the catalog again where files have changed, in one piece. */
  refresh(): void {
    if (this.isStale) this.kept = finish(this.make());
  }

  /**
   * Makes catalog and loads of a large folder again in slices between which requests are answered from the last ones.
   * What has changed before the call is in them when the promise is settled.
   */
  async refreshInSlices(): Promise<void> {
    if (this.isSmall) {
      this.refresh();
      return;
    }
    // A round that has begun already knows nothing of what came later.
    for (let round = 0; round < 2 && (this.isStale || this.refreshing !== null); round += 1) {
      this.refreshing ??= this.makeInSlices();
      await this.refreshing;
    }
  }

  private async makeInSlices(): Promise<void> {
    try {
      const work = this.makeWithLoads();
      this.kept = await finishInSlices(work, refreshSlice, async () => this.options.pause?.());
    } finally {
      this.refreshing = null;
    }
  }

  /** A large folder answers with its last catalog until somebody refreshes it: no key waits for ten thousand tables. */
  private current(): Kept {
    if (this.kept !== null && (!this.stale || !this.isSmall)) return this.kept;
    if (this.kept === null && this.options.pause !== undefined && this.reading && !this.isSmall) return nothingKept;
    this.kept = finish(this.make());
    return this.kept;
  }

  private *make(): InSteps<Kept> {
    this.stale = false;
    const files = [...this.files.values()];
    const definitions = files.map((file) => file.definitions);
    const catalog = yield* buildCatalogInSteps(definitions, (file) => this.settingsOf(file).inference.conventions);
    return { catalog, objects: joinObjects(files.map((file) => file.objects)), loads: null };
  }

  private *makeWithLoads(): InSteps<Kept> {
    const kept = yield* this.make();
    return { ...kept, loads: yield* this.loadsIn(kept.catalog) };
  }

  private loadsIn(catalog: TableCatalog): InSteps<readonly LoadCandidate[]> {
    const stated = [...this.settings.values()].flatMap((settings) => settings.inference.loads);
    return inferLoadsInSteps(catalog, (file) => this.settingsOf(file).inference, stated);
  }

  private take(file: string, indexed: IndexedFile): void {
    this.files.set(file, indexed);
    this.small = null;
    this.stale = true;
  }

  private async readSettingsAbove(path: string): Promise<void> {
    for (let folder = folderOf(path); ; folder = folderOf(folder)) {
      // The editor's folder is the top; on the command line every folder above a path counts.
      if (this.root !== '.' && !liesIn(folder, this.root)) return;
      const file = folder === '.' ? settingsName : `${folder}/${settingsName}`;
      const bytes = this.settings.has(file) ? undefined : await this.port.read(file);
      if (bytes !== undefined) await this.takeBytes(file, bytes);
      if (folder === '.' || folder === folderOf(folder) || !folder.includes('/')) return;
    }
  }
}

const settingsName = 'mergewright.json';
/** Longest stretch of work on the catalog between which requests are let through, in milliseconds. */
const refreshSlice = 6;
/** What is known while a large folder is read for the first time. */
const nothingKept: Kept = { catalog: buildCatalog([]), objects: noObjects, loads: [] };
