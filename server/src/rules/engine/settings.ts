import type { Severity } from '../../../../protocol/problem.ts';
import type { HouseRules } from './rule.ts';

/** What a setting may say of a rule: a severity, or that it is off. */
export type RuleLevel = Severity | 'off';

/** Levels for the files of one folder; an absent folder stands for every file. */
interface RuleSettings {
  /** Relative to the working folder, with `/`, without one at the end; `.` is that folder itself. */
  readonly folder?: string;
  readonly rules: Readonly<Record<string, RuleLevel>>;
}

export interface LintSettings {
  /** Later entries win, so the nearest folder stands last. */
  readonly levels: readonly RuleSettings[];
  readonly houses: readonly HouseRules[];
}

export const defaultSettings: LintSettings = { levels: [], houses: [] };

/** The level that the settings give a rule in a file, undefined where they say nothing. */
export function levelOf(settings: LintSettings, rule: string, file: string): RuleLevel | undefined {
  let level: RuleLevel | undefined;
  for (const { folder, rules } of settings.levels) {
    if (folder !== undefined && folder !== '.' && folder !== '' && file !== folder && !file.startsWith(`${folder}/`))
      continue;
    level = rules[rule] ?? level;
  }
  return level;
}
