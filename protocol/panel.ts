import type { ChangeCounts } from './counts.ts';
import type { ColumnMapping } from './requests.ts';
import type { CellValue, PreviewResult, ResultColumn, RunError, RunMessage, RunStatus, RunWarning } from './run.ts';

/** Where a run goes, as the panel and the status bar show it: what the server answered, not what a profile hopes. */
export interface ConnectionFacts {
  readonly name: string;
  readonly platform: string;
  /** Null until connected, and for the embedded engine. */
  readonly server: string | null;
  readonly database: string | null;
  readonly login: string | null;
  readonly environment: 'embedded' | 'dev' | 'test' | 'prod';
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
}

export interface PanelBatch {
  /** First characters of the batch; the whole text is opened in an editor. */
  readonly text: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly elapsedMs: number | null;
  readonly rows: number | null;
}

/** A result set that the extension holds; the page asks for the rows that it shows. */
export interface PanelResult {
  readonly id: number;
  readonly batch: number;
  readonly columns: readonly ResultColumn[];
  /** Rows held; the engine may have sent more. */
  readonly heldRows: number;
  readonly rowCount: number;
}

export interface PanelParameter {
  readonly name: string;
  readonly type: string;
  readonly value: string | null;
}

/** How a load goes to a connection. `dry-run`: its own text, in a transaction that is rolled back at its end. */
export type RunMode = 'preview' | 'run' | 'dry-run';

/** One run or preview as the panel shows it. */
export interface PanelRun {
  readonly id: string;
  readonly title: string;
  /** `check`: queries over a target's data. */
  readonly mode: RunMode | 'check';
  readonly connection: ConnectionFacts;
  readonly state: 'connecting' | 'running' | 'cancelling' | 'finished';
  /** Null until the run is finished. */
  readonly status: RunStatus | null;
  readonly counts: ChangeCounts | null;
  readonly batches: readonly PanelBatch[];
  readonly messages: readonly RunMessage[];
  readonly warnings: readonly RunWarning[];
  readonly errors: readonly RunError[];
  readonly results: readonly PanelResult[];
  readonly samples: PreviewResult['samples'] | null;
  /** Sentences about the end: which batches stay committed, what an unknown end means and the query that finds out. */
  readonly notes: readonly string[];
  /** A query tells what a run wrote whose end is unknown; it opens by a request. */
  readonly canFindOut: boolean;
  readonly parameters: readonly PanelParameter[];
  readonly elapsedMs: number | null;
  readonly canRerun: boolean;
  /** The load's text can run in a transaction that is rolled back. */
  readonly canDryRun: boolean;
  /** A transaction that the run left open; the person decides. */
  readonly openTransaction: boolean;
}

/** One line of the history of runs. `status` is null for a run whose end was never written down. */
export interface HistoryEntry {
  readonly id: string;
  readonly title: string;
  /** Loads with one key are one line of the chart. */
  readonly load: string;
  readonly mode: RunMode;
  readonly connection: string;
  readonly environment: ConnectionFacts['environment'];
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly status: RunStatus | null;
  readonly counts: ChangeCounts | null;
  readonly elapsedMs: number | null;
  readonly message: string | null;
}

interface TimelineChange {
  readonly column: string;
  readonly before: CellValue;
  readonly after: CellValue;
}

export interface TimelineVersion {
  readonly start: string;
  /** Null for the open version. */
  readonly end: string | null;
  readonly values: readonly { readonly column: string; readonly value: CellValue }[];
  /** Against the version before; empty for the first one. */
  readonly changes: readonly TimelineChange[];
}

/** A stretch of time that no version covers, or that two do. */
export interface TimelineFault {
  readonly kind: 'gap' | 'overlap';
  readonly start: string;
  readonly end: string | null;
}

export interface Timeline {
  readonly table: string;
  readonly connection: string;
  readonly key: readonly { readonly column: string; readonly value: CellValue }[];
  /** The key as people know it; empty where `key` is that. */
  readonly businessKey: readonly { readonly column: string; readonly value: CellValue }[];
  readonly versions: readonly TimelineVersion[];
  readonly faults: readonly TimelineFault[];
}

/** Keys that a search found, and the timeline of the chosen one. */
export interface TimelineState {
  readonly table: string | null;
  readonly search: string;
  readonly keys: readonly (readonly CellValue[])[];
  readonly keyColumns: readonly string[];
  /** Business keys beside `keys`, in the same order; empty rows where the keys speak for themselves. */
  readonly businessKeys: readonly (readonly CellValue[])[];
  readonly businessColumns: readonly string[];
  /** Why keys are shown and searched by their hashes alone, in words. */
  readonly businessRefusal: string | null;
  readonly timeline: Timeline | null;
  /** Why there is nothing to show, in words. */
  readonly message: string | null;
}

/** One check of a target's data: an invariant of its pattern and the rows that break it. */
export interface CheckResult {
  readonly name: string;
  readonly description: string;
  readonly offending: number | null;
  readonly result: PanelResult | null;
  readonly error: string | null;
  /** Why the invariant can't be asked of this table, in words. */
  readonly refusal: string | null;
}

/** What the extension tells the page. */
export type PanelUpdate =
  | { readonly kind: 'run'; readonly run: PanelRun | null }
  | { readonly kind: 'history'; readonly entries: readonly HistoryEntry[] }
  | { readonly kind: 'timeline'; readonly timeline: TimelineState }
  | {
      readonly kind: 'checks';
      readonly target: string;
      readonly checks: readonly CheckResult[];
      /** The run that holds the rows. */
      readonly run: string;
    }
  | {
      readonly kind: 'rows';
      readonly result: number;
      readonly from: number;
      readonly rows: readonly (readonly CellValue[])[];
    }
  | { readonly kind: 'mapping'; readonly title: string; readonly mapping: ColumnMapping }
  | { readonly kind: 'show'; readonly tab: PanelTab };

export const panelTabs = ['changes', 'results', 'messages', 'sql', 'history', 'timeline', 'checks', 'mapping'] as const;
export type PanelTab = (typeof panelTabs)[number];

export type ExportFormat = 'csv' | 'json' | 'markdown';

/** A rectangle of a result set; ends are exclusive. */
export interface CellRange {
  readonly fromRow: number;
  readonly toRow: number;
  readonly fromColumn: number;
  readonly toColumn: number;
}

/** What the page asks of the extension. */
export type PanelRequest =
  | { readonly kind: 'ready' }
  | { readonly kind: 'rows'; readonly result: number; readonly from: number; readonly count: number }
  | { readonly kind: 'copy'; readonly result: number; readonly range: CellRange; readonly headers: boolean }
  | { readonly kind: 'export'; readonly result: number; readonly format: ExportFormat }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'rerun'; readonly mode: RunMode }
  | { readonly kind: 'parameters' }
  | { readonly kind: 'sql' }
  | { readonly kind: 'find-out' }
  | { readonly kind: 'checks-script' }
  | { readonly kind: 'transaction'; readonly action: 'commit' | 'rollback' }
  | { readonly kind: 'search'; readonly text: string }
  | { readonly kind: 'key'; readonly key: readonly CellValue[] }
  /** Stage columns by target column, for the target columns that a person changed; null takes the source away. */
  | { readonly kind: 'mapping'; readonly changes: Readonly<Record<string, string | null>> }
  | { readonly kind: 'picture'; readonly name: string; readonly svg: string };
