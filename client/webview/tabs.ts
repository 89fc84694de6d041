import { element } from './dom.ts';

export interface Tab<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly content: HTMLElement;
}

/** Tabs by the pattern of the ARIA guide: arrow keys move, the chosen tab's content is shown. They wrap when narrow. */
export class Tabs<Name extends string> {
  readonly element: HTMLElement;
  readonly #headers = new Map<Name, HTMLButtonElement>();
  readonly #panels = new Map<Name, HTMLElement>();
  readonly #changed: (name: Name) => void;

  constructor(label: string, tabs: readonly Tab<Name>[], changed: (name: Name) => void) {
    this.#changed = changed;
    const list = element('div', { role: 'tablist', 'aria-label': label, class: 'tabs' });
    const panels = element('div', { class: 'tab-panels' });
    for (const tab of tabs) {
      const header = element(
        'button',
        {
          role: 'tab',
          id: `tab-${tab.name}`,
          'aria-controls': `panel-${tab.name}`,
          onclick: () => this.select(tab.name),
          onkeydown: (event) => this.#move(event, tabs),
        },
        tab.label,
      );
      tab.content.setAttribute('role', 'tabpanel');
      tab.content.id = `panel-${tab.name}`;
      tab.content.setAttribute('aria-labelledby', header.id);
      tab.content.tabIndex = 0;
      this.#headers.set(tab.name, header);
      this.#panels.set(tab.name, tab.content);
      list.append(header);
      panels.append(tab.content);
    }
    this.element = element('div', { class: 'tab-frame' }, list, panels);
  }

  select(name: Name): void {
    for (const [other, header] of this.#headers) {
      const isChosen = other === name;
      header.setAttribute('aria-selected', String(isChosen));
      header.tabIndex = isChosen ? 0 : -1;
      const panel = this.#panels.get(other);
      if (panel !== undefined) panel.hidden = !isChosen;
    }
    this.#changed(name);
  }

  /** The number behind a tab's label, such as that of its messages; 0 shows none. */
  setCount(name: Name, count: number): void {
    const header = this.#headers.get(name);
    if (header === undefined) return;
    header.querySelector('vscode-badge')?.remove();
    if (count > 0) header.append(element('vscode-badge', { variant: 'counter' }, String(count)));
  }

  #move(event: Event, tabs: readonly Tab<Name>[]): void {
    if (!(event instanceof KeyboardEvent)) return;
    const place = tabs.findIndex((tab) => this.#headers.get(tab.name) === event.currentTarget);
    const last = tabs.length - 1;
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: place === last ? 0 : place + 1,
      ArrowLeft: place === 0 ? last : place - 1,
      Home: 0,
      End: last,
    };
    const tab = tabs[targets[event.key] ?? -1];
    if (tab === undefined) return;
    event.preventDefault();
    this.select(tab.name);
    this.#headers.get(tab.name)?.focus();
  }
}
