import type { PanelRequest, PanelTab } from '../../protocol/panel.ts';

/** What the page keeps while it is hidden: how it is looked at, never data. */
export interface ViewState {
  readonly tab: PanelTab;
  readonly result: number;
  readonly load: string;
}

interface VsCodeApi {
  postMessage(message: PanelRequest): void;
  getState(): ViewState | undefined;
  setState(state: ViewState): void;
}

declare const acquireVsCodeApi: () => VsCodeApi;

const api = acquireVsCodeApi();

let state: ViewState = { tab: 'changes', result: 0, load: '', ...api.getState() };

export function viewState(): ViewState {
  return state;
}

export function keepViewState(change: Partial<ViewState>): void {
  state = { ...state, ...change };
  api.setState(state);
}

export function send(request: PanelRequest): void {
  api.postMessage(request);
}
