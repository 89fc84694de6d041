/** What a conformance run prints, and the JSON it writes. */
import type { CaseOutcome } from './run.ts';

/** One line for a failed case: id, step, first difference. */
export function failureLine({ id, step, difference }: CaseOutcome): string {
  return `${id} ${step === null ? 'before step 1' : `step ${step}`}: ${oneLine(difference ?? '')}`;
}

/** One line for each pattern in the order of the cases, then the sum, which is the last line of a run. */
export function summaryLines(outcomes: readonly CaseOutcome[]): readonly string[] {
  const patterns = [...new Set(outcomes.map(({ pattern }) => pattern))];
  const width = Math.max(0, ...patterns.map((pattern) => pattern.length));
  return [
    ...patterns.map(
      (pattern) => `${pattern.padEnd(width)}  ${tally(outcomes.filter((one) => one.pattern === pattern))}`,
    ),
    tally(outcomes),
  ];
}

function tally(outcomes: readonly CaseOutcome[]): string {
  const count = (status: CaseOutcome['status']): number => outcomes.filter((one) => one.status === status).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}
