import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findings } from '../lib/accessibility.mjs';
import { generated, prepare, satellite } from './01-load.mjs';

const looks = [
  { name: 'light', day: 'days/2', options: { theme: 'light' } },
  { name: 'dark', day: 'days/3', options: { theme: 'dark' } },
  { name: 'high-contrast', options: { theme: 'high-contrast' } },
  { name: 'zoom', options: { theme: 'light', size: { width: 700, height: 450 }, scale: 2 } },
];
/** Pictures of the README, and the shots that they are. */
const images = ['generate', 'diagnostics', 'preview', 'counts', 'timeline'];

/** The panel in every look, without a serious finding of axe-core. The pictures are looked at by people. */
export async function journey({ editor, open, root, shots }) {
  const folder = editor.workspace(join(root, 'samples', 'warehouse'));
  const first = await open(folder);
  await first.openFile(satellite);
  await prepare(first, 'days/1');
  await first.lens('Run');
  await first.runEnd('Run');
  await first.close();
  for (const { name, day, options } of looks) {
    const workbench = await open(folder, options);
    await workbench.openFile(satellite);
    if (day !== undefined) {
      await prepare(workbench, day);
      await workbench.lens('Generate');
      await workbench.tab(generated);
      await workbench.screenshot(`look-${name}-generate`);
      await workbench.openFile(satellite);
    }
    await workbench.lens('Preview');
    await workbench.runEnd('Preview');
    await workbench.screenshot(`look-${name}-preview`);
    if (day !== undefined) {
      await workbench.lens('Run');
      await workbench.runEnd('Run');
      await workbench.screenshot(`look-${name}-counts`);
    }
    for (const tab of ['changes', 'sql', 'history', 'results', 'messages']) {
      await workbench.panelTab(tab);
      await workbench.screenshot(`look-${name}-${tab}`);
      const { ours } = await findings(workbench, root);
      assert.deepEqual(ours, [], `axe-core on ${tab} in ${name}`);
    }
    await workbench.command('Mergewright: Show Versions of a Key');
    await workbench.panel.locator('.timeline-svg').waitFor();
    await workbench.screenshot(`look-${name}-timeline`);
    const { ours, theme } = await findings(workbench, root);
    assert.deepEqual(ours, [], `axe-core on the timeline in ${name}`);
    await workbench.command('Mergewright: Check Data of a Target');
    await workbench.panel.locator('.check-list li').first().waitFor();
    await workbench.panel.locator('.check-holds', { hasText: 'hash-recomputes:HashDiff' }).waitFor();
    await workbench.screenshot(`look-${name}-checks`);
    assert.deepEqual((await findings(workbench, root)).ours, [], `axe-core on the checks in ${name}`);
    await workbench.command('Mergewright: Edit Mapping');
    await workbench.panel.locator('.mapping tbody tr').first().waitFor();
    await workbench.screenshot(`look-${name}-mapping`);
    assert.deepEqual((await findings(workbench, root)).ours, [], `axe-core on the mapping in ${name}`);
    if (theme.length > 0) console.log(`     contrast of the theme's own pairs in ${name}: ${theme.join('; ')}`);
    await workbench.close();
  }
  for (const { name, options } of looks.filter((look) => look.day !== undefined)) {
    await diagnostics(open, editor.workspace(join(root, 'test', 'e2e', 'fixtures', 'editing')), name, options);
  }
  if (process.env.UPDATE !== '1') return;
  mkdirSync(join(root, 'docs', 'images'), { recursive: true });
  for (const image of images) {
    for (const look of ['light', 'dark']) {
      cpSync(join(shots, `look-${look}-${image}.png`), join(root, 'docs', 'images', `${image}-${look}.png`));
    }
  }
}

/** A fault in a MERGE with what is said about it. */
async function diagnostics(open, folder, name, options) {
  const workbench = await open(folder, options);
  await workbench.openFile('load.sql');
  await workbench.problems('mergewright');
  await workbench.screenshot(`look-${name}-diagnostics`);
  await workbench.close();
}
