import type { CatalogTable, TableName } from './catalog.ts';
import type { Range } from './position.ts';
import type { PreviewPlan } from './preview.ts';
import type { Problem } from './problem.ts';
import type { ColumnRole } from './roles.ts';
import type { Batch, CellValue } from './run.ts';
import type { LoadSpecification } from './specification.ts';

/** A load that the folder's tables suggest, as code lens and quick pick show it. */
export interface LoadCandidate {
  /** `Satellite · load from Dev_Patient_`. */
  readonly title: string;
  readonly specification: LoadSpecification;
  /** 0 to 1. */
  readonly confidence: number;
  readonly reasons: readonly string[];
  /** Where the target's CREATE TABLE stands. */
  readonly uri: string;
  readonly range: Range;
}

/** A parameter of a load that a person may set before a run. */
export interface LoadParameter {
  readonly name: string;
  readonly type: string;
  /** The value in the script, as plain text; null for SQL NULL or "the clock". */
  readonly value: string | null;
  readonly description: string;
  /** True where null stands for the clock: such a parameter needs no value. */
  readonly isClock?: boolean;
  /** True where it fills a NOT NULL column, so that the load fails without a value. */
  readonly isRequired?: boolean;
}

export interface GeneratedFile {
  /** Suggested path, relative to the workspace folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Everything that a run or preview of one load needs, made by the server, executed by the runner. */
export interface ExecutableLoad {
  readonly title: string;
  readonly specification: LoadSpecification | null;
  /** The text that will be sent, as shown to the person. */
  readonly text: string;
  readonly batches: readonly Batch[];
  readonly preview: PreviewPlan | null;
  /** Why there is no preview, in words. */
  readonly previewRefusal: string | null;
  readonly parameters: readonly LoadParameter[];
  /** Parameters that must have a value before anything is sent, and have none; absent: none is missing. */
  readonly missingParameters?: readonly string[];
  /** True when every statement is proved to be a read; absent or false: it may write. */
  readonly readsOnly?: boolean;
  /** Why the text can't be run in a transaction that is rolled back, in words; null when it can. */
  readonly dryRunRefusal?: string | null;
  /** A script that only reads and tells what the text wrote, for a run whose end was not seen; null where nobody can tell. */
  readonly findOut?: string | null;
  /**
   * The file that calls the procedure which the text only creates; then parameters count for a preview alone. Null or
   * absent: the text itself is the load.
   */
  readonly callFile?: string | null;
}

/** A CSV file whose rows take the place of a table's rows. */
export interface CsvFile {
  readonly table: TableName;
  /** Path in the file system of the engine. */
  readonly path: string;
}

/** Custom requests of the language server: method → parameters and result. */
export interface ServerRequests {
  'mergewright/catalog': {
    params: { readonly folder: string };
    result: { readonly tables: readonly CatalogTable[]; readonly problems: readonly Problem[] };
  };
  'mergewright/loads': {
    params: { readonly uri?: string; readonly target?: TableName };
    result: readonly LoadCandidate[];
  };
  'mergewright/generate': {
    params: { readonly specification: LoadSpecification; readonly uri: string };
    result: {
      readonly files: readonly GeneratedFile[];
      /** URI of the folder that `mergewright.json` names for them; null: that of the workspace. */
      readonly folder: string | null;
      readonly specification: LoadSpecification;
      readonly problems: readonly Problem[];
    };
  };
  /** The load for the connection's platform: from a specification, or from a script's text. */
  'mergewright/executable': {
    params: {
      readonly uri: string;
      readonly specification?: LoadSpecification;
      readonly text?: string;
      readonly platform: string;
      readonly parameters: Readonly<Record<string, string>>;
      /** Replace `$(Name)` also in a script without `:setvar` (setting `mergewright.run.sqlcmdVariables`). */
      readonly sqlcmdVariables?: boolean;
    };
    result: { readonly load: ExecutableLoad | null; readonly problems: readonly Problem[] };
  };
  /** SQL that creates the folder's tables on the embedded engine, and fills those that a CSV file is given for. */
  'mergewright/seed': {
    params: {
      readonly folder: string;
      readonly csv?: readonly CsvFile[];
      /** Path of the main database file; absent: databases of three-part names live in memory. */
      readonly file?: string;
    };
    result: { readonly batches: readonly Batch[]; readonly problems: readonly Problem[] };
  };
}

/** How the versions of one key are found and read, for the panel's timeline. */
export interface VersionsPlan {
  readonly keyColumns: readonly string[];
  /** Columns of the business key that a hub has for these keys; empty where the keys speak for themselves. */
  readonly businessColumns: readonly string[];
  /** Why hash keys have no business key beside them, and what to do, in words; null where nothing is amiss. */
  readonly businessRefusal: string | null;
  readonly start: string;
  /** Null where a version ends with the start of the next one, as in a satellite. */
  readonly end: string | null;
  /** Columns whose change makes a version. */
  readonly tracked: readonly string[];
  /** Milliseconds between a version's end and the next start in houses that close early; 0 for half-open intervals. */
  readonly closingGap: number;
  /** One result set: the keys that hold the search, in the order of `keyColumns`, then `businessColumns`; at most 50. */
  readonly keys: Batch;
  /** One result set: the versions of `key`; null without a key. */
  readonly versions: Batch | null;
}

/** Rows that a check returns at most; the fact that there are any is what counts. */
export const mostOffenders = 1000;

/** One invariant of a target's pattern as a query that returns the rows that break it. */
export interface DataCheck {
  readonly name: string;
  readonly description: string;
  readonly batch: Batch | null;
  /** Why the invariant can't be asked of this table, in words; null where `batch` asks it. */
  readonly refusal: string | null;
}

/** A target column and what fills it. */
export interface MappedColumn {
  readonly target: string;
  readonly targetType: string;
  readonly role: ColumnRole;
  readonly source: string | null;
  readonly sourceType: string | null;
  readonly state: 'matched' | 'converted' | 'narrowed' | 'tied' | 'unmatched' | 'made-by-load';
  /** What the state means for this column, in words. */
  readonly note: string;
}

/** Target and stage columns side by side. */
export interface ColumnMapping {
  readonly columns: readonly MappedColumn[];
  readonly sources: readonly { readonly name: string; readonly type: string; readonly isUsed: boolean }[];
}

/** Custom requests that look at a target's data or its columns; every batch they give only reads. */
export interface InspectionRequests {
  'mergewright/versions': {
    params: {
      readonly uri: string;
      readonly target: TableName;
      readonly platform: string;
      readonly search: string;
      readonly key: readonly CellValue[] | null;
    };
    result: { readonly plan: VersionsPlan | null; readonly problems: readonly Problem[] };
  };
  'mergewright/mapping': {
    params: { readonly uri: string; readonly specification: LoadSpecification };
    result: { readonly mapping: ColumnMapping | null; readonly problems: readonly Problem[] };
  };
  'mergewright/checks': {
    params: { readonly uri: string; readonly target: TableName; readonly platform: string };
    result: {
      readonly checks: readonly DataCheck[];
      /** The same checks as a script for a pipeline. */
      readonly script: string;
      readonly problems: readonly Problem[];
    };
  };
}

/** Where the platform of a document comes from. */
export type PlatformOrigin = 'connection' | 'folder' | 'syntax' | 'setting' | 'default';

/** Custom notifications of the language server, for the status bar. */
export interface ServerNotifications {
  'mergewright/status': {
    readonly uri: string;
    readonly platform: string;
    readonly origin: PlatformOrigin;
    /** Why rules and features are off for this document; null when they are on. */
    readonly degraded: string | null;
  };
  /** The background index: `done` files of `total`; both are equal at its end. */
  'mergewright/indexing': { readonly folder: string; readonly done: number; readonly total: number };
}

/** Custom notifications that the editor sends. */
export interface ClientNotifications {
  /** Platform of the connection that a document uses; null when it uses none. */
  'mergewright/connection': { readonly uri: string; readonly platform: string | null };
}
