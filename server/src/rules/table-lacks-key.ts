import type { TableName } from '../../../protocol/catalog.ts';
import { nameFits } from '../model/names.ts';
import { lastPart, tableNameOf } from '../syntax/inspect.ts';
import { stepsOf } from './analysis/selections.ts';
import type { Body } from './analysis/steps.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const tableLacksKey: Rule = {
  name: 'table-lacks-key',
  hazards: ['P16'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'none',
  summary: 'A table is created without a primary or unique key, and its columns do not show one.',
  why: 'Nothing refuses repeated rows, and the key of a load has to be guessed.',
  help: 'Declare the key, or name the business key of the table in mergewright.json.',
  invalid: [
    { sql: `CREATE TABLE stg.PartText (PartId int NOT NULL, Locale char(5) NOT NULL, Label nvarchar(200) NULL);` },
  ],
  valid: [
    {
      sql: `CREATE TABLE stg.PartText (PartId int NOT NULL, Locale char(5) NOT NULL, Label nvarchar(200) NULL, PRIMARY KEY (PartId, Locale));`,
    },
  ],
  body(body, context) {
    // The tables that a generated load keeps for itself are written by it alone.
    if (context.own !== null) return;
    for (const step of stepsOf(body, 'create-table')) {
      const { statement } = step;
      if (statement.kind !== 'create-table' || statement.query !== null || statement.cloneOf !== null) continue;
      if (statement.temporary || statement.external || lastPart(statement.name).name.startsWith('#')) continue;
      const columns = statement.elements.filter((element) => element.kind === 'column-definition');
      const constraints = [
        ...statement.elements.filter((element) => element.kind === 'constraint'),
        ...columns.flatMap((column) => column.constraints),
      ];
      const indexes = statement.elements.some((element) => element.kind === 'index-definition' && element.unique);
      const keyed = constraints.some(({ type }) => type === 'primary-key' || type === 'unique');
      if (
        columns.length === 0 ||
        keyed ||
        indexes ||
        context.tables.inferredKey(tableNameOf(statement.name)) !== null ||
        addsKeyLater(body, tableNameOf(statement.name)) ||
        isDropped(body, tableNameOf(statement.name))
      )
        continue;
      context.report(step, statement.name, {
        message: `${context.text(step, statement.name)} has no key: state its business key so that loads need not guess it.`,
      });
    }
  },
};

/** A table that the script drops again is a tool of the script. */
function isDropped(body: Body, table: TableName): boolean {
  return stepsOf(body, 'drop').some(
    ({ statement }) => statement.kind === 'drop' && statement.names.some((name) => nameFits(tableNameOf(name), table)),
  );
}

function addsKeyLater(body: Body, table: TableName): boolean {
  return stepsOf(body, 'create-index', 'alter-table').some(({ statement }) => {
    if (statement.kind === 'create-index')
      return statement.definition.unique && nameFits(tableNameOf(statement.table), table);
    if (statement.kind !== 'alter-table' || !nameFits(tableNameOf(statement.name), table)) return false;
    return statement.actions.some(
      (action) =>
        action.kind === 'add-elements' &&
        action.elements.some(
          (element) => element.kind === 'constraint' && (element.type === 'primary-key' || element.type === 'unique'),
        ),
    );
  });
}
