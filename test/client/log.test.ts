import { describe, expect, test } from 'vitest';
import { RedactingLog } from '../../client/src/log.ts';

function recorder() {
  const lines: string[] = [];
  const write = (message: string) => lines.push(message);
  return { lines, log: new RedactingLog({ info: write, warn: write, error: write }) };
}

describe('the log', () => {
  test('never writes a known secret, nor one that another secret is a part of', () => {
    const { lines, log } = recorder();
    log.addSecret('canary');
    log.addSecret('canary-long');
    log.info('login canary-long failed, canary');
    expect(lines).toEqual(['login *** failed, ***']);
  });

  test.each([
    ['Server=s;Password=abc;Database=d', 'Server=s;Password=***;Database=d'],
    ['pwd: "a b c" rest', 'pwd: *** rest'],
    ['mssql://sa:abc@host/db', 'mssql://sa:***@host/db'],
    ["WHERE name = N'O''Hara' AND x = 'y'", "WHERE name = '…' AND x = '…'"],
  ])('hides what looks like a secret or a literal: %s', (message, shown) => {
    const { lines, log } = recorder();
    log.error(message);
    expect(lines).toEqual([shown]);
  });
});
