import { vi } from 'vitest';
import type { PanelRequest } from '../../protocol/panel.ts';

/** What the page asked of the extension, in order. */
export const sent: PanelRequest[] = [];
let state: unknown;

/** Stands in for the editor around the page. jsdom lays nothing out, so sizes are given. */
export function setUpPage(): void {
  vi.stubGlobal('acquireVsCodeApi', () => ({
    postMessage: (message: PanelRequest) => sent.push(message),
    getState: () => state,
    setState: (next: unknown) => {
      state = next;
    },
  }));
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe(): void {}
    },
  );
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => {
    draw();
    return 0;
  });
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { configurable: true, value: 222 });
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { configurable: true, value: 600 });
}

export function press(target: Element, key: string, modifiers: KeyboardEventInit = {}): void {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...modifiers }));
}

export function texts(root: ParentNode, selector: string): string[] {
  return [...root.querySelectorAll(selector)].map((found) => found.textContent ?? '');
}
