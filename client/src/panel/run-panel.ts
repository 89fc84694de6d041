import type {
  CheckResult,
  HistoryEntry,
  PanelRequest,
  PanelTab,
  PanelUpdate,
  RunMode,
  TimelineState,
} from '../../../protocol/panel.ts';
import type { ColumnMapping } from '../../../protocol/requests.ts';
import type { RunModel } from '../runs/run-model.ts';
import { copyCells, exportRows } from './export.ts';

/** The page behind the panel; the editor's own in the extension, a recorder in tests. */
export interface Page {
  readonly isVisible: boolean;
  show(): void;
  post(update: PanelUpdate): void;
  listen(receive: (request: PanelRequest) => void): void;
}

/** What the panel leaves to the rest of the extension. */
export interface PanelActions {
  cancel(): void;
  rerun(mode: RunMode): void;
  changeParameters(): void;
  openSql(): void;
  /** Opens the query that tells what a run of unknown end wrote. */
  openFindOut(query: string): void;
  openChecksScript(): void;
  endTransaction(action: 'commit' | 'rollback'): void;
  searchKeys(text: string): void;
  chooseKey(key: Extract<PanelRequest, { kind: 'key' }>['key']): void;
  saveMapping(changes: Readonly<Record<string, string | null>>): void;
  copy(text: string): void;
  /** Asks where to, and writes. */
  save(name: string, extension: string, text: string): void;
}

export const emptyTimeline: TimelineState = {
  table: null,
  search: '',
  keys: [],
  keyColumns: [],
  businessKeys: [],
  businessColumns: [],
  businessRefusal: null,
  timeline: null,
  message: null,
};
/** Updates of a run are gathered for this long, so that a chatty script does not flood the page. */
const gatherMs = 60;

/** Holds what the panel shows; the page may be closed, hidden and made again at any time without losing it. */
export class RunPanel {
  readonly #page: Page;
  readonly #history: () => Promise<readonly HistoryEntry[]>;
  #actions: PanelActions | undefined;
  #run: RunModel | null = null;
  #timeline: TimelineState = emptyTimeline;
  #checks: Omit<Extract<PanelUpdate, { kind: 'checks' }>, 'kind'> | null = null;
  #mapping: { readonly title: string; readonly mapping: ColumnMapping } | null = null;
  #tab: PanelTab | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: Page, history: () => Promise<readonly HistoryEntry[]>) {
    this.#page = page;
    this.#history = history;
    page.listen((request) => this.#receive(request));
  }

  connect(actions: PanelActions): void {
    this.#actions = actions;
  }

  get isVisible(): boolean {
    return this.#page.isVisible;
  }

  show(tab?: PanelTab): void {
    this.#page.show();
    if (tab === undefined) return;
    this.#tab = tab;
    this.#page.post({ kind: 'show', tab });
  }

  showRun(run: RunModel): void {
    this.#run = run;
    this.show('changes');
    this.#postRun();
  }

  /** To be called after every change of the shown run. */
  runChanged(run: RunModel): void {
    if (run !== this.#run) return;
    if (run.isFinished) {
      this.#postRun();
      void this.#postHistory();
      return;
    }
    this.#timer ??= setTimeout(() => this.#postRun(), gatherMs);
  }

  showTimeline(timeline: TimelineState): void {
    this.#timeline = timeline;
    this.#page.post({ kind: 'timeline', timeline });
  }

  get timeline(): TimelineState {
    return this.#timeline;
  }

  /** @param run the run whose results hold the rows */
  showChecks(target: string, checks: readonly CheckResult[], run: string): void {
    this.#checks = { target, checks, run };
    this.#page.post({ kind: 'checks', target, checks, run });
  }

  showMapping(title: string, mapping: ColumnMapping): void {
    this.#mapping = { title, mapping };
    this.#page.post({ kind: 'mapping', title, mapping });
  }

  #postRun(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#page.post({ kind: 'run', run: this.#run?.snapshot() ?? null });
  }

  async #postHistory(): Promise<void> {
    this.#page.post({ kind: 'history', entries: await this.#history() });
  }

  #receive(request: PanelRequest): void {
    const actions = this.#actions;
    switch (request.kind) {
      case 'ready':
        this.#postAll();
        return;
      case 'rows': {
        const rows = this.#run?.rows(request.result, request.from, request.count) ?? [];
        this.#page.post({ kind: 'rows', result: request.result, from: request.from, rows });
        return;
      }
      case 'copy': {
        const set = this.#run?.result(request.result);
        if (set !== undefined) actions?.copy(copyCells(set.columns, set.rows, request.range, request.headers));
        return;
      }
      case 'export': {
        const set = this.#run?.result(request.result);
        const extension = request.format === 'markdown' ? 'md' : request.format;
        if (set !== undefined) {
          actions?.save(`result-${request.result + 1}`, extension, exportRows(set.columns, set.rows, request.format));
        }
        return;
      }
      case 'cancel':
        actions?.cancel();
        return;
      case 'rerun':
        actions?.rerun(request.mode);
        return;
      case 'parameters':
        actions?.changeParameters();
        return;
      case 'sql':
        actions?.openSql();
        return;
      case 'find-out': {
        const query = this.#run?.findOut ?? null;
        if (query !== null) actions?.openFindOut(query);
        return;
      }
      case 'checks-script':
        actions?.openChecksScript();
        return;
      case 'transaction':
        actions?.endTransaction(request.action);
        return;
      case 'search':
        actions?.searchKeys(request.text);
        return;
      case 'key':
        actions?.chooseKey(request.key);
        return;
      case 'mapping':
        actions?.saveMapping(request.changes);
        return;
      case 'picture':
        actions?.save(request.name, 'svg', request.svg);
        return;
    }
  }

  #postAll(): void {
    this.#postRun();
    void this.#postHistory();
    this.#page.post({ kind: 'timeline', timeline: this.#timeline });
    if (this.#checks !== null) this.#page.post({ kind: 'checks', ...this.#checks });
    if (this.#mapping !== null) this.#page.post({ kind: 'mapping', ...this.#mapping });
    if (this.#tab !== null) this.#page.post({ kind: 'show', tab: this.#tab });
    this.#tab = null;
  }
}
