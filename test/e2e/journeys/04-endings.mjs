import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../lib/editor.mjs';

/** A run that is cancelled, one that fails, one whose process is killed: each is said, and the next one works. */
export async function journey({ editor, open, root }) {
  const workbench = await open(editor.workspace(join(root, 'test', 'e2e', 'fixtures', 'scripts')));
  const { panel } = workbench;

  await workbench.openFile('slow.sql');
  await workbench.command('Mergewright: Run Load');
  await panel.locator('.state[data-status=running]').waitFor();
  const asked = Date.now();
  await panel.getByRole('button', { name: 'Cancel' }).click();
  assert.match(await workbench.runEnd('slow.sql'), /^Cancelled/);
  // The query would take hours; how fast the engine answers a cancel is measured where nothing else runs.
  assert.ok(Date.now() - asked < 30_000, `the cancel took ${Date.now() - asked} ms`);

  await workbench.openFile('wrong.sql');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('wrong.sql'), /^Failed/);
  const [problem] = (await workbench.problems('missing_column')).filter((row) => row.includes('missing_column'));
  assert.match(problem, /Ln 2/);

  await workbench.openFile('fill.sql');
  await workbench.command('Mergewright: Run Load');
  await panel.locator('.state[data-status=running]').waitFor();
  process.kill(await until('the runner process runs', () => runnerProcess(editor.home)), 'SIGKILL');
  assert.match(await workbench.runEnd('fill.sql'), /^Unknown/);
  await panel.locator('.alert-note', { hasText: 'not known' }).waitFor();
  await panel.locator('.empty', { hasText: 'The counts are not known' }).waitFor();
  assert.equal(await panel.locator('tr[data-count]').count(), 0, 'an unknown end has no counts');
  await workbench.screenshot('unknown');
  await panel.getByRole('button', { name: 'Open the Query That Finds Out' }).click();
  await workbench.page.locator('.view-line', { hasText: '"filled"' }).first().waitFor();
  await workbench.screenshot('find-out');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('What the Run Wrote'), /^Done/);

  await workbench.openFile('rows.sql');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('rows.sql'), /^Done/);
  await rolledBack(workbench);
}

/** A dry run says that it was rolled back; a text that would end its transaction is refused in words. */
async function rolledBack(workbench) {
  await workbench.command('Mergewright: Dry Run Load');
  assert.match(await workbench.runEnd('Dry run'), /^Done.*rolled back$/);
  await workbench.panel.locator('.alert-note', { hasText: 'everything was rolled back' }).waitFor();
  await workbench.screenshot('dry-run');
  await workbench.openFile('commits.sql');
  await workbench.command('Mergewright: Dry Run Load');
  await workbench.notification('A dry run refuses BEGIN and COMMIT here');
}

/** Process id of the runner that this window's extension has started; those of closed windows live on for a while. */
function runnerProcess(home) {
  const lines = execFileSync('ps', ['-eo', 'pid,args', '--sort=start_time'], { encoding: 'utf8' }).split('\n');
  const line = lines.findLast((candidate) => candidate.includes(home) && candidate.includes('runner.cjs'));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}
