import { isTsql, type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { Problem } from '../../../protocol/problem.ts';
import type { FormName, LoadSpecification } from '../../../protocol/specification.ts';
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
  const forms = formsOf(platform.name);
  if (forms.includes(form)) return [];
  const reason = isTsql(platform.name)
    ? form === 'dynamic-procedure'
      ? 'it runs no statement longer than its text limit from a variable'
      : 'it runs on Spark'
    : 'the engine has no such thing';
  const nearest = forms.includes('procedure') ? 'procedure' : 'script';
  return [
    unsupported(
      forms.length === 1
        ? `form ${form} on ${platform.name}: ${reason}; the nearest is form ${nearest}, the only one there.`
        : `form ${form} on ${platform.name}: ${reason}; the nearest is form ${nearest}, and forms there are ${listOf(forms)}.`,
    ),
  ];
}

/** The forms in which loads are generated for a platform; which of them a pattern has is for the pattern to say. */
export function formsOf(platform: PlatformName): readonly FormName[] {
  if (!isTsql(platform)) return ['script'];
  return platform === 'synapse' || platform === 'fabric' ? ['script', 'procedure'] : tsqlForms;
}

const tsqlForms: readonly FormName[] = ['script', 'procedure', 'dynamic-procedure'];

function listOf(forms: readonly FormName[]): string {
  return `${forms.slice(0, -1).join(', ')} and ${forms.at(-1)}`;
}

function unsupported(what: string): Problem {
  return { code: 'unsupported', severity: 'error', message: `unsupported: ${what}` };
}
