import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../lib/editor.mjs';

/** What the language server gives while a load is written, and that it comes back when it is killed. */
export async function journey({ editor, open, root }) {
  const folder = editor.workspace(join(root, 'test', 'e2e', 'fixtures', 'editing'));
  const workbench = await open(folder);
  const { page } = workbench;
  await workbench.openFile('load.sql');
  await page.locator('.squiggly-error, .squiggly-warning').first().waitFor();
  await workbench.screenshot('editing-problem');

  await workbench.goTo(5, 60);
  await workbench.command('Show or Focus Hover');
  await page.locator('.monaco-hover:not(.hidden)', { hasText: 'stg.Customer' }).first().waitFor();
  await workbench.screenshot('editing-hover');
  await page.keyboard.press('Escape');

  await workbench.command('Go to Definition');
  await page.locator('.tabs-container .tab.active', { hasText: 'tables.sql' }).waitFor();
  await page.locator('.codelens-decoration a', { hasText: 'Generate' }).first().waitFor();
  await workbench.screenshot('editing-definition');

  await workbench.openFile('load.sql');
  await fixSemicolon(workbench);
  await until('the fix is saved', () => readFileSync(join(folder, 'load.sql'), 'utf8').includes('s.City);'));

  await completeColumn(workbench);
  await renameColumn(workbench, folder);
  await restartAfterKill(workbench, editor);
}

/** The quick fix of a finding, applied and saved. */
async function fixSemicolon(workbench) {
  const { page } = workbench;
  const row = (await workbench.problems('merge-lacks-semicolon')).find((text) =>
    text.includes('merge-lacks-semicolon'),
  );
  assert.ok(row, 'the missing semicolon is reported');
  await page.locator('.markers-panel .monaco-list-row', { hasText: 'merge-lacks-semicolon' }).first().click();
  await workbench.editor.click();
  const place = /Ln (\d+), Col (\d+)/.exec(row);
  await workbench.goTo(Number(place[1]), Number(place[2]));
  await explainRule(workbench);
  await workbench.goTo(Number(place[1]), Number(place[2]));
  await disableHere(workbench);
  await workbench.goTo(Number(place[1]), Number(place[2]));
  await page.keyboard.press('Control+.');
  const fix = page.locator('.action-widget .monaco-list-row.action', { hasText: /semicolon/i }).first();
  await fix.waitFor();
  await workbench.screenshot('editing-fix');
  await page.keyboard.press('Enter');
  await page.locator('.view-line', { hasText: 's.City);' }).first().waitFor();
  await page.keyboard.press('Control+s');
  await page.keyboard.press('Control+j');
}

/** The page of the rule at the cursor ships with the extension. */
async function explainRule(workbench) {
  const { page } = workbench;
  await workbench.command('Mergewright: Explain This Rule');
  const tab = page.locator('.tabs-container .tab.active', { hasText: 'merge-lacks-semicolon' });
  await tab.waitFor();
  await workbench.screenshot('editing-rule-page');
  await workbench.command('View: Close Editor');
  await tab.waitFor({ state: 'detached' });
  await workbench.editor.click();
}

/** The finding goes with a comment that switches its rule off, and is back when the comment is undone. */
async function disableHere(workbench) {
  const { page } = workbench;
  await page.keyboard.press('Control+.');
  const action = page.locator('.action-widget .monaco-list-row.action', { hasText: 'for this line' }).first();
  await action.waitFor();
  await action.click();
  const comment = page.locator('.view-line', { hasText: 'mergewright-disable' });
  await comment.first().waitFor();
  const finding = page.locator('.markers-panel .monaco-list-row', { hasText: 'merge-lacks-semicolon' });
  await finding.first().waitFor({ state: 'detached' });
  await workbench.editor.click();
  await page.keyboard.press('Control+z');
  await comment.first().waitFor({ state: 'detached' });
  await finding.first().waitFor();
}

async function completeColumn(workbench) {
  const { page } = workbench;
  await workbench.goTo(5, 60);
  await page.keyboard.press('End');
  await page.keyboard.type('\nSELECT s. FROM stg.Customer AS s;');
  await workbench.goTo(6, 12);
  await page.keyboard.press('Control+Space');
  await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'City' }).first().waitFor();
  await workbench.screenshot('editing-completion');
  await page.keyboard.press('Escape');
}

/** A column is renamed where it is defined and wherever it is used. */
async function renameColumn(workbench, folder) {
  const { page } = workbench;
  await workbench.goTo(5, 67);
  await page.keyboard.press('F2');
  const box = page.locator('.rename-box input');
  await box.waitFor();
  await box.fill('Town');
  await page.keyboard.press('Enter');
  await page.locator('.view-line', { hasText: 's.Town' }).first().waitFor();
  await workbench.command('File: Save All Files');
  const saved = (name) => readFileSync(join(folder, name), 'utf8');
  await until('the load is saved', () => /s\.Name, s\.Town\)/.test(saved('load.sql')));
  await until('the definition is saved', () => /Town nvarchar\(60\)/.test(saved('tables.sql')));
}

/** A killed server is started again, and says what is wrong with a text that it has not seen before. */
async function restartAfterKill(workbench, editor) {
  const { page } = workbench;
  const server = () => {
    const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
    const line = lines.find((candidate) => candidate.includes(editor.home) && candidate.includes('server.cjs'));
    return line === undefined ? undefined : Number.parseInt(line, 10);
  };
  const before = await until('the server runs', server);
  process.kill(before, 'SIGKILL');
  await until('another server runs', () => server() !== undefined && server() !== before);
  await workbench.editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nSELEC 1;\n');
  await page.locator('.squiggly-error').first().waitFor();
}
