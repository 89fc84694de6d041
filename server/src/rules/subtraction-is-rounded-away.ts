import { replace } from './analysis/fixes.ts';
import { durationOf, earlierThan, stepOf } from './analysis/time.ts';
import { type Rule, tsqlPlatforms } from './engine/rule.ts';

export const subtractionIsRoundedAway: Rule = {
  name: 'subtraction-is-rounded-away',
  hazards: ['T03'],
  platforms: tsqlPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'Less is subtracted from a point in time than its column can hold.',
  why: 'The result rounds back to the same moment when it is stored or compared, so the interval and the next one touch or overlap.',
  help: "End the interval where the next one starts, or subtract one unit of the column's precision.",
  judges: 'part',
  invalid: [
    {
      ddl: `CREATE TABLE rdv.SatRate (RateHk binary(32) NOT NULL, LoadDts datetime2(6) NOT NULL, PRIMARY KEY (RateHk, LoadDts));`,
      sql: `SELECT RateHk, DATEADD(ns, -100, LEAD(LoadDts) OVER (PARTITION BY RateHk ORDER BY LoadDts)) AS LoadEndDts FROM rdv.SatRate;`,
    },
  ],
  valid: [
    {
      ddl: `CREATE TABLE rdv.SatRate (RateHk binary(32) NOT NULL, LoadDts datetime2(6) NOT NULL, PRIMARY KEY (RateHk, LoadDts));`,
      sql: `SELECT RateHk, DATEADD(microsecond, -1, LEAD(LoadDts) OVER (PARTITION BY RateHk ORDER BY LoadDts)) AS LoadEndDts FROM rdv.SatRate;`,
    },
  ],
  statement(step, context) {
    for (const { node, scope } of step.find('call')) {
      const earlier = earlierThan(node);
      if (earlier === null) continue;
      const type = context.tables.type(earlier.from, scope);
      const unit = type === null ? null : stepOf(type);
      // One or two milliseconds of a datetime have a rule of their own.
      if (unit === null || type === 'datetime' || durationOf(earlier) >= unit) continue;
      const better = unit <= 1e3 ? 'microsecond' : unit <= 1e6 ? 'millisecond' : unit <= 1e9 ? 'second' : 'day';
      context.report(step, node, {
        message: `${earlier.amount} ${earlier.unit}${earlier.amount === 1 ? '' : 's'} less is the same moment in a ${type}.`,
        fixes: [
          {
            title: `Subtract one ${better}`,
            safe: false,
            edits: [replace(node, `DATEADD(${better}, -1, ${context.text(step, earlier.from)})`)],
          },
        ],
      });
    }
  },
};
