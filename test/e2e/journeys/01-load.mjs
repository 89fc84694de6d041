import assert from 'node:assert/strict';
import { join } from 'node:path';

export const satellite = 'raw.SatPatientAddressEMED_TEST.sql';
export const generated = 'satellite_SatPatientAddressEMED_TEST.sql';

/** From the DDL to counts in the panel, and the versions of one key, on the embedded engine. */
export async function journey({ editor, open, root }) {
  const workbench = await open(editor.workspace(join(root, 'samples', 'warehouse')));
  await workbench.openFile(satellite);
  await prepare(workbench, 'days/1');

  await workbench.lens('Generate');
  const tab = await workbench.tab(generated);
  assert.match(await tab.getAttribute('class'), /dirty/, 'generated text waits to be saved');
  await workbench.problems();
  const errors = workbench.page.locator('.markers-panel .monaco-list-row .codicon-error');
  assert.equal(await errors.count(), 0, 'the generated script has no errors');
  await workbench.screenshot('generated');
  await workbench.page.keyboard.press('Control+j');

  await workbench.openFile(satellite);
  await workbench.lens('Preview');
  assert.match(await workbench.runEnd('Preview'), /^Done.*nothing written$/);
  assert.deepEqual(some(await workbench.counts()), { inserted: 6, unchanged: 0 });

  await workbench.lens('Run');
  assert.match(await workbench.runEnd('Run'), /^Done/);
  assert.deepEqual(some(await workbench.counts()), { inserted: 6, unchanged: 0 });
  await workbench.lens('Run');
  await workbench.panel.locator('tr[data-count=unchanged] .number', { hasText: '6' }).waitFor();
  assert.deepEqual(some(await workbench.counts()), { inserted: 0, unchanged: 6 }, 'the same day again changes nothing');

  await prepare(workbench, 'days/2');
  await workbench.lens('Run');
  await workbench.panel.locator('tr[data-count=inserted] .number', { hasText: '4' }).waitFor();
  assert.deepEqual(some(await workbench.counts()), { inserted: 4, unchanged: 2 });

  await workbench.panelTab('history');
  await workbench.panel.locator('.chart canvas').waitFor();
  const rows = workbench.panel.locator('#panel-history tbody tr');
  assert.equal(await rows.count(), 4, 'three runs and a preview stand in the history');
  await workbench.screenshot('history');

  await workbench.command('Mergewright: Show Versions of a Key');
  await workbench.panel.locator('.timeline-svg').waitFor();
  await workbench.screenshot('timeline');
}

/** Creates the tables on the embedded engine and stages the rows of one day. */
export async function prepare(workbench, day) {
  await workbench.command('Mergewright: Prepare Embedded Database');
  await workbench.choose(day);
  await workbench.notification('The embedded database has');
  await workbench.command('Notifications: Clear All Notifications');
}

function some({ inserted, unchanged }) {
  return { inserted, unchanged };
}
