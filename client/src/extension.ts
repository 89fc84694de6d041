import { mkdirSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { RunMode } from '../../protocol/panel.ts';
import { AddConnectionCommand } from './commands/add-connection.ts';
import { CancelRunCommand } from './commands/cancel-run.ts';
import type { Command } from './commands/command.ts';
import { ConnectCommand } from './commands/connect.ts';
import { CreateFolderFileCommand } from './commands/create-folder-file.ts';
import { DescribeTableCommand } from './commands/describe-table.ts';
import { EditMappingCommand } from './commands/edit-mapping.ts';
import { ExplainRuleCommand } from './commands/explain-rule.ts';
import { GenerateLoadCommand } from './commands/generate-load.ts';
import { ImportConnectionCommand } from './commands/import-connection.ts';
import { PrepareEmbeddedDatabaseCommand } from './commands/prepare-embedded-database.ts';
import { RunAllLoadsCommand } from './commands/run-all-loads.ts';
import { RunCurrentStatementCommand } from './commands/run-current-statement.ts';
import { RunSelectionCommand } from './commands/run-selection.ts';
import { StartLoadCommand } from './commands/start-load.ts';
import { CheckDataCommand, ShowTimelineCommand } from './commands/target-commands.ts';
import { windowCommands } from './commands/window-commands.ts';
import { Connections } from './connections/connections.ts';
import { ConnectionTree } from './editor/connection-tree.ts';
import { EntraTokenSource } from './editor/entra.ts';
import { LanguageServer } from './editor/language-server.ts';
import { EditorSecretVault, WorkspaceMemory } from './editor/memory.ts';
import { PanelPage } from './editor/panel-page.ts';
import { EditorPrompts } from './editor/prompts.ts';
import { RunDiagnostics } from './editor/run-diagnostics.ts';
import { EditorProfileSettings, setting } from './editor/settings.ts';
import { SqlServerExtension } from './editor/sql-server-extension.ts';
import { StatusBar } from './editor/status-bar.ts';
import { EditorWorkbench } from './editor/workbench.ts';
import { RedactingLog } from './log.ts';
import { RunPanel } from './panel/run-panel.ts';
import { RunHistory } from './runs/history.ts';
import { Inspector } from './runs/inspector.ts';
import { LoadChooser } from './runs/load-target.ts';
import { RunController } from './runs/run-controller.ts';
import { RunnerProcess } from './runs/runner-process.ts';

/** Wires the extension by hand. Nothing here connects, starts a process or reads a file before it is asked. */
export function activate(context: vscode.ExtensionContext): void {
  const path = (...parts: string[]) => context.asAbsolutePath(join(...parts));
  const storage = (context.storageUri ?? context.globalStorageUri).fsPath;
  mkdirSync(storage, { recursive: true });

  const channel = vscode.window.createOutputChannel('Mergewright', { log: true });
  const log = new RedactingLog(channel);
  const prompts = new EditorPrompts();
  const workbench = new EditorWorkbench();
  const memory = new WorkspaceMemory(context.workspaceState);
  const settings = new EditorProfileSettings();
  const server = new LanguageServer(path('dist', 'server.cjs'), log);
  const sessions: RunnerProcess = new RunnerProcess(path('dist', 'runner.cjs'), log, () => connections.refresh());

  const connections = new Connections({
    settings,
    sessions,
    vault: new EditorSecretVault(context.secrets),
    tokens: new EntraTokenSource(),
    memory,
    prompts,
    workbench,
    log,
    embeddedFile: join(storage, 'embedded.duckdb'),
  });
  const history = new RunHistory(join(storage, 'history.jsonl'), () => setting('history.entries', 500));
  const page = new PanelPage(context.extensionUri);
  const panel = new RunPanel(page, () => history.entries());
  const diagnostics = new RunDiagnostics();
  const runs = new RunController({
    server,
    connections,
    panel,
    history,
    problems: diagnostics,
    prompts,
    workbench,
    memory,
    log,
    notifyAfterSeconds: () => setting('run.notifyAfterSeconds', 10),
    sqlcmdVariables: (uri) => setting('run.sqlcmdVariables', false, uri),
  });
  const inspector = new Inspector(server, connections, panel);
  const chooser = new LoadChooser(server, prompts, workbench);
  const adding = new AddConnectionCommand(connections, settings, prompts);
  const statusBar = new StatusBar({
    facts: (uri) => connections.factsOf(uri),
    isConnected: (uri) => connections.isConnected(uri),
    running: () => runs.running,
    status: (uri) => server.statusOf(uri),
    indexing: () => server.indexing,
  });
  const tree = new ConnectionTree(connections, async (table) => roleOf(server, workbench, table));
  server.onChange(() => statusBar.update());
  connections.onChange(() => {
    tellConnections(server, connections);
    runs.sessionsChanged();
    statusBar.update();
    tree.refresh();
  });
  runs.onChange(() => statusBar.update());

  const mapping = new EditMappingCommand(chooser, server, panel, workbench);
  const rulePages = path('docs', 'rules');
  const commands: readonly Command[] = [
    new GenerateLoadCommand(chooser, server, prompts, workbench),
    new StartLoadCommand('previewLoad', chooser, runs),
    new StartLoadCommand('runLoad', chooser, runs),
    new StartLoadCommand('dryRunLoad', chooser, runs),
    new RunSelectionCommand(workbench, prompts, runs),
    new RunCurrentStatementCommand(workbench, server, runs),
    new RunAllLoadsCommand({ server, prompts, workbench, runs, onFailure: () => setting('run.onFailure', 'stop') }),
    new CancelRunCommand(runs),
    new ShowTimelineCommand(chooser, inspector, panel),
    new CheckDataCommand(chooser, inspector, prompts),
    new ConnectCommand(connections, prompts, workbench, () => adding.add()),
    adding,
    new ImportConnectionCommand(connections, prompts, adding, new SqlServerExtension()),
    mapping,
    new DescribeTableCommand(connections, prompts, workbench),
    new PrepareEmbeddedDatabaseCommand(server, connections, prompts, workbench),
    new CreateFolderFileCommand(server, workbench, prompts),
    new ExplainRuleCommand(rulePages, () => ruleNames(rulePages), workbench, prompts),
    ...windowCommands({
      connections,
      adding,
      panel,
      server,
      prompts,
      workbench,
      showLog: () => channel.show(),
      samples: path('samples', 'warehouse'),
    }),
  ];
  panel.connect({
    cancel: () => runs.cancel(),
    rerun: (mode) => perform(() => again(runs, mode, false)),
    changeParameters: () => perform(() => again(runs, 'preview', true)),
    openSql: () => perform(async () => showSql('Sent SQL.sql', runs.last?.text, runs.last?.target.uri)),
    openFindOut: (query) => perform(() => showSql('What the Run Wrote.sql', query, runs.last?.target.uri)),
    openChecksScript: () => perform(() => showSql('Data Checks.sql', inspector.checksScript, inspector.checked)),
    endTransaction: (action) => perform(() => runs.endTransaction(action)),
    searchKeys: (text) => perform(() => inspector.search(text)),
    chooseKey: (key) => perform(() => inspector.choose(key)),
    saveMapping: (changes) => perform(() => mapping.save(changes)),
    copy: (text) => perform(() => workbench.copy(text)),
    save: (name, extension, text) =>
      perform(async () => {
        const target = await prompts.chooseTarget('Save', `${name}.${extension}`, extension);
        if (target !== undefined) await writeFile(target, text, 'utf8');
      }),
  });

  context.subscriptions.push(
    channel,
    workbench,
    server,
    sessions,
    page,
    diagnostics,
    statusBar,
    tree,
    ...commands.map((command) =>
      vscode.commands.registerCommand(`mergewright.${command.id}`, (argument: unknown) =>
        perform(() => command.run(argument)),
      ),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('mergewright')) connections.refresh();
    }),
    vscode.workspace.onDidOpenTextDocument(() => tellConnections(server, connections)),
    vscode.workspace.onDidCloseTextDocument((document) => perform(() => runs.documentClosed(document.uri.toString()))),
    vscode.workspace.onDidGrantWorkspaceTrust(() => connections.refresh()),
  );
  // The server starts after activation has returned: opening a file never waits for it.
  setImmediate(() => perform(() => server.start()));

  /** Shows SQL that runs, if it runs, where the other document does. */
  async function showSql(title: string, text: string | undefined, other: string | undefined): Promise<void> {
    if (text === undefined || other === undefined) return;
    const profile = connections.profileOf(other);
    await connections.choose(await workbench.showText(title, text, 'sql'), profile);
  }

  /** Runs what a person asked for; what goes wrong is said once, without secrets. */
  function perform(work: () => Promise<void>): void {
    work().catch(async (error: unknown) => {
      const message = log.redact(error instanceof Error ? error.message : String(error));
      log.error(error instanceof Error ? (error.stack ?? message) : message);
      if ((await prompts.fail(`Mergewright: ${message}`, 'Show Log')) === 'Show Log') channel.show();
    });
  }
}

/**
 * The server takes a file's platform from its connection only where a person chose one: the embedded engine is every
 * file's connection without a choice, and says nothing about its syntax.
 */
function tellConnections(server: LanguageServer, connections: Connections): void {
  for (const document of vscode.workspace.textDocuments) {
    if (document.languageId !== 'sql') continue;
    const uri = document.uri.toString();
    const profile = connections.profileOf(uri);
    server.connectionChanged(uri, profile.origin === 'embedded' ? null : profile.platform);
  }
}

async function again(runs: RunController, mode: RunMode, askParameters: boolean): Promise<void> {
  if (runs.last !== null) await runs.start(mode, runs.last.target, { askParameters });
}

async function ruleNames(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => []);
  return files
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.slice(0, -'.md'.length));
}

async function roleOf(
  server: LanguageServer,
  workbench: EditorWorkbench,
  table: { readonly schema: string; readonly name: string },
): Promise<string | undefined> {
  const folder = workbench.folderOf(undefined);
  if (folder === undefined) return undefined;
  const { tables } = await server.request('mergewright/catalog', { folder });
  const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase();
  return tables.find(
    ({ name }) => same(name.table, table.name) && (name.schema === null || same(name.schema, table.schema)),
  )?.role;
}
