import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs axe-core over the run panel and returns its serious findings as texts. Contrast of colour pairs that the theme
 * itself defines is left to the theme and returned apart.
 */
export async function findings(workbench, root) {
  const frame = await workbench.panelFrame();
  await frame.evaluate(readFileSync(join(root, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8'));
  const { violations } = await frame.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const text = ({ id, help, nodes }) => `${id}: ${help} at ${nodes.map((node) => node.target.join(' ')).join(', ')}`;
  return {
    ours: serious.filter(({ id }) => id !== 'color-contrast').map(text),
    theme: serious.filter(({ id }) => id === 'color-contrast').map(text),
  };
}
