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
  assert.ok(longest <= 50, `a task of ${longest} ms held the page up`);

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

/** Scrolls through the grid and gives the longest task of the page in milliseconds; 0 when none was long. */
async function longestTask(workbench) {
  const frame = await workbench.panelFrame();
  return frame.evaluate(async () => {
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ entryTypes: ['longtask'] });
    const grid = document.querySelector('[role=grid]');
    for (let step = 0; step <= 100; step += 1) {
      grid.scrollTop = (grid.scrollHeight * step) / 100;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    grid.scrollTop = 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
    observer.disconnect();
    return Math.max(0, ...tasks.map((task) => task.duration));
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
