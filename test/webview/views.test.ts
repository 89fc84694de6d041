// @vitest-environment jsdom
import { beforeAll, describe, expect, test } from 'vitest';
import { announcement, formatElapsed, summarize } from '../../client/webview/format.ts';
import { formatInstant, timeAxis } from '../../client/webview/time-axis.ts';
import { unknownCounts } from '../../protocol/counts.ts';
import type { PanelRun, TimelineState } from '../../protocol/panel.ts';
import { press, sent, setUpPage, texts } from './page.ts';

beforeAll(setUpPage);

const run: PanelRun = {
  id: '1',
  title: 'Satellite',
  mode: 'run',
  connection: {
    name: 'Warehouse',
    platform: 'sqlserver',
    server: 'dwh01',
    database: 'PS',
    login: 'loader',
    environment: 'prod',
    isProtected: true,
    isReadOnly: false,
  },
  state: 'finished',
  status: 'done',
  counts: { ...unknownCounts, inserted: 42, expired: 3, unchanged: 7 },
  batches: [{ text: 'SELECT 1', state: 'done', elapsedMs: 2, rows: 1 }],
  messages: [],
  warnings: [{ code: 'empty_stage', message: '<i>nothing staged</i>' }],
  errors: [],
  results: [],
  samples: {
    expired: [{ before: { id: 1, city: 'Bonn' }, after: { id: 1, city: 'Essen' } }],
    inserted: [{ id: 2, city: null }],
  },
  notes: [],
  canFindOut: false,
  parameters: [],
  elapsedMs: 1200,
  canRerun: true,
  canDryRun: false,
  openTransaction: false,
};

describe('what is said about a run', () => {
  test.each([
    [run, 'Load finished: 42 inserted, 3 expired'],
    [{ ...run, counts: { ...unknownCounts, inserted: 0, unchanged: 9 } }, 'Load finished: no changes'],
    [{ ...run, mode: 'preview' as const }, 'Preview finished: 42 inserted, 3 expired'],
    [{ ...run, status: 'unknown' as const, counts: null }, 'Load ended, but its result is unknown'],
    [{ ...run, status: null, state: 'running' as const }, 'Load is running'],
  ])('a screen reader hears it', (shown, sentence) => {
    expect(announcement(shown)).toBe(sentence);
  });

  test('numbers read well', () => {
    expect(summarize({ ...unknownCounts, inserted: 1_234_567 })).toBe('1,234,567 inserted');
    expect([950, 12_340, 200_000].map(formatElapsed)).toEqual(['950 ms', '12.3 s', '3 min 20 s']);
  });
});

describe('the header', () => {
  test('names the end, the place and what can be done, and announces the end once', async () => {
    const { RunHeader } = await import('../../client/webview/header.ts');
    const header = new RunHeader();
    document.body.replaceChildren(header.element);
    header.update(run);
    expect(header.element.querySelector('h1')?.textContent).toBe('Run · Satellite');
    expect(header.element.querySelector('.state')?.textContent).toBe('Done in 1.2 s');
    expect(header.element.querySelector('.place')?.textContent).toBe(
      'prodWarehouse · sqlserver · server dwh01 · database PS · login loader · protected',
    );
    expect(header.element.querySelector('[aria-live]')?.textContent).toBe('Load finished: 42 inserted, 3 expired');
    const shown = texts(header.element, 'vscode-button:not([hidden])');
    expect(shown).toEqual(['Run', 'Preview']);
  });

  test('says of a dry run that it was rolled back, and offers one where the text allows it', async () => {
    const { RunHeader } = await import('../../client/webview/header.ts');
    const header = new RunHeader();
    header.update({ ...run, mode: 'dry-run', canDryRun: true });
    expect(header.element.querySelector('h1')?.textContent).toBe('Dry run · Satellite');
    expect(header.element.querySelector('.state')?.textContent).toBe('Done in 1.2 s, rolled back');
    const [offered] = [...header.element.querySelectorAll<HTMLElement>('vscode-button:not([hidden])')].slice(-1);
    offered?.click();
    expect(sent.at(-1)).toEqual({ kind: 'rerun', mode: 'dry-run' });
  });

  test('a running load can be cancelled and nothing else', async () => {
    const { RunHeader } = await import('../../client/webview/header.ts');
    const header = new RunHeader();
    header.update({ ...run, state: 'running', status: null });
    expect(texts(header.element, 'vscode-button:not([hidden])')).toEqual(['Cancel']);
    header.element.querySelector<HTMLElement>('vscode-button')?.click();
    expect(sent.at(-1)).toEqual({ kind: 'cancel' });
  });
});

