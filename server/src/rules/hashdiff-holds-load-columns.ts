import { bare } from '../syntax/inspect.ts';
import { isClock } from './analysis/flow.ts';
import { peeled } from './analysis/hash-parts.ts';
import { hashesOf } from './analysis/hashes.ts';
import { callOf, columnName } from './analysis/names.ts';
import { allPlatforms, type FindingFix, type Rule } from './engine/rule.ts';

const loadRoles = ['load-date', 'insert-date', 'load-process', 'record-source'];

export const hashdiffHoldsLoadColumns: Rule = {
  name: 'hashdiff-holds-load-columns',
  hazards: ['H18'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A hashdiff is built over columns that the load fills by itself.',
  why: 'Load time, run id or record source differ on every run, so every row counts as changed.',
  help: 'Hash the attributes only.',
  judges: 'part',
  invalid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(ISNULL(City, '^^'), '||', LoadDate))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  valid: [
    {
      sql: `SELECT CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(ISNULL(City, '^^'), '||', ISNULL(Zip, '^^')))) AS HashDiff FROM stg.Shop;`,
    },
  ],
  statement(step, context) {
    for (const hash of hashesOf(step)) {
      if (hash.purpose !== 'diff') continue;
      hash.parts.forEach(({ expression }, index) => {
        const column = peeled(expression);
        const role = column.kind === 'column' ? context.tables.role(column, hash.scope) : null;
        const clock = isClock(column) || callOf(column, 'NEWID', 'UUID') !== null;
        if (!clock && (role === null || !loadRoles.includes(role))) return;
        const name = column.kind === 'column' ? columnName(column) : context.text(step, column);
        const fixes: FindingFix[] = [];
        if (hash.joined.kind === 'call' && hash.parts.length > 2) {
          // The part goes together with the delimiter before it, or behind it when it is the first.
          const list = hash.joined.arguments;
          const at = list.indexOf(expression);
          const neighbour = index === 0 ? list[at + 1] : list[at - 1];
          const literal = neighbour !== undefined && bare(neighbour).kind === 'literal';
          const from = index === 0 ? at : at - (literal ? 1 : 0);
          const to = index === 0 ? at + (literal ? 1 : 0) : at;
          const before = list[from - 1];
          const after = list[to + 1];
          const last = list[to];
          const first = list[from];
          if (before !== undefined && last !== undefined) {
            fixes.push({
              title: `Leave ${name} out`,
              safe: false,
              edits: [{ start: before.end, end: last.end, text: '' }],
            });
          } else if (after !== undefined && first !== undefined) {
            fixes.push({
              title: `Leave ${name} out`,
              safe: false,
              edits: [{ start: first.start, end: after.start, text: '' }],
            });
          }
        } else if (hash.joined.kind === 'call' && hash.joining === 'concat' && hash.parts.length === 2) {
          const other = hash.parts[1 - index];
          const first = hash.joined.arguments[0];
          const last = hash.joined.arguments.at(-1);
          if (other !== undefined && first !== undefined && last !== undefined) {
            fixes.push({
              title: `Leave ${name} out`,
              safe: false,
              edits: [{ start: first.start, end: last.end, text: `${context.text(step, other.expression)}, ''` }],
            });
          }
        }
        context.report(step, expression, {
          message: `${name} differs on every run, so it makes every row look changed.`,
          fixes,
        });
      });
    }
  },
};
