import type { CheckResult } from '../../protocol/panel.ts';
import { button, element, icon } from './dom.ts';
import { formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

/** The invariants of a target's pattern, and how many rows break each. The rows themselves stand under "Results". */
export class ChecksView {
  readonly element = element('section', { class: 'checks' });

  constructor() {
    this.element.append(
      element('p', { class: 'empty' }, 'Use "Check Data of a Target…" to test what a target table must hold.'),
    );
  }

  update(target: string, checks: readonly CheckResult[]): void {
    this.element.replaceChildren(
      element(
        'div',
        { class: 'actions' },
        element('h2', {}, `Checks of ${target}`),
        button('Open as Script', 'go-to-file', () => send({ kind: 'checks-script' })),
      ),
      element('ul', { class: 'check-list' }, ...checks.map(checkItem)),
    );
  }
}

function checkItem(check: CheckResult): HTMLElement {
  const { state, symbol, word } = outcomeOf(check);
  return element(
    'li',
    { class: `check-${state}` },
    icon(symbol),
    element('strong', {}, `${check.name}: ${word}`),
    element('span', {}, check.description),
  );
}

function outcomeOf({ refusal, error, offending }: CheckResult) {
  if (refusal !== null) return { state: 'open', symbol: 'circle-slash', word: `not checked. ${refusal}` };
  if (error !== null) return { state: 'open', symbol: 'warning', word: `could not be checked: ${error}` };
  if (offending === null) return { state: 'open', symbol: 'sync', word: 'is being checked' };
  if (offending === 0) return { state: 'holds', symbol: 'pass', word: 'holds' };
  return { state: 'broken', symbol: 'error', word: `${formatNumber(offending)} rows break it` };
}
