import { isTsql, parsePlatform } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { hasPrinter } from '../sql/platforms.ts';

/**
 * What stands against a load whatever its tables are: a platform without a printer, a form that the platform does not
 * have. It is told before anything about columns, which would be mended for nothing.
 */
export function unsupportedTarget({
  pattern,
  platform: platformText,
  form,
}: Pick<LoadSpecification, 'pattern' | 'platform' | 'form'>): readonly Problem[] {
  const platform = parsePlatform(platformText);
  if (platform === undefined) return [];
  if (!hasPrinter(platform.name)) {
    return [unsupported(`pattern ${pattern} on ${platformText}; generate it for sqlserver or duckdb.`)];
  }
  const says = (reason: string, nearest: string): readonly Problem[] => [
    unsupported(`form ${form} on ${platform.name}: ${reason}; the nearest is form ${nearest}.`),
  ];
  if (form === 'script') return [];
  if (!isTsql(platform.name)) return says('the engine has no such thing', 'script');
  if (form === 'pyspark' || form === 'scala' || form === 'pipeline') return says('it runs on Spark', 'procedure');
  if (form === 'dynamic-procedure' && (platform.name === 'synapse' || platform.name === 'fabric')) {
    return says('it runs no statement longer than its text limit from a variable', 'procedure');
  }
  return [];
}

function unsupported(what: string): Problem {
  return { code: 'unsupported', severity: 'error', message: `unsupported: ${what}` };
}
