import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../lib/editor.mjs';
import { prepare } from './01-load.mjs';

const persistent = 'PersistentStaging.dbo.Department.sql';

/** Looks at a target with intervals: its checks, a searched key's versions, its columns; and describes a live table. */
export async function journey({ editor, open, root }) {
  const folder = editor.workspace(join(root, 'samples', 'warehouse'));
  const workbench = await open(folder);
  const { panel } = workbench;
  for (const day of ['days/1', 'days/2']) {
    await workbench.openFile(persistent);
    await prepare(workbench, day);
    await workbench.command('Mergewright: Run Load');
    await workbench.choose(/SCD 2|Persistent|scd2/i);
    assert.match(await workbench.runEnd('Run'), /^Done/);
  }
  await panel.locator('tr[data-count=expired] .number', { hasText: '3' }).waitFor();
  const counts = await workbench.counts();
  assert.deepEqual([counts.inserted, counts.expired], [4, 3], 'three departments changed, one is new');

  await workbench.command('Mergewright: Check Data of a Target');
  await workbench.choose(/SCD 2|Persistent|scd2/i);
  await panel.locator('.check-list li').first().waitFor();
  assert.equal(await panel.locator('.check-holds').count(), 6, 'every invariant holds');
  await workbench.screenshot('checks');

  await workbench.command('Mergewright: Show Versions of a Key');
  await workbench.choose(/SCD 2|Persistent|scd2/i);
  await panel.locator('#panel-timeline input').fill('20');
  await workbench.page.keyboard.press('Enter');
  await panel.locator('.key[aria-pressed=true]', { hasText: '20' }).waitFor();
  assert.equal(await panel.locator('.version').count(), 2);
  await panel.locator('.change-label', { hasText: 'Location: Bremen → Rostock' }).waitFor();
  await workbench.screenshot('timeline-intervals');

  await editMapping(workbench, folder);
  await describe(workbench, folder);
}

/** A chosen source is written to mergewright.json after the difference was shown. */
async function editMapping(workbench, folder) {
  const { panel } = workbench;
  await workbench.command('Mergewright: Edit Mapping');
  await workbench.choose(/SCD 2|Persistent|scd2/i);
  await panel.getByLabel('Source of ManagerName').selectOption('DepartmentName');
  await workbench.screenshot('mapping');
  await panel.getByRole('button', { name: 'Save to mergewright.json' }).click();
  await workbench.notification('exists and differs', 'Replace');
  await workbench.tab('mergewright.json');
  await workbench.page.keyboard.press('Control+s');
  await until('the mapping is saved', () =>
    JSON.parse(readFileSync(join(folder, 'mergewright.json'), 'utf8')).loads.some(
      (load) => load.options?.mapping?.ManagerName === 'DepartmentName',
    ),
  );
}

/** The DDL of a live table is opened as a new file of the workspace. */
async function describe(workbench) {
  const { page } = workbench;
  await workbench.command('View: Show Mergewright');
  const row = (text) => page.locator('.pane-body .monaco-list-row', { hasText: text }).first();
  await row('Embedded engine').click();
  await row('PersistentStaging').click();
  await row('Department').hover();
  await row('Department').locator('.action-label').first().click();
  await page
    .locator('.view-line', { hasText: /"PersistentStaging"/ })
    .first()
    .waitFor();
  await workbench.screenshot('describe');
}
