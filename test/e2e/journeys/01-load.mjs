import { join } from 'node:path';

/** From the DDL to counts in the panel. */
export async function journey({ editor, open, root }) {
  const folder = editor.workspace(join(root, 'samples', 'warehouse'));
  const workbench = await open(folder);
  await workbench.openFile('raw.SatPatientAddressEMED_TEST.sql');
  await workbench.screenshot('ddl');
  await workbench.lens('Generate');
  await workbench.tab('satellite');
  await workbench.screenshot('generated');
  await workbench.openFile('raw.SatPatientAddressEMED_TEST.sql');
  await workbench.lens('Preview');
  await workbench.page.waitForTimeout(5000);
  await workbench.screenshot('preview');
}
