import { insertAt, replace } from './analysis/fixes.ts';
import {
  hasNullKeyUnion,
  isLiteralSource,
  keyColumns,
  type MergeFacts,
  mergesOf,
  sourceKeyColumns,
} from './analysis/merges.ts';
import { includes } from './analysis/names.ts';
import { coversKey, type Relation } from './analysis/relations.ts';
import { indicesWith } from './analysis/selections.ts';
import type { Body, Source, Step } from './analysis/steps.ts';
import { sourceText } from './analysis/tables.ts';
import { isProvedUnique } from './analysis/unique-guards.ts';
import { allPlatforms, type FindingFix, type Rule, type RuleContext } from './engine/rule.ts';

export const mergeSourceRepeatsKeys: Rule = {
  name: 'merge-source-repeats-keys',
  hazards: ['M03'],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Several source rows of a MERGE may have the same key.',
  why: 'On the first load every copy is inserted; later the MERGE stops, because it may not change one target row twice.',
  help: 'Keep one row of each key in the source: ROW_NUMBER over the key with an order that leaves no tie, filtered to 1; or stop the load before the MERGE where a key is repeated.',
  judges: 'body',
  invalid: [
    {
      ddl: `CREATE TABLE stg.PersonFeed (PersonNo int NOT NULL, Phone varchar(30) NULL, LoadedAt datetime2(6) NOT NULL, PRIMARY KEY (PersonNo, LoadedAt));`,
      sql: `MERGE dw.Person WITH (HOLDLOCK) AS t USING stg.PersonFeed AS s ON t.PersonNo = s.PersonNo
WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE stg.Person (PersonNo int NOT NULL PRIMARY KEY, Phone varchar(30) NULL);`,
      sql: `MERGE dw.Person WITH (HOLDLOCK) AS t USING stg.Person AS s ON t.PersonNo = s.PersonNo
WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`,
    },
    {
      sql: `MERGE dw.Person WITH (HOLDLOCK) AS t
USING (SELECT PersonNo, MAX(Phone) AS Phone FROM stg.PersonFeed GROUP BY PersonNo) AS s ON t.PersonNo = s.PersonNo
WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`,
    },
    {
      sql: `IF EXISTS (SELECT PersonNo FROM stg.PersonFeed GROUP BY PersonNo HAVING COUNT(*) > 1)
  THROW 50010, N'stg.PersonFeed repeats persons', 1;
MERGE dw.Person WITH (HOLDLOCK) AS t USING stg.PersonFeed AS s ON t.PersonNo = s.PersonNo
WHEN NOT MATCHED THEN INSERT (PersonNo, Phone) VALUES (s.PersonNo, s.Phone);`,
    },
  ],
  body(body, context) {
    for (const index of indicesWith(body, 'merge')) {
      const step = body.steps[index];
      if (step === undefined) continue;
      for (const facts of mergesOf(step, context.tables)) check(body, index, step, facts, context);
    }
  },
};

function check(body: Body, index: number, step: Step, facts: MergeFacts, context: RuleContext): void {
  const [source] = facts.sources;
  if (source === undefined || facts.sources.length !== 1 || facts.pairs.length === 0) return;
  if (isLiteralSource(source) || hasNullKeyUnion(facts) || joinsOnRow(facts)) return;
  const columns = sourceKeyColumns(facts);
  if (columns === null) return;
  const relation = context.tables.relation(source);
  if (coversKey(relation?.keys ?? null, columns) !== null) return;
  if (isProvedUnique(body, index, source, columns, context.tables)) return;
  const wider = widerKey(relation, columns);
  context.report(step, source.node, {
    message:
      wider !== null
        ? `${sourceText(source)} has a row for each ${wider.columns.join(' + ')}, but the MERGE joins on ${columns.join(' + ')} alone.`
        : `Nothing shows that ${sourceText(source)} holds each ${columns.join(' + ')} only once.`,
    severity: wider === null ? 'hint' : wider.byDistinct === true ? 'info' : 'warning',
    fixes: fixesFor(step, context, facts, source, columns, wider?.columns ?? []),
  });
}

/** A row's own address names one row, whatever its key. */
function joinsOnRow(facts: MergeFacts): boolean {
  return keyColumns(facts).some((name) => /^(rowid|%%physloc%%)$/i.test(name));
}

/** A key of the source that holds all ON columns and more: proof that one ON key may have several rows. */
function widerKey(relation: Relation | null, columns: readonly string[]) {
  return (
    (relation?.keys ?? []).find(
      (key) => key.columns.length > columns.length && columns.every((name) => includes(key.columns, name)),
    ) ?? null
  );
}

function fixesFor(
  step: Step,
  context: RuleContext,
  facts: MergeFacts,
  source: Source,
  columns: readonly string[],
  key: readonly string[],
): readonly FindingFix[] {
  const { node } = source;
  if (node.kind !== 'table' || source.common !== null) return [];
  const table = context.text(step, node.name);
  const others = key.filter((name) => !includes(columns, name));
  if (others.length === 0) return [listDuplicates(step, table, columns)];
  const order = others.map((name) => `${name} DESC`).join(', ');
  const alias = node.alias === null ? source.alias : context.text(step, node.alias);
  const text = `(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ${columns.join(', ')} ORDER BY ${order}) AS rn FROM ${table}) AS numbered WHERE rn = 1) AS ${alias}`;
  return [
    { title: `Keep the last row of each ${keyColumns(facts).join(' + ')}`, safe: false, edits: [replace(node, text)] },
    listDuplicates(step, table, columns),
  ];
}

function listDuplicates(step: Step, table: string, columns: readonly string[]): FindingFix {
  const list = columns.join(', ');
  return {
    title: 'Put a query that lists the repeated keys before the MERGE',
    safe: false,
    edits: [
      insertAt(
        step.statement.start,
        `SELECT ${list}, COUNT(*) AS row_count FROM ${table} GROUP BY ${list} HAVING COUNT(*) > 1;\n`,
      ),
    ],
  };
}
