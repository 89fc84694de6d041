import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readCases, UnreadableCases } from '../../cli/src/conformance/format.ts';
import { conformanceCases } from '../support/cases.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mergewright-cases-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const refusal = (): string => {
  try {
    readCases(folder);
    return 'read';
  } catch (error) {
    if (error instanceof UnreadableCases) return error.message.replace(folder, 'FOLDER');
    throw error;
  }
};

describe('reading cases', () => {
  test('the project has 244 cases of 26 patterns', () => {
    expect(conformanceCases.length).toBe(244);
    expect(new Set(conformanceCases.map(({ pattern }) => pattern)).size).toBe(26);
  });

  test('a missing folder, an empty one, a broken file: one line each', () => {
    expect(refusal()).toBe('FOLDER holds no *.json files; name a folder of cases by --cases');
    writeFileSync(join(folder, 'hub.json'), '{');
    expect(refusal()).toMatch(/^FOLDER\/hub\.json is not JSON: /);
    writeFileSync(join(folder, 'hub.json'), '{"format": "dw-load-conformance/2", "pattern": "hub", "cases": []}');
    expect(refusal()).toMatch(/^FOLDER\/hub\.json: format: /);
    rmSync(folder, { recursive: true });
    expect(refusal()).toMatch(/^FOLDER cannot be read: /);
  });

  test('an unknown type and a repeated id are named', () => {
    const one = {
      id: 'X-1',
      title: 'x',
      pattern: 'hub',
      config: { target_identity: ['id'], target_key: ['id'] },
      tables: { stage: { id: 'string' }, target: { id: 'string' } },
      steps: [
        {
          now: '2024-01-01 00:00:00',
          stage_rows: [],
          expected_target_rows: [],
          expected_counts: { inserted: 0, updated: 0, expired: 0, deleted: 0 },
        },
      ],
    };
    const write = (...cases: unknown[]): void =>
      writeFileSync(
        join(folder, 'hub.json'),
        JSON.stringify({ format: 'dw-load-conformance/1', pattern: 'hub', cases }),
      );
    write(one);
    expect(refusal()).toBe('read');
    write(one, one);
    expect(refusal()).toBe('FOLDER: two cases have the id X-1');
    write({ ...one, tables: { ...one.tables, stage: { id: 'varchar' } } });
    expect(refusal()).toMatch(/^FOLDER\/hub\.json: cases\.0\.tables\.stage\.id: /);
  });
});
