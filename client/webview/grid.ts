import { counted } from '../../protocol/counted.ts';
import type { CellRange, PanelResult } from '../../protocol/panel.ts';
import type { CellValue } from '../../protocol/run.ts';
import { button, element } from './dom.ts';
import { formatCell, formatNumber } from './format.ts';
import { RowCache } from './row-cache.ts';
import { send } from './vscode-api.ts';

const rowHeight = 22;
/** Browsers cannot lay out more; a longer result is scrolled in proportion. */
const maxHeight = 8_000_000;
const numberTypes = /^(bigint|int|integer|smallint|tinyint|hugeint|decimal|numeric|float|real|double|money)/i;

interface Cell {
  readonly row: number;
  readonly column: number;
}

/**
 * A result set of any length: only the cells in sight exist. Focus stays on the grid, the active cell is told by
 * `aria-activedescendant`. Arrows, Page Up and Down, Home, End move; Shift extends; Ctrl+A, Ctrl+C select and copy.
 */
export class ResultGrid {
  readonly element: HTMLElement;
  readonly #result: PanelResult;
  readonly #cache: RowCache;
  readonly #lefts: readonly number[];
  readonly #grid: HTMLElement;
  readonly #head: HTMLElement;
  readonly #body: HTMLElement;
  readonly #status = element('span', { class: 'grid-status' });
  #active: Cell = { row: 0, column: 0 };
  #anchor: Cell = { row: 0, column: 0 };
  #isScheduled = false;

  constructor(result: PanelResult) {
    this.#result = result;
    this.#cache = new RowCache((from, count) => send({ kind: 'rows', result: result.id, from, count }));
    this.#lefts = lefts(result);
    this.#head = element('div', { role: 'row', class: 'grid-head', 'aria-rowindex': 1 });
    this.#body = element('div', { role: 'rowgroup', class: 'grid-body' });
    this.#grid = element(
      'div',
      {
        role: 'grid',
        class: 'grid',
        tabindex: 0,
        'aria-label': `Result ${result.id + 1}`,
        'aria-rowcount': result.heldRows + 1,
        'aria-colcount': result.columns.length,
        'aria-multiselectable': 'true',
        onscroll: () => this.#schedule(),
        onkeydown: (event) => this.#key(event),
        onmousedown: (event) => this.#press(event),
      },
      element('div', { role: 'rowgroup', class: 'grid-head-group' }, this.#head),
      this.#body,
    );
    this.element = element('div', { class: 'grid-frame' }, this.#toolbar(), this.#grid);
    this.#body.style.height = `${this.#height()}px`;
    this.#body.style.width = this.#head.style.width = `${this.#lefts.at(-1) ?? 0}px`;
    new ResizeObserver(() => this.#schedule()).observe(this.#grid);
    this.#schedule();
  }

  get id(): number {
    return this.#result.id;
  }

  store(from: number, rows: readonly (readonly CellValue[])[]): void {
    this.#cache.store(from, rows);
    this.#schedule();
  }

  #toolbar(): HTMLElement {
    const { id, heldRows, rowCount } = this.#result;
    const left = heldRows < rowCount ? ` of ${formatNumber(rowCount)}` : '';
    return element(
      'div',
      { class: 'grid-toolbar', role: 'toolbar', 'aria-label': 'Result' },
      element('span', {}, counted(rowCount, 'row', `${formatNumber(heldRows)}${left}`)),
      button('Copy with Headers', 'copy', () => this.#copy(true)),
      button('CSV', 'export', () => send({ kind: 'export', result: id, format: 'csv' })),
      button('JSON', 'json', () => send({ kind: 'export', result: id, format: 'json' })),
      button('Markdown', 'markdown', () => send({ kind: 'export', result: id, format: 'markdown' })),
      this.#status,
    );
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#draw();
    });
  }

  #height(): number {
    return Math.min(this.#result.heldRows * rowHeight, maxHeight);
  }

