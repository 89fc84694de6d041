/** What a platform can't do for a load: each with its reason and the nearest form. */
import { isTsql, type Platform } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import type { Expression } from '../load/language.ts';
import { isText } from '../load/language.ts';
import type { LoadPlan } from '../load/plan.ts';
import { formatTableName, sameIdentifier } from '../model/names.ts';
import { mergedWrites, storedColumn } from '../sql/merge.ts';
import { procedureName } from './file-names.ts';
import type { LoadTables } from './types.ts';

/** What the platform can't do of a load, each with the nearest that it can. */
export function platformProblems(
  plan: LoadPlan,
  specification: LoadSpecification,
  tables: LoadTables,
  platform: Platform,
): readonly Problem[] {
  return [
    ...formProblems(specification, tables),
    ...databaseProblems(tables, platform),
    ...mergeProblems(plan, specification, tables, platform),
    ...(lacksUtf8(platform) && hashesText(plan) ? [asciiOnly(platform)] : []),
    ...(hashesFewBytes(platform) && hashesLongText(plan) ? [fewBytes(platform)] : []),
    ...(!isTsql(platform.name) && findInPlan(plan, ({ kind }) => kind === 'checksum') ? [noChecksum(platform)] : []),
  ];
}

function formProblems({ form, pattern, options }: LoadSpecification, tables: LoadTables): readonly Problem[] {
  if (form === 'procedure') return longName(options.procedure ?? procedureName(pattern, tables.target.name.table));
  if (form === 'script') return [];
  if (form === 'dynamic-procedure' && (pattern === 'scd2_day' || pattern === 'inactivation'))
    return nameProblems(tables);
  return [
    unsupported(
      `form ${form} for ${pattern}`,
      `only scd2_day and inactivation have a procedure that reads the catalog, and forms of ${pattern} are script and procedure`,
      'form procedure',
    ),
  ];
}

/** T-SQL takes names of 128 characters, and with less than that a table's name no longer fits behind `Load_`. */
function longName(procedure: string): readonly Problem[] {
  if (procedure.length <= 128) return [];
  return [
    unsupported(
      `procedure ${procedure}`,
      `its name has ${procedure.length} characters, and T-SQL takes 128`,
      'a shorter name, with --set procedure=NAME',
    ),
  ];
}

/** The procedure that reads the catalog finds stage and target by one schema and one name, so only their databases differ. */
function nameProblems({ source, target }: LoadTables): readonly Problem[] {
  const [from, to] = [source.name, target.name];
  const same = (one: string | null, other: string | null): boolean => sameIdentifier(one ?? '', other ?? '');
  if (same(from.schema, to.schema) && same(from.table, to.table) && !same(from.database, to.database)) return [];
  return [
    unsupported(
      `form dynamic-procedure for ${formatTableName(from)} and ${formatTableName(to)}`,
      'its schema and table name stand for both, so they have to bear one name in two databases',
      'form procedure',
    ),
  ];
}

function databaseProblems({ source, target, extra }: LoadTables, platform: Platform): readonly Problem[] {
  if (platform.name !== 'azuresql' && platform.name !== 'synapse') return [];
  const named = [source, target, ...Object.values(extra)].filter((table) => table.name.database !== null);
  if (named.length === 0) return [];
  const names = named.map((table) => formatTableName(table.name)).join(' and ');
  const reason = `${names} name a database, and ${platform.name} reads no other database than its own`;
  return [
    unsupported(
      'cross-database',
      reason,
      'both tables in schemas of one database, or an external table for the source',
    ),
  ];
}

function mergeProblems(
  plan: LoadPlan,
  { shape }: LoadSpecification,
  { target }: LoadTables,
  platform: Platform,
): readonly Problem[] {
  if (shape !== 'merge' || platform.name !== 'synapse') return [];
  if (!mergedWrites(plan.writes, storedColumn).some(({ kind }) => kind === 'merge')) return [];
  if (target.columns.some((column) => column.identity)) {
    return [
      unsupported(
        'MERGE into a table with IDENTITY',
        'Synapse inserts into such tables by INSERT only',
        'shape separate',
      ),
    ];
  }
  const distribution = Object.entries(target.options).find(([name]) => sameIdentifier(name, 'distribution'))?.[1];
  if (distribution !== undefined && /^hash/i.test(distribution)) return [];
  const reason =
    distribution === undefined
      ? `, and the DDL of ${formatTableName(target.name)} states no distribution, which is ROUND_ROBIN`
      : '';
  return [
    unsupported(
      `MERGE into a ${distribution ?? 'ROUND_ROBIN'} table`,
      `WHEN NOT MATCHED needs a target that is distributed by HASH${reason}`,
      'shape separate',
    ),
  ];
}

/** No `_UTF8` collation before SQL Server 2019. */
export function lacksUtf8(platform: Platform): boolean {
  return platform.name === 'sqlserver' && (platform.version ?? 2019) < 2019;
}

function asciiOnly(platform: Platform): Problem {
  return {
    code: 'unsupported',
    severity: 'warning',
    message: `unsupported: UTF-8 digest: SQL Server ${platform.version} has no UTF-8 collation, so texts are hashed as ASCII and a guard stops the load for any other letter; the nearest without that limit is SQL Server 2019.`,
  };
}

/** HASHBYTES took 8,000 bytes until SQL Server 2016. */
function hashesFewBytes(platform: Platform): boolean {
  return platform.name === 'sqlserver' && (platform.version ?? 2019) < 2016;
}

function fewBytes(platform: Platform): Problem {
  return {
    code: 'unsupported',
    severity: 'warning',
    message: `unsupported: digest of a long text: SQL Server ${platform.version} hashes at most 8,000 bytes, so a longer text stops the load; the nearest without that limit is SQL Server 2016.`,
  };
}

/** Before UTF-8 a digest takes a byte a letter. */
function hashesLongText(plan: LoadPlan): boolean {
  return findInPlan(plan, (node) => node.kind === 'digest' && node.length > 8000);
}

function noChecksum(platform: Platform): Problem {
  return {
    code: 'unsupported',
    severity: 'warning',
    message: `unsupported: BINARY_CHECKSUM on ${platform.name}: the engine has no such function, so the column stays NULL; the nearest is a digest, with --set hashdiff={"CheckSum":["…"]} into a column of 64 characters.`,
  };
}

/** Whether a digest takes text in, other than of numbers, dates and the like. */
function hashesText(plan: LoadPlan): boolean {
  return (
    findInPlan(plan, (node) => node.kind === 'digest') &&
    findInPlan(plan, (node) => node.kind === 'rendered' && isText(node.operand))
  );
}

function findInPlan(plan: LoadPlan, test: (node: Expression) => boolean): boolean {
  // Values and types stand in many places of a plan; each is looked at once.
  const seen = new Set<object>();
  const visit = (node: object): boolean => {
    const kind = 'kind' in node && typeof node.kind === 'string' ? node.kind : null;
    if (kind !== null && test(node as Expression)) return true;
    // Most of a plan are columns, and nothing stands in them.
    if (kind === 'column' || seen.has(node)) return false;
    seen.add(node);
    for (const part of Array.isArray(node) ? node : Object.values(node))
      if (typeof part === 'object' && part !== null && visit(part)) return true;
    return false;
  };
  return visit([plan.steps, plan.replaces]);
}

function unsupported(what: string, reason: string, nearest: string): Problem {
  return {
    code: 'unsupported',
    severity: 'error',
    message: `unsupported: ${what}: ${reason}; the nearest is ${nearest}.`,
  };
}
