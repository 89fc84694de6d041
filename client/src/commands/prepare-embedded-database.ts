import { fileURLToPath } from 'node:url';
import { csvFault } from '../../../protocol/csv-fault.ts';
import type { Batch } from '../../../protocol/run.ts';
import type { Connections } from '../connections/connections.ts';
import { type ConnectionProfile, embeddedName } from '../connections/profile.ts';
import type { Choice, Prompts, Server, Workbench } from '../ports.ts';
import { type CsvFolder, csvFolders } from '../runs/csv-files.ts';
import type { Command } from './command.ts';

/** Creates the folder's tables on the embedded engine, and fills staging tables from CSV files of their names. */
export class PrepareEmbeddedDatabaseCommand implements Command {
  readonly id = 'prepareEmbeddedDatabase';
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #prompts: Prompts;
  readonly #workbench: Workbench;

  constructor(server: Server, connections: Connections, prompts: Prompts, workbench: Workbench) {
    this.#server = server;
    this.#connections = connections;
    this.#prompts = prompts;
    this.#workbench = workbench;
  }

  async run(): Promise<void> {
    const folder = this.#workbench.folderOf(this.#workbench.active()?.uri);
    if (folder === undefined) {
      await this.#prompts.inform('Open a folder with CREATE TABLE files first.');
      return;
    }
    const { tables } = await this.#server.request('mergewright/catalog', { folder });
    const chosen = await this.#chooseCsv(csvFolders(await this.#workbench.find('**/*.csv'), tables), folder);
    if (chosen === undefined) return;
    const csv = chosen.files.map((file) => ({ table: file.table, path: fileURLToPath(file.uri) }));
    const profile = this.#profile();
    const file = profile.file === null ? {} : { file: profile.file };
    const { batches, problems } = await this.#server.request('mergewright/seed', { folder, csv, ...file });
    const error = problems.find((problem) => problem.severity === 'error');
    if (batches.length === 0) throw new Error(error?.message ?? 'The folder has no CREATE TABLE statement.');
    await this.#prompts.withProgress('Preparing the embedded database', () => this.#send(profile, batches));
    const filled = csv.length === 0 ? '' : `, ${csv.length} filled from CSV`;
    await this.#prompts.inform(
      `The embedded database has ${tables.length === 1 ? 'one table' : `${tables.length} tables`}${filled}.`,
    );
    if (error !== undefined) await this.#prompts.warn(error.message);
  }

  #profile(): ConnectionProfile {
    const profile = this.#connections.profiles(undefined).find((candidate) => candidate.name === embeddedName);
    if (profile === undefined) throw new Error('The embedded engine is not there.');
    return profile;
  }

  async #send(profile: ConnectionProfile, batches: readonly Batch[]): Promise<void> {
    const session = await this.#connections.open('preparation of the embedded engine', profile);
    if (session === undefined) return;
    try {
      const { result } = await session.run({ mode: 'run', batches }, () => undefined);
      if (result.status !== 'done')
        throw new Error(
          result.error === null ? `The preparation ended as ${result.status}.` : csvFault(result.error.message),
        );
    } finally {
      await session.close();
      this.#connections.refresh();
    }
  }

  /** Undefined when the person went away. */
  async #chooseCsv(folders: readonly CsvFolder[], root: string): Promise<Pick<CsvFolder, 'files'> | undefined> {
    const [only] = folders;
    if (only === undefined) return { files: [] };
    const choices: Choice<Pick<CsvFolder, 'files'>>[] = folders.map((folder) => ({
      label: decodeURIComponent(folder.uri.slice(root.length + 1)) || 'this folder',
      description: folder.files.length === 1 ? 'one CSV file' : `${folder.files.length} CSV files`,
      detail: folder.files.map((file) => file.table.table).join(', '),
      value: folder,
    }));
    choices.push({ label: 'Tables only', description: 'load no rows', value: { files: [] } });
    const answer = await this.#prompts.pick(choices, {
      title: 'Prepare Embedded Database',
      placeholder: 'Rows for the staging tables; what is staged now is replaced',
    });
    return typeof answer === 'symbol' ? undefined : answer;
  }
}
