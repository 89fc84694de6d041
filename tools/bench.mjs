// Runs the benchmarks in test/bench, each beside its reference in the same run: `npm run bench [-- --json FILE] [-- --only NAME]`.
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'test', 'bench');
const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });

const rows = [];
for (const name of readdirSync(folder).sort()) {
  if (!name.endsWith('.bench.mjs') || (values.only !== undefined && !name.includes(values.only))) continue;
  console.log(`== ${name.replace('.bench.mjs', '')}`);
  const { default: measure } = await import(pathToFileURL(join(folder, name)).href);
  const measured = await measure();
  for (const row of measured) {
    const against =
      row.reference === null ? '' : `, ${row.referenceName} ${figure(row.reference)}, ratio ${figure(row.ratio)}`;
    console.log(
      `${row.ok ? 'ok  ' : 'OVER'} ${row.name}: ${figure(row.ours)} ${row.unit}${against}, budget ${row.budget}${row.note == null ? '' : ` (${row.note})`}`,
    );
  }
  rows.push(...measured);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
const over = rows.filter((row) => !row.ok).length;
const allowed = rows.filter((row) => row.ok && row.note != null).length;
const busy = allowed === 0 ? '' : ` (${allowed} of them only as the machine is busy)`;
console.log(`${rows.length - over} within budget${busy}, ${over} over`);
process.exit(over > 0 || rows.length === 0 ? 1 : 0);

function figure(value) {
  return value === null ? '-' : Number(value.toPrecision(3)).toString();
}
