import { randomUUID } from 'node:crypto';
import type { TableName } from '../../../protocol/catalog.ts';
import type { CheckResult, TimelineState } from '../../../protocol/panel.ts';
import type { VersionsPlan } from '../../../protocol/requests.ts';
import type { Batch, CellValue, RunEvent } from '../../../protocol/run.ts';
import type { SessionEnd } from '../../../protocol/runner-process.ts';
import type { Connections } from '../connections/connections.ts';
import { emptyTimeline, type RunPanel } from '../panel/run-panel.ts';
import { buildTimeline } from '../panel/timeline.ts';
import type { Server } from '../ports.ts';
import { dotted } from './load-target.ts';
import { RunModel } from './run-model.ts';
import type { Session } from './session.ts';

/** Looks at the data of a target: the versions of one key, and the invariants of its pattern. It only reads. */
export class Inspector {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #panel: RunPanel;
  #checksScript = '';
  #checked: string | undefined;
  #target: { readonly uri: string; readonly table: TableName } | null = null;

  constructor(server: Server, connections: Connections, panel: RunPanel) {
    this.#server = server;
    this.#connections = connections;
    this.#panel = panel;
  }

  /** The checks that ran last, as a script for a pipeline. */
  get checksScript(): string {
    return this.#checksScript;
  }

  /** URI of the document whose connection the checks ran on last. */
  get checked(): string | undefined {
    return this.#checked;
  }

  /** The table whose keys the panel's search looks through. */
  aim(uri: string, table: TableName): void {
    this.#target = { uri, table };
  }

  /** Lists the keys that hold the text, and shows the first one's versions. */
  async search(text: string): Promise<void> {
    await this.#look(text, null);
  }

  async choose(key: readonly CellValue[]): Promise<void> {
    await this.#look(this.#panel.timeline.search, key);
  }

  /** Runs every check of a target and shows how many rows break each; the rows stand among the results. */
  async check(uri: string, table: TableName): Promise<void> {
    const facts = this.#connections.factsOf(uri);
    const { checks, script, problems } = await this.#server.request('mergewright/checks', {
      uri,
      target: table,
      platform: facts.platform,
    });
    const name = dotted(table);
    if (checks.length === 0) throw new Error(problems[0]?.message ?? `${name} has no invariants that can be checked.`);
    this.#checksScript = script;
    this.#checked = uri;
    const opened = await this.#connections.session(uri);
    if (opened === undefined) return;
    const batches = checks.flatMap(({ batch }) => batch ?? []);
    const model = new RunModel({
      id: randomUUID(),
      title: name,
      mode: 'check',
      connection: opened.session.facts,
      batches,
      parameters: [],
      canRerun: false,
      canDryRun: false,
    });
    this.#panel.showRun(model);
    await this.#runChecks(opened.session, model, batches);
    const { results } = model.snapshot();
    const found = checks.map(({ name, description, batch, refusal }): CheckResult => {
      const place = batch === null ? -1 : batches.indexOf(batch);
      const result = results.find((candidate) => candidate.batch === place) ?? null;
      const error = model.errors().find((candidate) => candidate.batch === place)?.message ?? null;
      return { name, description, offending: result?.rowCount ?? null, result, error, refusal };
    });
    this.#panel.showChecks(name, found, model.id);
    this.#panel.show('checks');
  }

  /** Runs every check although one fails, such as one over a column that the live table lacks. */
  async #runChecks(session: Session, model: RunModel, batches: readonly Batch[]): Promise<void> {
    let failed: SessionEnd['result'] | null = null;
    let last: SessionEnd['result'] | null = null;
    for (let from = 0; from < batches.length && !session.isLost; ) {
      const { result } = await session.run({ mode: 'preview', batches: batches.slice(from) }, (event) => {
        model.apply(laterBy(event, from));
        this.#panel.runChanged(model);
      });
      last = result;
      if (result.status !== 'failed' || result.error === null) break;
      failed ??= { ...result, error: { ...result.error, batch: from + result.error.batch } };
      from += result.error.batch + 1;
    }
    const end = failed ?? last;
    if (end !== null) model.finish(end);
    this.#panel.runChanged(model);
  }

  async #look(search: string, key: readonly CellValue[] | null): Promise<void> {
    const target = this.#target;
    if (target === null) return;
    const table = dotted(target.table);
    const state: TimelineState = { ...emptyTimeline, table, search };
    try {
      const opened = await this.#connections.session(target.uri);
      if (opened === undefined) return;
      const plan = await this.#plan(target, search, key);
      const { keyColumns, businessColumns, businessRefusal } = plan;
      const rows = await readRows(opened.session, plan.keys);
      const keys = rows.map((row) => row.slice(0, keyColumns.length));
      const businessKeys = rows.map((row) => row.slice(keyColumns.length));
      const chosen = key ?? keys[0] ?? null;
      const place = keys.findIndex((candidate) => candidate.every((value, index) => value === chosen?.[index]));
      const made = chosen === null ? null : await this.#timeline(opened.session, target, chosen);
      const businessKey = businessColumns.map((column, index) => ({
        column,
        value: businessKeys[place]?.[index] ?? null,
      }));
      const timeline = made === null ? null : { ...made, businessKey: place < 0 ? [] : businessKey };
      const message = chosen === null ? `No key of ${table} holds "${search}".` : null;
      const found = { keys, keyColumns, businessKeys, businessColumns, businessRefusal };
      this.#panel.showTimeline({ ...state, ...found, timeline, message });
    } catch (error) {
      this.#panel.showTimeline({ ...state, message: error instanceof Error ? error.message : String(error) });
    }
  }

  async #timeline(
    session: Session,
    target: { readonly uri: string; readonly table: TableName },
    key: readonly CellValue[],
  ) {
    const plan = await this.#plan(target, '', key);
    if (plan.versions === null) return null;
    const [rows] = await session.query([plan.versions]);
    return rows === undefined ? null : buildTimeline(dotted(target.table), session.facts.name, rows, plan);
  }

  async #plan(
    target: { readonly uri: string; readonly table: TableName },
    search: string,
    key: readonly CellValue[] | null,
  ): Promise<VersionsPlan> {
    const { platform } = this.#connections.factsOf(target.uri);
    const { plan, problems } = await this.#server.request('mergewright/versions', {
      uri: target.uri,
      target: target.table,
      platform,
      search,
      key,
    });
    if (plan === null) throw new Error(problems[0]?.message ?? `${dotted(target.table)} keeps no versions.`);
    return plan;
  }
}

/** An event of a run that began with a later batch. */
function laterBy(event: RunEvent, batches: number): RunEvent {
  switch (event.kind) {
    case 'batch-started':
    case 'batch-finished':
      return { ...event, index: event.index + batches };
    case 'result-set':
      return { ...event, batch: event.batch + batches };
    case 'error':
      return { ...event, error: { ...event.error, batch: event.error.batch + batches } };
    case 'state':
    case 'message':
    case 'warning':
      return event;
  }
}

async function readRows(session: Session, batch: VersionsPlan['keys']): Promise<readonly (readonly CellValue[])[]> {
  const [rows] = await session.query([batch]);
  return rows?.rows ?? [];
}
