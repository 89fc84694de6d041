import { describe, expect, test } from 'vitest';
import { readForm } from '../../cli/src/load-arguments.ts';
import { platformNames } from '../../protocol/platform.ts';
import type { formNames } from '../../protocol/specification.ts';
import { unsupportedTarget } from '../../server/src/generate/unsupported-target.ts';
import { hasPrinter, printerFor } from '../../server/src/sql/platforms.ts';

const message = (platform: string, form: (typeof formNames)[number]): string | undefined =>
  unsupportedTarget({ pattern: 'scd2', platform, form })[0]?.message;

describe('what no table can mend', () => {
  test.each([
    ['databricks', 'script', 'unsupported: pattern scd2 on databricks; generate it for sqlserver or duckdb.'],
    ['databricks', 'pyspark', 'unsupported: pattern scd2 on databricks; generate it for sqlserver or duckdb.'],
    [
      'sqlserver:2016',
      'pyspark',
      'unsupported: form pyspark on sqlserver: it runs on Spark; the nearest is form procedure, and forms there are script, procedure and dynamic-procedure.',
    ],
    [
      'duckdb',
      'procedure',
      'unsupported: form procedure on duckdb: the engine has no such thing; the nearest is form script, the only one there.',
    ],
    [
      'fabric',
      'dynamic-procedure',
      'unsupported: form dynamic-procedure on fabric: it runs no statement longer than its text limit from a variable; the nearest is form procedure, and forms there are script and procedure.',
    ],
  ] as const)('%s, %s', (platform, form, expected) => {
    expect(message(platform, form)).toBe(expected);
  });

  test('the rest is told by pattern and tables', () => {
    expect(message('sqlserver', 'dynamic-procedure')).toBeUndefined();
    expect(message('synapse', 'procedure')).toBeUndefined();
    expect(message('oracle', 'script')).toBeUndefined();
  });

  test('forms that can be chosen are those that are generated', () => {
    expect(() => readForm('python')).toThrow('choose one of script, procedure, dynamic-procedure.');
  });

  test('a platform has a printer or is said to have none', () => {
    for (const name of platformNames) {
      const style = { comma: 'trailing', quoteAlways: false, columnNames: [] } as never;
      expect([name, hasPrinter(name)]).toEqual([name, printerFor({ name }, style, new Map() as never) !== null]);
    }
  });
});