describe('the changes', () => {
  test('show a number for each kind, and no number where the load has no such action', async () => {
    const { ChangesView } = await import('../../client/webview/changes.ts');
    const view = new ChangesView();
    view.update(run);
    const numbers = Object.fromEntries(
      [...view.element.querySelectorAll('tr[data-count]')].map((row) => [
        row.getAttribute('data-count'),
        row.querySelector('.number')?.textContent,
      ]),
    );
    expect(numbers).toEqual({
      inserted: '42',
      updated: '–',
      expired: '3',
      inactivated: '–',
      deleted: '–',
      unchanged: '7',
      skipped: '–',
    });
  });

  test('mark the changed cells of a sample in words too, and escape every text', async () => {
    const { ChangesView } = await import('../../client/webview/changes.ts');
    const view = new ChangesView();
    view.update(run);
    expect(texts(view.element, '.changed')).toEqual(['● changed: Essen']);
    expect(texts(view.element, '.side-new .null')).toEqual(['NULL']);
    expect(view.element.querySelector('.alert-warning')?.textContent).toContain('<i>nothing staged</i>');
    expect(view.element.querySelector('i')).toBeNull();
  });
});

describe('a run of unknown end', () => {
  test('shows no count, and leads to the query that finds out', async () => {
    const { ChangesView } = await import('../../client/webview/changes.ts');
    const view = new ChangesView();
    view.update({ ...run, status: 'unknown', counts: null, samples: null, canFindOut: true });
    expect(view.element.querySelector('.empty')?.textContent).toBe(
      'The counts are not known: the end of the run was not seen.',
    );
    expect(view.element.querySelector('table')).toBeNull();
    view.element.querySelector<HTMLElement>('.find-out vscode-button')?.click();
    expect(sent.at(-1)).toEqual({ kind: 'find-out' });
  });
});

describe('the checks', () => {
  test('say in words which hold, which are broken, and which could not be asked', async () => {
    const { ChecksView } = await import('../../client/webview/checks.ts');
    const shown: number[] = [];
    const view = new ChecksView((result) => shown.push(result));
    const check = { name: 'no-gap', description: 'No gap.', offending: 0, result: null, error: null, refusal: null };
    view.update(
      'Department',
      [
        check,
        { ...check, offending: 1000, result: { id: 7, batch: 1, columns: [], heldRows: 1000, rowCount: 1000 } },
        { ...check, offending: null, error: 'Invalid column' },
        { ...check, offending: null, refusal: 'Its inputs are elsewhere.' },
      ],
      'checking',
    );
    expect(texts(view.element, 'li strong')).toEqual([
      'no-gap: holds',
      'no-gap: at least 1,000 rows break it',
      'no-gap: could not be checked',
      'no-gap: not checked',
    ]);
    expect(texts(view.element, '.check-open .check-meaning')).toEqual([
      'No gap.',
      'Invalid column',
      'No gap.',
      'Its inputs are elsewhere.',
    ]);
    expect([...view.element.querySelectorAll('li')].map((item) => item.className)).toEqual([
      'check-holds',
      'check-broken',
      'check-open',
      'check-open',
    ]);
    view.runShown('checking');
    view.element.querySelector<HTMLElement>('.check-rows vscode-button')?.click();
    expect(shown).toEqual([7]);
    view.runShown('another run, whose results are others');
    expect(view.element.querySelectorAll('.check-rows:not([hidden])')).toHaveLength(0);
  });
});

describe('the tabs', () => {
  test('move by arrow keys, wrap around, and keep one tab stop', async () => {
    const { Tabs } = await import('../../client/webview/tabs.ts');
    const content = () => document.createElement('section');
    const chosen: string[] = [];
    const tabs = new Tabs(
      'Run',
      ['a', 'b', 'c'].map((name) => ({ name, label: name, content: content() })),
      (name) => chosen.push(name),
    );
    document.body.replaceChildren(tabs.element);
    tabs.select('a');
    const [first] = document.querySelectorAll('[role=tab]');
    if (first === undefined) throw new Error('no tab');
    press(first, 'ArrowLeft');
    expect(chosen).toEqual(['a', 'c']);
    expect(document.activeElement?.textContent).toBe('c');
    expect(document.querySelectorAll('[role=tab][tabindex="0"]')).toHaveLength(1);
    expect(document.querySelectorAll('[role=tabpanel]:not([hidden])')).toHaveLength(1);
  });
});

