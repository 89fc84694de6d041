/** Generated texts as they stand, one file each; `UPDATE=1` rewrites them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FormName, Shape } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { readHeader } from '../../server/src/generate/header.ts';
import type { GenerateRequest } from '../../server/src/generate/types.ts';
import { conformanceCases } from '../support/cases.ts';
import { departmentRequest, inOneDatabase, patientRequest } from '../support/examples.ts';
import { caseRequest } from '../support/loads.ts';
import { type RefereeVersion, refereeMissing, refereeTsql, withoutSemicolonBeforeWith } from '../support/referee.ts';

const folder = join(import.meta.dirname, '..', 'golden');

interface Golden {
  /** Path below `test/golden`, without `.sql`. */
  readonly path: string;
  readonly platform: string;
  readonly request: GenerateRequest;
}

const platforms = ['duckdb', 'sqlserver', 'synapse', 'fabric'];
/** Versions whose text differs from the one before. */
const versions = ['sqlserver:2012', 'sqlserver:2016', 'sqlserver:2017', 'sqlserver:2022', 'azuresql'];
const grammars: Readonly<Record<string, RefereeVersion>> = {
  'sqlserver:2012': '2012',
  'sqlserver:2016': '2016',
  'sqlserver:2017': '2017',
  sqlserver: '2019',
  'sqlserver:2022': '2022',
  azuresql: '2025',
  synapse: 'newest',
  fabric: 'fabricdw',
};

const patterns = [...new Set(conformanceCases.map((one) => one.pattern))];

/** One for each pattern and platform, from the pattern's first case. */
const byPattern: readonly Golden[] = patterns.flatMap((pattern) => {
  const one = conformanceCases.find((candidate) => candidate.pattern === pattern);
  return one === undefined
    ? []
    : platforms.map((platform) => ({ path: `${pattern}/${platform}`, platform, request: caseRequest(one, platform) }));
});

type Example = (platform: string, form?: FormName, shape?: Shape) => GenerateRequest;
const oneDatabase: Example = (platform, form, shape) => inOneDatabase(departmentRequest(platform, form, shape));
const examples: readonly { readonly name: string; readonly make: Example }[] = [
  { name: 'patient_addresses', make: patientRequest },
  { name: 'departments', make: oneDatabase },
  {
    name: 'departments_inactivation',
    make: (platform, form, shape) => inOneDatabase(departmentRequest(platform, form, shape, 'inactivation')),
  },
];

/** The running examples: every version, every form, both shapes. */
const running: readonly Golden[] = examples.flatMap(({ name, make }) => [
  ...[...platforms, ...versions].map((platform) => ({
    path: `examples/${name}.${platform.replace(':', '-')}`,
    platform,
    request: make(platform),
  })),
  ...['sqlserver', 'synapse', 'fabric'].map((platform) => ({
    path: `examples/${name}.${platform}.procedure`,
    platform,
    request: make(platform, 'procedure'),
  })),
  ...(name === 'patient_addresses'
    ? []
    : ['duckdb', 'sqlserver', 'synapse'].map((platform) => ({
        path: `examples/${name}.${platform}.merge`,
        platform,
        request: make(platform, 'script', 'merge'),
      }))),
]);

const dynamic: readonly Golden[] = (['scd2_day', 'inactivation'] as const).map((pattern) => ({
  path: `examples/any_table_${pattern}.sqlserver.dynamic-procedure`,
  platform: 'sqlserver',
  request: departmentRequest('sqlserver', 'dynamic-procedure', 'separate', pattern),
}));

const goldens = [...byPattern, ...running, ...dynamic];

function textOf(request: GenerateRequest): string {
  const { value, problems } = generateLoad(request);
  if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
  return value.files.map((file) => file.text).join('GO\n');
}

describe('goldens', () => {
  test.each(goldens)('$path', ({ path, request }) => {
    const text = textOf(request);
    const file = join(folder, `${path}.sql`);
    if (process.env['UPDATE'] === '1') {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    expect(existsSync(file), `${path} is missing; write it with UPDATE=1`).toBe(true);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  test.each(goldens)('$path comes out the same from its own header', ({ request }) => {
    const text = textOf(request);
    const specification = readHeader(text);
    if (specification === null) throw new Error('the header can not be read');
    expect(textOf({ ...request, specification })).toBe(text);
  });
});

describe.skipIf(refereeMissing() !== null)('goldens by the grammar of their version', () => {
  test.each(Object.entries(grammars))('%s', async (platform, grammar) => {
    const texts = goldens
      .filter((golden) => golden.platform === platform)
      .map(({ path, request }) => ({ name: path, text: textOf(request) }));
    expect(texts.length).toBeGreaterThan(0);
    expect(await refereeTsql(texts, grammar)).toEqual([]);
    expect(texts.filter(({ text }) => withoutSemicolonBeforeWith(text).length > 0)).toEqual([]);
  });
});