  /** The first row in sight; in a result too long to lay out, by the share that is scrolled. */
  #firstRow(): number {
    const visible = Math.max(this.#height() - this.#grid.clientHeight, 1);
    const rows = this.#result.heldRows;
    if (rows * rowHeight <= maxHeight) return Math.floor(this.#grid.scrollTop / rowHeight);
    return Math.floor(Math.min(this.#grid.scrollTop / visible, 1) * Math.max(rows - this.#rowsInSight() + 1, 0));
  }

  #rowsInSight(): number {
    return Math.max(Math.ceil((this.#grid.clientHeight - rowHeight) / rowHeight), 1);
  }

  #draw(): void {
    const first = this.#firstRow();
    const last = Math.min(first + this.#rowsInSight() + 2, this.#result.heldRows);
    const columns = this.#columnsInSight();
    this.#head.replaceChildren(...columns.map((column) => this.#headCell(column)));
    const isScaled = this.#result.heldRows * rowHeight > maxHeight;
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index += 1) {
      const top = isScaled ? this.#grid.scrollTop + (index - first) * rowHeight : index * rowHeight;
      rows.push(this.#row(index, Math.min(top, maxHeight - rowHeight), columns));
    }
    this.#body.replaceChildren(...rows);
    const { row, column } = this.#active;
    const isInSight = row >= first && row < last && columns.includes(column);
    if (isInSight) this.#grid.setAttribute('aria-activedescendant', cellId(this.#result.id, row, column));
    else this.#grid.removeAttribute('aria-activedescendant');
    const range = this.#range();
    const cells = (range.toRow - range.fromRow) * (range.toColumn - range.fromColumn);
    this.#status.textContent = cells > 1 ? `${formatNumber(cells)} cells selected` : '';
  }

  #columnsInSight(): number[] {
    const from = this.#grid.scrollLeft;
    const to = from + this.#grid.clientWidth;
    return this.#result.columns.flatMap((_, index) =>
      (this.#lefts[index + 1] ?? 0) >= from && (this.#lefts[index] ?? 0) <= to ? [index] : [],
    );
  }

  #headCell(index: number): HTMLElement {
    const column = this.#result.columns[index];
    const name = column?.name ?? '';
    return this.#placed(
      index,
      element(
        'div',
        { role: 'columnheader', 'aria-colindex': index + 1, title: `${name} ${column?.type ?? ''}` },
        name,
      ),
    );
  }

  #row(index: number, top: number, columns: readonly number[]): HTMLElement {
    const values = this.#cache.row(index);
    const cells = columns.map((column) => this.#cell(index, column, values));
    const row = element('div', { role: 'row', class: 'grid-row', 'aria-rowindex': index + 2 }, ...cells);
    row.style.transform = `translateY(${top}px)`;
    return row;
  }

  #cell(row: number, column: number, values: readonly CellValue[] | undefined): HTMLElement {
    const value = values?.[column] ?? null;
    const range = this.#range();
    const isSelected =
      row >= range.fromRow && row < range.toRow && column >= range.fromColumn && column < range.toColumn;
    const isActive = row === this.#active.row && column === this.#active.column;
    const classes = [
      'grid-cell',
      values !== undefined && value === null ? 'null' : '',
      isActive ? 'active' : '',
      numberTypes.test(this.#result.columns[column]?.type ?? '') ? 'number' : '',
    ];
    const text = values === undefined ? '…' : formatCell(value).slice(0, 500);
    const cell = element(
      'div',
      {
        role: 'gridcell',
        id: cellId(this.#result.id, row, column),
        class: classes.join(' ').trim(),
        'aria-colindex': column + 1,
        'aria-selected': String(isSelected),
        'data-row': row,
        'data-column': column,
      },
      text,
    );
    return this.#placed(column, cell);
  }

  #placed(index: number, cell: HTMLElement): HTMLElement {
    const left = this.#lefts[index] ?? 0;
    cell.style.left = `${left}px`;
    cell.style.width = `${(this.#lefts[index + 1] ?? left) - left}px`;
    return cell;
  }

  #range(): CellRange {
    return {
      fromRow: Math.min(this.#active.row, this.#anchor.row),
      toRow: Math.max(this.#active.row, this.#anchor.row) + 1,
      fromColumn: Math.min(this.#active.column, this.#anchor.column),
      toColumn: Math.max(this.#active.column, this.#anchor.column) + 1,
    };
  }

  #press(event: Event): void {
    if (!(event instanceof MouseEvent) || !(event.target instanceof HTMLElement)) return;
    const { row, column } = event.target.dataset;
    if (row === undefined || column === undefined) return;
    this.#go({ row: Number(row), column: Number(column) }, event.shiftKey);
  }

  #key(event: Event): void {
    if (!(event instanceof KeyboardEvent)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const last: Cell = { row: this.#result.heldRows - 1, column: this.#result.columns.length - 1 };
    if (isCommand && event.key.toLowerCase() === 'a') {
      this.#anchor = { row: 0, column: 0 };
      this.#active = last;
      this.#schedule();
    } else if (isCommand && event.key.toLowerCase() === 'c') {
      this.#copy(!event.shiftKey);
    } else {
      const target = destination(event.key, isCommand, this.#active, last, this.#rowsInSight());
      if (target === undefined) return;
      this.#go(target, event.shiftKey);
    }
    event.preventDefault();
  }

  #go(target: Cell, isExtending: boolean): void {
    this.#active = target;
    if (!isExtending) this.#anchor = target;
    this.#reveal(target);
    this.#schedule();
  }

  #reveal({ row, column }: Cell): void {
    const rows = this.#result.heldRows;
    const first = this.#firstRow();
    const inSight = this.#rowsInSight() - 1;
    const wanted = row < first ? row : row >= first + inSight ? row - inSight + 1 : first;
    if (wanted !== first) {
      const isScaled = rows * rowHeight > maxHeight;
      const share = wanted / Math.max(rows - this.#rowsInSight() + 1, 1);
      this.#grid.scrollTop = isScaled ? share * (this.#height() - this.#grid.clientHeight) : wanted * rowHeight;
    }
    const left = this.#lefts[column] ?? 0;
    const right = this.#lefts[column + 1] ?? left;
    if (left < this.#grid.scrollLeft) this.#grid.scrollLeft = left;
    else if (right > this.#grid.scrollLeft + this.#grid.clientWidth)
      this.#grid.scrollLeft = right - this.#grid.clientWidth;
  }

  #copy(headers: boolean): void {
    send({ kind: 'copy', result: this.#result.id, range: this.#range(), headers });
    this.#status.textContent = 'Copied';
  }
}

function cellId(result: number, row: number, column: number): string {
  return `cell-${result}-${row}-${column}`;
}

/** Left edges of the columns in pixels, and the right edge of the last one. */
function lefts(result: PanelResult): number[] {
  const edges = [0];
  for (const column of result.columns) {
    const characters = Math.min(Math.max(column.name.length + 2, widthOfType(column.type)), 40);
    edges.push((edges.at(-1) ?? 0) + characters * 8 + 16);
  }
  return edges;
}

function widthOfType(type: string): number {
  const text = type.toLowerCase();
  if (/timestamp|datetime/.test(text)) return 24;
  if (text.startsWith('date')) return 11;
  if (/^(double|float|real|decimal|numeric|hugeint)/.test(text)) return 20;
  if (numberTypes.test(text)) return 10;
  const length = /\((\d+)\)/.exec(text)?.[1];
  return length === undefined ? 18 : Math.min(Number(length), 30);
}

function destination(key: string, isCommand: boolean, from: Cell, last: Cell, page: number): Cell | undefined {
  const to = (row: number, column: number): Cell => ({
    row: Math.min(Math.max(row, 0), last.row),
    column: Math.min(Math.max(column, 0), last.column),
  });
  switch (key) {
    case 'ArrowUp':
      return to(isCommand ? 0 : from.row - 1, from.column);
    case 'ArrowDown':
      return to(isCommand ? last.row : from.row + 1, from.column);
    case 'ArrowLeft':
      return to(from.row, isCommand ? 0 : from.column - 1);
    case 'ArrowRight':
      return to(from.row, isCommand ? last.column : from.column + 1);
    case 'PageUp':
      return to(from.row - page, from.column);
    case 'PageDown':
      return to(from.row + page, from.column);
    case 'Home':
      return to(isCommand ? 0 : from.row, 0);
    case 'End':
      return to(isCommand ? last.row : from.row, last.column);
    default:
      return undefined;
  }
}
