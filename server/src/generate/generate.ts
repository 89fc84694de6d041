/** A load from its specification and its tables: plan, printer and form. Pure: same input, same bytes. */
import { parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import { makeContext } from '../load/context.ts';
import { planners } from '../load/patterns.ts';
import { DuckDbPrinter } from '../sql/duckdb.ts';
import { comment } from '../sql/text.ts';
import { headerLine } from './header.ts';
import { blockEnd, blockStart, loadParameters } from './parameters.ts';
import { duckdbBody } from './script-duckdb.ts';
import type { GeneratedLoad, GenerateRequest } from './types.ts';

export function generateLoad(request: GenerateRequest): Outcome<GeneratedLoad | null> {
  const { specification, tables, style } = request;
  const platform = parsePlatform(specification.platform);
  const planner = planners[specification.pattern];
  if (platform === undefined || planner === undefined || platform.name !== 'duckdb') {
    return refused([
      {
        code: 'unsupported',
        severity: 'error',
        message: `unsupported: ${specification.pattern} on ${specification.platform}`,
      },
    ]);
  }
  const printer = new DuckDbPrinter({ comma: style.comma, quoteAlways: style.brackets === 'always' });
  const context = makeContext(specification, tables, printer.traits);
  const plan = planner(context);
  if (context.problems.some(({ severity }) => severity === 'error')) return refused(context.problems);
  const text = `${[...style.header.map((line) => `-- ${line}`), headerLine(specification), comment(plan.says)].join(
    '\n',
  )}\n\n${blockStart}\n${plan.parameters.map((parameter) => printer.parameter(parameter)).join('\n')}\n${blockEnd}\n\n${duckdbBody(plan, printer, specification.shape)}\n`;
  return {
    value: {
      files: [{ path: `${specification.target.table}.sql`, text }],
      specification,
      parameters: loadParameters(plan.parameters, (type) => printer.typeName(type)),
      batches: [{ text, line: 0 }],
      preview: null,
    },
    problems: context.problems,
  };
}

function refused(problems: readonly Problem[]): Outcome<null> {
  return { value: null, problems };
}