describe('the timeline', () => {
  const state: TimelineState = {
    table: 'Department',
    search: 'D',
    keys: [['D1'], ['D2']],
    keyColumns: ['DepartmentID'],
    businessKeys: [[], []],
    businessColumns: [],
    businessRefusal: null,
    message: null,
    timeline: {
      table: 'Department',
      connection: 'Embedded engine',
      key: [{ column: 'DepartmentID', value: 'D1' }],
      businessKey: [],
      versions: [
        { start: '1900-01-01', end: '2026-03-02', values: [{ column: 'City', value: 'Bonn' }], changes: [] },
        {
          start: '2026-03-03',
          end: null,
          values: [{ column: 'City', value: 'Essen' }],
          changes: [{ column: 'City', before: 'Bonn', after: 'Essen' }],
        },
      ],
      faults: [{ kind: 'gap', start: '2026-03-02', end: '2026-03-03' }],
    },
  };

  test('draws a bar for each version, names each change at its edge, and lists the gap', async () => {
    const { TimelineView } = await import('../../client/webview/timeline.ts');
    const view = new TimelineView();
    view.update(state);
    expect(view.element.querySelectorAll('.version')).toHaveLength(2);
    expect(texts(view.element, '.change-label')).toEqual(['1900-01-01 → 2026-03-02', 'City: Bonn → Essen']);
    expect(texts(view.element, '.faults li')).toEqual(['Gap from 2026-03-02 to 2026-03-03']);
    expect(texts(view.element, '.key[aria-pressed=true]')).toEqual(['D1']);
  });

  test('names keys as people know them, where a hub does', async () => {
    const { TimelineView } = await import('../../client/webview/timeline.ts');
    const view = new TimelineView();
    const { timeline } = state;
    if (timeline === null) throw new Error('no timeline');
    view.update({
      ...state,
      businessColumns: ['Name'],
      businessKeys: [['Sales'], [null]],
      timeline: { ...timeline, businessKey: [{ column: 'Name', value: 'Sales' }] },
    });
    expect(texts(view.element, '.key')).toEqual(['Sales', 'D2']);
    expect(view.element.querySelector('.key')?.getAttribute('title')).toBe('DepartmentID D1');
    expect(view.element.querySelector('h2')?.textContent).toBe('Department · Name Sales');
    expect(view.element.querySelector('.search')?.getAttribute('placeholder')).toBe('Name');
    view.element.querySelector<HTMLButtonElement>('.key')?.click();
    expect(sent.at(-1)).toEqual({ kind: 'key', key: ['D1'] });
  });

  test('says why keys are shown by their hashes, and nothing where they are not', async () => {
    const { TimelineView } = await import('../../client/webview/timeline.ts');
    const view = new TimelineView();
    view.update({ ...state, businessRefusal: 'No hub is defined.' });
    expect(texts(view.element, '.note:not([hidden])')).toEqual(['No hub is defined.']);
    view.update(state);
    expect(texts(view.element, '.note:not([hidden])')).toEqual([]);
  });

  test('a key is chosen by its button', async () => {
    const { TimelineView } = await import('../../client/webview/timeline.ts');
    const view = new TimelineView();
    view.update(state);
    view.element.querySelectorAll<HTMLButtonElement>('.key')[1]?.click();
    expect(sent.at(-1)).toEqual({ kind: 'key', key: ['D2'] });
  });

  test('the ends of time lie on the borders and do not stretch the axis', () => {
    const axis = timeAxis(['1900-01-01', '2026-03-01 00:00:00', '2026-03-05', '4000-01-01', null]);
    expect(axis.position('1900-01-01')).toBe(0);
    expect(axis.position(null)).toBe(1);
    expect(axis.isBeyond('4000-01-01')).toBe(true);
    expect(axis.position('2026-03-05') - axis.position('2026-03-01')).toBeGreaterThan(0.5);
    expect(axis.ticks.length).toBeGreaterThan(2);
  });

  test('one moment alone has a tick that tells when it was', () => {
    const axis = timeAxis(['2026-03-01 15:59:24.747631', null]);
    expect(axis.position('2026-03-01 15:59:24.747631')).toBeCloseTo(0.5);
    expect(axis.ticks.length).toBeGreaterThan(0);
  });

  test.each([
    ['2026-03-01 00:00:00', '2026-03-01'],
    ['2026-03-01T23:59:59.997', '2026-03-01 23:59:59.997'],
    ['2026-03-01 10:00:00.000000', '2026-03-01 10:00:00'],
    [null, 'open'],
  ])('%s reads %s', (instant, text) => {
    expect(formatInstant(instant)).toBe(text);
  });
});
