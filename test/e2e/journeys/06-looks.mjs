import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findings } from '../lib/accessibility.mjs';
import { prepare } from './01-load.mjs';

const satellite = 'raw.SatPatientAddressEMED_TEST.sql';
const looks = [
  { name: 'light', options: { theme: 'light' } },
  { name: 'dark', options: { theme: 'dark' } },
  { name: 'high-contrast', options: { theme: 'high-contrast' } },
  { name: 'zoom', options: { theme: 'light', size: { width: 700, height: 450 }, scale: 2 } },
];

/** The panel in every look, without a serious finding of axe-core. The pictures are looked at by people. */
export async function journey({ editor, open, root, shots }) {
  const folder = editor.workspace(join(root, 'samples', 'warehouse'));
  const first = await open(folder);
  await first.openFile(satellite);
  await prepare(first, 'days/1');
  await first.lens('Run');
  await first.runEnd('Run');
  await prepare(first, 'days/2');
  await first.close();
  for (const { name, options } of looks) {
    const workbench = await open(folder, options);
    await workbench.openFile(satellite);
    await workbench.lens('Preview');
    await workbench.runEnd('Preview');
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
    if (theme.length > 0) console.log(`     contrast of the theme's own pairs in ${name}: ${theme.join('; ')}`);
    await workbench.close();
  }
  if (process.env.UPDATE !== '1') return;
  // The pictures of the README.
  const images = join(root, 'docs', 'images');
  mkdirSync(images, { recursive: true });
  for (const look of ['light', 'dark']) {
    for (const [shot, image] of [
      ['changes', 'preview'],
      ['history', 'history'],
      ['timeline', 'timeline'],
    ]) {
      cpSync(join(shots, `look-${look}-${shot}.png`), join(images, `${image}-${look}.png`));
    }
  }
}
