import type { CatalogTable } from '../../../protocol/catalog.ts';
import type { PreviewPlan } from '../../../protocol/preview.ts';
import type { GeneratedFile, LoadParameter } from '../../../protocol/requests.ts';
import type { Batch } from '../../../protocol/run.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';

/** The tables that a specification names, as the catalog knows them. */
export interface LoadTables {
  readonly source: CatalogTable;
  readonly target: CatalogTable;
  /** By the role that `LoadSpecification.extra` gives them. */
  readonly extra: Readonly<Record<string, CatalogTable>>;
}

/** House style of generated text; every field has a default in `defaultStyle`. */
export interface HouseStyle {
  readonly keywordCase: 'upper' | 'lower';
  readonly comma: 'trailing' | 'leading';
  readonly brackets: 'always' | 'when-needed';
  readonly procedureSchema: string | null;
  /** Lines put at the top of every generated file, without comment marks. */
  readonly header: readonly string[];
  /** Statements for logging, with `$(load)`-style placeholders; absent = none. */
  readonly hooks: { readonly before?: string; readonly after?: string; readonly onError?: string };
}

export interface GenerateRequest {
  readonly specification: LoadSpecification;
  readonly tables: LoadTables;
  readonly style: HouseStyle;
  /** Start values of load parameters by name, as plain text (`parameters` in mergewright.json); others start as NULL. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface GeneratedLoad {
  readonly files: readonly GeneratedFile[];
  /** The specification with every inferred option filled in. */
  readonly specification: LoadSpecification;
  readonly parameters: readonly LoadParameter[];
  /** The main file, ready to send. */
  readonly batches: readonly Batch[];
  /** Made when it is asked for: most requests want the files alone. Null where there is no row effect (a view, DDL). */
  readonly preview: (() => PreviewPlan) | null;
}
