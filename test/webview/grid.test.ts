// @vitest-environment jsdom
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ResultGrid } from '../../client/webview/grid.ts';
import { press, sent, setUpPage } from './page.ts';

let Grid: typeof ResultGrid;
beforeAll(async () => {
  setUpPage();
  Grid = (await import('../../client/webview/grid.ts')).ResultGrid;
});
beforeEach(() => sent.splice(0));

function make(heldRows: number, columns = 3) {
  const names = Array.from({ length: columns }, (_, index) => ({
    name: `c${index}`,
    type: index === 0 ? 'bigint' : 'varchar(10)',
  }));
  const grid = new Grid({ id: 0, batch: 0, columns: names, heldRows, rowCount: heldRows });
  document.body.replaceChildren(grid.element);
  const root = grid.element.querySelector('[role=grid]');
  if (root === null) throw new Error('no grid');
  return { grid, root };
}

function rows(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => [
    from + index,
    index === 1 ? null : `text ${from + index}`,
    '<b>',
  ]);
}

describe('the grid of a result', () => {
  test('holds only the rows in sight of 100,000, and asks for the block that it shows', () => {
    const { grid, root } = make(100_000);
    expect(sent).toEqual([{ kind: 'rows', result: 0, from: 0, count: 200 }]);
    grid.store(0, rows(0, 200));
    expect(root.querySelectorAll('.grid-row').length).toBeLessThan(20);
    expect(root.getAttribute('aria-rowcount')).toBe('100001');
    expect(root.querySelector('#cell-0-0-1')?.textContent).toBe('text 0');
  });

  test('shows NULL apart from the text and never reads a text as markup', () => {
    const { grid, root } = make(10);
    grid.store(0, rows(0, 10));
    expect(root.querySelector('#cell-0-1-1')?.classList.contains('null')).toBe(true);
    expect(root.querySelector('#cell-0-0-2')?.textContent).toBe('<b>');
    expect(root.querySelector('b')).toBeNull();
  });

  test('moves by keyboard, tells the active cell, and extends with Shift', () => {
    const { grid, root } = make(500);
    grid.store(0, rows(0, 200));
    press(root, 'ArrowDown');
    press(root, 'ArrowRight');
    expect(root.getAttribute('aria-activedescendant')).toBe('cell-0-1-1');
    press(root, 'ArrowDown', { shiftKey: true });
    const selected = [...root.querySelectorAll('[aria-selected=true]')].map((cell) => cell.id);
    expect(selected).toEqual(['cell-0-1-1', 'cell-0-2-1']);
    press(root, 'Home', { ctrlKey: true });
    expect(root.getAttribute('aria-activedescendant')).toBe('cell-0-0-0');
  });

  test('End of the grid scrolls there and asks for its rows', () => {
    const { root } = make(100_000);
    press(root, 'End', { ctrlKey: true });
    expect(sent.at(-1)).toEqual({ kind: 'rows', result: 0, from: 99_800, count: 200 });
    expect(root.getAttribute('aria-activedescendant')).toBe('cell-0-99999-2');
  });

  test('copies what is selected with its headers', () => {
    const { root } = make(50);
    press(root, 'a', { ctrlKey: true });
    press(root, 'c', { ctrlKey: true });
    const range = { fromRow: 0, toRow: 50, fromColumn: 0, toColumn: 3 };
    expect(sent.at(-1)).toEqual({ kind: 'copy', result: 0, range, headers: true });
  });

  test('lays out a result that is too long for a browser by its share', () => {
    const { root } = make(2_000_000);
    press(root, 'End', { ctrlKey: true });
    expect(root.getAttribute('aria-activedescendant')).toBe('cell-0-1999999-2');
  });

  test('draws only the columns in sight of 300', () => {
    const { root } = make(10, 300);
    expect(root.querySelectorAll('[role=columnheader]').length).toBeLessThan(20);
    press(root, 'End');
    expect(root.getAttribute('aria-activedescendant')).toBe('cell-0-0-299');
  });
});
