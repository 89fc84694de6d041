// Journeys in a real VS Code: `node test/e2e/run.mjs [name…]`. The last line is `N passed, N failed, N skipped`.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setUp } from './setup.mjs';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const target = `${process.platform}-${process.arch}`;
const vsix = join(root, 'out', `mergewright-${target}.vsix`);
const shots = join(here, 'shots');
const wanted = process.argv.slice(2);
const names = readdirSync(join(here, 'journeys'))
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
  .filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
  .sort();

if (target !== 'linux-x64') {
  console.log(`The journeys need linux-x64, this is ${target}.`);
  console.log(`0 passed, 0 failed, ${names.length} skipped`);
  process.exit(0);
}
if (!existsSync(vsix)) {
  console.error(`${vsix} is missing; run "npm run package" first.`);
  console.log(`0 passed, ${names.length} failed, 0 skipped`);
  process.exit(1);
}
setUp();
// These stand on the packages that `setUp` installs.
const { Editor, findChromium } = await import('./lib/editor.mjs');
if (findChromium() === undefined) {
  console.log('Chromium is missing: install it, or name it in CHROMIUM.');
  console.log(`0 passed, 0 failed, ${names.length} skipped`);
  process.exit(0);
}

rmSync(shots, { recursive: true, force: true });
const editor = new Editor(shots);
// Whoever ends this run early leaves no server behind.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => editor.stop().finally(() => process.exit(1)));
const counts = { passed: 0, failed: 0 };
try {
  await editor.start(vsix);
  for (const name of names) {
    const { journey } = await import(pathToFileURL(join(here, 'journeys', `${name}.mjs`)).href);
    const passed = (await attempt(name, journey)) || (await attempt(name, journey, 'tried once more'));
    counts[passed ? 'passed' : 'failed'] += 1;
  }
} finally {
  await editor.stop();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exit(counts.failed > 0 ? 1 : 0);

/** Runs a journey and says how it went; a failing one leaves a picture of every window it had open. */
async function attempt(name, journey, remark) {
  const started = Date.now();
  const opened = [];
  const open = async (...args) => {
    const workbench = await editor.open(...args);
    opened.push(workbench);
    return workbench;
  };
  try {
    await journey({ editor, open, root, shots });
    console.log(`ok   ${name} (${seconds(started)}${remark === undefined ? '' : `, ${remark}`})`);
    return true;
  } catch (error) {
    console.log(`FAIL ${name} (${seconds(started)}${remark === undefined ? '' : `, ${remark}`})\n${error.stack}`);
    for (const [index, workbench] of opened.entries())
      await workbench.screenshot(`fail-${name}-${index}`).catch(() => {});
    return false;
  } finally {
    for (const workbench of opened) await workbench.close().catch(() => {});
  }
}

function seconds(started) {
  return `${((Date.now() - started) / 1000).toFixed(0)} s`;
}
