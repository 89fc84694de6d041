import type { CheckResult } from '../../protocol/panel.ts';
import { mostOffenders } from '../../protocol/requests.ts';
import { button, element, icon, show } from './dom.ts';
import { formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

/** The invariants of a target's pattern, how many rows break each, and the way to the rows under "Results". */
export class ChecksView {
  readonly element = element('section', { class: 'checks' });
  readonly #showRows: (result: number) => void;
  #run: string | null = null;
  #shownRun: string | null = null;

  /** @param showRows shows a result set of the run that checked */
  constructor(showRows: (result: number) => void) {
    this.#showRows = showRows;
    this.element.append(
      element('p', { class: 'empty' }, 'Use "Check Data of a Target…" to test what a target table must hold.'),
    );
  }

  /** @param run the run that holds the rows; its results are gone once another one is shown */
  update(target: string, checks: readonly CheckResult[], run: string): void {
    this.#run = run;
    this.element.replaceChildren(
      element(
        'div',
        { class: 'actions' },
        element('h2', {}, `Checks of ${target}`),
        button('Open as Script', 'go-to-file', () => send({ kind: 'checks-script' })),
      ),
      element('ul', { class: 'check-list' }, ...checks.map((check) => this.#item(check))),
    );
    this.runShown(this.#shownRun ?? run);
  }

  /** To be called with the run that the panel shows. */
  runShown(run: string | null): void {
    this.#shownRun = run;
    for (const rows of this.element.querySelectorAll<HTMLElement>('.check-rows')) show(rows, run === this.#run);
  }

  #item(check: CheckResult): HTMLElement {
    const { state, symbol, word, reason } = outcomeOf(check);
    const { result } = check;
    const rows =
      state === 'broken' && result !== null
        ? element(
            'div',
            { class: 'check-rows' },
            button('Show Rows', 'table', () => this.#showRows(result.id)),
          )
        : null;
    return element(
      'li',
      { class: `check-${state}` },
      icon(symbol),
      element('strong', {}, `${check.name}: ${word}`),
      element('div', { class: 'check-meaning' }, check.description),
      reason === null ? null : element('div', { class: 'check-meaning' }, reason),
      rows,
    );
  }
}

function outcomeOf({ refusal, error, offending }: CheckResult) {
  if (refusal !== null) return { state: 'open', symbol: 'circle-slash', word: 'not checked', reason: refusal };
  if (error !== null) return { state: 'open', symbol: 'warning', word: 'could not be checked', reason: error };
  if (offending === null) return { state: 'open', symbol: 'sync', word: 'is being checked', reason: null };
  if (offending === 0) return { state: 'holds', symbol: 'pass', word: 'holds', reason: null };
  const rows =
    offending === 1
      ? '1 row breaks'
      : `${offending < mostOffenders ? '' : 'at least '}${formatNumber(offending)} rows break`;
  return { state: 'broken', symbol: 'error', word: `${rows} it`, reason: null };
}
