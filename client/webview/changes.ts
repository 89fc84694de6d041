import { type CountName, countNames } from '../../protocol/counts.ts';
import type { PanelRun } from '../../protocol/panel.ts';
import type { CellValue, Sample, SampleRow } from '../../protocol/run.ts';
import { button, element, icon } from './dom.ts';
import { formatCell, formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

const meanings: Readonly<Record<CountName, string>> = {
  inserted: 'new rows',
  updated: 'rows changed in place',
  expired: 'versions closed',
  inactivated: 'keys marked as gone',
  deleted: 'rows removed',
  unchanged: 'staged rows already there',
  skipped: 'staged rows left out',
};

const captions = {
  preview: 'What a run would do',
  run: 'What the run did',
  'dry-run': 'What the run did before it was rolled back',
  check: 'What the checks counted',
} as const;

const withoutCounts = {
  running: 'Counts appear when the run ends.',
  done: 'This run returned no counts.',
  failed: 'This run returned no counts.',
  cancelled: 'This run returned no counts.',
  unknown: 'The counts are not known: the end of the run was not seen.',
} as const;

/** Counts by kind as numbers and bars, what went wrong, and sample rows with old beside new. */
export class ChangesView {
  readonly element = element('section', { class: 'changes' });
  readonly #alerts = element('div', { class: 'alerts' });
  readonly #counts = element('div');
  readonly #samples = element('div', { class: 'samples' });
  #shown: PanelRun['samples'] = null;
  #shownRun = '';

  constructor() {
    this.element.append(this.#alerts, this.#counts, this.#samples);
    this.update(null);
  }

  update(run: PanelRun | null): void {
    if (run === null) {
      this.#counts.replaceChildren(
        element('p', { class: 'empty' }, 'Run or preview a load: its counts and sample rows appear here.'),
      );
      return;
    }
    this.#alerts.replaceChildren(...alertsOf(run));
    this.#counts.replaceChildren(countsOf(run));
    if (run.id !== this.#shownRun || run.samples !== this.#shown) {
      this.#shownRun = run.id;
      this.#shown = run.samples;
      this.#samples.replaceChildren(...samplesOf(run.samples));
    }
  }
}

function alertsOf(run: PanelRun): HTMLElement[] {
  const alert = (kind: string, symbol: string, head: string, text: string) =>
    element(
      'div',
      { class: `alert alert-${kind}` },
      icon(symbol),
      element('strong', {}, head),
      element('span', {}, text),
    );
  return [
    ...run.errors.map((error) => {
      const file = error.file === undefined ? '' : ` of ${error.file.slice(error.file.lastIndexOf('/') + 1)}`;
      const place = error.line === null ? '' : ` (line ${error.line + 1}${file})`;
      return alert('error', 'error', `Error ${error.code}${place}`, error.message);
    }),
    ...run.warnings.map((warning) => alert('warning', 'warning', `Warning ${warning.code}`, warning.message)),
    ...run.notes.map((note) => alert('note', 'info', 'Note', note)),
    ...(run.canFindOut ? [findOut()] : []),
  ];
}

/** Only the database knows what a run of unknown end did; the way to ask it stands where the counts would. */
function findOut(): HTMLElement {
  return element(
    'div',
    { class: 'actions find-out' },
    button('Open the Query That Finds Out', 'go-to-file', () => send({ kind: 'find-out' }), true),
  );
}

function countsOf(run: PanelRun): HTMLElement {
  const { counts } = run;
  if (counts === null) {
    const isCheck = run.mode === 'check' && run.status === 'done';
    const text = isCheck
      ? 'Checks change nothing; what they found stands under "Checks".'
      : withoutCounts[run.status ?? 'running'];
    return element('p', { class: 'empty' }, text);
  }
  const largest = Math.max(1, ...countNames.map((name) => counts[name] ?? 0));
  const caption = captions[run.mode];
  return element(
    'table',
    { class: 'counts' },
    element('caption', {}, caption),
    element(
      'thead',
      {},
      element('tr', {}, ...['Kind', 'Rows', 'Share', 'Meaning'].map((name) => element('th', { scope: 'col' }, name))),
    ),
    element('tbody', {}, ...countNames.map((name) => countRow(name, counts[name], largest))),
  );
}

function countRow(name: CountName, count: number | null, largest: number): HTMLElement {
  return element(
    'tr',
    { 'data-count': name },
    element('th', { scope: 'row' }, name),
    element('td', { class: 'number' }, count === null ? '–' : formatNumber(count)),
    element('td', { class: 'bar-cell', 'aria-hidden': 'true' }, barOf(name, count ?? 0, largest)),
    element('td', { class: 'meaning' }, count === null ? 'not in this load' : meanings[name]),
  );
}

/** A count of zero has no bar at all, however thin. */
function barOf(name: CountName, count: number, largest: number): HTMLElement | null {
  if (count === 0) return null;
  const bar = element('div', { class: `bar bar-${name}` });
  bar.style.width = `${Math.max((count / largest) * 100, 1)}%`;
  return bar;
}

function samplesOf(samples: PanelRun['samples']): HTMLElement[] {
  if (samples === null) return [];
  return countNames.flatMap((name) => {
    if (name === 'unchanged' || name === 'skipped') return [];
    const rows = samples[name]?.map(asSample) ?? [];
    return rows.length === 0 ? [] : [sampleTable(name, rows)];
  });
}

/** A sample of an insert may come as the plain row. */
function asSample(sample: Sample | SampleRow): Sample {
  return isSample(sample) ? sample : { before: null, after: sample };
}

function isSample(sample: Sample | SampleRow): sample is Sample {
  const { before, after } = sample;
  const isSide = (side: unknown) => side === null || typeof side === 'object';
  return 'before' in sample && 'after' in sample && isSide(before) && isSide(after);
}

function sampleTable(name: string, samples: readonly Sample[]): HTMLElement {
  const columns = [...new Set(samples.flatMap((sample) => Object.keys(sample.after ?? sample.before ?? {})))];
  const heads = ['', ...columns].map((column) =>
    element('th', { scope: 'col' }, column === '' ? element('span', { class: 'visually-hidden' }, 'side') : column),
  );
  return element(
    'figure',
    { class: 'sample' },
    element('figcaption', {}, `Sample rows: ${name} (${formatNumber(samples.length)} shown)`),
    element(
      'div',
      { class: 'sample-scroll', tabindex: 0, role: 'region', 'aria-label': `Sample rows: ${name}` },
      element(
        'table',
        {},
        element('thead', {}, element('tr', {}, ...heads)),
        ...samples.map((sample) => element('tbody', {}, ...sampleRows(sample, columns))),
      ),
    ),
  );
}

function sampleRows(sample: Sample, columns: readonly string[]): HTMLElement[] {
  const { before, after } = sample;
  const row = (side: string, values: SampleRow, other: SampleRow | null) =>
    element(
      'tr',
      { class: `side-${side}` },
      element('th', { scope: 'row' }, side),
      ...columns.map((column) =>
        sampleCell(values[column] ?? null, other === null ? undefined : (other[column] ?? null)),
      ),
    );
  return [
    ...(before === null ? [] : [row('old', before, null)]),
    ...(after === null ? [] : [row('new', after, before)]),
  ];
}

/** @param old the cell's value before; undefined when there is nothing to compare with */
function sampleCell(value: CellValue, old: CellValue | undefined): HTMLElement {
  const isChanged = old !== undefined && old !== value;
  const classes = [value === null ? 'null' : '', isChanged ? 'changed' : ''].join(' ').trim();
  return element(
    'td',
    { class: classes === '' ? null : classes, title: formatCell(value) },
    isChanged
      ? element('span', { class: 'mark' }, '● ', element('span', { class: 'visually-hidden' }, 'changed: '))
      : null,
    formatCell(value),
  );
}
