import '@vscode/codicons/dist/codicon.css';
import 'uplot/dist/uPlot.min.css';
import './panel.css';
import '@vscode-elements/elements/dist/vscode-badge/index.js';
import '@vscode-elements/elements/dist/vscode-button/index.js';
import '@vscode-elements/elements/dist/vscode-option/index.js';
import '@vscode-elements/elements/dist/vscode-progress-bar/index.js';
import '@vscode-elements/elements/dist/vscode-single-select/index.js';
import '@vscode-elements/elements/dist/vscode-textfield/index.js';
import { type PanelTab, type PanelUpdate, panelTabs } from '../../protocol/panel.ts';
import { ChangesView } from './changes.ts';
import { ChecksView } from './checks.ts';
import { element } from './dom.ts';
import { RunHeader } from './header.ts';
import { HistoryView } from './history.ts';
import { MappingView } from './mapping.ts';
import { MessagesView, SqlView } from './messages.ts';
import { ResultsView } from './results.ts';
import { Tabs } from './tabs.ts';
import { TimelineView } from './timeline.ts';
import { keepViewState, send, viewState } from './vscode-api.ts';

const header = new RunHeader();
const changes = new ChangesView();
const results = new ResultsView();
const messages = new MessagesView();
const sql = new SqlView();
const history = new HistoryView();
const timeline = new TimelineView();
const checks = new ChecksView((result) => {
  results.show(result);
  tabs.select('results');
});
const mapping = new MappingView();

const tabs = new Tabs<PanelTab>(
  'Run',
  [
    { name: 'changes', label: 'Changes', content: changes.element },
    { name: 'results', label: 'Results', content: results.element },
    { name: 'messages', label: 'Messages', content: messages.element },
    { name: 'sql', label: 'SQL', content: sql.element },
    { name: 'history', label: 'History', content: history.element },
    { name: 'timeline', label: 'Timeline', content: timeline.element },
    { name: 'checks', label: 'Checks', content: checks.element },
    { name: 'mapping', label: 'Mapping', content: mapping.element },
  ],
  (tab) => keepViewState({ tab }),
);

document.body.append(header.element, element('main', {}, tabs.element));
tabs.select(panelTabs.includes(viewState().tab) ? viewState().tab : 'changes');

window.addEventListener('message', (event: MessageEvent<PanelUpdate>) => receive(event.data));
send({ kind: 'ready' });

function receive(update: PanelUpdate): void {
  switch (update.kind) {
    case 'run':
      header.update(update.run);
      changes.update(update.run);
      results.update(update.run);
      messages.update(update.run);
      sql.update(update.run);
      checks.runShown(update.run?.id ?? null);
      tabs.setCount('results', update.run?.results.length ?? 0);
      tabs.setCount('messages', update.run?.messages.length ?? 0);
      return;
    case 'history':
      history.update(update.entries);
      return;
    case 'timeline':
      timeline.update(update.timeline);
      return;
    case 'checks':
      checks.update(update.target, update.checks, update.run);
      return;
    case 'mapping':
      mapping.update(update.title, update.mapping);
      return;
    case 'rows':
      results.store(update.result, update.from, update.rows);
      return;
    case 'show':
      tabs.select(update.tab);
      // In a low window the header fills the view, and what was asked for would stand below it; a run begins with its header.
      if (update.tab !== 'changes' && isFarDown(tabs.element)) tabs.element.scrollIntoView({ block: 'start' });
      return;
  }
}

function isFarDown(shown: HTMLElement): boolean {
  return shown.getBoundingClientRect().top > window.innerHeight / 2;
}
