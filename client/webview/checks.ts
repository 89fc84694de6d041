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
  const [symbol, word] =
    check.error !== null
      ? ['warning', `could not be checked: ${check.error}`]
      : check.offending === null
        ? ['sync', 'is being checked']
        : check.offending === 0
          ? ['pass', 'holds']
          : ['error', `${formatNumber(check.offending)} rows break it`];
  return element(
    'li',
    { class: check.offending === 0 ? 'check-holds' : 'check-broken' },
    icon(symbol ?? 'sync'),
    element('strong', {}, `${check.name}: ${word}`),
    element('span', {}, check.description),
  );
}
