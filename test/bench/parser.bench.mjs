// The parser beside others from npm, on the table definitions and MERGEs that the other one accepts; and its growth.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const require = createRequire(import.meta.url);

export default async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-bench-'));
  try {
    const parse = await bundle(folder);
    const texts = definitionsAndMerges();
    const rows = [];
    for (const rival of [nodeSqlParser(), antlr(), await polyglot()]) rows.push(compare(parse, rival, texts));
    return [...rows, throughput(parse, texts), ...growth(parse)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(folder) {
  const outfile = join(folder, 'parser.mjs');
  await build({
    stdin: { contents: `export { parse } from './server/src/syntax/parse.ts';`, resolveDir: root, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile,
    logLevel: 'warning',
  });
  const { parse } = await import(pathToFileURL(outfile).href);
  return parse;
}

/** CREATE TABLE and MERGE among the bases of the fault cases. */
function definitionsAndMerges() {
  return readFileSync(join(root, 'test/fixtures/parsing/mutants.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((row) => row.kind === 'none' && /^\s*(?:CREATE TABLE|MERGE|WITH)/i.test(row.sql))
    .map((row) => row.sql);
}

/** Parsers by name, with a function that tells whether a text is accepted. */
function nodeSqlParser() {
  const { Parser } = require('node-sql-parser/build/transactsql.js');
  const parser = new Parser();
  const accepts = (sql) => {
    try {
      parser.astify(sql, { database: 'transactsql' });
      return true;
    } catch {
      return false;
    }
  };
  return { name: 'node-sql-parser 5.4', accepts, least: 10, budget: '>= 10x' };
}

function antlr() {
  const { SQLDialect, antlr4tsSQL } = require('antlr4ts-sql');
  const parsers = new antlr4tsSQL(SQLDialect.TSQL);
  const accepts = (sql) => {
    let faults = 0;
    const listener = {
      syntaxError: () => {
        faults += 1;
      },
    };
    const tokens = parsers.getTokens(sql, [listener]);
    parsers.getParseTree(parsers.getParser(tokens, [listener]));
    return faults === 0;
  };
  return { name: 'antlr4ts-sql 1.1', accepts, least: 50, budget: '>= 50x' };
}

async function polyglot() {
  const { parse, Dialect } = await import('@polyglot-sql/sdk');
  return {
    name: '@polyglot-sql/sdk 0.12',
    accepts: (sql) => parse(sql, Dialect.TSQL).success,
    least: 1,
    budget: '>= 1x',
  };
}

function compare(parse, rival, texts) {
  const accepted = texts.filter(rival.accepts);
  const bytes = accepted.reduce((sum, sql) => sum + sql.length, 0);
  const run = (accepts) => () => {
    for (const sql of accepted) accepts(sql);
  };
  const theirs = speed(run(rival.accepts), bytes);
  const ours = speed(run(parse), bytes);
  const ratio = ours / theirs;
  return {
    name: `parse, warm: ${accepted.length} of ${texts.length} texts that ${rival.name} accepts`,
    unit: 'MB/s',
    ours,
    reference: theirs,
    referenceName: rival.name,
    ratio,
    budget: rival.budget,
    ok: accepted.length > 0 && ratio >= rival.least,
  };
}

/** Megabytes a second of processor time, in the middle of several runs, each long enough to be measured. */
function speed(run, bytes) {
  work(run, 600);
  const figures = [];
  for (let count = 0; count < 7; count += 1) {
    const { runs, spent } = work(run, 100);
    figures.push((bytes * runs) / 1e3 / spent);
  }
  return figures.sort((a, b) => a - b)[3] ?? 0;
}

/** Runs again and again for so many milliseconds of processor time, so that a busy machine only makes it last longer. */
function work(run, milliseconds) {
  const before = process.cpuUsage();
  for (let runs = 1; ; runs += 1) {
    run();
    const { user, system } = process.cpuUsage(before);
    const spent = (user + system) / 1e3;
    if (spent >= milliseconds) return { runs, spent };
  }
}

/** One megabyte of definitions and MERGEs in one file, its tree kept. */
function throughput(parse, texts) {
  const once = `${texts.join('\nGO\n')}\nGO\n`;
  const text = once.repeat(Math.ceil(1e6 / once.length));
  const ours = speed(() => parse(text), text.length);
  return {
    name: 'parse a file of 1 MB',
    unit: 'MB/s',
    ours,
    reference: null,
    referenceName: null,
    ratio: null,
    budget: '>= 5, goal 10',
    ok: ours >= 5,
  };
}

function growth(parse) {
  const makers = {
    statements: (n) => 'MERGE t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b;\n'.repeat(n * 4),
    columns: (n) =>
      `CREATE TABLE t (${Array.from({ length: n * 10 }, (_, i) => `c${i} varchar(10) NOT NULL`).join(', ')})`,
    nesting: (n) => `SELECT ${'(1 + '.repeat(n * 8)}1${')'.repeat(n * 8)};`.repeat(4),
    'rows of VALUES': (n) => `INSERT INTO t (a, b) VALUES ${"(1, 'x'), ".repeat(n * 12)}(1, 'y')`,
    'lengths of a comment': (n) => `/* ${'x '.repeat(n * 400)} */ SELECT 1;\n`.repeat(8),
  };
  return Object.entries(makers).map(([what, make]) => {
    const [small, large] = [make(250), make(500)];
    // The least of several ratios: other work on the machine only ever makes one larger.
    let ratio = Number.POSITIVE_INFINITY;
    let ours = 0;
    let reference = 0;
    for (let attempt = 0; attempt < 10 && ratio > 2.3; attempt += 1) {
      const times = [least(() => parse(small)), least(() => parse(large))];
      if (times[1] / times[0] < ratio) [reference, ours, ratio] = [times[0], times[1], times[1] / times[0]];
    }
    return {
      name: `growth with twice the ${what}`,
      unit: 'ms',
      ours,
      reference,
      referenceName: 'half of it',
      ratio,
      budget: '<= 2.3x',
      ok: ratio <= 2.3,
    };
  });
}

function least(run) {
  let best = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 5; count += 1) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
