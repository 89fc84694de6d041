import type { CatalogTable } from '../../../../protocol/catalog.ts';
import type { Platform } from '../../../../protocol/platform.ts';
import type { Diagnostic, Outcome, Problem } from '../../../../protocol/problem.ts';
import { finish, type InSteps } from '../../model/in-steps.ts';
import { nameFits } from '../../model/names.ts';
import { lineStartsOf, positionOf, type Span, unitsOf } from '../../syntax/inspect.ts';
import type { Script, Statement } from '../../syntax/tree.ts';
import { localTablesOf } from '../analysis/local-tables.ts';
import { memo } from '../analysis/memo.ts';
import type { SchemaObjects } from '../analysis/schema-objects.ts';
import { noObjects } from '../analysis/schema-objects.ts';
import { indicesWhere, stepsAt } from '../analysis/selections.ts';
import { type Body, bodiesOf, rootSuccession, rootsOf, type Step, stepsOfRoot } from '../analysis/steps.ts';
import { makeFilter } from '../analysis/succession.ts';
import { makeTables, type Tables } from '../analysis/tables.ts';
import { embeddedScripts, offsetInLiteral } from './embedded.ts';
import { standsInItsBody, standsInItsStatement } from './mistakes.ts';
import type { Edit, Finding, Regenerate, Rule, RuleContext } from './rule.ts';
import { defaultSettings, type LintSettings, levelOf } from './settings.ts';
import { isSuppressed, type Suppression, suppressionsOf } from './suppressions.ts';
import { docsUrl, syntaxDiagnostics } from './syntax-problems.ts';

export interface LintRequest {
  readonly script: Script;
  /** Offsets at which the lines of its text start, where they are known. */
  readonly lineStarts?: readonly number[];
  /** As findings name it. */
  readonly file: string;
  readonly platform: Platform;
  readonly rules: readonly Rule[];
  /** The folder's tables. The same array means the same tables: findings are kept for it. */
  readonly tables?: readonly CatalogTable[];
  /** Triggers and foreign keys of the folder's DDL. */
  readonly objects?: SchemaObjects;
  readonly settings?: LintSettings;
  /** Generates a generated script again; absent where nothing is generated. */
  readonly regenerate?: Regenerate;
}

/**
 * Checks a script. Findings come in the order of the text; syntax problems are among them as rule `syntax`. A rule
 * that throws is named in `problems` and left out for this text. Never throws itself.
 */
export function lint(request: LintRequest): Outcome<readonly Diagnostic[]> {
  return finish(lintInSteps(request));
}

/** The same in many small steps, so that nobody has to wait for a long file in one piece. */
export function* lintInSteps(request: LintRequest): InSteps<Outcome<readonly Diagnostic[]>> {
  const { script, file, settings = defaultSettings } = request;
  const lines = request.lineStarts ?? lineStartsOf(script.text);
  const suppressions = suppressionsOf(script.text, (offset) => positionOf(lines, offset).line);
  const problems: Problem[] = [];
  const active = request.rules.filter(
    (rule) => rule.platforms.includes(request.platform.name) && levelOf(settings, rule.name, file) !== 'off',
  );
  const found = yield* findInSteps({ ...request, rules: active }, problems);
  const offsets = offsetsOf(script);
  const diagnostics = syntaxDiagnostics(script, file, lines);
  for (const finding of found) {
    const level = levelOf(settings, finding.rule.name, file);
    const range = absolute(finding.step, finding, offsets);
    if (isSuppressed(suppressions, finding.rule.name, positionOf(lines, range.start).line)) continue;
    diagnostics.push({
      file,
      range: { start: positionOf(lines, range.start), end: positionOf(lines, range.end) },
      rule: finding.rule.name,
      hazards: finding.hazards ?? finding.rule.hazards,
      severity: level !== undefined && level !== 'off' ? level : (finding.severity ?? finding.rule.severity),
      message: finding.message,
      why: finding.why ?? finding.rule.why,
      help: finding.help ?? finding.rule.help,
      url: docsUrl(finding.rule.name),
      fixes: (finding.fixes ?? []).map((fix) => ({
        title: fix.title,
        safe: fix.safe,
        edits: fix.edits.map((edit) => {
          const span = absolute(edit.step ?? finding.step, edit, offsets);
          return {
            file,
            range: { start: positionOf(lines, span.start), end: positionOf(lines, span.end) },
            newText: edit.text,
          };
        }),
      })),
    });
  }
  diagnostics.push(...inStrings({ ...request, rules: active }, lines, suppressions, problems));
  diagnostics.sort(byPosition);
  return { value: diagnostics, problems };
}

/**
 * Findings inside strings that hold a whole script. Only rules that look at single statements speak there: the guards
 * and transactions around it stand outside. Fixes are left out, since quotes are doubled in the string.
 */
