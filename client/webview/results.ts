import type { PanelRun } from '../../protocol/panel.ts';
import type { CellValue } from '../../protocol/run.ts';
import { element } from './dom.ts';
import { formatNumber } from './format.ts';
import { ResultGrid } from './grid.ts';
import { keepViewState, viewState } from './vscode-api.ts';

/** The result sets of a run, one grid at a time. */
export class ResultsView {
  readonly element = element('section', { class: 'results' });
  readonly #choice = element('div', { class: 'result-choice', role: 'radiogroup', 'aria-label': 'Result set' });
  readonly #place = element('div', { class: 'result-place' });
  #run: PanelRun | null = null;
  #grid: ResultGrid | null = null;
  #shown = '';

  constructor() {
    this.element.append(this.#choice, this.#place);
  }

  update(run: PanelRun | null): void {
    this.#run = run;
    const results = run?.results ?? [];
    const shown = `${run?.id ?? ''} ${results.map((result) => `${result.id}:${result.heldRows}`).join(' ')}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#choose(Math.min(viewState().result, Math.max(results.length - 1, 0)));
  }

  store(result: number, from: number, rows: readonly (readonly CellValue[])[]): void {
    if (this.#grid?.id === result) this.#grid.store(from, rows);
  }

  /** Shows the result set of this id. */
  show(id: number): void {
    const place = (this.#run?.results ?? []).findIndex((result) => result.id === id);
    if (place < 0) return;
    keepViewState({ result: place });
    this.#choose(place);
  }

  #choose(index: number): void {
    const results = this.#run?.results ?? [];
    this.#choice.replaceChildren(
      ...results.map((result, place) =>
        element(
          'button',
          {
            role: 'radio',
            'aria-checked': String(place === index),
            tabindex: place === index ? 0 : -1,
            onclick: () => {
              keepViewState({ result: place });
              this.#choose(place);
            },
            onkeydown: (event) => this.#move(event, place, results.length),
          },
          `Result ${place + 1} · ${formatNumber(result.heldRows)} × ${result.columns.length}`,
        ),
      ),
    );
    this.#choice.hidden = results.length === 0;
    const result = results[index];
    this.#grid = result === undefined ? null : new ResultGrid(result);
    this.#place.replaceChildren(this.#grid?.element ?? element('p', { class: 'empty' }, 'No result sets.'));
  }

  #move(event: Event, place: number, count: number): void {
    if (!(event instanceof KeyboardEvent)) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const target = (place + step + count) % count;
    keepViewState({ result: target });
    this.#choose(target);
    this.#choice.querySelectorAll('button')[target]?.focus();
  }
}
