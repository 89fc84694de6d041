import type { PanelRun } from '../../protocol/panel.ts';
import { button, element, icon, show } from './dom.ts';
import { announcement, formatElapsed, formatNumber } from './format.ts';
import { send } from './vscode-api.ts';

const endings = {
  done: { icon: 'pass-filled', word: 'Done' },
  failed: { icon: 'error', word: 'Failed' },
  cancelled: { icon: 'circle-slash', word: 'Cancelled' },
  unknown: { icon: 'question', word: 'Unknown' },
} as const;

const modes = {
  preview: { name: 'Preview', written: ', nothing written' },
  run: { name: 'Run', written: '' },
  'dry-run': { name: 'Dry run', written: ', rolled back' },
  check: { name: 'Checks', written: ', nothing written' },
} as const;

/** The top of the panel: which load, where, how far, how it ended, and what can be done next. */
export class RunHeader {
  readonly element: HTMLElement;
  readonly #title = element('h1', {}, 'No run yet');
  readonly #state = element('span', { class: 'state' });
  readonly #place = element('div', { class: 'place' });
  readonly #parameters = element('div', { class: 'parameters' });
  readonly #progress = element('vscode-progress-bar', { 'aria-label': 'Batches sent' });
  readonly #announcer = element('div', { 'aria-live': 'polite', role: 'status', class: 'visually-hidden' });
  readonly #cancel = button('Cancel', 'debug-stop', () => send({ kind: 'cancel' }), true);
  readonly #run = button('Run', 'play', () => send({ kind: 'rerun', mode: 'run' }), true);
  readonly #preview = button('Preview', 'eye', () => send({ kind: 'rerun', mode: 'preview' }));
  readonly #dryRun = button('Dry Run', 'beaker', () => send({ kind: 'rerun', mode: 'dry-run' }));
  readonly #change = button('Parameters…', 'settings', () => send({ kind: 'parameters' }));
  readonly #commit = button('Commit', 'check', () => send({ kind: 'transaction', action: 'commit' }));
  readonly #rollback = button('Roll Back', 'discard', () => send({ kind: 'transaction', action: 'rollback' }));
  #announced = '';

  constructor() {
    const actions = element(
      'div',
      { class: 'actions', role: 'toolbar', 'aria-label': 'Run' },
      this.#cancel,
      this.#run,
      this.#preview,
      this.#dryRun,
      this.#change,
      this.#commit,
      this.#rollback,
    );
    this.element = element(
      'header',
      { class: 'run-header' },
      element('div', { class: 'headline' }, this.#title, this.#state),
      this.#place,
      this.#parameters,
      this.#progress,
      actions,
      this.#announcer,
    );
    this.update(null);
  }

  update(run: PanelRun | null): void {
    const isRunning = run !== null && run.state !== 'finished';
    const canStart = run !== null && !isRunning && run.canRerun;
    show(this.#cancel, isRunning);
    show(this.#run, canStart);
    show(this.#preview, canStart);
    show(this.#dryRun, canStart && run.canDryRun);
    show(this.#change, canStart && run.parameters.length > 0);
    show(this.#commit, run?.openTransaction === true);
    show(this.#rollback, run?.openTransaction === true);
    show(this.#progress, isRunning);
    show(this.#place, run !== null);
    show(this.#parameters, run !== null && run.parameters.length > 0);
    if (run === null) return;
    this.#title.textContent = `${modes[run.mode].name} · ${run.title}`;
    this.#state.replaceChildren(...stateOf(run));
    this.#state.dataset['status'] = run.status ?? run.state;
    this.#place.replaceChildren(...placeOf(run));
    this.#parameters.textContent = run.parameters
      .map((parameter) => `${parameter.name} = ${parameter.value ?? 'NULL'}`)
      .join(' · ');
    const finished = run.batches.filter((batch) => batch.state === 'done').length;
    this.#progress.setAttribute('max', String(Math.max(run.batches.length, 1)));
    this.#progress.setAttribute('value', String(finished));
    this.#announce(`${run.id} ${run.state}`, announcement(run));
  }

  #announce(occasion: string, sentence: string): void {
    if (occasion === this.#announced) return;
    this.#announced = occasion;
    this.#announcer.textContent = sentence;
  }
}

function stateOf(run: PanelRun): (Node | string)[] {
  if (run.status !== null) {
    const elapsed = run.elapsedMs === null ? '' : ` in ${formatElapsed(run.elapsedMs)}`;
    const written = modes[run.mode].written;
    return [
      icon(endings[run.status].icon),
      `${endings[run.status].word}${elapsed}${run.status === 'done' ? written : ''}`,
    ];
  }
  const finished = run.batches.filter((batch) => batch.state === 'done').length;
  const words = {
    connecting: 'Connecting',
    running: `Batch ${formatNumber(Math.min(finished + 1, Math.max(run.batches.length, 1)))} of ${formatNumber(run.batches.length)}`,
    cancelling: 'Cancelling',
    finished: 'Finished',
  };
  return [icon('sync'), words[run.state]];
}

function placeOf(run: PanelRun): (Node | string)[] {
  const { connection } = run;
  const facts = [
    connection.name,
    connection.platform,
    connection.server === null ? null : `server ${connection.server}`,
    connection.database === null ? null : `database ${connection.database}`,
    connection.login === null ? null : `login ${connection.login}`,
    connection.isProtected ? 'protected' : null,
    connection.isReadOnly ? 'read-only' : null,
  ];
  return [
    element('span', { class: `environment environment-${connection.environment}` }, connection.environment),
    facts.filter((fact) => fact !== null).join(' · '),
  ];
}