function inStrings(
  request: LintRequest,
  lines: readonly number[],
  suppressions: readonly Suppression[],
  problems: Problem[],
): Diagnostic[] {
  const { script, file, settings = defaultSettings } = request;
  const offsets = offsetsOf(script);
  const rules = request.rules.filter((rule) => rule.statement !== undefined && rule.body === undefined);
  const steps = bodiesOf(script).flatMap((body) => stepsAt(body, holdingIndices(body)));
  return steps.flatMap((step) =>
    embeddedScripts(step, script.platform).flatMap(({ literal, script: inner }) => {
      const start = offsets(step.root) + literal.start;
      const source = script.text.slice(start, offsets(step.root) + literal.end);
      const innerOffsets = offsetsOf(inner);
      const place = (offset: number) => positionOf(lines, start + offsetInLiteral(source, offset));
      return findAll({ ...request, script: inner, rules }, problems).flatMap((finding): readonly Diagnostic[] => {
        const span = absolute(finding.step, finding, innerOffsets);
        const level = levelOf(settings, finding.rule.name, file);
        const from = place(span.start);
        if (isSuppressed(suppressions, finding.rule.name, from.line)) return [];
        return [
          {
            file,
            range: { start: from, end: place(span.end) },
            rule: finding.rule.name,
            hazards: finding.hazards ?? finding.rule.hazards,
            severity: level !== undefined && level !== 'off' ? level : (finding.severity ?? finding.rule.severity),
            message: finding.message,
            why: finding.why ?? finding.rule.why,
            help: finding.help ?? finding.rule.help,
            url: docsUrl(finding.rule.name),
            fixes: [],
          },
        ];
      });
    }),
  );
}

function byPosition(left: Diagnostic, right: Diagnostic): number {
  return (
    left.range.start.line - right.range.start.line ||
    left.range.start.character - right.range.start.character ||
    (left.rule < right.rule ? -1 : left.rule > right.rule ? 1 : 0)
  );
}

/** Gives the offset in the file of a top-level statement; 0 for one of another script. */
type Offsets = (root: Statement) => number;

/** Looks a few statements up one by one, since a map of all costs more than they do. */
const offsetsOf = memo((script: Script): Offsets => {
  const units = unitsOf(script);
  const known = new Map<Statement, number>();
  let left = 16;
  return (root) => {
    const offset = known.get(root);
    if (offset !== undefined || left === 0) return offset ?? 0;
    left -= 1;
    if (left === 0) for (const unit of units) known.set(unit.statement, unit.offset);
    else known.set(root, units.find((unit) => unit.statement === root)?.offset ?? 0);
    return known.get(root) ?? 0;
  };
});

function absolute(step: Step | null, at: Span | Edit, offsets: Offsets): Span {
  const offset = step === null ? 0 : offsets(step.root);
  return { start: offset + at.start, end: offset + at.end };
}

/** Findings of one top-level statement, kept for the tables and rules that they were made with. */
interface Kept {
  readonly surroundings: Surroundings;
  readonly findings: readonly Finding[];
}

/** What findings depend on besides the statement; the same object means the same answers. */
interface Surroundings {
  readonly catalog: readonly CatalogTable[];
  readonly objects: SchemaObjects;
  readonly houses: LintSettings['houses'];
  /** Marks of the statements that make tables; the statements themselves would keep closed documents in memory. */
  readonly local: readonly object[];
  readonly platform: Platform;
  readonly rules: readonly Rule[];
  readonly tables: Tables;
  /** Rules that threw; they stay off while the surroundings last. */
  readonly broken: Set<string>;
}

const uncheckedIn = makeFilter<Statement, Surroundings>(rootSuccession);
const foundIn = makeFilter<Statement, Surroundings>(rootSuccession);
const holdingIndices = indicesWhere((step) => embeddedScripts(step, 'sqlserver').length > 0);

const noTables: readonly CatalogTable[] = [];
const cellOf = memo((_: Statement): { kept: Kept | null } => ({ kept: null }));
const remembered = new WeakMap<readonly CatalogTable[], Surroundings[]>();

function findAll(request: LintRequest, problems: Problem[]): readonly Finding[] {
  return finish(findInSteps(request, problems));
}

function* findInSteps(request: LintRequest, problems: Problem[]): InSteps<readonly Finding[]> {
  const { script, rules } = request;
  const { check, isChecked, context, surroundings, sink, switchOff } = checkerOf(request, problems);
  const roots = rootsOf(script);
  for (const index of uncheckedIn(roots, surroundings, (statement) => !isChecked(statement))) {
    const statement = roots[index];
    if (statement === undefined || isChecked(statement)) continue;
    check(statement);
    yield;
  }
  const collected: Finding[] = [];
  for (const index of foundIn(roots, surroundings, (statement) => check(statement).length > 0)) {
    const statement = roots[index];
    if (statement !== undefined) collected.push(...check(statement));
  }
  const bodies: readonly Body[] = bodiesOf(script);
  for (const rule of rules) {
    if (rule.body === undefined || surroundings.broken.has(rule.name)) continue;
    const findings: Finding[] = [];
    sink.findings = findings;
    const ruleContext = context(rule);
    try {
      for (const body of bodies) rule.body(body, ruleContext);
      collected.push(...findings);
    } catch (error) {
      switchOff(rule, error);
    }
    yield;
  }
  // Not kept with the statements: the mistakes of others come and go without them.
  const offsets = offsetsOf(script);
  return collected.filter((finding) => standsInItsBody(finding, script, offsets));
}

