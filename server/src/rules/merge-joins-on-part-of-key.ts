import { insertAt } from './analysis/fixes.ts';
import { keyColumns, mergesOf } from './analysis/merges.ts';
import { includes, same } from './analysis/names.ts';
import { coversKey } from './analysis/relations.ts';
import { sourceText } from './analysis/tables.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const mergeJoinsOnPartOfKey: Rule = {
  name: 'merge-joins-on-part-of-key',
  hazards: ['M03'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: "ON of a MERGE compares only a part of the target's declared key.",
  why: 'One source row then changes several target rows, and rows that differ in the rest of the key are never inserted.',
  help: 'Compare every column of the key.',
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE dw.Line (DocNo int NOT NULL, LineNumber int NOT NULL, Amount int NOT NULL, PRIMARY KEY (DocNo, LineNumber));
CREATE TABLE stg.Line (DocNo int NOT NULL, LineNumber int NOT NULL, Amount int NOT NULL, PRIMARY KEY (DocNo, LineNumber));`,
      sql: `MERGE dw.Line WITH (HOLDLOCK) AS t USING stg.Line AS s ON t.DocNo = s.DocNo
WHEN MATCHED AND t.Amount <> s.Amount THEN UPDATE SET Amount = s.Amount;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE dw.Line (DocNo int NOT NULL, LineNumber int NOT NULL, Amount int NOT NULL, PRIMARY KEY (DocNo, LineNumber));
CREATE TABLE stg.Line (DocNo int NOT NULL, LineNumber int NOT NULL, Amount int NOT NULL, PRIMARY KEY (DocNo, LineNumber));`,
      sql: `MERGE dw.Line WITH (HOLDLOCK) AS t USING stg.Line AS s ON t.DocNo = s.DocNo AND t.LineNumber = s.LineNumber
WHEN MATCHED AND t.Amount <> s.Amount THEN UPDATE SET Amount = s.Amount;`,
    },
  ],
  statement(step, context) {
    for (const facts of mergesOf(step, context.tables)) {
      const relation = context.tables.relation(facts.target);
      const table = relation?.table ?? null;
      const columns = keyColumns(facts);
      if (table === null || columns.length === 0 || facts.merge.on === null) continue;
      if (coversKey(relation?.keys ?? null, columns) !== null || facts.others.length > 0) continue;
      const wider = (relation?.keys ?? []).find((key) => columns.every((name) => includes(key.columns, name)));
      if (wider === undefined) continue;
      const missing = wider.columns.filter((name) => !includes(columns, name));
      // Versions of a key are told apart by their start; loads of such tables join on the key alone.
      const versioned = missing.some((name) => {
        const role = table.columns.find((column) => same(column.name, name))?.role;
        return role === 'effective-start' || role === 'effective-end' || role === 'load-date';
      });
      if (versioned) continue;
      const [source] = facts.sources;
      const delivered = missing.every(
        (name) =>
          source !== undefined && context.tables.relation(source)?.columns?.some((column) => same(column.name, name)),
      );
      context.report(step, facts.merge.on, {
        message: `The key of ${sourceText(facts.target)} is ${wider.columns.join(' + ')}, but ON leaves out ${missing.join(', ')}.`,
        fixes:
          delivered && source !== undefined
            ? [
                {
                  title: `Compare ${missing.join(', ')} too`,
                  safe: false,
                  edits: [
                    insertAt(
                      facts.merge.on.end,
                      missing.map((name) => ` AND ${facts.target.alias}.${name} = ${source.alias}.${name}`).join(''),
                    ),
                  ],
                },
              ]
            : [],
      });
    }
  },
};
