import type { TableName } from '../../../../protocol/catalog.ts';
import type { Platform, PlatformName } from '../../../../protocol/platform.ts';
import type { Severity } from '../../../../protocol/problem.ts';
import type { LoadOptions } from '../../../../protocol/specification.ts';
import type { NodeBase, Script } from '../../syntax/tree.ts';
import type { Body, Step } from '../analysis/steps.ts';
import type { Tables } from '../analysis/tables.ts';

/** A script that shows a rule, with the DDL that it needs. */
export interface Example {
  readonly platform?: string;
  readonly ddl?: string;
  readonly sql: string;
}

/** What is said of a rule on its page, in the settings and in a finding. */
export interface RuleInfo {
  /** A short sentence in kebab-case: what is wrong. */
  readonly name: string;
  /** Ids of the catalogue of hazards. */
  readonly hazards: readonly string[];
  readonly platforms: readonly PlatformName[];
  /** Where a product version matters: `SQL Server before 2016`. */
  readonly versions?: string;
  readonly severity: Severity;
  /** The best fix that it offers: safe ones are part of "fix all". */
  readonly fix: 'safe' | 'unsafe' | 'none';
  /** One sentence: what the rule reports. */
  readonly summary: string;
  /** What happens to the rows, or on the server. */
  readonly why: string;
  /** What to do. */
  readonly help: string;
  /**
   * What a finding rests on, which decides whether it stands beside a syntax mistake.
   * `part`: on the expression around it, or on the marked place where that lies in none; so it stands also where the
   * mistake comes further on in its statement. `body`: on what other statements lack, so it stands only before the
   * first mistake. Absent: on its statement, so it stands where that has none.
   */
  readonly judges?: 'part' | 'body';
  readonly invalid: readonly Example[];
  readonly valid: readonly Example[];
}

/** One diagnostic: its description and its check. */
export interface Rule extends RuleInfo {
  /**
   * Looks at one statement. Its findings are kept until the statement or the tables change, so it must look at
   * nothing else.
   */
  readonly statement?: (step: Step, context: RuleContext) => void;
  /** Looks at the statements of a procedure or file together. */
  readonly body?: (body: Body, context: RuleContext) => void;
}

/** A replacement; offsets count from the start of the step's top-level statement. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The step that the offsets belong to, when it is another one than the finding's. */
  readonly step?: Step;
}

export interface FindingFix {
  readonly title: string;
  readonly safe: boolean;
  readonly edits: readonly Edit[];
}

interface Details {
  readonly message: string;
  /** Absent: the rule's own; lower where a fact is missing. */
  readonly severity?: Severity;
  readonly why?: string;
  readonly help?: string;
  /** Hazards of this finding where it is only some of the rule's. */
  readonly hazards?: readonly string[];
  readonly fixes?: readonly FindingFix[];
}

export interface Finding extends Details {
  readonly rule: RuleInfo;
  /** Null for a finding on the file: its offsets are those of the file. */
  readonly step: Step | null;
  /** Offsets from the start of the step's top-level statement. */
  readonly start: number;
  readonly end: number;
}

/** A table whose house rules make some findings pointless: a declared legacy hash, a declared closing rule. */
export interface HouseRules {
  /** Null: the whole script is a load that its header declares so. */
  readonly table: TableName | null;
  readonly options: LoadOptions;
}

/** What generating a generated script again gives, where that differs from its text. */
interface Regeneration {
  /** The whole new text; what a person wrote outside the generated regions is in it. */
  readonly text: string;
  /** What has changed since, in words: `column City was added to dw.DimShop`. */
  readonly changes: readonly string[];
}

/** Generates a script again from its header; null for scripts that are up to date or were written by hand. */
export type Regenerate = (script: Script) => Regeneration | null;

export interface RuleContext {
  readonly platform: Platform;
  readonly tables: Tables;
  /** Options that the workspace declares for loads of a table. */
  house(table: TableName): HouseRules['options'] | null;
  /** Options that the script's own header declares. */
  readonly own: HouseRules['options'] | null;
  /** Source text of a node. */
  text(step: Step, node: NodeBase): string;
  /** Source text between two offsets of a step's top-level statement; offsets may lie outside it. */
  slice(step: Step, start: number, end: number): string;
  report(step: Step | null, at: NodeBase, details: Details): void;
  readonly script: Script;
  readonly regeneration: Regeneration | null;
}

export const allPlatforms: readonly PlatformName[] = [
  'sqlserver',
  'azuresql',
  'synapse',
  'fabric',
  'databricks',
  'delta',
  'spark',
  'duckdb',
];
export const tsqlPlatforms: readonly PlatformName[] = ['sqlserver', 'azuresql', 'synapse', 'fabric'];
export const serverPlatforms: readonly PlatformName[] = ['sqlserver', 'azuresql'];
export const sparkPlatforms: readonly PlatformName[] = ['databricks', 'delta', 'spark'];
