import { describe, expect, test } from 'vitest';
import { firstFolderFile, withMapping } from '../../client/src/runs/folder-file.ts';
import type { LoadSpecification } from '../../protocol/specification.ts';

const specification: LoadSpecification = {
  version: 1,
  pattern: 'satellite',
  source: { database: 'Staging', schema: 'stg', table: 'Patient' },
  target: { database: null, schema: 'raw', table: 'SatPatient' },
  platform: 'synapse',
  form: 'script',
  shape: 'separate',
  options: {},
};

describe('mergewright.json', () => {
  test('a first one names the loads that were inferred', () => {
    expect(JSON.parse(firstFolderFile([specification]))).toEqual({
      loads: [{ pattern: 'satellite', source: 'Staging.stg.Patient', target: 'raw.SatPatient' }],
    });
  });

  test('a changed mapping is put into its load and leaves the rest alone', () => {
    const text = JSON.stringify({
      $schema: 'x',
      parameters: { LoadProcess: 'p' },
      loads: [
        { pattern: 'hub', source: 'stg.Patient', target: 'raw.SatPatient' },
        {
          pattern: 'satellite',
          source: '[stg].[Patient]',
          target: 'SatPatient',
          options: { closing: 'half-open', mapping: { A: 'a', B: 'b' } },
        },
      ],
    });
    expect(JSON.parse(withMapping(text, specification, { A: 'x', B: null, C: 'c' }))).toEqual({
      $schema: 'x',
      parameters: { LoadProcess: 'p' },
      loads: [
        { pattern: 'hub', source: 'stg.Patient', target: 'raw.SatPatient' },
        {
          pattern: 'satellite',
          source: '[stg].[Patient]',
          target: 'SatPatient',
          options: { closing: 'half-open', mapping: { A: 'x', C: 'c' } },
        },
      ],
    });
  });

  test('a load that does not stand there yet is added', () => {
    expect(JSON.parse(withMapping('', specification, { A: 'a' }))).toEqual({
      loads: [
        {
          pattern: 'satellite',
          source: 'Staging.stg.Patient',
          target: 'raw.SatPatient',
          options: { mapping: { A: 'a' } },
        },
      ],
    });
  });

  test.each([
    ['{', 'not valid JSON'],
    ['[]', 'must be an object'],
    ['{"loads": {}}', 'must be a list'],
  ])('a file that is %s is not written over', (text, sentence) => {
    expect(() => withMapping(text, specification, {})).toThrow(sentence);
  });
});
