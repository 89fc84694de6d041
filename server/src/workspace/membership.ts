import { decodeBytes } from '../syntax/encoding.ts';
import { type FilePort, fitsGlob, folderOf, liesIn, pathBelow } from './port.ts';
import type { FolderSettings } from './settings.ts';
import { filesOfProject } from './sqlproj.ts';

/**
 * Which files belong to a folder: of a folder with database projects, the files that they build; of any other, every
 * `.sql` file and DACPAC below it; of both, the Python files. What `exclude` of the settings names is left out.
 */
export class Membership {
  private readonly port: FilePort;
  private readonly root: string;
  private readonly settingsOf: (file: string) => FolderSettings;
  private readonly projects = new Map<string, { readonly built: Set<string>; readonly searched: Set<string> | null }>();

  constructor(port: FilePort, root: string, settingsOf: (file: string) => FolderSettings) {
    this.port = port;
    this.root = root;
    this.settingsOf = settingsOf;
  }

  /** Those of the files below a path that belong to it. A path that names a file means that one. */
  async select(files: readonly string[], path: string): Promise<readonly string[]> {
    const projects = files.filter((file) => ends(file, '.sqlproj'));
    for (const known of this.projects.keys())
      if (liesIn(known, path) && !projects.includes(known)) this.projects.delete(known);
    for (const project of projects) await this.readProject(project, files);
    const built = projects.flatMap((project) => [...(this.projects.get(project)?.built ?? [])]);
    const plain = files.filter(
      (file) =>
        (ends(file, '.sql') && !projects.some((project) => liesIn(file, folderOf(project)))) ||
        ends(file, '.dacpac') ||
        ends(file, '.py') ||
        file === path,
    );
    const usable = [...built, ...plain].filter(
      (file) => !ends(file, '.sqlproj') && !ends(file, '.json') && !this.excludes(file),
    );
    return [...new Set(usable)];
  }

  excludes(file: string): boolean {
    const settings = this.settingsOf(file);
    if (settings.exclude.length === 0) return false;
    const path = pathBelow(file, settings.file === null ? this.root : folderOf(settings.file));
    return settings.exclude.some((pattern) => fitsGlob(path, pattern));
  }

  /** Whether a file that is new or changed belongs to the folder; a project around it may take it in by a pattern. */
  async takes(file: string): Promise<boolean> {
    if (this.excludes(file)) return false;
    if (!ends(file, '.sql')) return true;
    const around = [...this.projects].filter(([project]) => liesIn(file, folderOf(project)));
    for (const [project, { searched }] of around)
      if (searched?.has(file) === false) await this.readProject(project, [file]);
    return around.length === 0 || [...this.projects.values()].some(({ built }) => built.has(file));
  }

  /** Whether a database project lies below a path, or lay there when it was read last. */
  hasProjectBelow(path: string): boolean {
    return [...this.projects.keys()].some((project) => liesIn(project, path));
  }

  private async readProject(project: string, known: readonly string[]): Promise<void> {
    const bytes = await this.port.read(project);
    this.projects.delete(project);
    if (bytes === undefined) return;
    const { built, searched } = await filesOfProject(this.port, project, decodeBytes(bytes).text, known);
    this.projects.set(project, { built: new Set(built), searched: searched === null ? null : new Set(searched) });
  }
}

function ends(file: string, ending: string): boolean {
  return file.toLowerCase().endsWith(ending);
}