/** What checks the statements of one script; a statement that was checked in the same surroundings is not looked at again. */
function checkerOf(request: LintRequest, problems: Problem[]) {
  const { script, rules } = request;
  const regeneration = guardedRegeneration(request);
  const surroundings = surroundingsOf(request);
  const offsets = offsetsOf(script);
  // One context a rule; what it reports goes to the statement or body that is being checked.
  const sink = { findings: [] as Finding[] };
  const context = (rule: Rule): RuleContext => ({
    platform: request.platform,
    tables: surroundings.tables,
    script,
    regeneration,
    house: (table) =>
      surroundings.houses.find((house) => house.table !== null && nameFits(house.table, table))?.options ?? null,
    own: surroundings.houses.find((house) => house.table === null)?.options ?? null,
    text: (step, node) => slice(script, offsets, step, node.start, node.end),
    slice: (step, start, end) => slice(script, offsets, step, start, end),
    report: (step, at, details) => {
      const finding: Finding = { ...details, rule, step, start: at.start, end: at.end };
      if (standsInItsStatement(finding, script)) sink.findings.push(finding);
    },
  });
  const { broken } = surroundings;
  const switchOff = (rule: Rule, error: unknown): void => {
    broken.add(rule.name);
    problems.push({
      code: 'rule-failed',
      severity: 'info',
      message: `The rule ${rule.name} failed on this file and is switched off for it: ${String(error)}`,
      file: request.file,
    });
  };

  const statementRules = rules
    .filter((rule) => rule.statement !== undefined)
    .map((rule) => ({ rule, context: context(rule) }));
  const isChecked = (statement: Statement): boolean => cellOf(statement).kept?.surroundings === surroundings;
  const check = (statement: Statement): readonly Finding[] => {
    const cell = cellOf(statement);
    if (cell.kept?.surroundings === surroundings) return cell.kept.findings;
    const findings: Finding[] = [];
    const { own, bodies } = stepsOfRoot(statement);
    sink.findings = findings;
    const steps = bodies.length === 0 ? own : [...own, ...bodies.flatMap((body) => body.steps)];
    for (const { rule, context: ruleContext } of statementRules) {
      if (broken.has(rule.name)) continue;
      try {
        for (const step of steps) rule.statement?.(step, ruleContext);
      } catch (error) {
        switchOff(rule, error);
      }
    }
    const valid = findings.filter((finding) => !broken.has(finding.rule.name));
    cell.kept = { surroundings, findings: valid };
    return valid;
  };
  return { check, isChecked, context, surroundings, sink, switchOff };
}

/** A generator that fails says nothing about the script. */
function guardedRegeneration({ regenerate, script }: LintRequest) {
  try {
    return regenerate?.(script) ?? null;
  } catch {
    return null;
  }
}

function slice(script: Script, offsets: Offsets, step: Step, start: number, end: number): string {
  const offset = offsets(step.root);
  return script.text.slice(Math.max(0, offset + start), Math.max(0, offset + end));
}

function surroundingsOf(request: LintRequest): Surroundings {
  const { script, platform, rules, settings = defaultSettings } = request;
  const catalog = request.tables ?? noTables;
  const objects = request.objects ?? noObjects;
  const local = localTablesOf(script);
  const marks = local.statements.map(markOf);
  const candidates = remembered.get(catalog) ?? [];
  const same = candidates.find(
    (item) =>
      item.objects === objects &&
      sameItems(item.houses, settings.houses) &&
      item.platform.name === platform.name &&
      item.platform.version === platform.version &&
      sameItems(item.local, marks) &&
      sameItems(item.rules, rules),
  );
  if (same !== undefined) return same;
  const made = local.read(catalog, objects);
  const surroundings: Surroundings = {
    catalog,
    objects,
    houses: settings.houses,
    local: marks,
    platform,
    rules,
    tables: makeTables(platform, catalog, made.tables, made.objects),
    broken: new Set(),
  };
  // A handful is enough: one for each open document.
  remembered.set(catalog, [surroundings, ...candidates].slice(0, 16));
  return surroundings;
}

/** Stands for a statement without keeping it. */
const markOf = memo((_: Statement): object => ({}));

function sameItems<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
