import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../lib/editor.mjs';

/** 100,000 rows in the grid: keyboard, copy, export, and no task that holds the page up. */
export async function journey({ editor, open, root }) {
  const folder = editor.workspace(join(root, 'test', 'e2e', 'fixtures', 'scripts'));
  const workbench = await open(folder);
  const { page, panel } = workbench;
  await workbench.openFile('rows.sql');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('Run'), /^Done/);
  await workbench.panelTab('results');
  const grid = panel.locator('[role=grid]');
  await grid.locator('#cell-0-0-1', { hasText: 'row 0' }).waitFor();
  assert.equal(await grid.getAttribute('aria-rowcount'), '100001');

  const longest = await fewest(3, () => longestTask(workbench));
  assert.ok(longest <= 50, `a task held the page up for ${longest} ms more than the machine's own pauses`);

  await grid.focus();
  await page.keyboard.press('Control+End');
  await grid.locator('#cell-0-99999-1', { hasText: 'row 99999' }).waitFor();
  assert.equal(await grid.getAttribute('aria-activedescendant'), 'cell-0-99999-2');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Control+c');
  await until(
    'the cells are copied',
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === 'id\tname\n0\trow 0\n1\trow 1',
  );
  await workbench.screenshot('results');

  for (const [button, file, start] of [
    ['CSV', 'result-1.csv', 'id,name,share\n0,row 0,\n1,row 1,'],
    ['JSON', 'result-1.json', '[\n  {\n    "id": '],
    ['Markdown', 'result-1.md', '| id | name | share |\n| --- | --- | --- |\n| 0 | row 0 | NULL |'],
  ]) {
    await panel.getByRole('button', { name: button, exact: true }).click();
    await workbench.input.locator('.quick-input-box input').waitFor();
    await page.keyboard.press('Enter');
    await until(`${file} is written`, () => read(join(folder, file))?.startsWith(start));
  }
}

/**
 * Scrolls through the grid and gives the longest task of the page's own script in milliseconds, less what the machine
 * takes away by itself: the longest pause within slices of work that need two milliseconds. 0 when no task was long.
 */
async function longestTask(workbench) {
  const frame = await workbench.panelFrame();
  return frame.evaluate(async () => {
    const frameDrawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let pause = 0;
    for (let slice = 0; slice < 100; slice += 1) {
      let before = performance.now();
      for (const end = before + 2; before < end; ) {
        const now = performance.now();
        pause = Math.max(pause, now - before);
        before = now;
      }
      await frameDrawn();
    }
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ entryTypes: ['longtask'] });
    const grid = document.querySelector('[role=grid]');
    for (let step = 0; step <= 100; step += 1) {
      grid.scrollTop = (grid.scrollHeight * step) / 100;
      await frameDrawn();
    }
    grid.scrollTop = 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
    observer.disconnect();
    // Tasks of the editor around the page bear the name of another frame.
    return Math.max(0, ...tasks.filter((task) => task.name === 'self').map((task) => task.duration - pause));
  });
}

/** The smallest of several measurements: noise of the machine only ever adds. */
async function fewest(times, measure) {
  let smallest = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time += 1) smallest = Math.min(smallest, await measure());
  return smallest;
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
