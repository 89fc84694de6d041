import { isTsql } from '../../../protocol/platform.ts';
import { replace } from './analysis/fixes.ts';
import { includes, roleByName } from './analysis/names.ts';
import { allPlatforms, type Rule } from './engine/rule.ts';

export const validityKeyIsADate: Rule = {
  name: 'validity-key-is-a-date',
  hazards: ['T09'],
  platforms: allPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'The start of a version is a DATE and part of the key.',
  why: 'A second change on one day clashes with the key or makes a version of length zero.',
  help: 'Use a point in time, or let a second change of a day overwrite the version (grain day).',
  invalid: [
    {
      sql: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NULL, ValidFrom date NOT NULL, ValidTo date NULL, PRIMARY KEY (MemberNo, ValidFrom));`,
    },
  ],
  valid: [
    {
      sql: `CREATE TABLE dw.DimTier (MemberNo int NOT NULL, Tier int NULL, ValidFrom datetime2(6) NOT NULL, ValidTo datetime2(6) NULL, PRIMARY KEY (MemberNo, ValidFrom));`,
    },
  ],
  statement(step, context) {
    const { statement } = step;
    if (statement.kind !== 'create-table') return;
    const key = statement.elements.flatMap((element) =>
      element.kind === 'constraint' && element.type === 'primary-key'
        ? element.columns.map((column) => column.name.name)
        : [],
    );
    for (const element of statement.elements) {
      if (element.kind !== 'column-definition' || element.type?.text !== 'date') continue;
      if (!includes(key, element.name.name) || roleByName(element.name.name) !== 'effective-start') continue;
      const type = isTsql(context.platform.name) ? 'datetime2(6)' : 'timestamp';
      context.report(step, element.type, {
        message: `${element.name.name} holds days only, so a key can have one version a day.`,
        fixes: [{ title: `Use ${type}`, safe: false, edits: [replace(element.type, type)] }],
      });
    }
  },
};
