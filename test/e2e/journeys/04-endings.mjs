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
  assert.ok(Date.now() - asked < 3000, `the cancel took ${Date.now() - asked} ms`);

  await workbench.openFile('wrong.sql');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('wrong.sql'), /^Failed/);
  const [problem] = (await workbench.problems('missing_column')).filter((row) => row.includes('missing_column'));
  assert.match(problem, /Ln 2/);

  await workbench.openFile('slow.sql');
  await workbench.command('Mergewright: Run Load');
  await panel.locator('.state[data-status=running]').waitFor();
  process.kill(await until('the runner process runs', () => runnerProcess(editor.home)), 'SIGKILL');
  assert.match(await workbench.runEnd('slow.sql'), /^Unknown/);
  await panel.locator('.alert-note', { hasText: 'not known' }).waitFor();
  await workbench.screenshot('unknown');

  await workbench.openFile('rows.sql');
  await workbench.command('Mergewright: Run Load');
  assert.match(await workbench.runEnd('rows.sql'), /^Done/);
}

/** Process id of the runner that this editor's extension has started. */
function runnerProcess(home) {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  const line = lines.find((candidate) => candidate.includes(home) && candidate.includes('runner.cjs'));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}
