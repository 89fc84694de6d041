/** A comment that switches rules off. */
export interface Suppression {
  /** Rule names; [] means all. */
  readonly rules: readonly string[];
  /** First and last zero-based line that it holds for. */
  readonly from: number;
  readonly to: number;
}

const pattern = /(?:--|\/\*|#)[ \t]*mergewright-disable(-next-line|-line)?(?=[ \t\r\n:*]|$)([^\r\n]*)/g;

/**
 * Reads `-- mergewright-disable-next-line rule, rule: reason`, `-- mergewright-disable-line …` and, for the whole file,
 * `-- mergewright-disable rule: reason`. Without a rule all rules are meant. A text without the word costs one search.
 */
export function suppressionsOf(text: string, lineAt: (offset: number) => number): readonly Suppression[] {
  if (!text.includes('mergewright-disable')) return [];
  const found: Suppression[] = [];
  for (const match of text.matchAll(pattern)) {
    const [, where, rest = ''] = match;
    const [names = ''] = rest.replace(/\*\/.*$/, '').split(':');
    const rules = names.split(/[\s,]+/).filter((name) => /^[a-z][a-z0-9-]*$/.test(name));
    const line = lineAt(match.index);
    if (where === '-next-line') found.push({ rules, from: line + 1, to: line + 1 });
    else if (where === '-line') found.push({ rules, from: line, to: line });
    else found.push({ rules, from: 0, to: Number.POSITIVE_INFINITY });
  }
  return found;
}

/** True when a finding that starts on a line is switched off. */
export function isSuppressed(suppressions: readonly Suppression[], rule: string, line: number): boolean {
  return suppressions.some(
    ({ rules, from, to }) => line >= from && line <= to && (rules.length === 0 || rules.includes(rule)),
  );
}
