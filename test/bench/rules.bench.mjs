// The rules on a script that is edited: parse again, check with all rules on; and whole files from scratch.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    const core = await bundle(folder);
    return [keystrokes(core), ...wholeFiles(core), ...growth(core)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(folder) {
  const outfile = join(folder, 'rules.mjs');
  await build({
    stdin: {
      contents: `
        export { parse, reparse } from './server/src/syntax/parse.ts';
        export { lint } from './server/src/rules/engine/lint.ts';
        export { rules } from './server/src/rules/registry.ts';
        export { buildCatalog } from './server/src/model/catalog.ts';
        export { readDefinitions } from './server/src/model/definitions.ts';`,
      resolveDir: root,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    logLevel: 'warning',
  });
  const core = await import(pathToFileURL(outfile).href);
  const ddl = core.parse(
    `CREATE TABLE dw.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NOT NULL);
CREATE TABLE stg.Unit (UnitNo int NOT NULL PRIMARY KEY, Label varchar(50) NULL, Size int NOT NULL);`,
    { platform: 'sqlserver' },
  );
  const { tables } = core.buildCatalog([core.readDefinitions(ddl, 'ddl.sql')]);
  const settings = { levels: [], houses: [] };
  const check = (script) =>
    core.lint({ script, file: 'load.sql', platform: { name: 'sqlserver' }, rules: core.rules, tables, settings });
  return { ...core, check };
}

/** 1,000 statements of about 60 characters: updates, inserts and queries with a change test here and there. */
function script(statements) {
  const kinds = [
    (n) => `UPDATE dw.Unit SET Label = 'label ${n}' WHERE UnitNo = ${n};`,
    (n) => `INSERT INTO dw.Unit (UnitNo, Size) VALUES (${n}, ${n % 7});`,
    (n) => `SELECT UnitNo, Label FROM stg.Unit WHERE Size > ${n % 9};`,
    (n) =>
      `UPDATE t SET Size = s.Size FROM dw.Unit AS t JOIN stg.Unit AS s ON s.UnitNo = t.UnitNo WHERE t.Size <> s.Size + ${n};`,
  ];
  return Array.from({ length: statements }, (_, n) => kinds[n % kinds.length](n)).join('\n');
}

function percentile(times, share) {
  const sorted = times.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function timed(run) {
  const start = performance.now();
  const value = run();
  return { value, ms: performance.now() - start };
}

function row(name, unit, ours, reference, referenceName, budget, ok) {
  return {
    name,
    unit,
    ours,
    reference,
    referenceName,
    ratio: reference === null ? null : ours / reference,
    budget,
    ok,
  };
}

/** Letters typed into statements all over the file. */
function keystrokes({ parse, reparse, check }) {
  const text = script(1000);
  let current = parse(text, { platform: 'sqlserver' });
  check(current);
  const times = [];
  const parsing = [];
  for (let press = 0; press < 300; press += 1) {
    const at = current.text.indexOf('WHERE', Math.floor((current.text.length * ((press * 37) % 100)) / 100));
    const edit = { start: Math.max(0, at), end: Math.max(0, at), text: press % 2 === 0 ? '/* x */ ' : ' ' };
    const parsed = timed(() => reparse(current, edit));
    current = parsed.value;
    const checked = timed(() => check(current));
    if (press >= 50) {
      times.push(parsed.ms + checked.ms);
      parsing.push(parsed.ms);
    }
  }
  const p95 = percentile(times, 0.95);
  return row(
    'keystroke to findings, 1,000 statements, p95',
    'ms',
    p95,
    percentile(parsing, 0.95),
    'parsing alone',
    '≤ 10 ms',
    p95 <= 10,
  );
}

/** Parse and check from scratch, as the command line does. */
function wholeFiles({ parse, check }) {
  return [
    [1000, '60 KB', null],
    [15_000, '1 MB', 'no budget'],
  ].map(([statements, size]) => {
    const text = script(statements);
    const times = [];
    for (let round = 0; round < 5; round += 1) {
      times.push(timed(() => check(parse(text, { platform: 'sqlserver' }))).ms);
    }
    const median = percentile(times, 0.5);
    const parsing = percentile(
      Array.from({ length: 5 }, () => timed(() => parse(text, { platform: 'sqlserver' })).ms),
      0.5,
    );
    const limit = statements === 1000 ? 100 : 1500;
    return row(
      `check a whole file of ${size}, median`,
      'ms',
      median,
      parsing,
      'parsing alone',
      `≤ ${limit} ms`,
      median <= limit,
    );
  });
}

/** Time for twice of something: 2 would be linear. */
function growth({ parse, check }) {
  const list = (count, write, by) => Array.from({ length: count }, (_, index) => write(index)).join(by);
  const makers = {
    statements: (n) => script(n * 20),
    'guarded loads': (n) =>
      list(
        n * 2,
        (i) =>
          `IF NOT EXISTS (SELECT 1 FROM stg.Unit WHERE Size = ${i}) RETURN;\nDELETE t FROM dw.Unit AS t WHERE NOT EXISTS (SELECT 1 FROM stg.Unit AS s WHERE s.UnitNo = t.UnitNo);`,
        '\n',
      ),
    columns: (n) =>
      `CREATE TABLE dw.Wide (${list(n * 3, (i) => `c${i} int`, ', ')});\nMERGE dw.Wide AS t USING stg.Wide AS s ON t.c0 = s.c0 WHEN MATCHED AND (${list(n * 3, (i) => `t.c${i} <> s.c${i}`, ' OR ')}) THEN UPDATE SET ${list(n * 3, (i) => `c${i} = s.c${i}`, ', ')};`,
    nesting: (n) => `${list(n * 5, (i) => `IF @a = ${i} BEGIN`, ' ')} DELETE FROM dw.Unit; ${'END '.repeat(n * 5)}`,
    'rows of VALUES': (n) =>
      `INSERT INTO dw.Unit (UnitNo, Label, Size) VALUES ${list(n * 20, (i) => `(${i}, 'x', 1)`, ', ')};`,
    'lengths of a comment': (n) => `/* ${'x '.repeat(n * 4000)} */ DELETE FROM dw.Unit;\n`.repeat(4),
  };
  return Object.entries(makers).map(([what, make]) => {
    const time = (text) => {
      const runs = Array.from({ length: 4 }, () => timed(() => check(parse(text, { platform: 'sqlserver' }))).ms);
      return Math.min(...runs);
    };
    let [once, twice] = [1, Number.POSITIVE_INFINITY];
    // The least of several ratios: other work on the machine only ever makes one larger.
    for (let attempt = 0; attempt < 6 && twice / once > 2.3; attempt += 1) {
      const measured = [time(make(100)), time(make(200))];
      if (measured[1] / measured[0] < twice / once) [once, twice] = measured;
    }
    return row(
      `growth of a check with twice the ${what}`,
      'ms',
      twice,
      once,
      'half of it',
      '≤ 2.3x',
      twice / once <= 2.3,
    );
  });
}
