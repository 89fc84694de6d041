import { counted } from '../../protocol/counted.ts';
import type { Timeline, TimelineState, TimelineVersion } from '../../protocol/panel.ts';
import type { CellValue } from '../../protocol/run.ts';
import { button, element, shape } from './dom.ts';
import { formatCell, formatNumber } from './format.ts';
import { savePicture } from './picture.ts';
import { formatInstant, type TimeAxis, timeAxis } from './time-axis.ts';
import { send } from './vscode-api.ts';

/** Narrower pictures are scrolled; the labels would not fit. */
const leastWidth = 420;
/** Width of a letter of the labels, on average. */
const letterWidth = 6.2;
const labelWidth = 36;
const rowHeight = 46;
const barHeight = 16;
const top = 26;

/** Pick a key by search, and see its versions as bars on a time axis with what changed on each edge. */
export class TimelineView {
  readonly element = element('section', { class: 'timeline' });
  readonly #search = element('vscode-textfield', {
    type: 'search',
    placeholder: 'Business key',
    label: 'Search by business key',
    class: 'search',
    onkeydown: (event) => {
      if (event instanceof KeyboardEvent && event.key === 'Enter') this.#send();
    },
  });
  readonly #keys = element('div', { class: 'keys', role: 'group', 'aria-label': 'Keys found' });
  readonly #note = element('p', { class: 'note', role: 'note', hidden: true });
  readonly #message = element('p', { class: 'empty', role: 'status' });
  readonly #picture = element('div', { class: 'timeline-picture' });
  #timeline: Timeline | null = null;
  #drawnWidth = 0;

  constructor() {
    this.element.append(
      element(
        'div',
        { class: 'actions' },
        this.#search,
        button('Search', 'search', () => this.#send(), true),
      ),
      this.#note,
      this.#keys,
      this.#message,
      this.#picture,
    );
    new ResizeObserver(() => {
      if (this.#picture.clientWidth > 0 && this.#picture.clientWidth !== this.#drawnWidth) this.#draw();
    }).observe(this.#picture);
    this.#message.textContent = 'Run a load, or use "Show Versions of a Key…" on a target table, to see versions here.';
  }

  update(state: TimelineState): void {
    this.#keys.replaceChildren(...state.keys.map((key, index) => keyButton(key, index, state)));
    this.#note.textContent = state.businessRefusal ?? '';
    this.#note.hidden = state.businessRefusal === null;
    this.#message.textContent = state.message ?? '';
    this.#message.hidden = state.message === null;
    this.#search.setAttribute('placeholder', namesOf(state).length === 0 ? 'Business key' : namesOf(state).join(' · '));
    this.#timeline = state.timeline;
    this.#draw();
  }

  #draw(): void {
    this.#drawnWidth = this.#picture.clientWidth;
    const width = Math.max(this.#drawnWidth, leastWidth);
    this.#picture.replaceChildren(...(this.#timeline === null ? [] : pictureOf(this.#timeline, width)));
  }

  #send(): void {
    send({ kind: 'search', text: String(Reflect.get(this.#search, 'value') ?? '') });
  }
}

/** The columns that people know the keys by. */
function namesOf(state: TimelineState): readonly string[] {
  return state.businessColumns.length > 0 ? state.businessColumns : state.keyColumns;
}

function keyButton(key: readonly CellValue[], place: number, state: TimelineState): HTMLElement {
  const chosen = state.timeline?.key.map((part) => part.value);
  const isChosen = chosen?.every((value, index) => value === key[index]);
  const business = state.businessKeys[place] ?? [];
  // A key that its hub lacks has no other name than itself.
  const isKnown = business.some((value) => value !== null);
  const label = (isKnown ? business : key).map(shortened).join(' · ');
  const title = state.keyColumns.map((column, index) => `${column} ${formatCell(key[index] ?? null)}`).join(', ');
  return element(
    'button',
    {
      class: 'key',
      'aria-pressed': String(isChosen ?? false),
      title,
      onclick: () => send({ kind: 'key', key }),
    },
    label,
  );
}

function pictureOf(timeline: Timeline, width: number): HTMLElement[] {
  const isKnown = timeline.businessKey.some(({ value }) => value !== null);
  const shownKey = isKnown ? timeline.businessKey : timeline.key;
  const named = (show: (value: CellValue) => string) =>
    `${timeline.table} · ${shownKey.map((part) => `${part.column} ${show(part.value)}`).join(', ')}`;
  const title = named(formatCell);
  const svg = draw(timeline, title, width);
  const faults = timeline.faults.map((fault) =>
    element(
      'li',
      {},
      element('strong', {}, fault.kind === 'gap' ? 'Gap' : 'Overlap'),
      ` from ${formatInstant(fault.start)} to ${formatInstant(fault.end)}`,
    ),
  );
  return [
    element(
      'div',
      { class: 'actions' },
      element('h2', { title }, named(shortened)),
      button('Save Picture', 'device-camera', () => savePicture(svg, `timeline-${timeline.table}`)),
    ),
    element(
      'div',
      { class: 'picture-scroll', tabindex: 0, role: 'region', 'aria-label': 'Versions on a time axis' },
      svg,
    ),
    faults.length === 0
      ? element('p', {}, 'No gaps and no overlaps.')
      : element('ul', { class: 'faults', 'aria-label': 'Gaps and overlaps' }, ...faults),
    versionTable(timeline),
  ];
}

/** A hash is told apart by its ends. */
function shortened(value: CellValue): string {
  const text = formatCell(value);
  return text.length <= 24 ? text : `${text.slice(0, 12)}…${text.slice(-6)}`;
}

function draw(timeline: Timeline, title: string, width: number): SVGElement {
  const axis = timeAxis(timeline.versions.flatMap((version) => [version.start, version.end]));
  const plot = width - labelWidth - 8;
  const x = (instant: string | null) => labelWidth + axis.position(instant) * plot;
  const height = top + timeline.versions.length * rowHeight + 8;
  const svg = shape('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    class: 'timeline-svg',
    'aria-label': `${title}: ${counted(timeline.versions.length, 'version')}`,
  });
  svg.append(hatching());
  for (const tick of axis.ticks) {
    const at = labelWidth + tick.position * plot;
    svg.append(
      shape('line', { x1: at, x2: at, y1: top - 6, y2: height, class: 'tick' }),
      shape('text', { x: at, y: top - 12, class: 'tick-label', 'text-anchor': 'middle' }, tick.label),
    );
  }
  for (const fault of timeline.faults) {
    const from = x(fault.start);
    const to = Math.max(x(fault.end), from + 4);
    svg.append(
      shape('rect', {
        x: from,
        y: top,
        width: to - from,
        height: height - top - 8,
        class: `fault fault-${fault.kind}`,
      }),
      shape('text', { x: from + 2, y: height - 12, class: 'fault-label' }, fault.kind),
    );
  }
  timeline.versions.forEach((version, index) => {
    svg.append(...bar(version, index, x, axis, width));
  });
  return svg;
}

function bar(
  version: TimelineVersion,
  index: number,
  x: (instant: string | null) => number,
  axis: TimeAxis,
  width: number,
): SVGElement[] {
  const y = top + index * rowHeight + 4;
  const from = x(version.start);
  const to = Math.max(x(version.end), from + 3);
  const isOpen = axis.isBeyond(version.end);
  const period = `${formatInstant(version.start)} → ${isOpen ? 'open' : formatInstant(version.end)}`;
  const what =
    version.changes.length === 0
      ? period
      : version.changes
          .map((change) => `${change.column}: ${formatCell(change.before)} → ${formatCell(change.after)}`)
          .join(', ');
  const isRight = from > width / 2;
  const room = Math.floor((isRight ? from : width - from) / letterWidth) - 2;
  return [
    shape('text', { x: 4, y: y + 12, class: 'version-label' }, `v${index + 1}`),
    shape(
      'rect',
      { x: from, y, width: to - from, height: barHeight, rx: 2, class: isOpen ? 'version version-open' : 'version' },
      shape('title', {}, `Version ${index + 1}: ${period}`),
    ),
    ...(isOpen ? [shape('path', { d: `M${to - 9} ${y + 3}l5 5l-5 5`, class: 'open-mark' })] : []),
    ...(axis.isBeyond(version.start)
      ? [shape('path', { d: `M${from + 9} ${y + 3}l-5 5l5 5`, class: 'open-mark' })]
      : []),
    shape('line', { x1: from, x2: from, y1: y - 3, y2: y + barHeight + 16, class: 'edge' }),
    shape(
      'text',
      {
        x: isRight ? from - 4 : from + 4,
        y: y + barHeight + 13,
        class: 'change-label',
        'text-anchor': isRight ? 'end' : 'start',
      },
      what.length > room ? `${what.slice(0, room - 1)}…` : what,
    ),
  ];
}

/** Stripes, so that a gap or overlap is seen without its colour. */
function hatching(): SVGElement {
  const pattern = (id: string, turn: number) =>
    shape(
      'pattern',
      { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${turn})` },
      shape('line', { x1: 0, y1: 0, x2: 0, y2: 6, class: 'hatch' }),
    );
  return shape('defs', {}, pattern('hatch-gap', 45), pattern('hatch-overlap', -45));
}

function versionTable(timeline: Timeline): HTMLElement {
  const columns = timeline.versions[0]?.values.map((value) => value.column) ?? [];
  const head = ['Version', 'From', 'To', ...columns].map((name) => element('th', { scope: 'col' }, name));
  const rows = timeline.versions.map((version, index) => {
    const changed = new Set(version.changes.map((change) => change.column));
    const cells = version.values.map(({ column, value }) =>
      element(
        'td',
        { class: [changed.has(column) ? 'changed' : '', value === null ? 'null' : ''].join(' ').trim() },
        changed.has(column) ? element('span', { class: 'mark' }, '● ') : null,
        formatCell(value),
      ),
    );
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, formatNumber(index + 1)),
      element('td', {}, formatInstant(version.start)),
      element('td', {}, formatInstant(version.end)),
      ...cells,
    );
  });
  return element(
    'div',
    { class: 'sample-scroll', tabindex: 0, role: 'region', 'aria-label': 'Versions as a table' },
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)),
  );
}
