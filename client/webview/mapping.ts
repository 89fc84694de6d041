import { counted } from '../../protocol/counted.ts';
import type { ColumnMapping, MappedColumn } from '../../protocol/requests.ts';
import { button, element, icon, show } from './dom.ts';
import { formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

const states: Readonly<Record<MappedColumn['state'], { readonly icon: string; readonly word: string }>> = {
  matched: { icon: 'pass', word: 'matched' },
  converted: { icon: 'arrow-swap', word: 'converted' },
  narrowed: { icon: 'warning', word: 'narrowed' },
  tied: { icon: 'question', word: 'tied' },
  unmatched: { icon: 'error', word: 'unmatched' },
  'made-by-load': { icon: 'gear', word: 'made by the load' },
};

/** Target and stage columns side by side; a changed source is kept in `mergewright.json`. */
export class MappingView {
  readonly element = element('section', { class: 'mapping' });
  readonly #save = button('Save to mergewright.json', 'save', () => this.#send(), true);
  readonly #changes = new Map<string, string | null>();

  constructor() {
    this.element.append(
      element('p', { class: 'empty' }, 'Use "Edit Mapping…" on a load to see its columns side by side.'),
    );
  }

  update(title: string, mapping: ColumnMapping): void {
    this.#changes.clear();
    show(this.#save, false);
    const unused = mapping.sources.filter((source) => !source.isUsed).map((source) => source.name);
    const heads = ['Target column', 'Filled from', 'State'];
    this.element.replaceChildren(
      element('div', { class: 'actions' }, element('h2', {}, title), this.#save),
      element(
        'div',
        { class: 'sample-scroll', tabindex: 0, role: 'region', 'aria-label': 'Columns side by side' },
        element(
          'table',
          {},
          element('thead', {}, element('tr', {}, ...heads.map((name) => element('th', { scope: 'col' }, name)))),
          element('tbody', {}, ...mapping.columns.map((column) => this.#row(column, mapping))),
        ),
      ),
      element(
        'p',
        {},
        unused.length === 0
          ? 'Every stage column is used.'
          : `${counted(unused.length, 'stage column', formatNumber(unused.length))} ${unused.length === 1 ? 'is' : 'are'} not used: ${unused.join(', ')}`,
      ),
    );
  }

  #row(column: MappedColumn, mapping: ColumnMapping): HTMLElement {
    const state = states[column.state];
    const choice = element(
      'select',
      { 'aria-label': `Source of ${column.target}`, onchange: () => this.#change(column.target, choice.value) },
      element('option', { value: '' }, '–'),
      ...mapping.sources.map((source) =>
        element(
          'option',
          { value: source.name, selected: source.name === column.source },
          `${source.name} · ${source.type}`,
        ),
      ),
    );
    return element(
      'tr',
      { class: `mapping-${column.state}` },
      element(
        'th',
        { scope: 'row' },
        column.target,
        element('div', { class: 'fine' }, `${column.targetType} · ${column.role.replaceAll('-', ' ')}`),
      ),
      element('td', {}, choice),
      element('td', {}, icon(state.icon), ` ${state.word}`, element('div', { class: 'fine' }, column.note)),
    );
  }

  #change(target: string, source: string): void {
    this.#changes.set(target, source === '' ? null : source);
    show(this.#save, true);
  }

  #send(): void {
    send({ kind: 'mapping', changes: Object.fromEntries(this.#changes) });
  }
}
