import { counted } from '../../protocol/counted.ts';
import type { PanelBatch, PanelRun } from '../../protocol/panel.ts';
import { button, element, icon } from './dom.ts';
import { formatElapsed, formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

const batchStates = {
  waiting: { icon: 'circle-outline', word: 'waiting' },
  running: { icon: 'sync', word: 'running' },
  done: { icon: 'pass', word: 'done' },
  failed: { icon: 'error', word: 'failed' },
} as const;
/** A page with more lines is slow to lay out; the log of the extension has them all. */
const maxMessages = 2000;

/** Messages of the engine, as they arrived. */
export class MessagesView {
  readonly element = element('section', { class: 'messages' });
  readonly #list = element('ol', { class: 'message-list', 'aria-label': 'Messages' });
  readonly #empty = element('p', { class: 'empty' }, 'No messages.');
  #run = '';
  #count = 0;

  constructor() {
    this.element.append(this.#empty, this.#list);
  }

  update(run: PanelRun | null): void {
    if (run === null) return;
    if (run.id !== this.#run) {
      this.#run = run.id;
      this.#count = 0;
      this.#list.replaceChildren();
    }
    const fresh = run.messages.slice(this.#count, maxMessages);
    this.#list.append(
      ...fresh.map((message) =>
        element('li', {}, message.line === undefined ? '' : `line ${message.line + 1}: `, message.text),
      ),
    );
    this.#count += fresh.length;
    this.#empty.hidden = this.#count > 0;
  }
}

/** The batches that were sent, with their time and rows, and the way to the whole text. */
export class SqlView {
  readonly element = element('section', { class: 'sql' });
  readonly #list = element('ol', { class: 'batches', 'aria-label': 'Batches' });

  constructor() {
    this.element.append(
      element(
        'div',
        { class: 'actions' },
        button('Open the SQL in an Editor', 'go-to-file', () => send({ kind: 'sql' })),
      ),
      this.#list,
    );
  }

  update(run: PanelRun | null): void {
    this.#list.replaceChildren(...(run?.batches ?? []).map(batchOf));
  }
}

function batchOf(batch: PanelBatch, index: number): HTMLElement {
  const state = batchStates[batch.state];
  const facts = [
    `Batch ${index + 1}`,
    state.word,
    batch.elapsedMs === null ? null : formatElapsed(batch.elapsedMs),
    batch.rows === null ? null : counted(batch.rows, 'row', formatNumber(batch.rows)),
  ];
  return element(
    'li',
    { class: `batch batch-${batch.state}` },
    element('div', { class: 'batch-head' }, icon(state.icon), facts.filter((fact) => fact !== null).join(' · ')),
    element('pre', { tabindex: 0, 'aria-label': `SQL of batch ${index + 1}` }, batch.text),
  );
}
