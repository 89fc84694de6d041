import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialectOf } from '../../server/src/syntax/dialect.ts';
import { Tokenizer } from '../../server/src/syntax/tokenizer.ts';
import { tokenKind } from '../../server/src/syntax/tokens.ts';
import { type FoundTool, findTool, skipReason } from './python-tool.ts';

/** Grammars that the referee knows: product versions, Fabric's warehouse, or the newest of all. */
export type RefereeVersion = '2012' | '2014' | '2016' | '2017' | '2019' | '2022' | '2025' | 'fabricdw' | 'newest';

export interface RefereeText {
  readonly name: string;
  readonly text: string;
}

/** One refusal. Line and column count from 1 in the text, as Microsoft's parser counts. */
export interface Refusal {
  readonly name: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

const requirements = join(import.meta.dirname, 'tsql', 'requirements.txt');

let found: FoundTool | undefined;

/**
 * Why the referee cannot be asked, or null when it can. It is installed into `.cache/` on first use, which takes
 * Python 3.11 and access to PyPI. In CI a missing referee is an error.
 */
export function refereeMissing(): string | null {
  found ??= findReferee();
  return 'home' in found ? null : skipReason(found.missing);
}

/**
 * What Microsoft's parser refuses. Texts are split into batches at GO as our own tokenizer sees it, one batch is judged
 * at a time. Everything but a clear verdict is an error.
 */
export async function refereeTsql(
  texts: readonly RefereeText[],
  version: RefereeVersion = 'newest',
): Promise<readonly Refusal[]> {
  const missing = refereeMissing();
  if (missing !== null || found === undefined || !('home' in found)) throw new Error(missing ?? '');
  const units = texts.flatMap(({ name, text }) => batchesOf(text).map((batch) => ({ name, ...batch })));
  const refusals: Refusal[] = [];
  for (let from = 0; from < units.length; from += batchesPerRun) {
    const part = units.slice(from, from + batchesPerRun);
    const verdicts = await judge(
      join(found.home, 'bin', 'maxdop'),
      part.map((unit) => unit.text),
      version,
    );
    for (const { index, line, column, message } of verdicts) {
      const unit = part[index];
      if (unit !== undefined) refusals.push({ name: unit.name, line: unit.line + line, column, message });
    }
  }
  return refusals;
}

const batchesPerRun = 2000;

interface Verdict {
  readonly index: number;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

async function judge(
  program: string,
  batches: readonly string[],
  version: RefereeVersion,
): Promise<readonly Verdict[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mergewright-referee-'));
  try {
    const parserVersion = version === 'newest' ? {} : { parserVersion: version };
    writeFileSync(join(folder, '.maxdop.json'), JSON.stringify({ initialQuotedIdentifiers: true, ...parserVersion }));
    batches.forEach((text, index) => {
      writeFileSync(join(folder, `${String(index).padStart(6, '0')}.sql`), text);
    });
    return readVerdicts(await runProgram(program, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program's exit code is no verdict: 1 stands for "would be formatted" as well as for "not parsed". */
function runProgram(program: string, folder: string): Promise<string> {
  return new Promise((done, failed) => {
    execFile(program, ['--check', folder], { maxBuffer: 1 << 28, encoding: 'utf8' }, (error, _stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (code === 0 || code === 1 || code === 2) done(stderr);
      else failed(new Error(`The referee died (${code ?? error?.signal}): ${stderr.slice(-300)}`));
    });
  });
}

function readVerdicts(report: string): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (const entry of report.split(/^maxdop: (?=\S*\d{6}\.sql)/m)) {
    if (entry.trim() === '') continue;
    const parts = /^\S*?(\d{6})\.sql:? ?([\s\S]*)/.exec(entry);
    if (parts?.[1] === undefined || parts[2] === undefined) throw new Error(`The referee said: ${entry.slice(0, 300)}`);
    const [, index, saying] = parts;
    if (saying.startsWith('would be reformatted') || saying.includes('failed verification')) continue;
    const place = /(\d+):(\d+): (.*?)(?: \(error (\d+)\))?\s*(?:\n|$)/.exec(saying);
    verdicts.push({
      index: Number(index),
      line: Number(place?.[1] ?? 1),
      column: Number(place?.[2] ?? 1),
      message: place?.[3] ?? saying.trim(),
    });
  }
  return verdicts;
}

/** Batches with the zero-based line where they start. Lines for the SQLCMD processor are blanked. */
function batchesOf(text: string): readonly { readonly text: string; readonly line: number }[] {
  const batches: { text: string; line: number }[] = [];
  const tokenizer = new Tokenizer(text, dialectOf('sqlserver'));
  let start = 0;
  let rest = text;
  const add = (end: number): void => {
    const batch = rest.slice(start, end);
    if (batch.trim() !== '') batches.push({ text: batch, line: text.slice(0, start).split('\n').length - 1 });
  };
  for (tokenizer.next(); tokenizer.kind !== tokenKind.end; tokenizer.next()) {
    if (tokenizer.kind === tokenKind.sqlcmd) {
      rest = rest.slice(0, tokenizer.start) + ' '.repeat(tokenizer.end - tokenizer.start) + rest.slice(tokenizer.end);
    } else if (tokenizer.kind === tokenKind.separator) {
      add(tokenizer.start);
      start = tokenizer.end;
    }
  }
  add(text.length);
  return batches;
}

// --- the error that the grammar does not know

/** Tokens after which a common table expression's WITH needs no semicolon. */
const openers: ReadonlySet<string> = new Set([';', 'BEGIN', 'ELSE', 'AS', 'TRY', 'CATCH', '(', 'RETURN', 'FOR', ':']);

/**
 * Lines (from 1) of a text where WITH begins a common table expression and the statement before it has no semicolon:
 * error 319 of the server, which Microsoft's parser lets through.
 */
export function withoutSemicolonBeforeWith(text: string): readonly number[] {
  const tokens: { readonly text: string; readonly start: number; readonly separator: boolean }[] = [];
  const tokenizer = new Tokenizer(text, dialectOf('sqlserver'));
  for (tokenizer.next(); tokenizer.kind !== tokenKind.end; tokenizer.next()) {
    const separator = tokenizer.kind === tokenKind.separator;
    tokens.push({ text: text.slice(tokenizer.start, tokenizer.end).toUpperCase(), start: tokenizer.start, separator });
  }
  const lines: number[] = [];
  tokens.forEach((token, index) => {
    const before = tokens[index - 1];
    if (token.text !== 'WITH' || before === undefined || before.separator || openers.has(before.text)) return;
    let next = index + 2;
    if (tokens[next]?.text === '(') {
      while (next < tokens.length && tokens[next]?.text !== ')') next += 1;
      next += 1;
    }
    if (tokens[next]?.text !== 'AS' || tokens[next + 1]?.text !== '(') return;
    lines.push(text.slice(0, token.start).split('\n').length);
  });
  return lines;
}

// --- installation

function findReferee(): FoundTool {
  return findTool({
    name: 'tsql-referee',
    title: "Microsoft's T-SQL parser",
    minor: 11,
    requirements: [requirements],
    pip: () => [['-r', requirements]],
  });
}
