import uPlot from 'uplot';
import { counted } from '../../protocol/counted.ts';
import { type CountName, countNames } from '../../protocol/counts.ts';
import type { HistoryEntry } from '../../protocol/panel.ts';
import { button, element } from './dom.ts';
import { formatElapsed, formatNumber, summarize } from './format.ts';
import { keepViewState, send, viewState } from './vscode-api.ts';

const drawn = ['inserted', 'updated', 'expired', 'inactivated', 'deleted'] as const satisfies readonly CountName[];
/** Lines differ by dash and by name, not by colour alone. */
const looks: Readonly<Record<(typeof drawn)[number], { readonly color: string; readonly dash: number[] }>> = {
  inserted: { color: '--vscode-charts-green', dash: [] },
  updated: { color: '--vscode-charts-blue', dash: [8, 3] },
  expired: { color: '--vscode-charts-orange', dash: [2, 3] },
  inactivated: { color: '--vscode-charts-purple', dash: [10, 3, 2, 3] },
  deleted: { color: '--vscode-charts-red', dash: [4, 4] },
};

/** Earlier runs as a table, and the counts of one load over time as a chart. */
export class HistoryView {
  readonly element = element('section', { class: 'history' });
  readonly #choice = element('vscode-single-select', {
    label: 'Load',
    class: 'load-choice',
    onchange: () => this.#choose(String(Reflect.get(this.#choice, 'value') ?? '')),
  });
  readonly #chart = element('div', { class: 'chart', role: 'img' });
  readonly #legend = element('ul', { class: 'legend', 'aria-label': 'Lines of the chart' });
  readonly #table = element('div', {
    class: 'sample-scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Earlier runs',
  });
  #entries: readonly HistoryEntry[] = [];
  #plot: uPlot | null = null;

  constructor() {
    this.element.append(
      element(
        'div',
        { class: 'actions' },
        this.#choice,
        button('Save Picture', 'device-camera', () => this.#save()),
      ),
      this.#chart,
      this.#legend,
      this.#table,
    );
    new ResizeObserver(() => this.#resize()).observe(this.#chart);
  }

  update(entries: readonly HistoryEntry[]): void {
    this.#entries = entries;
    const loads = [...new Set(entries.map((entry) => entry.load))];
    const chosen = loads.includes(viewState().load) ? viewState().load : (loads.at(-1) ?? '');
    this.#choice.replaceChildren(
      ...loads.map((load) =>
        element(
          'vscode-option',
          { value: load, selected: load === chosen },
          entries.findLast((entry) => entry.load === load)?.title ?? load,
        ),
      ),
    );
    this.#draw(chosen);
  }

  #choose(load: string): void {
    keepViewState({ load });
    this.#draw(load);
  }

  #draw(load: string): void {
    const runs = this.#entries.filter((entry) => entry.load === load && entry.mode === 'run');
    this.#table.replaceChildren(table(this.#entries.filter((entry) => entry.load === load)));
    this.#plot?.destroy();
    this.#plot = null;
    this.#legend.replaceChildren();
    this.#chart.hidden = runs.length === 0;
    if (runs.length === 0) return;
    const present = drawn.filter((name) => runs.some((run) => (run.counts?.[name] ?? null) !== null));
    this.#chart.setAttribute('aria-label', `Counts of ${counted(runs.length, 'run')}; the table below has the numbers`);
    this.#plot = new uPlot(options(present, runs.length, this.#chart.clientWidth), data(runs, present), this.#chart);
    this.#legend.replaceChildren(
      ...present.map((name) => element('li', {}, sample(name), `${name}: ${latest(runs, name)}`)),
    );
  }

  #resize(): void {
    if (this.#plot !== null && this.#chart.clientWidth > 0) {
      this.#plot.setSize({ width: this.#chart.clientWidth, height: 200 });
    }
  }

  #save(): void {
    const canvas = this.#plot?.ctx.canvas;
    if (canvas === undefined) return;
    const image = `<image href="${canvas.toDataURL('image/png')}" width="${canvas.width}" height="${canvas.height}"/>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${canvas.width}" height="${canvas.height}">${image}</svg>`;
    send({ kind: 'picture', name: 'history', svg });
  }
}

function latest(runs: readonly HistoryEntry[], name: CountName): string {
  const count = runs.at(-1)?.counts?.[name] ?? null;
  return count === null ? 'no count in the latest run' : `${formatNumber(count)} in the latest run`;
}

function sample(name: (typeof drawn)[number]): HTMLElement {
  const line = element('span', { class: `line line-${name}`, 'aria-hidden': 'true' });
  return line;
}

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || 'gray';
}

/** Runs and rows are whole: no line of the grid stands between two of them. */
const wholeSteps = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 12 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);

function options(names: readonly (typeof drawn)[number][], runs: number, width: number): uPlot.Options {
  const axis: uPlot.Axis = {
    incrs: wholeSteps,
    stroke: color('--vscode-foreground'),
    grid: { stroke: color('--vscode-widget-border') },
    ticks: { stroke: color('--vscode-widget-border') },
  };
  return {
    width: Math.max(width, 200),
    height: 200,
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [0.5, runs + 0.5] },
      y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.1] },
    },
    axes: [
      {
        ...axis,
        values: (_, splits) => splits.map((split) => (Number.isInteger(split) && split > 0 ? `run ${split}` : '')),
      },
      { ...axis, values: (_, splits) => splits.map((split) => (Number.isInteger(split) ? formatNumber(split) : '')) },
    ],
    series: [
      {},
      ...names.map((name) => ({
        label: name,
        stroke: color(looks[name].color),
        width: 2,
        dash: looks[name].dash,
        points: { show: true, size: 7 },
      })),
    ],
  };
}

function data(runs: readonly HistoryEntry[], names: readonly CountName[]): uPlot.AlignedData {
  return [runs.map((_, index) => index + 1), ...names.map((name) => runs.map((run) => run.counts?.[name] ?? null))];
}

function table(entries: readonly HistoryEntry[]): HTMLElement {
  if (entries.length === 0) return element('p', { class: 'empty' }, 'No runs yet.');
  const heads = ['Started', 'What', 'End', 'Time', ...countNames, 'Connection'];
  const rows = entries.toReversed().map((entry) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, entry.startedAt.slice(0, 19).replace('T', ' ')),
      element('td', {}, entry.mode.replace('-', ' ')),
      element(
        'td',
        { title: entry.message ?? (entry.counts === null ? '' : summarize(entry.counts)) },
        entry.status ?? 'unknown: its end was not seen',
      ),
      element('td', { class: 'number' }, entry.elapsedMs === null ? '–' : formatElapsed(entry.elapsedMs)),
      ...countNames.map((name) => {
        const count = entry.counts?.[name] ?? null;
        return element('td', { class: 'number' }, count === null ? '–' : formatNumber(count));
      }),
      element('td', {}, `${entry.connection} (${entry.environment})`),
    ),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...heads.map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...rows),
  );
}
