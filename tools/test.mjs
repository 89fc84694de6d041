// Runs parts of the test suite and adds up their counts: `node tools/test.mjs all|quick|robustness|e2e`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join('node_modules', 'vitest', 'vitest.mjs');
const countLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** By itself vitest leaves a core free, which of two cores is half. */
const atLeastTwo = Math.max(2, availableParallelism() - 1);

/** A run of vitest on some projects. */
function tests(projects, workers = atLeastTwo) {
  const chosen = projects.map((project) => `--project=${project}`);
  const reporters = ['--reporter=dot', '--reporter=./tools/count-reporter.mjs'];
  return { command: [vitest, 'run', ...chosen, `--maxWorkers=${workers}`, ...reporters] };
}

/** The parts of `npm test`: a command whose last line counts, or one that counts as a single test. */
const parts = {
  check: { command: ['tools/check.mjs'], single: true },
  quick: tests(['quick']),
  // In a whole run the parts `conformance` and `conformance-merge` run the same cases, by the built program.
  'quick-with-cases': tests(['quick', 'cases']),
  robustness: tests(['robustness']),
  // Deadlines and measurements want the machine to themselves.
  timed: tests(['timed'], 1),
  conformance: { command: ['dist/conformance.cjs', '--shape', 'separate'] },
  'conformance-merge': { command: ['dist/conformance.cjs', '--shape', 'merge'] },
  package: { command: ['tools/package.mjs'], single: true },
  e2e: { command: ['test/e2e/run.mjs'], needs: 'Chromium' },
};
/** Parts in their order; those of an inner list run at the same time. */
const suites = {
  all: ['check', 'quick', 'robustness', 'timed', ['conformance', 'conformance-merge'], 'package', 'e2e'],
  quick: ['check', 'quick-with-cases'],
  robustness: ['robustness', 'timed'],
  e2e: ['package', 'e2e'],
};

/** The oldest Python that all referees take. */
const python = 'Python 3.11 or newer';

/** System programs that a part needs and a machine may lack. */
const programs = {
  Chromium: () =>
    [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].some((file) => file && existsSync(file)),
  [python]: () => spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0,
};

const suite = suites[process.argv[2] ?? 'all'];
if (suite === undefined) {
  console.error(`usage: node tools/test.mjs ${Object.keys(suites).join('|')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const report = [];
for (const step of suite) {
  const names = [step].flat();
  await Promise.all(names.map((name) => runPart(name, parts[name], names.length === 1)));
}
const asksReferees = suite !== suites.e2e;
if (asksReferees && !programs[python]()) {
  report.push(`${python} is missing: the tests that ask Microsoft's T-SQL parser were skipped`);
}
console.log();
for (const line of report) console.log(line);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || (process.env.CI && total.skipped > 0) ? 1 : 0);

/** Runs a part; its output is shown as it comes, or in one piece at its end when others run beside it. */
async function runPart(name, part, isAlone) {
  if (part.needs !== undefined && !programs[part.needs]()) {
    add(
      name,
      { passed: 0, failed: process.env.CI ? 1 : 0, skipped: process.env.CI ? 0 : 1 },
      `${part.needs} is missing`,
    );
    return;
  }
  if (isAlone) console.log(`\n== ${name}`);
  const started = Date.now();
  const { code, output } = await runNode(part.command, isAlone);
  if (!isAlone) console.log(`\n== ${name}\n${output.trimEnd()}`);
  const lastLine = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const seconds = `${((Date.now() - started) / 1000).toFixed(0)} s`;
  if (part.single === true) {
    add(name, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 }, seconds);
    return;
  }
  const found = countLine.exec(lastLine);
  if (found === null) {
    add(name, { passed: 0, failed: 1, skipped: 0 }, `ended with code ${code} and without its count, ${seconds}`);
    return;
  }
  const [passed, failed, skipped] = found.slice(1).map(Number);
  // A run that fails must count a failure, whatever it printed; one that ran nothing proves nothing.
  const hidden = (code !== 0 && failed === 0) || passed + failed === 0 ? 1 : 0;
  add(name, { passed, failed: failed + hidden, skipped }, seconds);
}

function add(name, counts, remark) {
  for (const key of Object.keys(total)) total[key] += counts[key];
  report.push(`${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${remark})`);
}

/** Runs Node on a script and gives its exit code and output, shown as it comes if asked. */
function runNode(args, shows) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (shows) process.stdout.write(chunk);
      output += chunk;
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
