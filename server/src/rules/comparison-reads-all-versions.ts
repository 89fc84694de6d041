import type { Query, Select } from '../syntax/tree.ts';
import { columnComparisons, isNegated } from './analysis/comparisons.ts';
import { insertAt } from './analysis/fixes.ts';
import { branchesOf, equatedSides, mergesOf } from './analysis/merges.ts';
import { columnName, plainColumn, same } from './analysis/names.ts';
import { coversKey } from './analysis/relations.ts';
import { isDigestRole } from './analysis/roles.ts';
import { columnsIn, sameTable, sourceOfColumn } from './analysis/sides.ts';
import { ancestor, conjuncts, type Scope, type Source, type Step, scopeOfQuery } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { currentTest } from './analysis/versions.ts';
import { allPlatforms, type Rule, type RuleContext } from './engine/rule.ts';

export const comparisonReadsAllVersions: Rule = {
  name: 'comparison-reads-all-versions',
  hazards: ['C06'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A new version is compared with all stored versions, or the stage with the latest one only.',
  why: 'A value that returns (A, B, A) is found among the old versions and is never stored again. The other way round, several staged rows of one key that are each compared with the latest stored row are all stored, again on every reload.',
  help: 'Compare with the latest version of the key, and compare staged rows of one key with each other in their order.',
  invalid: [
    {
      sql: `INSERT INTO rdv.SatPhone (PersonHk, LoadDts, HashDiff, Phone)
SELECT s.PersonHk, @now, s.HashDiff, s.Phone FROM stg.Phone AS s
WHERE NOT EXISTS (SELECT 1 FROM rdv.SatPhone AS x WHERE x.PersonHk = s.PersonHk AND x.HashDiff = s.HashDiff);`,
    },
  ],
  valid: [
    {
      sql: `INSERT INTO rdv.SatPhone (PersonHk, LoadDts, HashDiff, Phone)
SELECT s.PersonHk, @now, s.HashDiff, s.Phone FROM stg.Phone AS s
WHERE NOT EXISTS (SELECT 1 FROM rdv.SatPhone AS x WHERE x.PersonHk = s.PersonHk AND x.HashDiff = s.HashDiff
  AND x.LoadDts = (SELECT MAX(y.LoadDts) FROM rdv.SatPhone AS y WHERE y.PersonHk = s.PersonHk));`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('insert')) {
      const target = scope?.target;
      if (target == null || node.source.kind !== 'query') continue;
      if (isHistoryless(target, context)) continue;
      againstAll(
        step,
        context,
        target,
        node.columns.map((column) => column.name),
      );
      againstLatestOnly(step, context, target, node.source, node.columns);
    }
    for (const facts of mergesOf(step, context.tables)) {
      const onlyInserts =
        branchesOf(facts.merge, 'not-matched').length > 0 && branchesOf(facts.merge, 'matched').length === 0;
      const digest = facts.pairs.find(({ target }) => context.tables.role(target, facts.scope) === 'hashdiff');
      if (!onlyInserts || digest === undefined || facts.others.some(({ current }) => current !== null)) continue;
      if (facts.pairs.some(({ target }) => context.tables.role(target, facts.scope) === 'load-date')) continue;
      context.report(step, digest.test, {
        message: `${columnName(digest.target)} is compared with every stored version, so a value that returns is not stored.`,
      });
    }
  },
};

/** Hubs and links hold no versions: there a row that was ever seen is not new. */
function isHistoryless(target: Source, context: RuleContext): boolean {
  const role = context.tables.tableOf(target)?.role;
  return role === 'hub' || role === 'link' || role === 'nh-link' || role === 'reference';
}

/** NOT EXISTS over the target by key and digest, with nothing that picks one version. */
function againstAll(step: Step, context: RuleContext, target: Source, columns: readonly string[]): void {
  for (const entry of step.find('exists')) {
    if (!isNegated(entry)) continue;
    const inside = scopeOfQuery(entry.node.query, entry.scope);
    const source = inside?.scope.sources[0];
    if (inside === null || source === undefined || inside.scope.sources.length !== 1 || !sameTable(source, target))
      continue;
    const { select, scope } = inside;
    const digest = digestEquality(select, scope, source, context);
    if (digest === null || picksVersion(select, scope, source, context)) continue;
    const loadDate = columns.find((name) =>
      ['load-date', 'effective-start'].includes(roleOf(name, source, context) ?? ''),
    );
    const keys = conjuncts(select.where).filter((test) => test !== digest && equatedSides(test) !== null);
    const table = source.node.kind === 'table' ? context.text(step, source.node.name) : null;
    const latest =
      loadDate === undefined || table === null || keys.length === 0
        ? null
        : ` AND ${source.alias}.${loadDate} = (SELECT MAX(latest.${loadDate}) FROM ${table} AS latest WHERE ${keys
            .map((test) => renamed(context.text(step, test), source.alias))
            .join(' AND ')})`;
    const end = select.where?.end;
    context.report(step, digest, {
      message: 'This looks for the value among all stored versions, so a value that returns is not stored.',
      fixes:
        latest === null || end === undefined
          ? []
          : [{ title: 'Compare with the latest version only', safe: false, edits: [insertAt(end, latest)] }],
    });
  }
}

function renamed(text: string, alias: string): string {
  return text.replaceAll(new RegExp(`\\b${alias.replace(/[^\w]/g, '\\$&')}\\.`, 'gi'), 'latest.');
}

function roleOf(name: string, source: Source, context: RuleContext) {
  const reference = {
    kind: 'column' as const,
    start: 0,
    end: 0,
    parts: [{ kind: 'identifier' as const, start: 0, end: 0, name, quote: 'none' as const }],
  };
  return context.tables.role(reference, { parent: null, sources: [source], commons: [], target: null });
}

function digestEquality(select: Select, scope: Scope, source: Source, context: RuleContext) {
  const tests = conjuncts(select.where);
  const digest = tests.find((test) => {
    const sides = equatedSides(test);
    if (sides === null) return false;
    return [sides.left, sides.right].some((side) => {
      const column = plainColumn(side);
      return (
        column !== null &&
        sourceOfColumn(column, scope, context.tables) === source &&
        ['hashdiff', 'checksum'].includes(context.tables.role(column, scope) ?? '')
      );
    });
  });
  return digest !== undefined && tests.length > 1 ? digest : null;
}

/** A current-row test, an equality of dates or a subquery picks one version of the key. */
function picksVersion(select: Select, scope: Scope, source: Source, context: RuleContext): boolean {
  return conjuncts(select.where).some((test) => {
    if (currentTest(test, scope, context.tables) !== null) return true;
    return columnsIn(test).some((column) => {
      if (sourceOfColumn(column, scope, context.tables) !== source) return false;
      const role = context.tables.role(column, scope);
      return role !== null && ['load-date', 'effective-start', 'effective-end', 'current-flag'].includes(role);
    });
  });
}

/** A stage that may hold several rows of a key, each compared with the key's latest stored version. */
function againstLatestOnly(
  step: Step,
  context: RuleContext,
  target: Source,
  query: Query,
  columns: readonly { readonly name: string }[],
): void {
  const inside = scopeOfQuery(query, null);
  if (inside === null) return;
  const { select } = inside;
  const { scope } = step.find('select').find(({ node }) => node === select) ?? { scope: null };
  if (scope === null) return;
  const comparison = columnComparisons(step, context.tables, ['<>', '!=']).find(
    ({ entry, left, right }) =>
      ancestor(entry, 'select')?.node === select &&
      [left, right].some((column) => isDigestRole(context.tables.role(column, scope))),
  );
  if (comparison === undefined) return;
  const stage = scope.sources.find((source) => !readsTarget(source, target) && !source.optional);
  const latest = scope.sources.find((source) => readsTarget(source, target));
  if (stage === undefined || latest === undefined || stage.node.kind !== 'table' || stage.common !== null) return;
  const index = columns.findIndex((column) =>
    ['load-date', 'effective-start'].includes(roleOf(column.name, target, context) ?? ''),
  );
  const value = select.items[index]?.expression;
  const fromStage = value === undefined ? null : plainColumn(value);
  if (fromStage === null || sourceOfColumn(fromStage, scope, context.tables) !== stage) return;
  const key = joinKey(select, scope, stage, latest, context);
  const relation = context.tables.relation(stage);
  if (key.length === 0 || coversKey(relation?.keys ?? null, key)?.enforced === true) return;
  context.report(step, stage.node, {
    message: `Rows of ${sourceText(stage)} with one ${key.join(' + ')} are each compared with the latest stored version only, so several of them may be stored, again on every reload.`,
    severity: relation?.table == null ? 'info' : 'warning',
  });
}

function readsTarget(source: Source, target: Source): boolean {
  if (sameTable(source, target)) return true;
  const query = source.common?.query ?? (source.node.kind === 'derived-table' ? source.node.query : null);
  const select = query?.body.kind === 'select' ? query.body : null;
  const name = target.node.kind === 'table' ? target.node.name.parts.at(-1)?.name : undefined;
  return (
    select?.from.some((inner) => inner.kind === 'table' && same(inner.name.parts.at(-1)?.name ?? '', name ?? '')) ??
    false
  );
}

/** Stage columns that the join to the latest version equates. */
function joinKey(select: Select, scope: Scope, stage: Source, latest: Source, context: RuleContext): readonly string[] {
  const keys: string[] = [];
  for (const from of select.from) {
    if (from.kind !== 'join') continue;
    for (const test of conjuncts(from.on)) {
      const sides = equatedSides(test);
      if (sides === null) continue;
      const columns = [plainColumn(sides.left), plainColumn(sides.right)].filter((column) => column !== null);
      const own = columns.find((column) => sourceOfColumn(column, scope, context.tables) === stage);
      const other = columns.find((column) => sourceOfColumn(column, scope, context.tables) === latest);
      if (own !== undefined && other !== undefined) keys.push(columnName(own));
    }
  }
  return keys;
}
