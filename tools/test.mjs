// Runs parts of the test suite and adds up their counts: `node tools/test.mjs all|quick|robustness|e2e`.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join('node_modules', 'vitest', 'vitest.mjs');
const countLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** The parts of `npm test`: a command whose last line counts, or one that counts as a single test. */
const parts = {
  check: { command: ['tools/check.mjs'], single: true },
  quick: {
    command: [
      vitest,
      'run',
      '--project',
      'quick',
      '--maxWorkers=2',
      '--reporter=dot',
      '--reporter=./tools/count-reporter.mjs',
    ],
  },
  robustness: {
    command: [vitest, 'run', '--project', 'robustness', '--reporter=dot', '--reporter=./tools/count-reporter.mjs'],
  },
  conformance: { command: ['dist/conformance.cjs', '--shape', 'separate'] },
  'conformance-merge': { command: ['dist/conformance.cjs', '--shape', 'merge'] },
  package: { command: ['tools/package.mjs'], single: true },
  e2e: { command: ['test/e2e/run.mjs'], needs: 'Chromium' },
};
const suites = {
  all: ['check', 'quick', 'robustness', 'conformance', 'conformance-merge', 'package', 'e2e'],
  quick: ['check', 'quick'],
  robustness: ['robustness'],
  e2e: ['package', 'e2e'],
};

/** System programs that a part needs and a machine may lack. */
const programs = {
  Chromium: () =>
    [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].some((file) => file && existsSync(file)),
  'Python 3.10 or newer': () =>
    spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
};

const suite = suites[process.argv[2] ?? 'all'];
if (suite === undefined) {
  console.error(`usage: node tools/test.mjs ${Object.keys(suites).join('|')}`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const report = [];
for (const name of suite) await runPart(name, parts[name]);
if (suite.includes('quick') && !programs['Python 3.10 or newer']()) {
  report.push("Python 3.10 or newer is missing: the tests that ask Microsoft's T-SQL parser were skipped");
}
console.log();
for (const line of report) console.log(line);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 || (process.env.CI && total.skipped > 0) ? 1 : 0);

async function runPart(name, part) {
  if (part.needs !== undefined && !programs[part.needs]()) {
    add(
      name,
      { passed: 0, failed: process.env.CI ? 1 : 0, skipped: process.env.CI ? 0 : 1 },
      `${part.needs} is missing`,
    );
    return;
  }
  console.log(`\n== ${name}`);
  const started = Date.now();
  const { code, lastLine } = await runNode(part.command);
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

/** Runs Node on a script, shows its output as it comes, and gives its exit code and last line. */
function runNode(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let tail = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      tail = (tail + chunk).slice(-4000);
    });
    child.on('close', (code) =>
      resolve({ code: code ?? 1, lastLine: tail.trimEnd().split('\n').at(-1)?.trim() ?? '' }),
    );
  });
}
