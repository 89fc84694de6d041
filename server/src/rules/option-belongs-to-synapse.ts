import { removeItem } from './analysis/fixes.ts';
import { type Rule, serverPlatforms } from './engine/rule.ts';

export const optionBelongsToSynapse: Rule = {
  name: 'option-belongs-to-synapse',
  hazards: [],
  platforms: serverPlatforms,
  severity: 'error',
  fix: 'safe',
  summary: 'CREATE TABLE has a DISTRIBUTION, which only Synapse knows.',
  why: 'SQL Server refuses the statement.',
  help: 'Choose the platform synapse for this folder, or remove the option.',
  invalid: [
    { sql: `CREATE TABLE dw.Fact (FactId int NOT NULL PRIMARY KEY) WITH (DISTRIBUTION = HASH (FactId), HEAP);` },
  ],
  valid: [{ sql: `CREATE TABLE dw.Fact (FactId int NOT NULL PRIMARY KEY) WITH (DATA_COMPRESSION = PAGE);` }],
  statement(step, context) {
    const { statement } = step;
    if (statement.kind !== 'create-table') return;
    statement.options.forEach((option, index) => {
      if (option.name !== 'DISTRIBUTION') return;
      const removal = removeItem(statement.options, index);
      context.report(step, option, {
        message: 'DISTRIBUTION is Synapse syntax, and this file is for SQL Server.',
        fixes: removal === null ? [] : [{ title: 'Remove the option', safe: true, edits: [removal] }],
      });
    });
  },
};
