import { insertAt } from './analysis/fixes.ts';
import { hashesOf } from './analysis/hashes.ts';
import { writtenValues } from './analysis/insert-values.ts';
import { columnName, includes, plainColumn, same } from './analysis/names.ts';
import { columnsIn } from './analysis/sides.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const hashListDiffersFromTable: Rule = {
  name: 'hash-list-differs-from-table',
  hazards: ['C05'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'The hashdiff is not built over all attributes that the statement stores.',
  why: 'When only a column outside the hash changes, the row looks unchanged and the new value is never stored.',
  help: 'Hash every attribute of the table, in the order of its DDL.',
  invalid: [
    {
      ddl: `CREATE TABLE rdv.SatShop (ShopHk binary(32) NOT NULL, LoadDts datetime2(6) NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff binary(32) NOT NULL, Street varchar(50) NULL, City varchar(50) NULL, PRIMARY KEY (ShopHk, LoadDts));`,
      sql: `INSERT INTO rdv.SatShop (ShopHk, LoadDts, RecordSource, HashDiff, Street, City)
SELECT s.ShopHk, @now, 'shop', CONVERT(binary(32), HASHBYTES('SHA2_256', ISNULL(s.Street, '^^'))), s.Street, s.City FROM stg.Shop AS s;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE rdv.SatShop (ShopHk binary(32) NOT NULL, LoadDts datetime2(6) NOT NULL, RecordSource varchar(20) NOT NULL, HashDiff binary(32) NOT NULL, Street varchar(50) NULL, City varchar(50) NULL, PRIMARY KEY (ShopHk, LoadDts));`,
      sql: `INSERT INTO rdv.SatShop (ShopHk, LoadDts, RecordSource, HashDiff, Street, City)
SELECT s.ShopHk, @now, 'shop', CONVERT(binary(32), HASHBYTES('SHA2_256', CONCAT(ISNULL(s.Street, '^^'), '||', ISNULL(s.City, '^^')))), s.Street, s.City FROM stg.Shop AS s;`,
    },
  ],
  statement(step, context) {
    const hashes = hashesOf(step).filter((hash) => hash.purpose === 'diff');
    if (hashes.length === 0) return;
    const values = writtenValues(step).filter((value) => value.by === 'insert');
    for (const hash of hashes) {
      const own = values.find(({ value }) => hash.call.start >= value.start && hash.call.end <= value.end);
      const table = context.tables.tableOf(own?.target ?? null);
      if (own === undefined || table === null) continue;
      const hashed = columnsIn(hash.input).map(columnName);
      if (hashed.length === 0) continue;
      const missing = values.filter(({ column, value, target }) => {
        const source = plainColumn(value);
        const known = table.columns.find((candidate) => same(candidate.name, column));
        return (
          target === own.target &&
          source !== null &&
          known?.role === 'attribute' &&
          !includes(hashed, columnName(source))
        );
      });
      if (missing.length === 0) continue;
      const last = hash.parts.at(-1);
      const names = [...new Set(missing.map(({ column }) => column))];
      context.report(step, hash.joined, {
        message: `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} stored but not hashed, so a change of ${names.length === 1 ? 'it' : 'them'} alone is not seen.`,
        fixes:
          last === undefined || hash.joining !== 'concat'
            ? single(
                hash.joining,
                hash.input,
                missing.map(({ value }) => context.text(step, value)),
              )
            : [
                {
                  title: `Hash ${names.join(', ')} too`,
                  safe: false,
                  edits: [
                    insertAt(
                      last.expression.end,
                      missing.map(({ value }) => `, '||', COALESCE(${context.text(step, value)}, '^^')`).join(''),
                    ),
                  ],
                },
              ],
      });
    }
  },
};

/** One hashed value becomes a list. */
function single(joining: string, input: { readonly start: number; readonly end: number }, more: readonly string[]) {
  if (joining !== 'single') return [];
  return [
    {
      title: 'Hash all stored attributes',
      safe: false,
      edits: [
        insertAt(input.start, 'CONCAT('),
        insertAt(input.end, `${more.map((text) => `, '||', COALESCE(${text}, '^^')`).join('')})`),
      ],
    },
  ];
}
