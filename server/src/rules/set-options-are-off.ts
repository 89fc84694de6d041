import { replace } from './analysis/fixes.ts';
import type { Rule } from './engine/rule.ts';
import { serverPlatforms } from './engine/rule.ts';

const wanted = [
  'QUOTED_IDENTIFIER',
  'ANSI_NULLS',
  'ANSI_PADDING',
  'ANSI_WARNINGS',
  'CONCAT_NULL_YIELDS_NULL',
  'ARITHABORT',
];

export const setOptionsAreOff: Rule = {
  name: 'set-options-are-off',
  hazards: ['P17'],
  platforms: serverPlatforms,
  severity: 'info',
  fix: 'unsafe',
  summary: 'A SET option is turned off that filtered indexes and indexed views need.',
  why: 'Writes to a table with a filtered index, an indexed view or an indexed computed column fail with error 1934, and ANSI_NULLS OFF changes what = NULL means.',
  help: 'Leave the option on.',
  invalid: [{ sql: `SET QUOTED_IDENTIFIER OFF;` }],
  valid: [{ sql: `SET QUOTED_IDENTIFIER ON;` }],
  statement(step, context) {
    const { statement } = step;
    if (statement.kind !== 'set-option' || statement.value !== 'OFF') return;
    const option = statement.names.find((name) => wanted.includes(name));
    if (option === undefined) return;
    const filtered = context.tables.objects.filteredIndexes.length > 0;
    context.report(step, statement, {
      message: `${option} OFF makes writes to tables with a filtered index fail.`,
      severity: filtered ? 'error' : 'info',
      fixes: [
        {
          title: `Set ${option} ON`,
          safe: false,
          edits: [replace(statement, context.text(step, statement).replace(/\bOFF\b/i, 'ON'))],
        },
      ],
    });
  },
};
